"""A file of a byte or two for each cell of agents × tasks, which grows while results come in.

A byte holds up to 15 trials in its upper half and their successes in its lower one; where a cell has more
trials, all cells have two bytes, one for each. Rows are agents. No trial is 0: not observed.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, shorten

_BITS = {1: 4, 2: 8}
"""Bytes of a cell, and how many bits of them are for successes."""
_MOST_TRIALS = 255
_GROWTH = 1.5
_PIECE = 1 << 25
"""Bytes of the file that are looked at together: what is in memory at a time, whatever the table's size."""
_THIN = 16
"""Where results are so few among the cells of a piece, they are sorted instead of counted."""

Cells = NDArray[np.unsignedinteger]
Few = NDArray[np.uint8]


class CellFile:
    """A growing file of cells, written in pieces so that little of it is in memory."""

    def __init__(self, path: Path) -> None:
        self.path, self.bytes = path, 1
        self.width = self.rows = 0
        self.repeated = False
        self._stream = path.open("w+b", buffering=0)

    def fit(self, agents: int, tasks: int) -> None:
        """Make room for so many agents and tasks."""
        if tasks > self.width:
            known = self.width
            self._relaid(tasks if not known else max(tasks, int(known * _GROWTH)), self.bytes)
        if agents > self.rows:
            grown = max(agents, int(self.rows * _GROWTH))
            self._reserve(self._stream.fileno(), grown * self.width * self.bytes)
            self.rows = grown

    def put(self, row: int, won: Few, tried: Few) -> None:
        """Write rows of agents of whom nothing is known, [agents, tasks], from a row on."""
        self._widen_for(int(tried.max(initial=0)))
        cells = self._packed(won, tried)
        if cells.shape[1] < self.width:
            cells = np.pad(cells, ((0, 0), (0, self.width - cells.shape[1])))
        self._written(np.ascontiguousarray(cells), row * self.width * self.bytes)

    def add(self, cells: NDArray[np.int64], won: Few, tried: Few) -> None:
        """Add successes and trials to cells, which may be named more than once, in any order."""
        self._widen_for(int(tried.max(initial=0)))
        pieces = cells // (_PIECE // self.bytes)
        if len(cells) and pieces[0] != pieces[-1] and (pieces[1:] < pieces[:-1]).any():
            order = np.argsort(pieces.astype(np.uint16), kind="stable")
            pieces, cells, won, tried = pieces[order], cells[order], won[order], tried[order]
        edges = [0, *(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(cells)]
        for first, last in pairwise(edges):
            here = slice(first, last)
            if not self._laid(cells[here], self._packed(won[here], tried[here])):
                self._summed(cells[here], won[here], tried[here])

    def _laid(self, cells: NDArray[np.int64], packed: Cells) -> bool:
        """Write cells of one piece if nothing is known of any; else do nothing, and say False."""
        low, high = int(cells.min()), int(cells.max()) + 1
        view, at = _looked(self._stream.fileno(), low, high, self.kind), cells - low
        if view.take(at).any():
            return False
        rising = bool((at[1:] > at[:-1]).all())
        if not rising and len(at) * _THIN < high - low:
            return False
        before = 0 if rising else np.count_nonzero(view != 0)
        view[at] = packed
        if rising or np.count_nonzero(view != 0) == before + len(at):
            return True
        view[at] = 0
        return False

    def _summed(self, cells: NDArray[np.int64], won: Few, tried: Few) -> None:
        """Add to cells of one piece, whatever they hold."""
        each, which = np.unique(cells, return_inverse=True)
        more, tries = (np.bincount(which, part, len(each)).astype(int) for part in (won, tried))
        low, high = int(each[0]), int(each[-1]) + 1
        held = _looked(self._stream.fileno(), low, high, self.kind).take(each - low).astype(int)
        bits = _BITS[self.bytes]
        self.repeated |= len(each) < len(cells) or bool(held.any())
        more, tries = more + (held & ((1 << bits) - 1)), tries + (held >> bits)
        self._widen_for(int(tries.max(initial=0)))
        view = _looked(self._stream.fileno(), low, high, self.kind)
        view[each - low] = (tries << _BITS[self.bytes]) + more

    def _packed(self, won: Few, tried: Few) -> Cells:
        shifted = np.left_shift(tried, _BITS[self.bytes], dtype=self.kind)
        return np.add(shifted, won, out=shifted)

    def _widen_for(self, trials: int) -> None:
        """Make cells large enough for so many trials."""
        if trials < (1 << _BITS[self.bytes]):
            return
        check_trials(trials)
        self._relaid(self.width, 2)

    @property
    def kind(self) -> type[np.unsignedinteger]:
        """The type of a cell."""
        return np.uint8 if self.bytes == 1 else np.uint16

    def rows_of(self, start: int, stop: int) -> Cells:
        """Return some agents, [agents, width]."""
        self._stream.seek(start * self.width * self.bytes)
        count = (stop - start) * self.width
        return np.fromfile(self._stream, self.kind, count).reshape(stop - start, self.width)

    def _relaid(self, width: int, size: int) -> None:
        """Write all again with another number of tasks, or of bytes for a cell."""
        if not self.rows:
            self.width, self.bytes = width, size
            return
        self.copy(slice(0, self.rows), slice(0, self.width), width=width, size=size)

    def copy(
        self,
        agents: slice | NDArray[np.intp],
        tasks: slice | NDArray[np.intp],
        *,
        width: int,
        size: int,
    ) -> None:
        """Write some agents and tasks to a new file, which takes the place of the old one."""
        chosen = np.arange(self.rows)[agents]
        other = self.path.with_suffix(".part")
        with other.open("w+b") as stream:
            self._reserve(stream.fileno(), len(chosen) * width * size)
            step = max(1, _PIECE // max(1, self.width * max(self.bytes, size)))
            for first in range(0, len(chosen), step):
                some = chosen[first : first + step]
                old = self.rows_of(int(some[0]), int(some[-1]) + 1)[some - some[0]][:, tasks]
                if size > self.bytes:
                    old = ((old.astype(np.uint16) >> 4) << 8) | (old & 15)
                new = np.zeros((len(some), width), dtype=np.uint8 if size == 1 else np.uint16)
                new[:, : old.shape[1]] = old
                stream.write(new.data)
        self._stream.close()
        other.replace(self.path)
        self._stream = self.path.open("r+b", buffering=0)
        self.width, self.bytes, self.rows = width, size, len(chosen)

    def cut_to(self, agents: int) -> None:
        """Give back the room for agents who did not come."""
        os.ftruncate(self._stream.fileno(), agents * self.width * self.bytes)
        self.rows = agents

    def _reserve(self, descriptor: int, size: int) -> None:
        """Take the space now: a disk that fills up under a memory map would end the process."""
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, max(size, 1))
            else:  # pragma: no cover
                if size > shutil.disk_usage(self.path.parent).free:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.ftruncate(descriptor, max(size, 1))
        except OSError as problem:
            raise disk_error(self.path, size, problem) from None

    def _written(self, cells: Cells, offset: int) -> None:
        self._stream.seek(offset)
        left = cells.data.cast("B")
        try:
            while left:
                left = left[self._stream.write(left) :]
        except OSError as problem:
            raise disk_error(self.path, cells.nbytes, problem) from None

    def discard(self) -> None:
        """Close the file and remove it: nothing half-written stays."""
        self._stream.close()
        for path in (self.path, self.path.with_suffix(".part")):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, with all that was written on disk."""
        os.fsync(self._stream.fileno())
        self._stream.close()


def _looked(descriptor: int, first: int, last: int, kind: type[np.unsignedinteger]) -> Cells:
    """Cells from one to another, looked at in place for as long as they are held."""
    size = np.dtype(kind).itemsize
    offset = first * size // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    piece = mmap.mmap(descriptor, last * size - offset, offset=offset)
    return np.frombuffer(piece, kind)[first - offset // size :]


def check_trials(trials: int) -> None:
    """Refuse more trials of a cell than a byte counts."""
    if trials > _MOST_TRIALS:
        raise InputError(
            f"A cell has {trials} trials, and at most {_MOST_TRIALS} are taken from shards. Reduce "
            f"runs beforehand, or fit in memory."
        )


def disk_error(path: Path, size: int, problem: OSError) -> InputError:
    """Build the error for a disk that cannot take the packed responses."""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    said = "the disk is full" if full else (problem.strerror or "it cannot be written")
    return InputError(
        f"Cannot write {size / 1e9:.3g} GB of packed responses to {shorten(path.parent, 200)}: {said}. "
        f"Free space, or name another folder (`--cache`)."
    )
