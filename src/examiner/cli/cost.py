"""`examiner cost`: score against money, tokens or seconds, and the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.cli.options import (
    COST,
    LEVEL,
    REPS,
    USUAL_REPS,
    FigureOptions,
    LevelOptions,
    ScaledOptions,
    Seeded,
    SourceOptions,
    option,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import levelled_and_compared, results_from
from examiner.reporting import render_cost
from examiner.scores import pareto, score_unit


@dataclass(frozen=True)
class CostOptions:
    """The cost of an attempt, and the intervals of the front: arguments of `pareto`."""

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
    comparison: ScaledOptions,
    levels: LevelOptions,
    drawn: FigureOptions,
    printing: Seeded,
) -> None:
    """Compare scores with costs: which agents are on the Pareto front, how certainly, and which are not."""
    with progress_bar("reading") as progress:
        results, total = levelled_and_compared(results_from(options, progress), levels, comparison)
        front = pareto(
            results,
            normalise=None,
            rng=printing.seed,
            total=total,
            progress=progress,
            **vars(pricing),
        )
        finding = render_cost(front, seed=printing.seed)
        figures = drawn.write([finding])
    unit = score_unit(results)
    show(finding, printing, "cost", read=results, score_unit=unit, figures=figures)
