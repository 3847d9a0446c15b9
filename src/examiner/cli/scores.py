"""`examiner scores`: aggregates, comparisons and ranks, each with how sure one can be of it."""

from __future__ import annotations

from typing import Annotated

import typer

from examiner.cli.options import ComparisonOptions, JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table
from examiner.cli.progress import progress_bar
from examiner.cli.source import comparable, results_from
from examiner.cli.uncertainty import Uncertain, content_of, uncertain
from examiner.results import Results
from examiner.results.atari import atari_game
from examiner.scores import (
    AGGREGATES,
    suggested_aggregate,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.significance import PostHoc
from examiner.scores.uncertainty.bootstrap import Interval
from examiner.scores.uncertainty.resampling import Unit

_ROWS_SHOWN = 40
FAR_APART = 100


def scores(
    options: SourceOptions,
    comparison: ComparisonOptions,
    aggregate: Annotated[
        list[str] | None,
        typer.Option(
            "--aggregate",
            help=f"{', '.join(AGGREGATES)} or all; may be repeated, ranks are by the first "
            "[default: iqm; the mean where results are 0 or 1].",
        ),
    ] = None,
    unit: Annotated[
        Unit, typer.Option("--unit", help="What would be another sample: runs, tasks or both.")
    ] = "runs",
    interval: Annotated[
        Interval,
        typer.Option("--interval", help="rescaled covers with few runs; percentile is rliable's."),
    ] = "rescaled",
    reps: Annotated[int, typer.Option("--reps", help="Resamples to draw.")] = 2000,
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.95,
    posthoc: Annotated[
        PostHoc, typer.Option("--posthoc", help="Test of pairs after Friedman's.")
    ] = "wilcoxon-holm",
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Aggregate agents with intervals, compare them, and say where the uncertainty comes from."""
    with progress_bar("reading") as progress:
        results = comparable(results_from(options), comparison)
        if comparison.normalise is None:
            results = results.with_notes(*_incomparable(results))
        made = uncertain(
            results,
            _aggregates(results, aggregate),
            reps=reps,
            unit=unit,
            interval=interval,
            level=level,
            posthoc=posthoc,
            seed=seed,
            progress=progress,
        )
    if json:
        content = content_of(made)
        print_json(
            "examiner.scores/1",
            content
            | {"source": results.provenance.source, "steps": list(results.provenance.steps)}
            | {"warnings": list(results.notes)},
        )
        return
    _print(made)
    print_notes((*results.notes, *made.notes))


def _aggregates(results: Results, named: list[str] | None) -> tuple[str, ...]:
    """The aggregates asked for; else the one that suits the measure."""
    if named is None:
        return (suggested_aggregate(results),)
    return tuple(AGGREGATES) if "all" in named else tuple(named)


def _incomparable(results: Results) -> list[str]:
    """A warning where raw scores are averaged over tasks that have units of their own."""
    method = suggested_normaliser(results)
    if method == "human":
        return [
            "Raw scores are averaged, though every task has a scale: consider `--normalise human`."
        ]
    apart = task_ranges_apart(results)
    if method is None or apart < FAR_APART:
        return []
    atari = sum(atari_game(name) is not None for name in results.task_names)
    scales = " or `--scales atari-human-random --normalise human`" if atari else ""
    return [
        f"Raw scores are averaged over tasks whose ranges lie {apart:,.0f}-fold apart, so that few "
        f"tasks decide: consider `--normalise {method}`{scales}."
    ]


def _print(made: Uncertain) -> None:
    aggregates = made.aggregates
    print_line(
        f"{aggregates.level:.0%} intervals, unit: {aggregates.unit}, {aggregates.interval}, "
        f"{aggregates.reps:,} resamples, seed {made.seed}"
    )
    header = ("agent", "aggregate", "value", "low", "high")
    rows = [[row[name] for name in header] for row in aggregates.rows()]
    print_table("\nAggregates", header, rows[:_ROWS_SHOWN], right=(2, 3, 4))
    _print_more(len(rows))
    if made.improvement is not None:
        header = ("a", "b", "probability", "low", "high")
        rows = [[row[name] for name in header] for row in content_of(made)["improvement"]]
        print_table("\nProbability that a beats b", header, rows[:_ROWS_SHOWN], right=(2, 3, 4))
        _print_more(len(rows))
    if made.tests is not None and made.tests.p_value == made.tests.p_value:
        print_line(
            f"\nFriedman's test over {len(made.tests.tasks)} tasks: statistic "
            f"{made.tests.statistic:.4g}, p = {made.tests.p_value:.3g}"
        )
    print_line(f"\n{made.decision.answer}")


def _print_more(rows: int) -> None:
    if rows > _ROWS_SHOWN:
        print_line(f"… and {rows - _ROWS_SHOWN:,} more rows: all are in --json")
