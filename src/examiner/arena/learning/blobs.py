"""Blobs of a screen: pixels of one colour that are close to each other, each known by its centre."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.compiling import compiled

REACH = 3
"""Pixels of one colour so far apart, in rows and in columns, still belong to one blob."""
TILE_ROWS, TILE_COLUMNS = 7, 4
COLOURS = 128


class BlobFinder:
    """Finds the blobs of screens of one size.

    A blob is a set of pixels of one colour connected by steps of at most `REACH` rows and columns; its
    place is the tile of 7 × 4 pixels with the centre of its bounding box. Several blobs of one colour
    in one tile count once. References: Liang et al. (2016), section 4.

    >>> screen = np.zeros((14, 8), dtype=np.uint8)
    >>> screen[10:12, 5] = 2 * 7  # palette indices are even: this is colour 7
    >>> finder = BlobFinder(rows=14, columns=8)
    >>> [divmod(int(cell), finder.tiles) for cell in finder.find(screen)]
    [(0, 0), (7, 3)]
    """

    def __init__(self, *, rows: int, columns: int) -> None:
        self.tile_rows = -(-rows // TILE_ROWS)
        self.tile_columns = -(-columns // TILE_COLUMNS)
        self.tiles = self.tile_rows * self.tile_columns
        most = rows * columns
        self._row_starts = np.empty(rows + 1, dtype=np.int32)
        self._runs = np.empty((most, 4), dtype=np.int32)
        self._boxes = np.empty((most, 4), dtype=np.int32)
        self._cells = np.empty(min(most, COLOURS * self.tiles), dtype=np.int64)
        self._taken = np.zeros(COLOURS * self.tiles, dtype=np.bool_)

    def find(self, screen: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return `colour * tiles + tile` of every blob, rising; tiles are counted row by row."""
        count = _find_cells(
            screen, self.tile_columns, self.tiles,
            self._row_starts, self._runs, self._boxes, self._cells, self._taken,
        )  # fmt: skip
        return self._cells[:count].copy()


@compiled
def _find_runs(screen, row_starts, runs, boxes):
    """Cut every row into runs of one colour; every run begins as a blob of its own."""
    rows, columns = screen.shape
    count = 0
    for row in range(rows):
        row_starts[row] = count
        left = 0
        while left < columns:
            colour = screen[row, left] >> 1
            right = left + 1
            while right < columns and screen[row, right] >> 1 == colour:
                right += 1
            runs[count, 0], runs[count, 1], runs[count, 2] = colour, left, right - 1
            runs[count, 3] = count
            boxes[count, 0], boxes[count, 1] = row, row
            boxes[count, 2], boxes[count, 3] = left, right - 1
            count += 1
            left = right
    row_starts[rows] = count
    return count


@compiled
def _root(runs, run):
    while runs[run, 3] != run:
        runs[run, 3] = runs[runs[run, 3], 3]
        run = runs[run, 3]
    return run


@compiled
def _join(runs, one, other):
    """Make two runs one blob, led by the earlier one."""
    one, other = _root(runs, one), _root(runs, other)
    if one < other:
        runs[other, 3] = one
    elif other < one:
        runs[one, 3] = other


@compiled
def _join_near(row_starts, runs, row, above):
    """Join runs of a row with those of a row at most REACH above it, or of the same row."""
    first, last = row_starts[above], row_starts[above + 1]
    for run in range(row_starts[row], row_starts[row + 1]):
        left, right, colour = runs[run, 1] - REACH, runs[run, 2] + REACH, runs[run, 0]
        while first < last and runs[first, 2] < left:  # runs come from left to right in both rows
            first += 1
        near = first
        while near < last and runs[near, 1] <= right:
            if runs[near, 0] == colour and runs[near, 3] != runs[run, 3]:  # mostly joined already
                _join(runs, run, near)
            near += 1


@compiled
def _find_cells(screen, tile_columns, tiles, row_starts, runs, boxes, cells, taken):
    count = _find_runs(screen, row_starts, runs, boxes)
    for row in range(screen.shape[0]):
        for above in range(max(0, row - REACH), row + 1):
            _join_near(row_starts, runs, row, above)
    for run in range(count - 1, -1, -1):  # leaders come before their followers
        leader = _root(runs, run)
        boxes[leader, 0] = min(boxes[leader, 0], boxes[run, 0])
        boxes[leader, 1] = max(boxes[leader, 1], boxes[run, 1])
        boxes[leader, 2] = min(boxes[leader, 2], boxes[run, 2])
        boxes[leader, 3] = max(boxes[leader, 3], boxes[run, 3])
    found = 0
    for run in range(count):
        if runs[run, 3] == run:
            row = (boxes[run, 0] + boxes[run, 1]) // 2 // TILE_ROWS
            column = (boxes[run, 2] + boxes[run, 3]) // 2 // TILE_COLUMNS
            cell = runs[run, 0] * tiles + row * tile_columns + column
            if not taken[cell]:
                taken[cell] = True
                cells[found] = cell
                found += 1
    for place in range(found):
        taken[cells[place]] = False
    cells[:found].sort()
    return found
