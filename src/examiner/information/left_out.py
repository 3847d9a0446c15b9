"""What tables without gaps say without some of their rows, from sums over these alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.information.first_factors import largest_eigenvalue
from examiner.scores.cells import ratio
from examiner.scores.common_rows import column_blocks
from examiner.validation import Floats

CONSTANT = 1e-10
"""The share of its squares below which what is left of a column does not vary but by rounding."""


def correlations_without(table: Floats, group: NDArray[np.intp]) -> Floats:
    r"""Return the mean correlation of two columns without each group of rows, [groups].

    With n rows left, of mean m and squares q about it in each column, and u = (x − m) / √q,

    .. math:: m = -\frac{1}{n} \sum_{i \in g} x_i, \qquad q = \sum_{i \notin g} x_i^2 - n m^2, \qquad
              \bar r = \frac{\sum_{i \notin g} (\sum_t u_{it})^2 - T}{T (T - 1)}

    for columns about their mean: three products of the table serve all groups.

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [4.0, 3.0]])
    >>> correlations_without(table, np.arange(4)).round(3)
    array([-0.327,  0.327,  0.327, -0.327])
    """
    groups = int(group.max()) + 1
    member = (group == np.arange(groups)[:, None]).astype(np.float64)
    left = len(table) - member.sum(axis=1, keepdims=True)
    total, count = np.zeros((len(table), groups)), np.zeros(groups)
    for block in column_blocks(table.shape):
        x = table[:, block] - table[:, block].mean(axis=0)
        mean, squares = -(member @ x) / left, member @ x**2
        whole = squares.sum(axis=0)
        length = whole - squares - left * mean**2
        varied = length > CONSTANT * whole
        weight = np.where(varied, 1 / np.sqrt(np.where(varied, length, 1.0)), 0.0)
        total += x @ weight.T - (mean * weight).sum(axis=1)
        count += varied.sum(axis=1)
    total[member.T > 0] = 0.0
    return ratio((total**2).sum(axis=0) - count, count * (count - 1))


def first_shares_without(table: Floats, group: NDArray[np.intp]) -> Floats:
    """Return the first eigenvalue's share of the columns' correlations without each group, [groups].

    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0], [4.0, 3.0]])
    >>> first_shares_without(table, np.arange(4)).round(3)
    array([0.664, 0.664, 0.664, 0.664])
    """
    x = table - table.mean(axis=0)
    products, shares = x.T @ x, []
    for number in range(int(group.max()) + 1):
        out = x[group == number]
        mean = -out.sum(axis=0) / (len(x) - len(out))
        here = products - out.T @ out
        here -= (len(x) - len(out)) * mean[:, None] * mean
        varied = here.diagonal() > CONSTANT * products.diagonal()
        unit = np.where(varied, 1 / np.sqrt(np.where(varied, here.diagonal(), 1.0)), 0.0)
        here *= unit[:, None] * unit
        count = int(varied.sum())
        shares.append(largest_eigenvalue(here) / count if count else np.nan)
    return np.array(shares)
