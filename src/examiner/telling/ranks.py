"""Ranks that ties share, on each task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.scores import shared_ranks


def task_ranks(comparable: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank the agents on each task; shape [agents, tasks].

    >>> task_ranks(np.array([[1.0, np.nan], [3.0, 2.0]]))
    array([[ 2., nan],
           [ 1.,  1.]])
    """
    return np.column_stack([shared_ranks(column) for column in comparable.T])
