"""Cells of a table of which few were observed: the columns of each agent's, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.validation import read_only, smallest_unsigned

MOST_OBSERVED = 1 / 8
"""Share of cells observed below which products with lists of cells are faster than with all cells: of 512 ×
8,000 with 60 columns, in single precision, 5.9 ms and 6.7 there, 0.9 and 6.8 at one cell in 50."""

Values = NDArray[Any]  # Any: counts, or scores
Integers = NDArray[np.integer]


def few_observed(observed: int, shape: tuple[int, int]) -> bool:
    """Whether a table is large, and so little of it was observed that it is held by observed cells.

    >>> few_observed(200_000, (20_000, 50_000)), few_observed(10, (20, 50))
    (True, False)
    """
    cells = shape[0] * shape[1]
    # Up to ten million cells a table is small whichever way it is held.
    return cells > 10_000_000 and observed < MOST_OBSERVED * cells


@dataclass(frozen=True, slots=True, eq=False)
class ObservedCells:
    """The observed cells of a table, agent by agent, each agent's in the order of tasks.

    Those of agent j are from `starts[j]` to `starts[j + 1]` [agents + 1] in `columns` [observed] and in
    each of `parts`: successes and trials, or values.
    """

    shape: tuple[int, int]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    parts: tuple[Values, ...]

    @classmethod
    def of(
        cls, shape: tuple[int, int], row: Integers, column: Integers, *parts: Values
    ) -> ObservedCells:
        """Take cells in any order, each named once.

        >>> cells = ObservedCells.of((2, 3), np.array([1, 0]), np.array([2, 1]), np.array([7, 8]))
        >>> cells.laid_out(0)
        array([[0, 8, 0],
               [0, 0, 7]])
        """
        if not _in_order(row, column):
            order = np.lexsort((column, row))
            row, column = row[order], column[order]
            parts = tuple(part[order] for part in parts)
        starts = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=shape[0]), out=starts[1:])
        return cls(shape, starts, column.astype(np.int32, copy=False), tuple(parts))

    @classmethod
    def counted(
        cls, shape: tuple[int, int], row: Integers, column: Integers, won: NDArray[np.bool_]
    ) -> ObservedCells:
        """Count trials in any order, of which each won or not, cell by cell.

        >>> row, column = np.array([0, 0, 0]), np.array([4, 2, 4])
        >>> cells = ObservedCells.counted((1, 5), row, column, np.array([True, False, False]))
        >>> cells.columns.tolist(), [part.tolist() for part in cells.parts]
        ([2, 4], [[0, 1], [1, 2]])
        """
        # One number for the cell and its outcome: a sort in place then moves nothing else.
        keys = np.multiply(row, 2 * shape[1], dtype=np.int64)
        keys += column
        keys += column
        keys += won
        if not (keys[1:] >= keys[:-1]).all():
            keys.sort()
        wins = (keys & 1).astype(np.uint8)
        keys >>= 1
        first = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, bool)
        begins = np.flatnonzero(first)
        keys = keys[first]
        trials = np.diff(begins, append=len(wins))
        kind = smallest_unsigned(int(trials.max(initial=0)))
        if len(begins) < len(wins):
            wins = np.add.reduceat(wins, begins, dtype=kind)
        rows, column = np.divmod(keys, shape[1])
        return cls.of(shape, rows, column, wins.astype(kind, copy=False), trials.astype(kind))

    @classmethod
    def within(cls, observed: NDArray[np.bool_], *parts: Values) -> ObservedCells:
        """Take the observed cells of tables [agents, tasks].

        >>> ObservedCells.within(np.array([[False, True]]), np.array([[0, 3]])).parts
        (array([3]),)
        """
        row, column = np.nonzero(observed)
        return cls.of(observed.shape, row, column, *(part[row, column] for part in parts))

    def frozen(self) -> ObservedCells:
        """Return the same, which nobody can change any more."""
        read_only(self.starts, self.columns, *self.parts)
        return self

    def __len__(self) -> int:
        """Number of observed cells."""
        return len(self.columns)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The agent of each cell, [observed]."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.starts))

    def laid_out(self, part: int, missing: float = 0) -> Values:
        """Return all cells of a part, [agents, tasks], with `missing` where nothing was observed."""
        whole = np.full(self.shape, missing, dtype=self.parts[part].dtype)
        whole[self.rows, self.columns] = self.parts[part]
        return whole

    def observed(self) -> NDArray[np.bool_]:
        """Return which cells were observed, [agents, tasks]."""
        mask = np.zeros(self.shape, dtype=np.bool_)
        mask[self.rows, self.columns] = True
        return mask

    def task_sums(self, values: Values) -> NDArray[np.float64]:
        """Return sums over agents of a number for each observed cell, [tasks]."""
        return np.bincount(self.columns, values, self.shape[1]).astype(np.float64, copy=False)

    def agent_sums(self, values: Values) -> NDArray[np.float64]:
        """Return sums over tasks of a number for each observed cell, [agents]."""
        return np.bincount(self.rows, values, self.shape[0]).astype(np.float64, copy=False)

    def take(self, agents: Sequence[int] | None, tasks: Sequence[int] | None) -> ObservedCells:
        """Return some agents and tasks, by position, in the order given; no task twice.

        >>> cells = ObservedCells.within(np.eye(3, dtype=bool), np.diag([5, 6, 7]))
        >>> cells.take([2, 0], [2, 1, 0]).laid_out(0)
        array([[7, 0, 0],
               [0, 0, 5]])
        """
        chosen = self
        if agents is not None:  # from the end, where negative
            chosen = self._of_agents(np.arange(self.shape[0])[np.asarray(agents, dtype=np.intp)])
        return chosen if tasks is None else chosen._of_tasks(np.asarray(tasks, dtype=np.intp))

    def _of_agents(self, agents: NDArray[np.intp]) -> ObservedCells:
        shape, first = (len(agents), self.shape[1]), int(agents[0]) if len(agents) else 0
        if np.array_equal(agents, np.arange(first, first + len(agents))):
            starts = self.starts[first : first + len(agents) + 1]
            inside = slice(int(starts[0]), int(starts[-1]))
            parts = tuple(part[inside] for part in self.parts)
            return ObservedCells(shape, starts - starts[0], self.columns[inside], parts)
        begin, count = self.starts[agents], np.diff(self.starts)[agents]
        starts = np.concatenate([[0], np.cumsum(count)])
        positions = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], count)
        parts = tuple(part[positions] for part in self.parts)
        return ObservedCells(shape, starts, self.columns[positions], parts)

    def _of_tasks(self, tasks: NDArray[np.intp]) -> ObservedCells:
        number = np.full(self.shape[1], -1, dtype=np.int32)
        number[tasks] = np.arange(len(tasks), dtype=np.int32)
        column = number[self.columns]
        kept = column >= 0
        parts = tuple(part[kept] for part in self.parts)
        return ObservedCells.of((self.shape[0], len(tasks)), self.rows[kept], column[kept], *parts)

    def equal(self, other: ObservedCells) -> bool:
        """Whether the same cells hold the same."""
        mine: tuple[Values, ...] = (self.starts, self.columns, *self.parts)
        theirs: tuple[Values, ...] = (other.starts, other.columns, *other.parts)
        return self.shape == other.shape and all(
            np.array_equal(one, another) for one, another in zip(mine, theirs, strict=True)
        )


def _in_order(row: Integers, column: Integers) -> bool:
    """Whether cells come agent by agent, and each agent's in the order of tasks."""
    above, right = row[1:] > row[:-1], column[1:] > column[:-1]
    return bool((above | ((row[1:] == row[:-1]) & right)).all())
