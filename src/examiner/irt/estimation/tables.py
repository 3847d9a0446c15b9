"""Tables of agents × tasks as E-steps multiply them: of all cells, or of the observed ones where few were.

Both are multiplied in the same words (`data[rows] @ table`, `data[rows].T @ weights`). Lists of cells cost
time and memory by what was observed, and are faster than all cells below one in eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.results import ObservedCells, ResponseMatrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from typing_extensions import TypeIs

Table: TypeAlias = "NDArray[np.floating] | csr_array"

_TOGETHER = 512
"""Tasks whose terms are added in single precision; shorter parts cost products with tables their speed."""
_EXACTLY = 4096
"""Tasks, or agents, whose terms are added in single precision where their sum is exact."""
_AGENTS = 128
_FILLED = 4
"""Observed cells of each task in a block of agents: of fewer, sums of [tasks, nodes] outweigh products."""
_MOST_AGENTS = 4096


def counts_of(
    matrix: ResponseMatrix, what: int, order: NDArray[np.intp] | slice, kind: type[np.floating]
) -> Table:
    """Return successes (0) or trials (1) of agents in some order."""
    cells = matrix.observed_cells
    if cells is not None:
        return listed_cells(cells, cells.parts[what], order, kind)
    counts = matrix.trials if what else matrix.successes
    return counts[order].astype(kind)


def listed_cells(
    cells: ObservedCells,
    values: NDArray[np.generic],
    order: NDArray[np.intp] | slice,
    kind: type[np.floating],
) -> csr_array:
    """Return numbers of observed cells as a table of agents in some order, without those that are 0."""
    from scipy.sparse import csr_array  # slow to import

    index = np.int32 if len(cells) < np.iinfo(np.int32).max else np.int64
    found = csr_array(
        (values.astype(kind), cells.columns.astype(index, copy=False), cells.starts.astype(index)),
        shape=cells.shape,
    )
    if not values.all():
        found = csr_array(found, copy=True)  # indices are those of the matrix
        found.eliminate_zeros()
    return found[order]


def is_listed(data: Table) -> TypeIs[csr_array]:
    """Whether a table is one of observed cells alone."""
    return not isinstance(data, np.ndarray)


def agents_together(matrix: ResponseMatrix, fewest: int) -> int:
    """Return how many agents to look at together: more of those of whom little was observed."""
    cells = matrix.observed_cells
    if cells is None:
        return fewest
    agents, tasks = cells.shape
    return int(np.clip(_FILLED * tasks * agents // max(len(cells), 1), fewest, _MOST_AGENTS))


def added_in_double(data: Table, table: NDArray[np.floating]) -> Floats:
    """Return data [agents, tasks] times a table [tasks, …], of many tasks added up in double precision.

    A sum of 2,000 terms in single precision errs by some 1e-6 of its size, which is 3e-8 of the
    log-likelihood of a thousand agents; of a few hundred terms at a time, by several times less. A
    vector is split (`halves`), and errs by nothing.
    """
    if data.dtype == np.float64 or len(table) <= _TOGETHER:
        return np.asarray(data @ table, dtype=np.float64)
    if table.ndim == 1 and not is_listed(data):
        return _added_over_tasks(data, table.astype(np.float64, copy=False))
    step = _TOGETHER
    if is_listed(data):  # so many observed cells of an agent lie among more tasks
        step = max(step, int(step * data.shape[0] * data.shape[1] / max(data.nnz, 1)))
    total = np.zeros((data.shape[0], *table.shape[1:]))
    for start in range(0, len(table), step):
        part = slice(start, start + step)
        total += data[:, part] @ table[part].astype(data.dtype, copy=False)
    return total


def added_over_agents(data: Table, weights: Floats) -> Floats:
    """Return data [agents, tasks], transposed, times weights [agents], as exactly."""
    if is_listed(data) or data.dtype == np.float64:
        return np.asarray(weights @ data)
    total, both = np.zeros(data.shape[1]), halves(weights)
    for rows, columns in _tiles(data.shape):
        tile = data[rows, columns]
        for half in both:
            total[columns] += half[rows] @ tile
    return total


def times_curves(data: Table, curves: NDArray[np.floating]) -> Floats:
    """Return data [agents, tasks] times curves [nodes, tasks], or times their halves [nodes, 2, tasks].

    >>> curves = np.array([[1 / 3, 0.7]])
    >>> data = np.ones((1, 2), dtype=np.float32)
    >>> split = np.stack(halves(curves), axis=1)
    >>> bool(abs(times_curves(data, split) - times_curves(data.astype(float), curves)).max() < 1e-10)
    True
    """
    if curves.ndim == 2:
        return np.asarray(data @ curves.T)
    tasks = curves.shape[-1]
    both = curves.reshape(-1, tasks)
    total = np.zeros((data.shape[0], len(both)))
    for start in range(0, tasks, _EXACTLY):
        part = slice(start, start + _EXACTLY)
        total += data[:, part] @ both[:, part].T
    return np.asarray(total[:, ::2] + total[:, 1::2])


def add_mass(mass: Floats, data: Table, weights: Floats) -> None:
    """Add weights [agents, nodes], transposed, times data [agents, tasks] to mass [nodes, tasks].

    Sums over one block of agents may be in single precision: they err by 1e-7 of themselves, to
    either side, and sums of these over nodes and blocks by far less.
    """
    if is_listed(data):
        mass += (data.T @ weights.astype(data.dtype, copy=False)).T
    else:
        mass += weights.T.astype(data.dtype) @ data


def halves(numbers: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the leading bits of numbers, and what they leave; a row of several at a time.

    The leading ones are so few that sums of zeros and ones times `_EXACTLY` of them are exact in single
    precision, and what they leave is so small that its rounding is nothing.

    >>> leading, rest = halves(np.array([1 / 3, -0.7]))
    >>> bool(abs(leading.astype(float) + rest - [1 / 3, -0.7]).max() < 1e-11)
    True
    """
    largest = np.abs(numbers).max(axis=-1, initial=0.0, keepdims=True)
    unit = 2.0 ** np.ceil(np.log2(np.maximum(largest, 1e-300))) * _EXACTLY / 2**24
    leading = np.round(numbers / unit) * unit
    return leading.astype(np.float32), (numbers - leading).astype(np.float32)


def _added_over_tasks(data: NDArray[np.floating], vector: Floats) -> Floats:
    total, both = np.zeros(len(data)), halves(vector)
    for rows, columns in _tiles(data.shape):
        tile = data[rows, columns]
        for half in both:
            total[rows] += tile @ half[columns]
    return total


def _tiles(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Parts of a table that stay in the processor's cache for both halves: the data are read once."""
    for row in range(0, shape[0], _AGENTS):
        for column in range(0, shape[1], _EXACTLY):
            yield slice(row, row + _AGENTS), slice(column, column + _EXACTLY)
