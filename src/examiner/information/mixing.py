"""The correlation of measures within cells, for the distance that takes it into account."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from examiner.information.observations import task_scaled
from examiner.results import Results

LEAST_EIGENVALUE = 0.05
"""Measures that always move together would else count for infinitely much where they do not."""


def whitening(results: Results, measures: Sequence[str]) -> NDArray[np.float64]:
    r"""Return for each task the matrix that makes its measures' noise uncorrelated.

    With R the correlation of the measures within cells, pooled over the agents of a task,

    .. math:: z^\top R^{-1} z = \lVert W z \rVert^2

    R is drawn towards no correlation as far as few trials call for it (by M + 1 of the degrees of
    freedom plus M + 1), and no eigenvalue is let below 0.05. Shape [tasks, measures, measures].

    >>> table = {"agent": ["a"] * 4, "task": ["t"] * 4, "score": [0, 1, 2, 3], "win": [0, 0, 1, 1]}
    >>> matrix = whitening(Results.from_dict(table), ["score", "win"])[0]
    >>> np.linalg.inv(matrix.T @ matrix).round(3)
    array([[1.   , 0.447],
           [0.447, 1.   ]])
    """
    n_tasks, n_measures = len(results.tasks), len(measures)
    tasks = results.task_codes.astype(np.int64)
    values = np.stack([task_scaled(results.measure(name), tasks, n_tasks) for name in measures])
    seen = ~np.isnan(values).any(axis=0)
    values, tasks = values[:, seen], tasks[seen]
    cells = results.agent_codes.astype(np.int64)[seen] * n_tasks + tasks
    cells = np.unique(cells, return_inverse=True)[1]
    count = np.bincount(cells)
    centre = np.stack([np.bincount(cells, weights=row) / count for row in values])
    apart = values - centre[:, cells]
    products = np.empty((n_tasks, n_measures, n_measures))
    for left in range(n_measures):
        for right in range(n_measures):
            both = apart[left] * apart[right]
            products[:, left, right] = np.bincount(tasks, weights=both, minlength=n_tasks)
    first = np.unique(cells, return_index=True)[1]
    freedom = np.bincount(tasks, minlength=n_tasks) - np.bincount(tasks[first], minlength=n_tasks)
    return _inverse_root(_shrunk(products, freedom.astype(np.float64)))


def _shrunk(products: NDArray[np.float64], freedom: NDArray[np.float64]) -> NDArray[np.float64]:
    measures = products.shape[1]
    scale = np.sqrt(np.einsum("tmm->tm", products))
    lengths = scale[:, :, None] * scale[:, None, :]
    correlation = np.zeros_like(products)
    np.divide(products, lengths, out=correlation, where=lengths > 0)
    kept = freedom / (freedom + measures + 1)
    correlation *= kept[:, None, None]
    correlation[:, np.arange(measures), np.arange(measures)] = 1.0
    return correlation


def _inverse_root(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(correlation)
    lengths = 1 / np.sqrt(np.maximum(values, LEAST_EIGENVALUE))
    root: NDArray[np.float64] = lengths[:, :, None] * vectors.transpose(0, 2, 1)
    return root
