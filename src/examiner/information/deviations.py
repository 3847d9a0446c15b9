"""How much an agent varies on a task, where that was seen, and what stands in where it was not."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.observations import Moments

Array = NDArray[np.float64]


class CellDeviations(NamedTuple):
    """Deviations [agents, tasks], NaN where nothing was observed or none can be told; and two counts."""

    deviation: Array
    borrowed: int
    floored: int


def cell_deviations(
    found: Moments, kind: Literal["trial", "mean"], deviations: str | float, floor: float
) -> CellDeviations:
    """Return the deviation of each cell, how many cells borrowed theirs, and how many have the floor.

    >>> ones = np.ones((1, 2))
    >>> found = Moments(ones * 3, ones * 3, np.array([[0.0, 0.5]]), ones * 2, ones * 2)
    >>> cell_deviations(found, "trial", "own", 0.01).deviation
    array([[1., 1.]])
    """
    observed = np.isfinite(found.mean)
    between = task_spread(found.mean)
    square, draws = (
        (found.square, found.trials) if kind == "trial" else (found.unit_square, found.units)
    )
    freedom = np.maximum(draws - 1, 0)
    borrowed = 0
    if isinstance(deviations, str):
        pooled = pooled_deviation(square, freedom)
        if deviations == "pooled":
            pooled = _lent(pooled, between)
        deviation = np.broadcast_to(pooled, observed.shape).copy()
        borrowed = int((observed & (freedom == 0) & np.isfinite(pooled)).sum())
        if deviations == "own":
            own = freedom > 0
            deviation[own] = np.sqrt(square[own] / freedom[own])
    else:
        deviation = np.broadcast_to(deviations * between, observed.shape).copy()
    if kind == "mean":
        deviation /= np.sqrt(np.maximum(draws, 1))
    deviation[~observed] = np.nan
    least = floor * _least(between, deviation)
    floored = int((deviation < least).sum())
    return CellDeviations(np.maximum(deviation, least), borrowed, floored)


def task_spread(means: Array) -> Array:
    """Return the deviation of the agents' means on each task; NaN where no agent was observed.

    >>> task_spread(np.array([[0.0, 1.0], [2.0, np.nan]]))
    array([1., 0.])
    """
    seen = np.isfinite(means)
    count = np.where(seen.any(axis=0), seen.sum(axis=0), np.nan)
    centre = np.where(seen, means, 0.0).sum(axis=0) / count
    spread: Array = np.sqrt(np.where(seen, (means - centre) ** 2, 0.0).sum(axis=0) / count)
    return spread


def pooled_deviation(square: Array, freedom: Array) -> Array:
    """Return one deviation for each task from all its repeated cells; NaN where none is repeated.

    >>> pooled_deviation(np.array([[2.0], [6.0]]), np.array([[1.0], [1.0]]))
    array([2.])
    """
    total = freedom.sum(axis=0)
    variance = np.full(total.shape, np.nan)
    repeated = np.where(freedom > 0, square, 0.0).sum(axis=0)
    np.divide(repeated, total, out=variance, where=total > 0)
    return np.sqrt(variance)


def _lent(pooled: Array, between: Array) -> Array:
    """Tasks without repeated trials take the typical share of the spread between agents."""
    varied = np.isfinite(pooled) & (between > 0)
    if not varied.any():
        return pooled
    typical = float(np.median(pooled[varied] / between[varied]))
    return np.where(np.isnan(pooled), typical * between, pooled)


def _least(between: Array, deviation: Array) -> Array:
    """The spread between agents; where there is none, the spread within; where neither, one."""
    seen = np.isfinite(deviation)
    count = np.maximum(seen.sum(axis=0), 1)
    within = np.sqrt((np.where(seen, deviation, 0.0) ** 2).sum(axis=0) / count)
    spread = np.where(between > 1e-12, between, within)
    return np.where(spread > 1e-12, spread, 1.0)
