"""Sums over the rows that two columns of a table with gaps share, and the correlations they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.comparable import column_range, column_size
from examiner.validation import Floats

FEWEST_PAIRS = 3
"""With two pairs every correlation is ±1: nothing is learnt from them."""
CONSTANT = 1e-13
"""The share of its squares below which the spread of a column is rounding."""
TINY = 1e-100
"""A median distance below this share of the largest value is no unit: squares would overflow."""
BLOCK_CELLS = 1 << 22
TOGETHER = 1024
"""Columns of a block of pairs: sums of them are some megabytes."""
MOST_COUNTED = 1 << 24
"""Counts below this are whole numbers in single precision."""


class GappedColumns(NamedTuple):
    """Columns ready for sums of pairs, [rows, columns]: 1 where a cell was observed, and its value or 0.

    Columns of two values are 0 and 1, in single precision: sums of them are counts, and exact. Others are
    less their median, in median distances from it: differences of sums then lose no digits, even where
    one far value lies outside the common rows.
    """

    seen: NDArray[np.floating]
    values: NDArray[np.floating]
    counted: bool

    @classmethod
    def of(cls, table: Floats) -> GappedColumns:
        """Make a table with NaN for gaps ready.

        >>> GappedColumns.of(np.array([[1.0, 7.0], [2.0, np.nan]])).values
        array([[0., 0.],
               [1., 0.]], dtype=float32)
        """
        counted = two_valued(table)
        kind = np.float32 if counted else np.float64
        observed, values = np.empty(table.shape, kind), np.empty(table.shape, kind)
        for block in column_blocks(table.shape):
            part = table[:, block]
            known = ~np.isnan(part)
            observed[:, block] = known
            placed = part > column_range(part)[0] if counted else _by_median(part)
            values[:, block] = np.where(known, placed, 0.0)
        return cls(observed, values, counted)

    def rows(self, chosen: NDArray[np.bool_]) -> GappedColumns:
        """Return some rows alone."""
        return GappedColumns(self.seen[chosen], self.values[chosen], self.counted)

    def blocks(self) -> Iterator[tuple[slice, slice, PairSums]]:
        """Sums of all pairs of columns, block by block; of two different blocks in one order alone."""
        columns = self.seen.shape[1]
        blocks = [slice(start, start + TOGETHER) for start in range(0, columns, TOGETHER)]
        for first, left in enumerate(blocks):
            yield from ((left, right, self.sums(left, right)) for right in blocks[first:])

    def sums(self, left: slice, right: slice) -> PairSums:
        """Sum over the rows that each column at the left shares with each at the right."""
        x, y = self.values[:, left], self.values[:, right]
        here, there = self.seen[:, left], self.seen[:, right]
        of_x = x.T @ there
        x_squares = of_x if self.counted else (x**2).T @ there
        if left == right:
            of_y, y_squares = of_x.T, x_squares.T
        else:
            of_y = here.T @ y
            y_squares = of_y if self.counted else here.T @ y**2
        sums = (here.T @ there, of_x, of_y, x.T @ y, x_squares, y_squares)
        return PairSums(*(part.astype(np.float64, copy=False) for part in sums))


class PairSums(NamedTuple):
    """Sums over shared rows, [left, right] each: their number, x (left), y (right), xy, x², y²."""

    shared: Floats
    left: Floats
    right: Floats
    joint: Floats
    left_squares: Floats
    right_squares: Floats

    def without(self, other: PairSums) -> PairSums:
        """What is left without the rows of other sums."""
        return PairSums(*(whole - part for whole, part in zip(self, other, strict=True)))

    def correlations(self, rounding: tuple[Floats, Floats] | None = None) -> Floats:
        r"""Pearson's correlation over common rows; NaN where these are too few or one column is constant.

        .. math:: S_{xy} = \sum xy - \frac{\sum x \sum y}{n}, \quad r = S_{xy} / \sqrt{S_{xx} S_{yy}}

        `rounding` is the spread of either column up to which it is rounding alone.
        """
        n = np.maximum(self.shared, 1)
        spreads = self.left_squares - self.left**2 / n, self.right_squares - self.right**2 / n
        if rounding is None:
            rounding = CONSTANT * self.left_squares, CONSTANT * self.right_squares
        enough = self.shared >= FEWEST_PAIRS
        for spread, least in zip(spreads, rounding, strict=True):
            enough &= spread > least
        joint = self.joint - self.left * self.right / n
        correlations: Floats = np.full(joint.shape, np.nan)
        with np.errstate(invalid="ignore"):
            np.divide(
                joint, np.sqrt(spreads[0]) * np.sqrt(spreads[1]), out=correlations, where=enough
            )
        return np.clip(correlations, -1.0, 1.0, out=correlations)


def two_valued(table: Floats) -> bool:
    """Whether no column has more than two values: then their ranks over any rows go with the values.

    >>> two_valued(np.array([[0.0, 7.0], [1.0, np.nan]])), two_valued(np.array([[0.0], [0.5], [1.0]]))
    (True, False)
    """
    if len(table) >= MOST_COUNTED:
        return False
    for block in column_blocks(table.shape):
        part = table[:, block]
        low, high = column_range(part)
        if not ((part == low) | (part == high) | np.isnan(part)).all():
            return False
    return True


def column_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Slices of columns, so that what is done to a column makes no copies of a very large table.

    >>> list(column_blocks((1 << 20, 6)))
    [slice(0, 4, None), slice(4, 8, None)]
    """
    step = max(1, BLOCK_CELLS // max(shape[0], 1))
    yield from (slice(start, start + step) for start in range(0, shape[1], step))


def _by_median(values: Floats) -> Floats:
    """Columns less their median, in units of the median distance from it (or of the largest)."""
    values = values / column_size(values)
    centred: Floats = values - _medians(values)
    distance = _medians(np.abs(centred))
    return centred / np.where(distance > TINY, distance, column_size(centred))


def _medians(values: Floats) -> Floats:
    """The median of what was observed of each column; NaN where that is nothing."""
    ordered = np.sort(values, axis=0)  # NaN come last
    count = (~np.isnan(values)).sum(axis=0)
    places = np.stack([np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(values) - 1)])
    medians: Floats = np.take_along_axis(ordered, places, axis=0).mean(axis=0)
    return medians
