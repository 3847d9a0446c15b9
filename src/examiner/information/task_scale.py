"""A scale for the trials of each task, and one on which its measures are uncorrelated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores import ROUNDING
from examiner.validation import Floats

LEAST_EIGENVALUE = 0.05
"""The differences of measures that are perfectly correlated would otherwise have infinite weight."""


def task_scaled(values: Floats, task: NDArray[np.integer], tasks: int) -> Floats:
    """Return the values of each task on a scale from −½ to ½; a constant task is 0 throughout.

    Not the normaliser 'min-max', which compares agents: this is a scale for single trials on which squares
    neither overflow nor lose digits. Bits do not depend on it.

    >>> task_scaled(np.array([10.0, 30.0, 7.0]), np.array([0, 0, 1]), 2)
    array([-0.5,  0.5,  0. ])
    """
    observed = ~np.isnan(values)
    low, high = np.full(tasks, np.inf), np.full(tasks, -np.inf)
    np.minimum.at(low, task[observed], values[observed])
    np.maximum.at(high, task[observed], values[observed])
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
    # Halves first: the range of two huge numbers of opposite sign is beyond float64.
    half, middle = high / 2 - low / 2, high / 2 + low / 2
    varied = half > ROUNDING * np.maximum(np.abs(low), np.abs(high))
    scale = np.where(varied, half, 1.0)
    scaled: Floats = (values / 2 - middle[task] / 2) / scale[task]
    return np.where(varied[task] | ~observed, scaled, 0.0)


def whitening(results: Results, measures: Sequence[str]) -> Floats:
    r"""Return for each task the matrix that makes its measures' noise uncorrelated.

    With R the correlation of the measures within cells, pooled over the agents of a task,

    .. math:: z^\top R^{-1} z = \lVert W z \rVert^2

    R is shrunk towards no correlation, more with fewer trials (by M + 1 of the degrees of freedom plus
    M + 1), and no eigenvalue is below 0.05. Shape [tasks, measures, measures].

    >>> table = {"agent": ["a"] * 4, "task": ["t"] * 4, "score": [0, 1, 2, 3], "win": [0, 0, 1, 1]}
    >>> matrix = whitening(Results.from_dict(table), ["score", "win"])[0]
    >>> np.linalg.inv(matrix.T @ matrix).round(3)
    array([[1.   , 0.447],
           [0.447, 1.   ]])
    """
    n_tasks, n_measures = len(results.tasks), len(measures)
    tasks = results.task_codes.astype(np.int64)
    values = np.stack([task_scaled(results.measure(name), tasks, n_tasks) for name in measures])
    observed = ~np.isnan(values).any(axis=0)
    values, tasks = values[:, observed], tasks[observed]
    cells = results.agent_codes.astype(np.int64)[observed] * n_tasks + tasks
    cells = np.unique(cells, return_inverse=True)[1]
    count = np.bincount(cells)
    centre = np.stack([np.bincount(cells, weights=row) / count for row in values])
    centred = values - centre[:, cells]
    products = np.empty((n_tasks, n_measures, n_measures))
    for left in range(n_measures):
        for right in range(n_measures):
            both = centred[left] * centred[right]
            products[:, left, right] = np.bincount(tasks, weights=both, minlength=n_tasks)
    first = np.unique(cells, return_index=True)[1]
    freedom = np.bincount(tasks, minlength=n_tasks) - np.bincount(tasks[first], minlength=n_tasks)
    return _inverse_root(_shrunk(products, freedom.astype(np.float64)))


def _shrunk(products: Floats, freedom: Floats) -> Floats:
    measures = products.shape[1]
    scale = np.sqrt(np.einsum("tmm->tm", products))
    lengths = scale[:, :, None] * scale[:, None, :]
    correlation = np.zeros_like(products)
    np.divide(products, lengths, out=correlation, where=lengths > 0)
    kept = freedom / (freedom + measures + 1)
    correlation *= kept[:, None, None]
    correlation[:, np.arange(measures), np.arange(measures)] = 1.0
    return correlation


def _inverse_root(correlation: Floats) -> Floats:
    values, vectors = np.linalg.eigh(correlation)
    lengths = 1 / np.sqrt(np.maximum(values, LEAST_EIGENVALUE))
    return np.asarray(lengths[:, :, None] * vectors.transpose(0, 2, 1))
