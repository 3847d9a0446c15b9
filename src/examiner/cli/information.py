"""`examiner information`: how many bits tasks tell about which agent is playing."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.wording import InputError, counted, shorten

if TYPE_CHECKING:
    from examiner.information import InformationAnalysis, InformativeSet

_TASKS_SHOWN = 20


class NoiseKind(StrEnum):
    """What a deviation is of."""

    trial = "trial"
    mean = "mean"


class Spread(StrEnum):
    """How the deviations of two agents make one."""

    sum = "sum"
    quadrature = "quadrature"


class Search(StrEnum):
    """How the set of tasks is sought."""

    greedy = "greedy"
    swap = "swap"
    optimum = "optimum"


def information(
    options: SourceOptions,
    size: Annotated[
        int | None,
        typer.Option("--size", help="Tasks to choose [default: 10, or all where there are fewer]."),
    ] = None,
    noise: Annotated[
        NoiseKind, typer.Option("--noise", help="Deviation of one trial, or error of the mean.")
    ] = NoiseKind.trial,
    deviations: Annotated[
        str,
        typer.Option(
            "--deviations", help="own, pooled, or a share of the task's spread between agents."
        ),
    ] = "own",
    spread: Annotated[
        Spread, typer.Option("--spread", help="How the deviations of two agents are added.")
    ] = Spread.sum,
    correlated: Annotated[
        bool, typer.Option("--correlated", help="Take measures with their correlation.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Mutual information instead of the paper's equation 3.")
    ] = False,
    search: Annotated[
        Search, typer.Option("--search", help="Improve the greedy set by swaps, or try every set.")
    ] = Search.greedy,
    reps: Annotated[
        int, typer.Option("--reps", help="Permutations for chance, and resamples for intervals.")
    ] = 100,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Tell how many bits each task, and a few chosen ones, tell about which agent is playing."""
    from examiner.information import ChannelModel, Noise, analyse, best_set

    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        found = analyse(
            results,
            options.measure,
            rng=np.random.default_rng(seed),
            size=size,
            model=ChannelModel(
                Noise(noise.value, _deviations(deviations)), correlated, spread.value, exact
            ),
            reps=reps,
            progress=progress,
        )
        improved = None
        if search is not Search.greedy:
            improved = best_set(
                found.channels,
                len(found.chosen.tasks),
                "swap" if search is Search.swap else "optimum",
                progress=progress,
            )
    content = information_content(found, improved) | {
        "noise": noise.value,
        "deviations": deviations,
        "spread": spread.value,
        "exact": exact,
        "reps": reps,
        "seed": seed,
        "warnings": [*results.notes, *found.notes],
    }
    if json:
        print_json("examiner.information/1", content)
        return
    _print(content)
    print_notes(content["warnings"])


def information_content(
    found: InformationAnalysis, improved: InformativeSet | None = None
) -> dict[str, Any]:  # Any: JSON values
    """Return everything `information` says, as JSON values; tasks with most bits come first.

    >>> from examiner.information import analyse
    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.arange(12.0).reshape(2, 2, 3))
    >>> content = information_content(analyse(results, rng=np.random.default_rng(0), reps=2))
    >>> list(content)[:4], content["max_bits"]
    (['agents', 'max_bits', 'tasks', 'greedy'], 1.0)
    """
    order = np.argsort(-np.nan_to_num(found.tasks.bits, nan=-1.0), kind="stable")
    return {
        "agents": len(found.channels.agents),
        "max_bits": found.max_bits,
        "tasks": [_task(found, int(place)) for place in order],
        "greedy": [_step(found, place) for place in range(len(found.chosen.tasks))],
        "improved": None
        if improved is None
        else {"search": improved.search, "tasks": list(improved.tasks), "bits": improved.bits},
        "redundancy": found.redundancy.tolist(),
        "pairs": found.separation.pairs,
        "pairs_no_task_separates": [list(pair) for pair in found.separation.never],
        "agent_names": list(found.channels.agents),
        "measures": list(found.channels.measures),
        "unit": found.unit,
    }


def _task(found: InformationAnalysis, place: int) -> dict[str, Any]:  # Any: JSON values
    tasks, chance, intervals = found.tasks, found.chance, found.intervals
    return {
        "task": tasks.tasks[place],
        "bits": float(tasks.bits[place]),
        "bits_by_measure": {name: float(bits[place]) for name, bits in tasks.by_measure.items()},
        "chance_bits": None if chance is None else float(chance.task[place]),
        "chance_high": None if chance is None else float(chance.task_high[place]),
        "low": None if intervals is None else float(intervals.task_low[place]),
        "high": None if intervals is None else float(intervals.task_high[place]),
        "pairs_separated": int(found.separation.pairs_of_task[place]),
        "usable": bool(np.isfinite(tasks.bits[place])),
    }


def _step(found: InformationAnalysis, place: int) -> dict[str, Any]:  # Any: JSON values
    chosen, chance, intervals = found.chosen, found.chance, found.intervals
    return {
        "task": chosen.tasks[place],
        "cumulative_bits": float(chosen.cumulative_bits[place]),
        "chance_bits": None if chance is None else float(chance.greedy[place]),
        "chance_high": None if chance is None else float(chance.greedy_high[place]),
        "low": None if intervals is None else float(intervals.set_low[place]),
        "high": None if intervals is None else float(intervals.set_high[place]),
    }


def _deviations(text: str) -> Any:  # Any: a name or a number, checked by Noise
    if text in ("own", "pooled"):
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"The deviations are {shorten(text)}. Say 'own', 'pooled', or a number above 0: a share of "
            f"the task's spread between agents."
        ) from None


def _print(content: dict[str, Any]) -> None:  # Any: JSON values
    print_line(
        f"{counted(content['agents'], 'agent')}, {', '.join(content['measures'])}: at most "
        f"{content['max_bits']:.3f} bits; seed {content['seed']}"
    )
    header = ["task", "bits", "low", "high", "chance_bits", "pairs_separated"]
    rows = [[row[name] for name in header] for row in content["tasks"][:_TASKS_SHOWN]]
    print_table("\nTasks", header, rows, right=range(1, len(header)))
    header = ["task", "cumulative_bits", "low", "high", "chance_bits"]
    rows = [[row[name] for name in header] for row in content["greedy"]]
    print_table("\nGreedy set", header, rows, right=range(1, len(header)))
    never = len(content["pairs_no_task_separates"])
    print_line(
        f"\n{counted(never, 'pair')} of {content['pairs']:,} are separated by no single task."
    )
    if content["improved"] is not None:
        better = content["improved"]
        names = ", ".join(better["tasks"])
        print_line(f"By {better['search']}: {better['bits']:.4f} bits with {names}")
