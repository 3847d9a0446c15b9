"""What tables with gaps say of their columns, block by block, and without some of their rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.information.first_factors import largest_eigenvalue
from examiner.scores.cells import ratio
from examiner.scores.common_rows import GappedColumns, PairSums
from examiner.validation import Floats

CONSTANT = 1e-12
"""The share of the whole column's squares below which what is left of it does not vary but by rounding."""
FAR = 1e3
"""Median distances beyond which a value would leave too few digits where its row is taken off sums."""


def mean_over_gaps(table: Floats) -> float:
    """Return the mean correlation of two different columns, each over the rows that both have.

    NaN where no two have one. All pairs are looked at, but no table of them is made.

    >>> mean_over_gaps(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 7.0], [np.nan, 1.0]])).__round__(3)
    0.993
    """
    columns = GappedColumns.of(table)
    total, known = 0.0, 0
    for left, right, sums in columns.blocks():
        found = _different(sums.correlations(), left, right)
        times = 1 if left == right else 2  # a pair of blocks stands for its mirror image
        total += times * float(np.nansum(found))
        known += times * int(np.isfinite(found).sum())
    return total / known if known else float("nan")


def means_over_gaps_without(table: Floats, group: NDArray[np.intp]) -> Floats:
    """Return that mean without each group of rows, [groups]: sums of all rows less those of the group.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [4.0, 3.0], [np.nan, 2.0]])
    >>> means_over_gaps_without(table, np.arange(5)).round(3)
    array([-0.327,  0.327,  0.327, -0.327,  0.   ])
    """
    columns = GappedColumns.of(table)
    parts = [columns.rows(group == number) for number in range(int(group.max()) + 1)]
    total, known = np.zeros(len(parts)), np.zeros(len(parts))
    for left, right, whole in columns.blocks():
        times = 1 if left == right else 2
        for number, part in enumerate(parts):
            rest = whole.without(part.sums(left, right))
            found = _different(rest.correlations(_rounding(whole)), left, right)
            total[number] += times * np.nansum(found)
            known[number] += times * np.isfinite(found).sum()
    means = ratio(total, known)
    for number in _with_far_rows(columns, group):
        means[number] = mean_over_gaps(table[group != number])
    return means


def _with_far_rows(columns: GappedColumns, group: NDArray[np.intp]) -> list[int]:
    """Groups of rows that are left out by summing up the others."""
    if columns.counted:
        return []
    far = np.abs(columns.values).max(axis=1, initial=0.0) > FAR
    return [int(number) for number in np.unique(group[far])]


def first_shares_over_gaps_without(table: Floats, group: NDArray[np.intp]) -> Floats:
    r"""Return the first factor's share of a standardised table, gaps 0, without each group; [groups].

    With m the mean of a column over its own n rows and S its squares about it, products of columns are

    .. math:: \frac{\sum xy - m_y \sum x - m_x \sum y + n_{xy} m_x m_y}{\sqrt{S_x S_y / (n_x n_y)}}

    over common rows, and the share is their largest eigenvalue over their trace.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [4.0, 3.0], [np.nan, 2.0]])
    >>> first_shares_over_gaps_without(table, np.arange(5)).round(3)
    array([0.672, 0.677, 0.656, 0.676, 0.5  ])
    """
    columns, every = GappedColumns.of(table), slice(None)
    whole = columns.sums(every, every)
    squares, anew = CONSTANT * whole.left_squares.diagonal(), _with_far_rows(columns, group)
    shares = []
    for number in range(int(group.max()) + 1):
        if number in anew:
            rest = GappedColumns.of(table[group != number]).sums(every, every)
            shares.append(_first_share(rest, CONSTANT * rest.left_squares.diagonal()))
        else:
            rest = whole.without(columns.rows(group == number).sums(every, every))
            shares.append(_first_share(rest, squares))
    return np.array(shares)


def _first_share(sums: PairSums, rounding: Floats) -> float:
    """The first factor's share; columns that vary by no more than rounding have none."""
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


def _rounding(whole: PairSums) -> tuple[Floats, Floats]:
    return CONSTANT * whole.left_squares, CONSTANT * whole.right_squares


def _different(correlations: Floats, left: slice, right: slice) -> Floats:
    """Correlations of different columns: none of a column with itself."""
    if left == right:
        np.fill_diagonal(correlations, np.nan)
    return correlations
