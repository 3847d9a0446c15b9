"""Statistics of the columns of tables with gaps, block by block, and without some of their rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.information.first_factors import largest_eigenvalue
from examiner.scores import GappedColumns, PairSums, ratio
from examiner.validation import Floats

CONSTANT = 1e-12
"""The share of a column's squares below which what remains of it is rounding."""
FAR = 1e3
"""Median distances beyond which subtracting a value's row from sums would lose too many digits."""


def mean_over_gaps(table: Floats) -> float:
    """Return the mean correlation of two different columns, each over the rows that both have.

    NaN where no two have one. No table of all pairs is stored.

    >>> mean_over_gaps(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 7.0], [np.nan, 1.0]])).__round__(3)
    0.993
    """
    columns = GappedColumns.of(table)
    total, count = 0.0, 0
    for left, right, sums in columns.blocks():
        correlations = _different(sums.correlations(), left, right)
        times = 1 if left == right else 2  # a pair of blocks also represents its mirror image
        total += times * float(np.nansum(correlations))
        count += times * int(np.isfinite(correlations).sum())
    return total / count if count else float("nan")


def means_over_gaps_without(table: Floats, group: NDArray[np.intp]) -> Floats:
    """Return that mean without each group of rows, [groups]: sums of all rows less those of the group.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [4.0, 3.0], [np.nan, 2.0]])
    >>> means_over_gaps_without(table, np.arange(5)).round(3)
    array([-0.327,  0.327,  0.327, -0.327,  0.   ])
    """
    columns = GappedColumns.of(table)
    parts = [columns.rows(group == number) for number in range(int(group.max()) + 1)]
    total, count = np.zeros(len(parts)), np.zeros(len(parts))
    for left, right, whole in columns.blocks():
        times = 1 if left == right else 2
        for number, part in enumerate(parts):
            remaining = whole.without(part.sums(left, right))
            rounding = CONSTANT * whole.left_squares, CONSTANT * whole.right_squares
            correlations = _different(remaining.correlations(rounding), left, right)
            total[number] += times * np.nansum(correlations)
            count[number] += times * np.isfinite(correlations).sum()
    means = ratio(total, count)
    for number in _with_far_rows(columns, group):
        means[number] = mean_over_gaps(table[group != number])
    return means


def _with_far_rows(columns: GappedColumns, group: NDArray[np.intp]) -> list[int]:
    """Return the groups of rows that are excluded by summing the others."""
    if columns.counted:
        return []
    far = np.abs(columns.values).max(axis=1, initial=0.0) > FAR
    return [int(number) for number in np.unique(group[far])]


def first_shares_without(table: Floats, group: NDArray[np.intp]) -> Floats:
    r"""Return the first factor's share of a standardised table (gaps 0) without each group; [groups].

    With m the mean of a column over its own n rows and S its squares about it, products of columns are

    .. math:: \frac{\sum xy - m_y \sum x - m_x \sum y + n_{xy} m_x m_y}{\sqrt{S_x S_y / (n_x n_y)}}

    over common rows, and the share is their largest eigenvalue over their trace.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [4.0, 3.0], [np.nan, 2.0]])
    >>> first_shares_without(table, np.arange(5)).round(3)
    array([0.672, 0.677, 0.656, 0.676, 0.5  ])
    """
    columns, every = GappedColumns.of(table), slice(None)
    whole = columns.sums(every, every)
    squares, with_far = CONSTANT * whole.left_squares.diagonal(), _with_far_rows(columns, group)
    shares = []
    for number in range(int(group.max()) + 1):
        if number in with_far:
            remaining = GappedColumns.of(table[group != number]).sums(every, every)
            shares.append(_first_share(remaining, CONSTANT * remaining.left_squares.diagonal()))
        else:
            remaining = whole.without(columns.rows(group == number).sums(every, every))
            shares.append(_first_share(remaining, squares))
    return np.array(shares)


def _first_share(sums: PairSums, rounding: Floats) -> float:
    """Return the first factor's share; columns that vary by no more than rounding do not count."""
    n = np.maximum(sums.shared.diagonal(), 1)
    mean = sums.left.diagonal() / n
    spread = sums.left_squares.diagonal() - n * mean**2
    varied = spread > rounding
    unit = np.where(varied, np.sqrt(n / np.where(varied, spread, 1.0)), 0.0)
    products = sums.joint - sums.left * mean - mean[:, None] * sums.right
    products += sums.shared * mean[:, None] * mean
    products *= unit[:, None] * unit
    trace = float(n[varied].sum())
    return largest_eigenvalue(products) / trace if trace else float("nan")


def _different(correlations: Floats, left: slice, right: slice) -> Floats:
    """Return correlations with NaN for a column with itself."""
    if left == right:
        np.fill_diagonal(correlations, np.nan)
    return correlations
