"""Permutation tests: how rare an observed table is among its permutations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.significance import LEVEL
from examiner.validation import Floats

MOST_TABLES, FEWEST_TABLES = 100, 20
"""Permuted tables. With fewer than twenty no p-value reaches 5 %."""
PERMUTED_CELLS = 1_000_000
"""Cells that are permuted in total: larger tables have fewer permutations."""
ROUNDING = 1e-9


class PermutationTest(NamedTuple):
    """A statistic, its mean over permuted tables, its p-value, and the number of permutations."""

    statistic: float
    by_chance: float
    p_value: float
    permutations: int

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.p_value <= LEVEL

    @property
    def words(self) -> str:
        """The p-value in words.

        >>> PermutationTest(1.0, 2.0, 0.25, 100).words
        'p = 0.25, permutation test'
        """
        return f"p = {self.p_value:.2g}, permutation test"


def permutations_of(cells: int) -> int:
    """Return the number of permuted tables with which a table of this many cells is compared.

    >>> permutations_of(400), permutations_of(1_000_000)
    (100, 20)
    """
    return int(np.clip(PERMUTED_CELLS // max(cells, 1), FEWEST_TABLES, MOST_TABLES))


def share_as_large(values: Floats) -> Floats:
    """Return for each value [tables, …] the share of tables with at least this value, up to rounding.

    >>> share_as_large(np.array([3.0, 1.0, 1.0, 2.0]))
    array([0.25, 1.  , 1.  , 0.5 ])
    """
    flat = values.reshape(len(values), -1)
    shares = np.empty(flat.shape)
    for column in range(flat.shape[1]):
        column_values = flat[:, column]
        least = column_values - ROUNDING * np.abs(column_values)
        below = np.searchsorted(np.sort(column_values), least, side="left")
        shares[:, column] = len(column_values) - below
    return shares.reshape(values.shape) / len(values)


def rarity_of(*statistics: Floats) -> Floats:
    """Return the p-value of each table by the rarest of its statistics, adjusted for their number.

    Statistics have shape [tables], the observed table first: its p-value is exact where the tables
    are exchangeable.

    >>> rarity_of(np.array([9.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 0.0])).tolist()
    [0.25, 1.0, 0.75, 0.5]
    """
    rarest = np.min([share_as_large(statistic) for statistic in statistics], axis=0)
    return share_as_large(-rarest)


def permuted_within_columns(table: Floats, rng: np.random.Generator) -> Floats:
    """Return a table with the values of each column permuted among its rows; gaps stay where they are.

    >>> permuted_within_columns(np.array([[1.0], [np.nan], [1.0]]), np.random.default_rng(0)).ravel()
    array([ 1., nan,  1.])
    """
    observed = np.isfinite(table)
    keys = np.where(observed, rng.random(table.shape), 2.0)
    mixed = np.take_along_axis(table, np.argsort(keys, axis=0), axis=0)
    rows = np.where(observed, np.cumsum(observed, axis=0) - 1, 0)
    return np.where(observed, np.take_along_axis(mixed, rows, axis=0), np.nan)
