"""Cell means turned so that higher is better, and put into units in which tasks can be added up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores.cells import cell_means

Array = NDArray[np.float64]


def task_signs(results: Results, measure: str) -> Array:
    """Return +1 for tasks where higher is better and −1 where lower is; shape [tasks].

    >>> task_signs(Results.from_numpy([[1.0, 2.0]]), "score")
    array([1., 1.])
    """
    return results.scales.aligned(results.task_names, measure).sign


def oriented_means(results: Results, measure: str) -> Array:
    """Return the mean of each cell, higher being better; shape [agents, tasks], NaN for no result.

    >>> oriented_means(Results.from_numpy([[1.0, 2.0]]), "score")
    array([[1., 2.]])
    """
    means: Array = cell_means(results, measure) * task_signs(results, measure)
    return means


def addable(means: Array, like: Array | None = None) -> Array:
    """Return means as shares: as they are within [0, 1], else each task from its worst agent to its best.

    `like` gives another table whose worst and best are used. A task on which all are alike is ½.

    >>> addable(np.array([[0.2, 0.5], [0.4, 1.0]])).tolist()
    [[0.2, 0.5], [0.4, 1.0]]
    >>> addable(np.array([[2.0], [7.0], [12.0]])).ravel()
    array([0. , 0.5, 1. ])
    """
    like = means if like is None else like
    seen = np.isfinite(like)
    if ((like[seen] >= 0) & (like[seen] <= 1)).all():
        return means
    low = np.where(seen, like, np.inf).min(axis=0)
    high = np.where(seen, like, -np.inf).max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        half = high / 2 - low / 2
    varied = np.isfinite(half) & (half > 0)
    safe_low, safe_half = np.where(varied, low, 0.0), np.where(varied, half, 1.0)
    shares = (means / 2 - safe_low / 2) / safe_half
    return np.where(varied | np.isnan(means), shares, 0.5)


def standardised(means: Array) -> Array:
    """Return each task with mean 0 and deviation 1 over its agents; 0 where alike, NaN where unseen.

    >>> standardised(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    shares = addable(means)
    seen = np.isfinite(shares)
    count = np.maximum(seen.sum(axis=0), 1)
    centred = shares - np.where(seen, shares, 0.0).sum(axis=0) / count
    spread = np.sqrt(np.where(seen, centred**2, 0.0).sum(axis=0) / count)
    varied = spread > 1e-13
    scores: Array = centred / np.where(varied, spread, 1.0)
    return np.where(varied | ~seen, scores, 0.0)


def paired_correlation(left: Array, right: Array) -> tuple[Array, NDArray[np.int64]]:
    """Correlate column by column over the rows that both have, and count those rows.

    >>> paired_correlation(np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.5]]))
    (array([-0.98198051]), array([3]))
    """
    both = np.isfinite(left) & np.isfinite(right)
    count = both.sum(axis=0)
    left, right = (standardised(np.where(both, side, np.nan)) for side in (left, right))
    product = np.where(both, left * right, 0.0).sum(axis=0)
    varied = (np.where(both, left, 0.0) != 0).any(axis=0) & (np.where(both, right, 0.0) != 0).any(
        axis=0
    )
    correlation = np.full(len(count), np.nan)
    np.divide(product, count, out=correlation, where=varied & (count >= 3))
    return np.clip(correlation, -1.0, 1.0), count
