"""Blocks of agents: their responses as statistics of a likelihood, and the products that passes need.

A statistic T_c [agents, tasks] is stored as one row (the same for all agents), as an array (bytes until a
product needs floats), or as a list of observed cells. All three are multiplied in the same words. Agents
are sorted by their share of successes inside a block, so that those of a tile reach few nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.arrays import Array, Kind, Place, times_curves, times_weights
from examiner.irt.estimation.kernels import Binomial, Kernel, listed_statistics
from examiner.irt.items import Floats
from examiner.results import ResponseMatrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LONGEST_TILE = 4096


class SameRow(NamedTuple):
    """A statistic that is the same for all agents, [tasks]: it costs no product."""

    row: Array
    place: Place

    def tile(self, rows: slice) -> SameRow:
        """Return the same for some agents."""
        return self

    def times(self, curves: Array) -> Array:
        """Return data times curves [nodes, tasks], the same for every agent: [1, nodes]."""
        whole = curves.sum(1) if curves.ndim == 3 else curves
        return (self.place.cast(whole, np.float64) @ self.row)[None, :]


class Dense(NamedTuple):
    """A statistic of all cells, [agents, tasks]; `kind` is the precision of its products."""

    data: Array
    kind: Kind
    place: Place

    def tile(self, rows: slice) -> Dense:
        """Return some agents, as floats."""
        return Dense(self.place.cast(self.data[rows], self.kind), self.kind, self.place)

    def times(self, curves: Array) -> Array:
        """Return data times curves [nodes, tasks], or their halves: [agents, nodes]."""
        return times_curves(self.data, curves, self.place)

    def transposed(self, weights: Array, *, exact: bool = False) -> Array:
        """Return weights [agents, n], transposed, times data: [n, tasks]."""
        exact = exact or not self.place.in_process
        return times_weights(weights, self.data, self.place, exact=exact)


class Listed(NamedTuple):
    """A statistic of observed cells alone.

    `data` multiplies, without zeros; `values` are those of all observed cells, whose tasks are `columns`,
    and of which those of an agent begin at `starts` [agents + 1].
    """

    data: csr_array
    values: NDArray[np.generic]
    columns: NDArray[np.integer]
    starts: NDArray[np.integer]

    @classmethod
    def of(cls, cells: csr_array) -> Listed:
        """Take observed cells, zeros among them."""
        values, columns, starts = cells.data.copy(), cells.indices.copy(), cells.indptr.copy()
        cells.eliminate_zeros()
        return cls(cells, values, columns, starts)

    def tile(self, rows: slice) -> Listed:
        """Return some agents."""
        starts = self.starts[rows.start : rows.stop + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        return Listed(
            self.data[rows], self.values[inside], self.columns[inside], starts - starts[0]
        )

    def times(self, curves: Array) -> Array:
        """Return data times curves [nodes, tasks]: [agents, nodes]."""
        return np.asarray(self.data @ curves.T)

    def transposed(self, weights: Array, *, exact: bool = False) -> Array:
        """Return weights [agents, n], transposed, times data: [n, tasks]."""
        return np.asarray(self.data.T @ weights).T


Statistic = SameRow | Dense | Listed


@dataclass(slots=True)
class Block:
    """Some agents and their statistics, sorted by share of successes, in tiles of agents.

    `order` are rows of the matrix in that order. `constant` is Σ h(x), and `score` [agents] the successes
    of each agent, None where responses are scores. Where more is known of agents than the population they
    are from, `anchor` [agents, nodes] has their log densities at the nodes. `codes` [agents] are the
    editions of agents, where a quadrature has weights for each.
    """

    tables: tuple[Statistic, ...]
    place: Place
    order: NDArray[np.intp]
    tiles: list[slice]
    constant: float
    score: Floats | None
    anchor: Array | None = None
    codes: NDArray[np.intp] | None = None
    first: int = 0
    """The number of its first agent among all."""

    @classmethod
    def of(
        cls,
        matrix: ResponseMatrix,
        kernel: Kernel,
        kind: Kind,
        place: Place,
        *,
        plain: bool,
        alike: bool,
        kept: bool,
    ) -> Block:
        """Take the agents of a matrix.

        `plain` says that one product with a vector stands for the successes, as in the 1PL and 2PL, and
        `alike` that all agents, those of other blocks too, were given the same trials. A block that is
        `kept` for many passes keeps its floats where they are few.
        """
        agents, tasks = matrix.shape
        score = None
        if matrix.is_counts:
            score, trials = agent_totals(matrix)
            standing = (score + 1.0) / (trials + 2.0)
        else:
            values = matrix.to_numpy()
            observed = ~np.isnan(values)
            standing = np.where(observed, values, 0.0).sum(axis=1) / np.maximum(
                observed.sum(axis=1), 1
            )
        order = np.argsort(standing, kind="stable")
        tables = _statistics(matrix, kernel, order, kind, place, alike=alike, kept=kept)
        size, cells = 64 if plain else 128, matrix.observed_cells
        if place.agents_together is not None:
            size = place.agents_together
        elif cells is not None and isinstance(tables[0], Listed):
            # of fewer than four observed cells of each task, sums of [tasks, nodes] outweigh products
            size = int(np.clip(4 * tasks * agents // max(len(cells), 1), size, _LONGEST_TILE))
        elif plain and alike:
            size = 256
        return cls(
            tables,
            place,
            order,
            tiles_of(agents, size),
            float(kernel.constant(matrix).sum()),
            None if score is None else score[order],
        )

    @property
    def agents(self) -> int:
        """How many agents there are."""
        return len(self.order)

    @property
    def listed(self) -> bool:
        """Whether observed cells alone are stored."""
        return isinstance(self.tables[0], Listed)

    def weighted_successes(self, weights: Array) -> Array:
        """Return the successes of each task, weighted by numbers of agents [agents], exactly."""
        whole = self.tables[0]
        if isinstance(whole, SameRow):
            return whole.row * weights.sum()
        # a megabyte of cells at a time
        size = max(self.tiles[0].stop, min((1 << 20) // whole.data.shape[1], _LONGEST_TILE))
        return sum(
            whole.tile(rows).transposed(weights[rows][:, None], exact=True)[0]
            for rows in tiles_of(self.agents, size)
        )

    def in_order(self, *numbers: Array) -> tuple[Floats, ...]:
        """Return numbers of agents [agents, …], in the order of the block, in that of the matrix."""
        given = []
        for part in numbers:
            back = np.empty(part.shape)
            back[self.order] = self.place.numpy(part)
            given.append(back)
        return tuple(given)


def tiles_of(agents: int, size: int) -> list[slice]:
    """Return agents cut into slices of a size.

    >>> tiles_of(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, agents)) for start in range(0, agents, size)]


