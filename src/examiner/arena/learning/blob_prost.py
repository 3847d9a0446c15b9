"""Blob-PROST: which blobs a screen has, and how they lie to each other and to those just before."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.arrays import compiled
from examiner.messages import InputError

REACH = 3
"""Pixels of one colour so far apart, in rows and in columns, still belong to one blob."""
TILE_ROWS, TILE_COLUMNS = 7, 4
COLOURS = 128
_COLOUR_PAIRS = COLOURS * (COLOURS + 1) // 2


class _Workspace(NamedTuple):
    """Arrays in which blobs are found: runs of one colour in a row, their blobs, and the cells of these."""

    row_starts: NDArray[np.int32]
    runs: NDArray[np.int32]  # colour, first and last column, and the run that leads the blob
    boxes: NDArray[np.int32]  # first and last row, first and last column
    cells: NDArray[np.int64]
    taken: NDArray[np.bool_]


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
        self._work = _Workspace(
            row_starts=np.empty(rows + 1, dtype=np.int32),
            runs=np.empty((most, 4), dtype=np.int32),
            boxes=np.empty((most, 4), dtype=np.int32),
            cells=np.empty(min(most, COLOURS * self.tiles), dtype=np.int64),
            taken=np.zeros(COLOURS * self.tiles, dtype=np.bool_),
        )

    def find(self, screen: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return `colour * tiles + tile` of every blob, rising; tiles are counted row by row."""
        count = _find_cells(screen, self.tile_columns, self.tiles, self._work)
        return self._work.cells[:count].copy()


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
def _find_cells(screen, tile_columns, tiles, work):
    row_starts, runs, boxes, cells, taken = work
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
    blobs = 0
    for run in range(count):
        if runs[run, 3] == run:
            row = (boxes[run, 0] + boxes[run, 1]) // 2 // TILE_ROWS
            column = (boxes[run, 2] + boxes[run, 3]) // 2 // TILE_COLUMNS
            cell = runs[run, 0] * tiles + row * tile_columns + column
            if not taken[cell]:
                taken[cell] = True
                cells[blobs] = cell
                blobs += 1
    for index in range(blobs):
        taken[cells[index]] = False
    cells[:blobs].sort()
    return blobs


class _Numbering(NamedTuple):
    """How features are numbered: the size of the screen in tiles, and where each kind begins."""

    tile_rows: int
    tile_columns: int
    coloured: bool
    first_pros: int
    first_prot: int
    total: int


class _ActiveFeatures(NamedTuple):
    """The features found so far, and when each offset (or tile) was last met, so that it counts once."""

    stamps: NDArray[np.int64]
    active: NDArray[np.uint32]


class BlobProst:
    r"""The active features of screens seen one after the other, as numbers.

    With blobs :math:`(c, y, x)` of colour and tile, on a screen of :math:`R × C` tiles:

    - BASIC: there is a blob :math:`(c, y, x)`;
    - B-PROS, pairwise offsets in space: blobs :math:`(c, y, x), (c', y', x')` with
      :math:`c \le c'` and the offset :math:`(y - y', x - x')`; for one colour, an offset and its
      opposite are the same;
    - B-PROT, pairwise offsets in time: the same of a blob of the screen before (first) and one of this
      screen, for ordered pairs of colours;
    - one that is always active.

    There are :math:`128 R C + (128 · 129 / 2 + 128^2) (2R - 1)(2C - 1) + 1` of them: 115 million.
    `basic_without_colour` leaves the colour out of BASIC, as the authors' program does.
    References: Liang, Machado, Talvitie and Bowling (2016), sections 3 and 4.

    >>> features = BlobProst((14, 8))
    >>> screen = np.zeros((14, 8), dtype=np.uint8)
    >>> [len(features.active(screen)) for _ in range(2)]  # the second has a screen before it
    [3, 4]
    """

    def __init__(self, shape: tuple[int, ...], *, basic_without_colour: bool = False) -> None:
        if len(shape) != 2:
            raise InputError(
                f"Blobs are found on screens, but what is seen has shape {shape}. "
                f"In Atari games set the agent's observation to 'raw'; elsewhere choose another agent."
            )
        self._shape = shape
        self._finder = BlobFinder(rows=shape[0], columns=shape[1])
        tile_rows, tile_columns = self._finder.tile_rows, self._finder.tile_columns
        offsets = (2 * tile_rows - 1) * (2 * tile_columns - 1)
        first_pros = COLOURS * self._finder.tiles
        first_prot = first_pros + _COLOUR_PAIRS * offsets
        self.count = first_prot + COLOURS**2 * offsets + 1
        """How many features there are."""
        if self.count >= 2**32 - 1:
            raise InputError(
                f"A screen of {shape[0]} × {shape[1]} pixels has {self.count} features. "
                f"Shrink it: at most {2**32 - 2} can be numbered."
            )
        self._numbering = _Numbering(
            tile_rows, tile_columns, not basic_without_colour, first_pros, first_prot, self.count
        )
        self._stamps = np.zeros(max(offsets, self._finder.tiles), dtype=np.int64)
        self._clock = 0
        self._active = np.empty(1024, dtype=np.uint32)
        self.begin()

    def begin(self) -> None:
        """Forget the screen before: an episode begins."""
        self._before: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def active(self, screen: NDArray[np.uint8]) -> NDArray[np.uint32]:
        """Return the features of the next screen, each once; valid until the next call."""
        if screen.dtype != np.uint8 or screen.shape != self._shape:
            raise InputError(
                f"Blobs are found on screens of bytes of shape {self._shape}, but this one has shape "
                f"{screen.shape} of {screen.dtype}. In Atari games set the agent's observation to 'raw'; "
                f"elsewhere choose another agent."
            )
        now, before = self._finder.find(screen), self._before
        most = len(now) * (len(now) + 3) // 2 + len(now) * len(before) + 1
        if most > len(self._active):
            self._active = np.empty(min(2 * most, self.count), dtype=np.uint32)
        active = _ActiveFeatures(self._stamps, self._active)
        count, self._clock = _features(now, before, self._numbering, active, self._clock)
        self._before = now
        return self._active[:count]


