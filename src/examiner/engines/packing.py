"""One decoding pass: results from Parquet into a file of a byte or two for each cell of agents × tasks.

A byte holds up to 15 trials in its upper half and their successes in its lower one; where a cell has more
trials, all cells have two bytes, one for each. Rows are agents. No trial is 0: not observed.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.engines.shard_files import Columns, scanned
from examiner.results.parquet import damaged
from examiner.results.storage import PROBLEMS
from examiner.wording import InputError, shorten

_BITS = {1: 4, 2: 8}
"""Bytes of a cell, and how many bits of them are for successes."""
_MOST_TRIALS = 255
_GROWTH = 1.5
_PIECE = 1 << 25
"""Bytes of the file that are looked at together: what is in memory at a time, whatever the table's size."""
_MOST_ROWS = 1 << 20


class CellFile:
    """A growing file of cells, written in pieces so that little of it is in memory."""

    def __init__(self, path: Path) -> None:
        self.path, self.bytes = path, 1
        self.width = self.rows = 0
        self._stream = path.open("w+b")

    def fit(self, agents: int, tasks: int) -> None:
        """Make room for so many agents and tasks."""
        if tasks > self.width:
            known = self.width
            self._relaid(tasks if not known else max(tasks, int(known * _GROWTH)), self.bytes)
        if agents > self.rows:
            grown = max(agents, int(self.rows * _GROWTH))
            self._reserve(self._stream.fileno(), grown * self.width * self.bytes)
            self.rows = grown

    def add(
        self, cells: NDArray[np.int64], won: NDArray[np.int64], tried: NDArray[np.int64]
    ) -> None:
        """Add successes and trials to cells, of which none is named twice, in rising order."""
        most = _MOST_TRIALS if self.bytes == 2 else 15
        per_piece = _PIECE // self.bytes
        cut = np.flatnonzero(np.diff(cells // per_piece)) + 1
        edges = [0, *cut.tolist(), len(cells)]
        for first, last in pairwise(edges):
            here = slice(first, last)
            start = int(cells[first]) // per_piece * per_piece
            offset = start * self.bytes // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
            length = (int(cells[last - 1]) + 1) * self.bytes - offset
            with mmap.mmap(self._stream.fileno(), length, offset=offset) as piece:
                view = np.frombuffer(piece, dtype=self.kind)
                at = cells[here] - offset // self.bytes
                tries = (view[at] >> _BITS[self.bytes]) + tried[here]
                if int(tries.max(initial=0)) <= most:
                    view[at] += ((tried[here] << _BITS[self.bytes]) + won[here]).astype(self.kind)
                    full = False
                else:
                    full = True
                del view  # a piece that is looked at cannot be closed
            if full:
                self._widened(int(tries.max()))
                self.add(cells[first:], won[first:], tried[first:])
                return

    @property
    def kind(self) -> type[np.unsignedinteger]:
        """The type of a cell."""
        return np.uint8 if self.bytes == 1 else np.uint16

    def _widened(self, trials: int) -> None:
        if trials > _MOST_TRIALS:
            raise InputError(
                f"A cell has {trials} trials, and at most {_MOST_TRIALS} are taken from shards. Reduce "
                f"runs beforehand, or fit in memory."
            )
        self._relaid(self.width, 2)

    def rows_of(self, start: int, stop: int) -> NDArray[np.unsignedinteger]:
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
        self._stream = self.path.open("r+b")
        self.width, self.bytes, self.rows = width, size, len(chosen)

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

    def discard(self) -> None:
        """Close the file and remove it: nothing half-written stays."""
        self._stream.close()
        for path in (self.path, self.path.with_suffix(".part")):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, with all that was written on disk."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()


def disk_error(path: Path, size: int, problem: OSError) -> InputError:
    """Build the error for a disk that cannot take the packed responses."""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    said = "the disk is full" if full else (problem.strerror or "it cannot be written")
    return InputError(
        f"Cannot write {size / 1e9:.3g} GB of packed responses to {shorten(path.parent, 200)}: {said}. "
        f"Free space, or name another folder (`--cache`)."
    )


class Names:
    """Names and their numbers by first appearance, over all batches."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._kind = pl.Categorical(self._categories)
        self._held: pl.Series | None = None

    def codes(self, column: pl.Series) -> NDArray[np.int64]:
        """Return the numbers of names."""
        if isinstance(column.dtype, pl.Enum):  # few names, and numbers of its own already
            own = column.to_physical().to_numpy()
            present = np.flatnonzero(np.bincount(own, minlength=len(column.dtype.categories)))
            renumbered = np.zeros(len(column.dtype.categories), dtype=np.int64)
            renumbered[present] = self._coded(column.dtype.categories.gather(present))
            return np.asarray(renumbered[own])
        return self._coded(column)

    def _coded(self, column: pl.Series) -> NDArray[np.int64]:
        # Kept until the next: polars forgets categories that no column has.
        self._held = column.cast(pl.String).cast(self._kind)
        return self._held.to_physical().to_numpy().astype(np.int64)

    def __len__(self) -> int:
        return self._categories.to_series().len()

    def all(self) -> list[str]:
        """Return the names in the order of their numbers."""
        return self._categories.to_series().to_list()


class Table(NamedTuple):
    """Cells, and the names of their rows and columns so far."""

    cells: CellFile
    agents: Names
    tasks: Names


def decode(path: Path, columns: Columns, success: float | None, into: Table) -> None:
    """Read a shard once into the cells of a table."""
    file, agents, tasks = into
    if columns.tasks:
        tasks.codes(pl.Series(columns.tasks))
    for batch in _batches(path, columns):
        if columns.tasks:
            values = batch.select(columns.tasks).cast(pl.Float64).to_numpy()
            line, column = np.nonzero(~np.isnan(values))
            row = agents.codes(batch[columns.agent])[line]
            won = _successes(values[line, column], success, path, "columns of tasks")
            tried = np.ones(len(row), dtype=np.int64)
        else:
            row, column = agents.codes(batch["agent"]), tasks.codes(batch["task"])
            won, tried = _counted(batch, columns, success, path)
            seen = tried > 0
            if not seen.all():
                row, column, won, tried = row[seen], column[seen], won[seen], tried[seen]
        file.fit(len(agents), max(len(tasks), 1))
        if len(row):
            file.add(*_in_order(row * file.width + column, won, tried))


def _batches(path: Path, columns: Columns) -> Iterator[pl.DataFrame]:
    names = [columns.agent, *columns.tasks]
    if not columns.tasks:
        names += ["task", *(("successes", "trials") if columns.counts else [str(columns.measure)])]
    rows = max(1, _MOST_ROWS // max(1, len(columns.tasks)))
    try:
        yield from (
            scanned(path)
            .select(names)
            .collect_batches(chunk_size=rows, maintain_order=True, engine="streaming")
        )
    except (*PROBLEMS, OSError) as problem:
        raise damaged(path, problem) from None


def _counted(
    batch: pl.DataFrame, columns: Columns, success: float | None, path: Path
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Successes and trials of every row; no trial where nothing was observed."""
    if columns.counts:
        won, tried = (
            batch[name].cast(pl.Int64).fill_null(0).to_numpy() for name in ("successes", "trials")
        )
        if ((won < 0) | (won > tried)).any():
            raise InputError(
                f"The shard {shorten(path, 200)} counts successes that are below 0 or above their trials. "
                f"Correct it."
            )
        return won, tried
    values = batch[str(columns.measure)].cast(pl.Float64).to_numpy()
    seen = ~np.isnan(values)
    return _successes(values, success, path, str(columns.measure)), seen.astype(np.int64)


def _successes(
    values: NDArray[np.float64], success: float | None, path: Path, what: str
) -> NDArray[np.int64]:
    if success is not None:
        return np.asarray(values >= success, dtype=np.int64)
    other = (values != 0) & (values != 1) & ~np.isnan(values)
    if other.any():
        raise InputError(
            f"The shard {shorten(path, 200)} holds {values[other][0]:g} in its {shorten(what)}, which is "
            f"no success or failure. Say what a success is (`--success 1.0`, `success=1.0`)."
        )
    return np.asarray(values == 1, dtype=np.int64)


def _in_order(
    cells: NDArray[np.int64], won: NDArray[np.int64], tried: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cells in rising order, each once with its sums; most tables are written so already."""
    if (np.diff(cells) > 0).all():
        return cells, won, tried
    each, which = np.unique(cells, return_inverse=True)
    won, tried = (np.bincount(which, part, len(each)).astype(np.int64) for part in (won, tried))
    return each, won, tried
