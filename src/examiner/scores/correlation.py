"""Correlation between tasks (or agents), over the pairs of cells that both have."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import ResponseMatrix, Results
from examiner.results.checks import InputError, shorten
from examiner.scores.cells import cell_means

Method = Literal["pearson", "spearman"]

FEWEST_PAIRS = 3
"""With two pairs every correlation is ±1: nothing is learnt from them."""


class TaskCorrelation(NamedTuple):
    """Correlation of each two tasks across agents; NaN where too few pairs or no variation."""

    tasks: tuple[str, ...]
    values: NDArray[np.float64]
    pairs: NDArray[np.int64]


def task_correlation(
    source: Results | ResponseMatrix, method: Method = "pearson", measure: str | None = None
) -> TaskCorrelation:
    """Correlate tasks across agents, each pair of tasks over the agents observed on both.

    >>> scores = Results.from_numpy([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]])
    >>> task_correlation(scores).values.round(3)
    array([[1.   , 0.982],
           [0.982, 1.   ]])
    """
    values = (
        source.to_numpy() if isinstance(source, ResponseMatrix) else cell_means(source, measure)
    )
    return TaskCorrelation(source.tasks, *correlate_columns(values, method))


def correlate_columns(
    values: NDArray[np.float64], method: Method = "pearson"
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Correlate the columns of a table with NaN for missing, and count the pairs behind each.

    Columns are grouped by which rows they lack: within two groups the common rows are the same, so
    that one matrix product does for all their pairs, and ranks are taken over just those rows.

    >>> correlate_columns(np.array([[1.0, 6.0], [2.0, 5.0], [3.0, 4.0], [4.0, np.nan]]))[1]
    array([[4, 3],
           [3, 3]])
    """
    if method not in ("pearson", "spearman"):
        raise InputError(f"Unknown correlation {shorten(method)}. Known: 'pearson', 'spearman'.")
    seen = ~np.isnan(values)
    patterns, group = np.unique(seen, axis=1, return_inverse=True)
    members = [np.flatnonzero(group.ravel() == place) for place in range(patterns.shape[1])]
    correlations = np.full((values.shape[1],) * 2, np.nan)
    pairs = np.zeros(correlations.shape, dtype=np.int64)
    for first, left in enumerate(members):
        for second, right in enumerate(members[: first + 1]):
            common = patterns[:, first] & patterns[:, second]
            block = _correlate(values[common][:, left], values[common][:, right], method)
            for rows, columns, part in ((left, right, block), (right, left, block.T)):
                correlations[np.ix_(rows, columns)] = part
                pairs[np.ix_(rows, columns)] = common.sum()
    return correlations, pairs


def _correlate(
    left: NDArray[np.float64], right: NDArray[np.float64], method: Method
) -> NDArray[np.float64]:
    if len(left) < FEWEST_PAIRS:
        return np.full((left.shape[1], right.shape[1]), np.nan)
    if method == "spearman":
        from scipy.stats import rankdata  # slow to import, and only ranks need it

        left, right = rankdata(left, axis=0), rankdata(right, axis=0)
    products = _standardised(left).T @ _standardised(right)
    bounded: NDArray[np.float64] = np.clip(products, -1.0, 1.0)
    return bounded


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns with mean zero and length one; NaN where a column does not vary."""
    varied = values.max(axis=0) > values.min(axis=0)
    centred: NDArray[np.float64] = values - values.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit: NDArray[np.float64] = np.full_like(centred, np.nan)
    np.divide(centred, length, out=unit, where=varied & (length > 0))
    return unit
