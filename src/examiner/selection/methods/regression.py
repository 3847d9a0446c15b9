"""The tasks that together best predict the aggregate of the full benchmark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import Gains, TaskSet, exchanged, floating
from examiner.selection.ridge import Design, with_one_more
from examiner.validation import Floats


def regression(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    r"""Add the task, and exchange tasks, as that most lowers the error of predicting left-out agents.

    .. math:: \frac1n \sum_i \Big| y_i - \hat y_{-i}(S) \Big|

    Atari-5's idea (Aitchison, Sweetser & Hutter, 2023) with shrinkage: each candidate set gets a ridge
    regression whose penalty is chosen by leave-one-out. The absolute error keeps one odd agent from
    deciding which tasks are taken. Needs `evidence.target`; draws nothing at random.
    """
    gains, unit = _error_removed(evidence), "error of the aggregate removed"
    return exchanged(evidence, size, gains, method="regression", unit=unit)


def regression_path(
    evidence: SelectionEvidence, sizes: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the positions of sets of several sizes at once."""
    return floating(evidence, sizes, _error_removed(evidence))


def _error_removed(evidence: SelectionEvidence) -> Gains:
    target = evidence.needed("regression", "target")
    design = Design.of(evidence.values).values

    def gains(chosen: list[int]) -> Floats:
        extended = with_one_more(design, target, chosen)
        return extended.alone - extended.errors

    return gains
