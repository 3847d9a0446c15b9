"""How selection methods predict and order held-out agents, as tables of findings."""

from __future__ import annotations

from examiner.reporting.finding import ShownTable, shown_table
from examiner.selection import MethodJudgement

PREDICTING = (*("method", "size", "r2", "r2_low", "r2_high", "mae", "relative_error", "coverage"),)
ORDERING = ("method", "size", "kendall", "top1", "top3", "bits", "minimum_detectable_difference")
COMPARED = (
    *("method", "size", "r2_remainder", "r2_remainder_low", "r2_remainder_high", "optimistic_r2"),
)


def validation_tables(
    judgement: MethodJudgement, sizes: tuple[int, ...] = ()
) -> tuple[ShownTable, ...]:
    """Return how methods predict and order held-out agents, at all sizes or some."""
    methods = judgement.methods
    kept = [at for at, size in enumerate(methods.size.tolist()) if not sizes or size in sizes]
    rows, folds = methods.take(kept), judgement.folds
    return (
        shown_table(rows, PREDICTING, f"Predicting held-out agents ({folds})"),
        shown_table(rows, ORDERING, f"Ordering held-out agents ({folds})"),
        shown_table(rows, COMPARED, "R² on the tasks not selected, and without holding out agents"),
    )
