"""`examiner curves`: training logs summed up in several ways, and how that changes the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from examiner.cli.options import JsonFlag, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.scores import LearningCurves, Verdicts
from examiner.scores import curves as learning_curves
from examiner.wording import InputError, counted, shorten


def curves(
    options: SourceOptions,
    points: Annotated[
        str | None,
        typer.Option(
            "--points",
            help="Frames to report at, comma-separated [default: 5, 25, 50 and 100 per cent].",
        ),
    ] = None,
    last: Annotated[
        int, typer.Option("--last", min=1, help="Episodes averaged at each report point.")
    ] = 100,
    json: JsonFlag = False,
) -> None:
    """Sum up training logs: during training, after it, best policy, area, stability; side by side."""
    if options.reduce is not None:
        raise InputError(
            f"Learning curves need whole runs, and --reduce {options.reduce} leaves one value of "
            f"each. Leave --reduce out."
        )
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
        progress("summing up", 1, 2)
        made = learning_curves(results, points=_frames(points), last=last)
        verdicts = made.verdicts()
    notes = (*results.notes, *made.notes)
    if json:
        content = {"source": results.provenance.source, **content_of(made, verdicts)}
        print_json("examiner.curves/1", content | {"warnings": list(notes)})
        return
    _print(made, verdicts)
    print_notes(notes)


def content_of(made: LearningCurves, verdicts: Verdicts) -> dict[str, Any]:  # Any: JSON values
    """Return all summaries as JSON values: of every run, of every agent, and how they agree.

    >>> from examiner.results import Results
    >>> made = learning_curves(Results.from_numpy([[1.0], [2.0]]), last=1)
    >>> [agent["rank"]["best"] for agent in content_of(made, made.verdicts())["agents"]]
    [2.0, 1.0]
    """
    names = verdicts.summaries
    return {
        "measure": made.measure,
        "unit": made.unit,
        "last_episodes": made.last,
        "points": made.points.tolist(),
        "reduction": "none: whole runs are summed up",
        "summaries": [
            {"name": s.name, "meaning": s.meaning, "point": s.point} for s in made.summaries
        ],
        "agents": [
            {
                "agent": agent,
                "standing": _named(names, verdicts.standing[:, place]),
                "rank": _named(names, verdicts.rank[:, place]),
                "tasks": {
                    task: _named(names, verdicts.cells[:, place, column])
                    for column, task in enumerate(verdicts.tasks)
                },
            }
            for place, agent in enumerate(verdicts.agents)
        ],
        "agreement": {
            name: _named(names, row) for name, row in zip(names, verdicts.agreement, strict=True)
        },
        "runs": [_run(made, place) for place in range(len(made.run))],
        "null_means": "cannot be computed: see the warnings",
    }


def _run(made: LearningCurves, place: int) -> dict[str, Any]:  # Any: JSON values
    return {
        "agent": made.agents[made.agent[place]],
        "task": made.tasks[made.task[place]],
        "run": made.run[place],
        "episodes": int(made.episodes[place]),
        "length": float(made.length[place]),
        "episodes_at_points": made.episodes_at_points[place].tolist(),
        "largest_drop": float(made.largest_drop[place]),
        **_named([summary.name for summary in made.summaries], made.values[place]),
    }


def _named(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(names, (float(value) for value in values), strict=True))


def _frames(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part.replace("_", "")) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"The report points are {shorten(text)}. Give frames, for example `--points 1e6,5e6`."
        ) from None


def _print(made: LearningCurves, verdicts: Verdicts) -> None:
    print_line(
        f"{counted(len(made.run), 'run')} of {counted(len(made.agents), 'agent')} on "
        f"{counted(len(made.tasks), 'task')}; {made.measure}, time in {made.unit}"
    )
    one_task = len(made.tasks) == 1
    shown = verdicts.cells[:, :, 0] if one_task else verdicts.standing
    what = "mean over runs" if one_task else "share of the other agents beaten, mean over tasks"
    rows = [
        [name, *(_cell(value, rank) for value, rank in zip(row, places, strict=True))]
        for name, row, places in zip(verdicts.summaries, shown, verdicts.rank, strict=True)
    ]
    title = f"\nSummaries: {what}, and (rank)"
    print_table(title, ["summary", *verdicts.agents], rows, right=range(1, len(made.agents) + 1))
    pairs = np.argwhere(np.triu(verdicts.agreement < 1, k=1))
    worst = sorted(pairs.tolist(), key=lambda pair: verdicts.agreement[pair[0], pair[1]])[:5]
    if worst:
        taus = [
            [verdicts.summaries[a], verdicts.summaries[b], float(verdicts.agreement[a, b])]
            for a, b in worst
        ]
        print_table("\nWhere they disagree most (Kendall's tau)", ["one", "other", "tau"], taus)
    elif len(made.agents) > 1:
        print_line("\nAll summaries put the agents in the same order.")


def _cell(value: float, rank: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.4g}" + ("" if np.isnan(rank) else f" ({rank:.0f})")
