"""`examiner place`: a new agent on what is already known of the tasks, without fitting again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from examiner.cli.options import JsonFlag, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.place_with import place_with
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.wording import InputError, counted

if TYPE_CHECKING:
    from examiner.irt import IRTFit, Placement

_ROWS_SHOWN = 40


def place(
    options: SourceOptions,
    fit: Annotated[
        Path | None,
        typer.Option("--fit", metavar="FILE", help="A fit stored by `examiner fit -o`."),
    ] = None,
    chosen: Annotated[
        Path | None,
        typer.Option("--with", metavar="FILE", help="A few tasks stored by `examiner select -o`."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Place new agents on a stored fit or a few chosen tasks: rank, and what to expect elsewhere."""
    if fit is not None and chosen is not None:
        raise InputError(
            "Both `--fit` and `--with` are given. Place agents on one of them at a time."
        )
    if chosen is not None:
        place_with(options, chosen, json)
        return
    if fit is None:
        raise InputError(
            "Nothing is given to place the new results on. Name a fit stored by `examiner fit … -o "
            "fit.json` with `--fit fit.json`, or tasks stored by `examiner select … -o chosen.json` with "
            "`--with chosen.json`."
        )
    _on_fit(options, fit, json)


def _on_fit(options: SourceOptions, path: Path, json: bool) -> None:
    from examiner.irt import place as placed
    from examiner.stored import open_fit

    known = open_fit(path)
    with progress_bar("reading") as progress:
        # The recipe of the fit says how training logs are reduced.
        results = results_from(options, progress, reduce_training_logs=False)
        found = placed(results, known)
    notes = list(dict.fromkeys((*results.notes, *(note for one in found for note in one.notes))))
    if json:
        content = place_content(known, found) | {"fit": str(path), "warnings": notes}
        print_json("examiner.place/1", content)
        return
    _print(known, found)
    print_notes(notes)


def place_content(
    known: IRTFit, found: tuple[Placement, ...]
) -> dict[str, Any]:  # Any: JSON values
    """Return everything `place` says of agents on a fit, as JSON values.

    >>> from examiner.irt import ItemParameters, known as known_fit
    >>> from examiner.irt import place as placed
    >>> from examiner.results import ResponseMatrix
    >>> fit = known_fit(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0]))
    >>> new = ResponseMatrix.from_array([[1]], ["mine"], ["t"])
    >>> place_content(fit, placed(new, fit))["agents"][0]["predictions"][0]["task"]
    'u'
    """
    return {
        "model": known.model,
        "tasks": len(known.items),
        "agents": [_agent(one) for one in found],
    }


def _agent(one: Placement) -> dict[str, Any]:  # Any: JSON values
    predicted = one.predicted
    return {
        "agent": one.agent,
        "tasks": one.tasks,
        "mean": one.mean,
        "ability": one.ability,
        "ability_se": one.error,
        "ability_se_with_tasks": one.total_error,
        "ability_low": one.low,
        "ability_high": one.high,
        "regularity": one.regularity,
        "generality": one.generality,
        "slope": one.slope,
        "rank": {
            "value": one.rank.rank,
            "low": one.rank.low,
            "high": one.rank.high,
            "among": one.rank.among,
        },
        "predicted": one.benchmark._asdict(),
        "predictions": [
            {"task": task, "expected": expected, "low": low, "high": high}
            for task, expected, low, high in zip(
                predicted.tasks,
                predicted.expected.tolist(),
                predicted.low.tolist(),
                predicted.high.tolist(),
                strict=True,
            )
        ],
        "unexpected": [odd._asdict() for odd in one.unexpected],
        "flags": list(one.flags),
    }


def _print(known: IRTFit, found: tuple[Placement, ...]) -> None:
    known_agents = counted(len(known.abilities.agents), "agent")
    print_line(f"{known.model} of {known_agents} × {counted(len(known.items), 'task')}")
    header = ["agent", "tasks", "ability", "low", "high", "rank", "generality"]
    shown = found[:_ROWS_SHOWN]
    rows = [
        [
            one.agent,
            one.tasks,
            one.ability,
            one.low,
            one.high,
            f"{one.rank.rank} ({one.rank.low}–{one.rank.high} of {one.rank.among})",
            one.generality,
        ]
        for one in shown
    ]
    print_table("\nPlaced", header, rows, right=range(1, len(header)))
    header = ["agent", "mean so far", "predicted mean", "low", "high"]
    rows = [
        [one.agent, one.mean, one.benchmark.value, one.benchmark.low, one.benchmark.high]
        for one in shown
    ]
    title = f"\nOver all {counted(len(known.items), 'task')} of the fit"
    print_table(title, header, rows, right=range(1, len(header)))
    if len(found) > _ROWS_SHOWN:
        print_line(f"… and {len(found) - _ROWS_SHOWN:,} more agents: all are in --json")
    print_line(
        "low and high are the ends of 95 % intervals, and so are the two ranks in\n"
        "brackets; the interval of ability counts the errors of the tasks.\n"
        "generality: 1 / variance within bins of difficulty, high where an agent is\n"
        "good up to its ability and fails beyond."
    )
    for one in found[:_ROWS_SHOWN]:
        for odd in one.unexpected[:_ROWS_SHOWN]:
            print_line(
                printable(
                    f"Unexpected: {one.agent} on {odd.task}: {odd.result:.3g}, expected "
                    f"{odd.expected:.3g} (chance {odd.chance:.3g})",
                    1_000,
                )
            )
        for flag in one.flags:
            print_line(printable(f"{one.agent}: {flag}", 1_000))
