"""Ranks that ties share, among agents overall and on each task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def shared_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank values from the greatest (1); equal ones share the better rank, NaN has none.

    Values alike to twelve digits are equal: sums in another order may differ in the last.

    >>> shared_ranks(np.array([2.0, 5.0, np.nan, 2.0, 1.0]))
    array([ 2.,  1., nan,  2.,  4.])
    """
    ranks = np.full(values.shape, np.nan)
    seen = np.isfinite(values)
    if not seen.any():
        return ranks
    size = float(np.abs(values[seen]).max()) or 1.0
    rounded = -np.round(values[seen] / size, 12)
    ranks[seen] = np.searchsorted(np.sort(rounded), rounded, side="left") + 1.0
    return ranks


def task_ranks(comparable: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank the agents on each task; shape [agents, tasks].

    >>> task_ranks(np.array([[1.0, np.nan], [3.0, 2.0]]))
    array([[ 2., nan],
           [ 1.,  1.]])
    """
    return np.column_stack([shared_ranks(column) for column in comparable.T])
