"""`examiner cost`: score against money, tokens or seconds, and the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.cli.levels import LevelOptions, levelled_and_compared
from examiner.cli.options import (
    LEVEL,
    REPS,
    USUAL_REPS,
    ComparisonOptions,
    FigureOptions,
    Seeded,
    SourceOptions,
    option,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting import render_cost
from examiner.scores import averaging_notes, needed_cost, pareto, score_unit

COST = "Cost of an attempt: a column, or tokens_in*PRICE+tokens_out*PRICE"


@dataclass(frozen=True, slots=True)
class CostOptions:
    """The cost of an attempt, and the intervals of the front."""

    cost: str | None = option(
        None, f"{COST} [default: the first of cost, tokens, seconds].", metavar="COLUMN"
    )
    coverage: float = option(
        0.9, "Share of the tasks with both score and cost that an agent must have."
    )
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")
    level: float = option(0.95, LEVEL)


def cost(
    options: SourceOptions,
    pricing: CostOptions,
    comparison: ComparisonOptions,
    levels: LevelOptions,
    drawn: FigureOptions,
    printing: Seeded,
) -> None:
    """Compare scores with costs: which agents are on the Pareto front, how certainly, and which are not."""
    with progress_bar("reading") as progress:
        prepared = levelled_and_compared(results_from(options, progress), levels, comparison)
        results = prepared.results
        if prepared.normalise is None:
            results = results.with_notes(*averaging_notes(results))
        front = pareto(
            results,
            needed_cost(results, pricing.cost),
            rng=printing.seed,
            total=prepared.total,
            coverage=pricing.coverage,
            reps=pricing.reps,
            level=pricing.level,
            progress=progress,
        )
        finding = render_cost(front, seed=printing.seed)
        figures = drawn.write([finding])
    unit = score_unit(results)
    show(finding, printing, "cost", read=results, score_unit=unit, figures=figures)
