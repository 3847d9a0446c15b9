"""Blob-PROST: which blobs a screen has, and how they lie to each other and to those just before."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.blobs import COLOURS, BlobFinder
from examiner.arena.learning.compiling import compiled
from examiner.wording import InputError

_COLOUR_PAIRS = COLOURS * (COLOURS + 1) // 2


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
        self._coloured = not basic_without_colour
        tile_rows, tile_columns = self._finder.tile_rows, self._finder.tile_columns
        self._offsets = (2 * tile_rows - 1) * (2 * tile_columns - 1)
        self._first_pros = COLOURS * self._finder.tiles
        self._first_prot = self._first_pros + _COLOUR_PAIRS * self._offsets
        self.count = self._first_prot + COLOURS**2 * self._offsets + 1
        """How many features there are."""
        if self.count >= 2**32 - 1:
            raise InputError(
                f"A screen of {shape[0]} × {shape[1]} pixels has {self.count} features. "
                f"Shrink it: at most {2**32 - 2} can be numbered."
            )
        self._stamps = np.zeros(max(self._offsets, self._finder.tiles), dtype=np.int64)
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
        count, self._clock = _features(
            now, before, self._finder.tile_rows, self._finder.tile_columns, self._coloured,
            self._first_pros, self._first_prot, self.count, self._stamps, self._clock, self._active,
        )  # fmt: skip
        self._before = now
        return self._active[:count]


@compiled
def _offsets_between(ones, others, middle, same, first, stamps, clock, active, count):
    """Add all offsets from blobs of one colour to blobs of another; `same` halves them.

    Blobs are places, an offset is a difference of places, and none at all is the `middle` one.
    """
    for other in others:
        for one in ones:
            offset = one - other + middle
            if same and offset < middle:  # further up, or in the same row and further left
                continue
            if stamps[offset] != clock:
                stamps[offset] = clock
                active[count] = first + offset
                count += 1
    return count


@compiled
def _places(cells, tiles, tile_columns, wide):
    """Return where blobs lie in rows so wide that differences tell both rows and columns."""
    places = np.empty(len(cells), np.int32)
    for i in range(len(cells)):
        tile = cells[i] % tiles
        places[i] = tile // tile_columns * wide + tile % tile_columns
    return places


@compiled
def _colour_starts(cells, tiles, starts):
    """Fill in where each colour begins among cells in rising order; return how many colours there are."""
    colours, last = 0, -1
    for place in range(len(cells)):
        colour = cells[place] // tiles
        if colour != last:
            starts[colours] = place
            colours, last = colours + 1, colour
    starts[colours] = len(cells)
    return colours


@compiled
def _features(
    now,
    before,
    tile_rows,
    tile_columns,
    coloured,
    first_pros,
    first_prot,
    total,
    stamps,
    clock,
    active,
):
    tiles, offsets = tile_rows * tile_columns, (2 * tile_rows - 1) * (2 * tile_columns - 1)
    starts, starts_before = np.empty(COLOURS + 1, np.int64), np.empty(COLOURS + 1, np.int64)
    colours = _colour_starts(now, tiles, starts)
    colours_before = _colour_starts(before, tiles, starts_before)
    count = 0
    clock += 1
    for cell in now:
        if coloured:
            active[count] = cell
            count += 1
        elif stamps[cell % tiles] != clock:
            stamps[cell % tiles] = clock
            active[count] = cell % tiles
            count += 1
    wide = 2 * tile_columns - 1
    middle = (tile_rows - 1) * wide + tile_columns - 1
    places = _places(now, tiles, tile_columns, wide)
    places_before = _places(before, tiles, tile_columns, wide)
    for i in range(colours):
        one = now[starts[i]] // tiles
        for j in range(i, colours):
            pair = one * (2 * COLOURS - one + 1) // 2 + now[starts[j]] // tiles - one
            clock += 1
            count = _offsets_between(
                places[starts[i] : starts[i + 1]], places[starts[j] : starts[j + 1]],
                middle, i == j, first_pros + pair * offsets, stamps, clock, active, count,
            )  # fmt: skip
    for i in range(colours_before):
        for j in range(colours):
            pair = before[starts_before[i]] // tiles * COLOURS + now[starts[j]] // tiles
            clock += 1
            count = _offsets_between(
                places_before[starts_before[i] : starts_before[i + 1]],
                places[starts[j] : starts[j + 1]],
                middle, False, first_prot + pair * offsets, stamps, clock, active, count,
            )  # fmt: skip
    active[count] = total - 1
    return count + 1, clock