@compiled
def _offsets_between(ones, others, middle, same, first, found, clock, count):
    """Add all offsets from blobs of one colour to blobs of another; `same` halves them.

    Blobs are positions, an offset is a difference of positions, and none at all is the `middle` one.
    """
    for other in others:
        for one in ones:
            offset = one - other + middle
            if same and offset < middle:  # further up, or in the same row and further left
                continue
            if found.stamps[offset] != clock:
                found.stamps[offset] = clock
                found.active[count] = first + offset
                count += 1
    return count


@compiled
def _positions(cells, tiles, tile_columns, wide):
    """Return where blobs lie in rows so wide that differences tell both rows and columns."""
    positions = np.empty(len(cells), np.int32)
    for i in range(len(cells)):
        tile = cells[i] % tiles
        positions[i] = tile // tile_columns * wide + tile % tile_columns
    return positions


@compiled
def _colour_starts(cells, tiles, starts):
    """Fill in where each colour begins among cells in rising order; return how many colours there are."""
    colours, last = 0, -1
    for index in range(len(cells)):
        colour = cells[index] // tiles
        if colour != last:
            starts[colours] = index
            colours, last = colours + 1, colour
    starts[colours] = len(cells)
    return colours


@compiled
def _features(now, before, numbering, found, clock):
    tile_rows, tile_columns = numbering.tile_rows, numbering.tile_columns
    tiles, offsets = tile_rows * tile_columns, (2 * tile_rows - 1) * (2 * tile_columns - 1)
    starts, starts_before = np.empty(COLOURS + 1, np.int64), np.empty(COLOURS + 1, np.int64)
    colours = _colour_starts(now, tiles, starts)
    colours_before = _colour_starts(before, tiles, starts_before)
    count = 0
    clock += 1
    for cell in now:
        if numbering.coloured:
            found.active[count] = cell
            count += 1
        elif found.stamps[cell % tiles] != clock:
            found.stamps[cell % tiles] = clock
            found.active[count] = cell % tiles
            count += 1
    wide = 2 * tile_columns - 1
    middle = (tile_rows - 1) * wide + tile_columns - 1
    positions = _positions(now, tiles, tile_columns, wide)
    positions_before = _positions(before, tiles, tile_columns, wide)
    for i in range(colours):
        one = now[starts[i]] // tiles
        for j in range(i, colours):
            pair = one * (2 * COLOURS - one + 1) // 2 + now[starts[j]] // tiles - one
            clock += 1
            count = _offsets_between(
                positions[starts[i] : starts[i + 1]],
                positions[starts[j] : starts[j + 1]],
                middle, i == j, numbering.first_pros + pair * offsets, found, clock, count,
            )  # fmt: skip
    for i in range(colours_before):
        for j in range(colours):
            pair = before[starts_before[i]] // tiles * COLOURS + now[starts[j]] // tiles
            clock += 1
            count = _offsets_between(
                positions_before[starts_before[i] : starts_before[i + 1]],
                positions[starts[j] : starts[j + 1]],
                middle, False, numbering.first_prot + pair * offsets, found, clock, count,
            )  # fmt: skip
    found.active[count] = numbering.total - 1
    return count + 1, clock
