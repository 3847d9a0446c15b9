"""Packed cells of which few were observed: the columns of each agent's, and what is in them.

A cell that was observed takes five bytes, and one that was not none. Passes read lists of cells, so that
memory and time go by what was observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examiner.engines.cell_file import disk_error
from examiner.engines.cell_sums import unpacked
from examiner.messages import InputError, shorten
from examiner.results import ObservedCells

_COLUMN = np.dtype(np.uint32)


def thin_out(folder: Path, blocks: Iterator[NDArray[np.unsignedinteger]]) -> NDArray[np.int64]:
    """Write the observed cells of blocks of agents in place of all, and return where agents begin."""
    counts, part = [np.zeros(1, dtype=np.int64)], folder / "cells.part"
    try:
        with part.open("wb") as cells, (folder / "columns").open("wb") as columns:
            for block in blocks:
                row, column = np.nonzero(block)
                counts.append(np.bincount(row, minlength=len(block)))
                cells.write(block[row, column].tobytes())
                columns.write(column.astype(_COLUMN).tobytes())
        part.replace(folder / "cells")
    except OSError as problem:
        raise disk_error(part, 5 * sum(int(count.sum()) for count in counts), problem) from None
    return np.cumsum(np.concatenate(counts))


def listed(
    folder: Path,
    starts: NDArray[np.int64],
    rows: tuple[int, int],
    tasks: int,
    kind: type[np.unsignedinteger],
) -> ObservedCells:
    """Return the observed cells of agents from one to another: successes and trials."""
    begin, end = int(starts[rows[0]]), int(starts[rows[1]])
    cells = np.fromfile(folder / "cells", kind, end - begin, offset=begin * np.dtype(kind).itemsize)
    column = np.fromfile(folder / "columns", _COLUMN, end - begin, offset=begin * _COLUMN.itemsize)
    if len(cells) < end - begin or len(column) < end - begin:
        raise cut_off(folder)
    won, tried = unpacked(cells, want_trials=True)
    assert tried is not None
    at = starts[rows[0] : rows[1] + 1] - begin
    return ObservedCells((rows[1] - rows[0], tasks), at, column.astype(np.int32), (won, tried))


def cut_off(folder: Path) -> InputError:
    """Build the error for packed responses that are not all there."""
    return InputError(f"The packed responses in {shorten(folder, 200)} are cut off. Begin again.")
