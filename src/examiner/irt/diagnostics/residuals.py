"""Residuals of responses at the estimated abilities, infit and outfit, and cut-offs from draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import SCORES, Floats, ItemParameters, curves
from examiner.irt.outcomes import expected_result, result_variance
from examiner.results import ResponseMatrix

_LEAST = 1e-12
RARE = 0.05
"""One table in twenty, of which nothing is wrong, has any finding of a kind."""


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
    """Return k − nP with variance nP(1 − P)(1 + (n − 1)ρ), or a score less its expectation.

    ρ = 1 / (1 + ν) is how trials of one cell correlate under the beta-binomial, 0 otherwise.
    """
    if items.response in SCORES:
        scores, observed = matrix.to_numpy(), matrix.observed
        expected, variance = (of(items, ability).T for of in (expected_result, result_variance))
        difference = np.where(observed, scores - expected, 0.0)
        return Residuals(
            difference, np.where(observed, np.maximum(variance, _LEAST), 0.0), observed
        )
    shape = curves(items, ability)
    # The variance may not vanish: a surprise where none is possible counts as very large.
    chance, other = shape.success.T, shape.failure.T
    spread = np.maximum(chance * other, _LEAST)
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


def rarely_exceeded(drawn: Floats, share: float = RARE) -> float:
    """Return what data of the model exceed with at most this probability, by as many draws as there are.

    Of n draws and one table like them, each is equally likely to be among the k largest: the cut-off is
    the k-th largest draw, k = ⌊share · (n + 1)⌋. A quantile between draws is exceeded more often, with
    20 draws twice as often. Infinite where there are too few draws; NaN draws are left out.

    References: Davison & Hinkley (1997), section 4.2; Barnard (1963).

    >>> rarely_exceeded(np.arange(39.0)), rarely_exceeded(np.arange(10.0))
    (37.0, inf)
    """
    known = np.sort(drawn[np.isfinite(drawn)])
    rank = int(share * (known.size + 1) + 1e-9)
    return float(known[-rank]) if rank else float("inf")


def by_chance_among_all(statistic: Floats, drawn: Floats) -> Floats:
    r"""Return how often any of all is as low as each, [agents]; draws are [draws, agents].

    The table and every draw are made alike: each agent's value is standardised by those of the other
    tables, and the median over agents is taken off, since a fit that is too good, or too bad, for
    all says nothing of one. The adjusted chance of an agent is the share of tables whose lowest value is
    at most its own.

    References: Westfall & Young (1993), section 2.3, for many tests at once.

    >>> rng = np.random.default_rng(0)
    >>> chance = by_chance_among_all(np.array([-9.0, 0.1, 0.3]), rng.normal(size=(99, 3)))
    >>> chance.round(2)[0], bool(chance[1:].min() > 0.5)
    (np.float64(0.01), True)
    """
    tables = np.vstack([statistic, drawn])
    count = len(tables) - 1
    sums, squares = tables.sum(axis=0), (tables**2).sum(axis=0)
    mean = (sums - tables) / count
    variance = (squares - tables**2) / count - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(
            variance > 0, (tables - mean) / np.sqrt(np.maximum(variance, 0.0)), np.nan
        )
    known = np.isfinite(scaled)
    if not known[0].any():
        return np.full(len(statistic), np.nan)
    middle = np.nanmedian(np.where(known.any(axis=1, keepdims=True), scaled, 0.0), axis=1)
    scaled = np.where(known, scaled - middle[:, None], np.inf)
    lowest = scaled.min(axis=1)
    chance = (lowest[:, None] <= scaled[0] + 1e-12).mean(axis=0)
    return np.where(known[0], chance, np.nan)
