"""The tasks that together best predict the aggregate of the full benchmark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.selection.evidence import Array, Evidence
from examiner.selection.greedy import Gains, floating, in_order
from examiner.selection.ridge import Design, ridge_fits
from examiner.selection.selection import Selection


def regression(evidence: Evidence, size: int, rng: np.random.Generator) -> Selection:
    r"""Add the task, and exchange tasks, as that most lowers the error of predicting left-out agents.

    .. math:: \frac1n \sum_i \Big| y_i - \hat y_{-i}(S) \Big|

    Atari-5's idea (Aitchison, Sweetser & Hutter, 2023) with shrinkage: each candidate set gets a ridge
    regression whose penalty is chosen by leave-one-out. The absolute error keeps one odd agent from
    deciding which tasks are taken. Needs `evidence.target`; draws nothing at random.
    """
    gains = _error_removed(evidence)
    places = floating(evidence, [size], gains)[0]
    return in_order(
        evidence, places, gains, method="regression", unit="error of the aggregate removed"
    )


def regression_path(
    evidence: Evidence, sizes: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the positions of sets of several sizes at once."""
    return floating(evidence, sizes, _error_removed(evidence))


def _error_removed(evidence: Evidence) -> Gains:
    evidence.needed("regression", "target")
    assert evidence.target is not None
    target = evidence.target
    design = Design.of(evidence.values).values
    tasks = len(evidence.tasks)

    def error(chosen: list[int]) -> float:
        if not chosen:
            return float(np.abs(target - target.mean()).mean() * len(target) / (len(target) - 1))
        return float(np.abs(ridge_fits(design, target, np.array([chosen])).left_out).mean())

    def gains(chosen: list[int]) -> Array:
        others = np.setdiff1d(np.arange(tasks), chosen)
        sets = np.column_stack([np.tile(np.array(chosen, dtype=np.intp), (len(others), 1)), others])
        errors = np.full(tasks, np.nan)
        errors[others] = np.abs(ridge_fits(design, target, sets).left_out).mean(axis=1)
        return error(chosen) - errors

    return gains
