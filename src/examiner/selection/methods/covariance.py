"""The tasks that leave least of the target unexplained, under shrunk covariances between tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.selection.covariance import Conditional
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import Gains, TaskSet, check_size, grow
from examiner.selection.shrinkage import Blend, CovarianceData, Shrinkage

UNIT = "share of the target's variance explained"


def covariance(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    r"""Add the task that most lowers the variance of the target given the tasks chosen.

    .. math:: j = \arg\max_j \frac{\operatorname{Cov}(x_j, y \mid x_S)^2}{\operatorname{Var}(x_j \mid x_S)}

    Greedy design for a Gaussian (MacKay, 1992, eq. 8 for one region of interest; Krause, Singh & Guestrin,
    2008, alg. 1) under covariances shrunk towards a few common factors; how far was settled in folds over
    the same agents. Gaps count as unobserved. Needs `evidence.target` and `evidence.shrinkage`; draws
    nothing at random.
    """
    shrinkage, size = _shrinkage(evidence), check_size(evidence, size)
    return grow(
        evidence, size, _gains(evidence.table, shrinkage.at(size)), method="covariance", unit=UNIT
    )


def covariance_path(
    evidence: SelectionEvidence, sizes: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the positions of sets of several sizes at once: sizes with one blend share their way."""
    shrinkage, table = _shrinkage(evidence), evidence.table
    gains: dict[Blend, Gains] = {}
    longest: dict[Blend, tuple[int, ...]] = {}
    sets = {}
    for size in sorted(sizes, reverse=True):
        blend = shrinkage.at(size)
        if blend not in gains:
            gains[blend] = _gains(table, blend)
        if blend not in longest or evidence.terms.in_units:
            grown = grow(evidence, size, gains[blend], method="covariance", unit=UNIT)
            longest[blend] = grown.columns
        sets[size] = longest[blend][:size]
    return [sets[size] for size in sizes]


def _shrinkage(evidence: SelectionEvidence) -> Shrinkage:
    evidence.needed("covariance", "target")
    shrinkage: Shrinkage = evidence.needed("covariance", "shrinkage")
    return shrinkage


def _gains(table: CovarianceData, blend: Blend) -> Gains:
    return Conditional(table.covariance(blend)).gains
