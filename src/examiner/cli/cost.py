"""`examiner cost`: score against money, tokens or seconds, and who is on the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.cli.levels import LevelOptions, levelled_and_compared
from examiner.cli.options import (
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
from examiner.reporting.findings import cost as findings
from examiner.scores import averaging_notes, pareto
from examiner.scores.costs import needed_cost
from examiner.scores.unit import score_unit

COST = "What attempts cost: a column, or tokens_in*PRICE+tokens_out*PRICE"


@dataclass(frozen=True, slots=True)
class CostOptions:
    """What an attempt costs, and how surely the front is told."""

    cost: str | None = option(
        None, f"{COST} [default: cost, tokens or seconds, the first there is].", metavar="COLUMN"
    )
    coverage: float = option(
        0.9, "Share of the tasks on which an agent's score and cost must be known."
    )
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")
    level: float = option(0.95, "Level of the intervals.")


def cost(
    options: SourceOptions,
    how: CostOptions,
    comparison: ComparisonOptions,
    levels: LevelOptions,
    drawn: FigureOptions,
    told: Seeded,
) -> None:
    """Set scores against what they cost: who is on the Pareto front, how surely, and who is dominated."""
    with progress_bar("reading") as progress:
        known = levelled_and_compared(results_from(options, progress), levels, comparison)
        results = known.results
        if known.normalise is None:
            results = results.with_notes(*averaging_notes(results))
        found = pareto(
            results,
            needed_cost(results, how.cost),
            rng=told.seed,
            total=known.total,
            coverage=how.coverage,
            reps=how.reps,
            level=how.level,
            progress=progress,
        )
        finding = findings.tell(found, seed=told.seed)
        figures = drawn.write([finding])
    beside = {"source": results.provenance.source, "seed": told.seed, "figures": figures}
    unit = score_unit(results)
    show(finding, "examiner.cost/1", told, results.notes, score_unit=unit, **beside)
