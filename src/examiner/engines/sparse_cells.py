"""Packed cells of which few were observed: the columns of each agent's, and what is in them.

A cell that was observed takes five bytes, and one that was not none. Passes lay blocks of agents out
again, so that memory goes by the block and time by all cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examiner.engines.cell_file import disk_error
from examiner.wording import InputError, shorten

MOST_OBSERVED = 1 / 8
"""Share of cells observed below which they are kept so."""
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


def laid_out(
    folder: Path,
    starts: NDArray[np.int64],
    rows: tuple[int, int],
    tasks: int,
    kind: type[np.unsignedinteger],
) -> NDArray[np.unsignedinteger]:
    """Return all cells of agents from one to another, [agents, tasks]."""
    begin, end = int(starts[rows[0]]), int(starts[rows[1]])
    cells = np.fromfile(folder / "cells", kind, end - begin, offset=begin * np.dtype(kind).itemsize)
    column = np.fromfile(folder / "columns", _COLUMN, end - begin, offset=begin * _COLUMN.itemsize)
    if len(cells) < end - begin or len(column) < end - begin:
        raise cut_off(folder)
    found = np.zeros((rows[1] - rows[0], tasks), dtype=kind)
    at = np.repeat(np.arange(len(found)) * tasks, np.diff(starts[rows[0] : rows[1] + 1]))
    found.reshape(-1)[at + column] = cells
    return found


def cut_off(folder: Path) -> InputError:
    """Build the error for packed responses that are not all there."""
    return InputError(f"The packed responses in {shorten(folder, 200)} are cut off. Begin again.")
