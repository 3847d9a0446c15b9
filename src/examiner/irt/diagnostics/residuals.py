"""What is left of responses once abilities and curves have had their say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.kernels import squeezed
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.results import ResponseMatrix


class Residuals(NamedTuple):
    """Response minus expectation and the variance expected of it, [agents, tasks].

    Both are 0 in cells that were not observed; `observed` says which.
    """

    difference: Floats
    variance: Floats
    observed: NDArray[np.bool_]

    def standardised(self) -> Floats:
        """Differences over expected standard deviations; 0 in cells that were not observed."""
        return self.difference / np.sqrt(np.where(self.observed, self.variance, 1.0))


def residuals(matrix: ResponseMatrix, items: ItemParameters, ability: Floats) -> Residuals:
    """Return k − nP with variance nP(1 − P)(1 + (n − 1)ρ), or y − P with P(1 − P)/(1 + φ).

    ρ = 1 / (1 + ν) is how trials of one cell correlate under the beta-binomial, 0 otherwise.
    """
    shape = curves(items, ability)
    # The variance may not vanish: a surprise where none is possible counts as very large.
    chance, other = shape.success.T, shape.failure.T
    spread = np.maximum(chance * other, 1e-12)
    if items.response == "beta":
        assert items.precision is not None
        scores, observed = squeezed(matrix)
        difference = np.where(observed, scores - chance, 0.0)
        return Residuals(
            difference, np.where(observed, spread / (1.0 + items.precision), 0.0), observed
        )
    tried = matrix.trials.astype(np.float64)
    alike = np.zeros(len(items)) if items.precision is None else 1.0 / (1.0 + items.precision)
    variance = tried * spread * (1.0 + np.maximum(tried - 1.0, 0.0) * alike)
    return Residuals(matrix.successes - tried * chance, variance, matrix.observed)


def mean_squares(found: Residuals, axis: int = 0) -> tuple[Floats, Floats]:
    """Return infit Σr²/ΣV and outfit mean(r²/V), per task (axis 0) or per agent (axis 1).

    References: Wright & Masters (1982), pp. 99-105.
    """
    squares = found.difference**2
    seen = found.observed.sum(axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        infit = squares.sum(axis=axis) / found.variance.sum(axis=axis)
        outfit = (found.standardised() ** 2).sum(axis=axis) / seen
    return np.where(seen > 0, infit, np.nan), np.where(seen > 0, outfit, np.nan)
