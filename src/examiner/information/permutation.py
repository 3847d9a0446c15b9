"""Permutation tests: how rare an observed table is among tables that chance makes of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.significance import LEVEL
from examiner.validation import Floats

MOST_TABLES, FEWEST_TABLES = 100, 20
"""Permuted tables. Twenty are the fewest by which a p-value reaches 5 %."""
PERMUTED_CELLS = 1_000_000
"""Cells that are permuted in all: of larger tables there are fewer permutations."""
ROUNDING = 1e-9


class PermutationTest(NamedTuple):
    """A statistic, its mean over permuted tables, the share of tables with as much, and their number."""

    statistic: float
    by_chance: float
    p_value: float
    permutations: int

    @property
    def shown(self) -> bool:
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
    """Return how many permuted tables a table of so many cells is compared with.

    >>> permutations_of(400), permutations_of(1_000_000)
    (100, 20)
    """
    return int(np.clip(PERMUTED_CELLS // max(cells, 1), FEWEST_TABLES, MOST_TABLES))


def share_as_large(values: Floats) -> Floats:
    """Return for each value [tables, …] the share of tables with at least as much, but for rounding.

    >>> share_as_large(np.array([3.0, 1.0, 1.0, 2.0]))
    array([0.25, 1.  , 1.  , 0.5 ])
    """
    flat = values.reshape(len(values), -1)
    shares = np.empty(flat.shape)
    for column in range(flat.shape[1]):
        each = flat[:, column]
        least = each - ROUNDING * np.abs(each)
        shares[:, column] = len(each) - np.searchsorted(np.sort(each), least, side="left")
    return shares.reshape(values.shape) / len(values)


def rarity_of(*statistics: Floats) -> Floats:
    """Return for each table how rare the rarer of its statistics is, several statistics being looked at.

    Statistics have shape [tables], the observed table first: its share is an exact p-value where the
    tables are exchangeable.

    >>> rarity_of(np.array([9.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 0.0])).tolist()
    [0.25, 1.0, 0.75, 0.5]
    """
    rarest = np.min([share_as_large(each) for each in statistics], axis=0)
    return share_as_large(-rarest)


def permuted_within_columns(table: Floats, rng: np.random.Generator) -> Floats:
    """Return a table with the values of each column exchanged between its rows; gaps stay where they are.

    >>> permuted_within_columns(np.array([[1.0], [np.nan], [1.0]]), np.random.default_rng(0)).ravel()
    array([ 1., nan,  1.])
    """
    seen = np.isfinite(table)
    keys = np.where(seen, rng.random(table.shape), 2.0)
    mixed = np.take_along_axis(table, np.argsort(keys, axis=0), axis=0)
    rows = np.where(seen, np.cumsum(seen, axis=0) - 1, 0)
    return np.where(seen, np.take_along_axis(mixed, rows, axis=0), np.nan)
