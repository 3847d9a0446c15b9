"""What agents see of an Atari game: merged screens, as palette indices or as the stack that DQN sees."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.arena.protocol import Screens
from examiner.validation import read_only

Observation = Literal["raw", "dqn84x4", "ram"]
OBSERVATIONS: tuple[Observation, ...] = ("raw", "dqn84x4", "ram")

Screen = NDArray[np.uint8]
"""Palette indices [rows, 160], or grey values."""

Norm = Literal["ntsc", "pal"]
SIDE = 84
STACK = 4


def television_norm(rows: int) -> Norm:
    """Return the norm of a game from the height of its screen.

    >>> television_norm(210), television_norm(250)
    ('ntsc', 'pal')
    """
    # All games with 250 rows, and no others, have the colours of PAL.
    return "pal" if rows == 250 else "ntsc"


@cache
def palette(norm: Norm) -> NDArray[np.int64]:
    """Return red, green and blue of the 128 colours, shape [128, 3].

    >>> palette("ntsc")[7].tolist()
    [236, 236, 236]
    """
    text = files("examiner.arena.environments").joinpath("palettes.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    names = [f"{norm}_{colour}" for colour in ("red", "green", "blue")]
    colours = np.array([[int(row[name]) for name in names] for row in rows])
    read_only(colours)
    return colours


@cache
def grey(norm: Norm) -> Screen:
    r"""Return the brightness of the 128 colours: :math:`0.2989 R + 0.587 G + 0.114 B`.

    >>> grey("ntsc")[[0, 7]].tolist()
    [0, 236]
    """
    return np.rint(palette(norm) @ [0.2989, 0.5870, 0.1140]).astype(np.uint8)


@cache
def merging(screens: Screens, norm: Norm) -> Screen:
    r"""Return the palette index that two colours of consecutive screens give, shape [128, 128].

    Averaging is that of the emulator, for each of red, green and blue

    .. math:: m = \min(c, c') + \lfloor 0.77 (\max(c, c') - \min(c, c')) \rfloor

    then its multiple of four below, then the nearest colour by the sum of absolute differences.
    Pooling takes the brighter colour of the two; `last` takes the later one.

    >>> merging("pooled", "ntsc")[7, 0], merging("last", "ntsc")[7, 0]
    (np.uint8(14), np.uint8(0))
    """
    index = np.arange(0, 256, 2, dtype=np.uint8)
    later = np.broadcast_to(index, (128, 128))
    if screens == "last":
        return later.copy()
    if screens == "pooled":
        brightness = grey(norm)
        return np.where(brightness[:, None] > brightness[None, :], index[:, None], later)
    colours = palette(norm)
    low = np.minimum(colours[:, None], colours[None])
    high = np.maximum(colours[:, None], colours[None])
    # On a slowly fading tube the brighter of two colours weighs 77 per cent.
    mixed = (low + (high - low) * 77 // 100) // 4 * 4
    nearest = np.empty((128, 128), dtype=np.uint8)
    for row in range(128):  # a row at a time: all at once would take 50 MB
        distance = np.abs(mixed[row, :, None, :] - colours[None]).sum(axis=-1)
        nearest[row] = index[distance.argmin(axis=-1)]
    return nearest


class Merger:
    """Two consecutive screens made one by looking up pairs of colours.

    >>> merger = Merger("averaged", rows=210)
    >>> merger.colours(np.full((1, 2), 14, np.uint8), np.zeros((1, 2), np.uint8)).tolist()
    [[8, 8]]
    """

    def __init__(self, screens: Screens, *, rows: int) -> None:
        norm = television_norm(rows)
        colours = merging(screens, norm)
        self.colours = _Lookup(colours)
        """From an earlier and a later screen to palette indices."""
        self.greys = _Lookup(grey(norm)[colours >> 1])
        """The same to grey values."""


class _Lookup:
    """A table over pairs of colours, shape [128, 128]; odd indices count as the even one below.

    Most pixels stay the same from one screen to the next: those are translated as bytes, which is
    several times quicker than looking up pairs.
    """

    def __init__(self, table: Screen) -> None:
        self._pairs = table.ravel()
        self._same = np.repeat(np.diagonal(table), 2).tobytes()

    def __call__(self, earlier: Screen, later: Screen) -> Screen:
        merged = np.frombuffer(bytearray(later.tobytes().translate(self._same)), dtype=np.uint8)
        before, after = earlier.ravel(), later.ravel()
        changed = np.flatnonzero(before != after)
        if changed.size:
            rows = (before[changed] >> 1).astype(np.intp)
            merged[changed] = self._pairs[rows * 128 + (after[changed] >> 1)]
        return merged.reshape(later.shape)


class _Area(NamedTuple):
    """Which input pixels each of the 84 output pixels covers, and with which share, both [84, few]."""

    pixels: NDArray[np.intp]
    shares: NDArray[np.float32]


@cache
def _area(length: int) -> _Area:
    edges = np.arange(SIDE + 1) * (length / SIDE)
    most = int(np.max(np.ceil(edges[1:] - 1e-9) - np.floor(edges[:-1] + 1e-9)))
    pixels = np.floor(edges[:-1, None] + 1e-9) + np.arange(most)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    shares = np.maximum(covered, 0.0) * (SIDE / length)
    return _Area(
        np.minimum(pixels, length - 1).astype(np.intp), np.asarray(shares, dtype=np.float32)
    )


def shrink(greys: Screen) -> Screen:
    """Return a grey screen as 84 × 84 pixels, each the mean of the area it covers.

    >>> shrink(np.full((210, 160), 7, np.uint8)).shape
    (84, 84)
    """
    # Sums of a few shifted rows and columns: a matrix product would occupy every core.
    rows, columns = _area(greys.shape[0]), _area(greys.shape[1])
    low = np.zeros((SIDE, greys.shape[1]), dtype=np.float32)
    for pixels, shares in zip(rows.pixels.T, rows.shares.T, strict=True):
        low += greys[pixels] * shares[:, None]
    small = np.zeros((SIDE, SIDE), dtype=np.float32)
    for pixels, shares in zip(columns.pixels.T, columns.shares.T, strict=True):
        small += low[:, pixels] * shares
    return np.rint(small).astype(np.uint8)