def _statistics(
    matrix: ResponseMatrix,
    kernel: Kernel,
    order: NDArray[np.intp],
    kind: Kind,
    place: Place,
    *,
    alike: bool,
    kept: bool,
) -> tuple[Statistic, ...]:
    listed = listed_statistics(kernel, matrix, order) if place.in_process else None
    if listed is not None:
        return tuple(Listed.of(data) for data in listed)
    counts = isinstance(kernel, Binomial)
    parts: tuple[NDArray[np.generic], ...] = (
        (matrix.successes, matrix.trials) if counts else kernel.statistics(matrix)
    )
    # floats of few cells are kept from one pass to the next
    few = kept and matrix.shape[0] * matrix.shape[1] * len(parts) <= 4_000_000
    tables: list[Statistic] = []
    for number, data in enumerate(parts):
        same = data.strides[0] == 0 or bool((data[:2] == data[0]).all() and (data == data[0]).all())
        # Successes are agents' own, also where all of them happen to have the same.
        if (alike and number == 1) if counts else same:
            tables.append(SameRow(place.array(data[0]), place))
            continue
        sent = place.array(data, data.dtype.type)[place.array(order, np.int64)]
        if few or data.dtype.kind == "f":
            sent = place.cast(sent, kind)
        tables.append(Dense(sent, kind, place))
    return tuple(tables)


def task_totals(matrix: ResponseMatrix) -> tuple[Floats, Floats]:
    """Return successes and trials of each task over all agents, [tasks] each.

    >>> task_totals(ResponseMatrix.from_array([[1, 0], [1, np.nan]]))
    (array([2., 0.]), array([2., 1.]))
    """
    cells = matrix.observed_cells
    if cells is None:
        return _column_sums(matrix.successes), _column_sums(matrix.trials)
    won, tried = cells.parts
    return cells.task_sums(won), cells.task_sums(tried)


def agent_totals(matrix: ResponseMatrix) -> tuple[Floats, Floats]:
    """Return successes and trials of each agent over all tasks, [agents] each.

    >>> agent_totals(ResponseMatrix.from_array([[1, 0], [1, np.nan]]).as_sparse())
    (array([1., 1.]), array([2., 1.]))
    """
    cells = matrix.observed_cells
    if cells is None:
        won, trials = matrix.successes.sum(axis=1).astype(np.float64), matrix.trials
        if trials.strides[0] == 0:  # the same for all
            return won, np.full(len(won), float(trials[0].sum()))
        return won, trials.sum(axis=1).astype(np.float64)
    return cells.agent_sums(cells.parts[0]), cells.agent_sums(cells.parts[1])


def same_trials(matrix: ResponseMatrix) -> bool:
    """Whether every agent was given the same trials; a shared number needs no look at the cells.

    Where observed cells alone are held, trials are taken to differ.
    """
    if matrix.observed_cells is not None:
        return False
    trials = matrix.trials
    return trials.strides[0] == 0 or bool((trials == trials[0]).all())


def _column_sums(counts: NDArray[np.unsignedinteger]) -> Floats:
    """Sums over agents, in blocks so short that small integers hold them."""
    if counts.strides[0] == 0:
        return np.asarray(counts.shape[0] * counts[0].astype(np.float64))
    kind, total = counts.dtype, np.zeros(counts.shape[1])
    for rows in tiles_of(
        len(counts), int(np.iinfo(kind).max) // max(1, int(counts.max(initial=0)))
    ):
        total += counts[rows].sum(axis=0, dtype=kind)
    return total
