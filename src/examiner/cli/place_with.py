"""The half of `examiner place` for a few chosen tasks: the full benchmark predicted from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from examiner.cli.options import SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.wording import counted

if TYPE_CHECKING:
    from examiner.selection import Selection, SetPlacement

_ROWS_SHOWN = 40


def place_with(options: SourceOptions, path: Path, json: bool) -> None:
    """Treat raw results as the chosen tasks' recipe says, and predict the full benchmark."""
    from examiner.selection import place
    from examiner.stored import open_selection

    chosen = open_selection(path)
    with progress_bar("reading") as progress:
        # The recipe of the selection says how training logs are reduced.
        results = results_from(options, progress, reduce_training_logs=False)
        found = place(results, chosen)
    if json:
        content = place_with_content(chosen, found)
        stored = {"chosen": str(path), "warnings": list(results.notes)}
        print_json("examiner.place/1", content | stored)
        return
    _print(chosen, found)
    print_notes(results.notes)


def place_with_content(
    chosen: Selection, found: tuple[SetPlacement, ...]
) -> dict[str, Any]:  # Any: JSON values
    """Return everything `place --with` says, as JSON values; an endless interval is null, with a flag.

    >>> import numpy as np
    >>> import examiner as ex
    >>> results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> chosen = ex.selection.select(results, 2, "spread", rng=0)
    >>> found = ex.selection.place(results, chosen)
    >>> list(place_with_content(chosen, found)["agents"][0])[:4]
    ['agent', 'ability', 'predicted', 'rank']
    """
    return {
        "target": chosen.target,
        "tasks": list(chosen.tasks),
        "level": chosen.level,
        "input": chosen.fingerprint,
        "agents": [_agent(chosen, one) for one in found],
    }


def _agent(chosen: Selection, one: SetPlacement) -> dict[str, Any]:  # Any: JSON values
    run = set(chosen.tasks) - set(one.missing)
    return {
        "agent": one.agent,
        "ability": None,
        "predicted": {
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "bounded": one.low > float("-inf"),
        },
        "rank": {
            "low": one.rank_low,
            "high": one.rank_high,
            "among": len(chosen.predictor.agents) + 1,
        },
        "unexpected": [{"task": task, "deviations": by} for task, by in one.unexpected],
        "missing": list(one.missing),
        "predictions": [
            {"task": task, "expected": value}
            for task, value in one.tasks.items()
            if task not in run
        ],
    }


def _print(chosen: Selection, found: tuple[SetPlacement, ...]) -> None:
    print_line(
        f"{chosen.target} of {counted(len(chosen.predictor.all_tasks), 'task')}, predicted from "
        f"{len(chosen.tasks)}: {printable(', '.join(chosen.tasks), 1_000)}"
    )
    among = len(chosen.predictor.agents) + 1
    header = ["agent", "predicted", "low", "high", "rank"]
    rows = [
        [one.agent, one.value, one.low, one.high, f"{one.rank_low}–{one.rank_high} of {among}"]
        for one in found[:_ROWS_SHOWN]
    ]
    print_table("\nPlaced", header, rows, right=range(1, len(header)))
    if len(found) > _ROWS_SHOWN:
        print_line(f"… and {len(found) - _ROWS_SHOWN:,} more agents: all are in --json")
    level = f"{chosen.level:.0%}".replace("%", " %")
    print_line(
        f"predicted: the {chosen.target} the agent would get, were all tasks run; low and high are\n"
        f"the ends of {level} intervals for that, and so are the two ranks."
    )
    for one in found[:_ROWS_SHOWN]:
        for task, by in one.unexpected:
            said = "above" if by > 0 else "below"
            print_line(
                printable(
                    f"Unexpected: {one.agent} on {task}, {abs(by):.1f} deviations {said} what the other "
                    f"chosen tasks say",
                    1_000,
                )
            )
        if one.missing:
            print_line(printable(f"{one.agent} has no result on {', '.join(one.missing)}", 1_000))
