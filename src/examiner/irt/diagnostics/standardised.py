"""Results relative to the mean and deviation of their task, and correlations of tasks with the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.results import ObservedCells, ResponseMatrix

TINY = 1e-12


class StandardisedCells(NamedTuple):
    """Deviates of results from their task's mean, [..., agents, tasks] or [observed] of a list of cells.

    `deviate` has variance 1 within each task and is 0 where nothing was observed. `weight` is the standard
    deviation of a count by chance, and 1 for scores.
    """

    deviate: Floats
    weight: Floats
    listed: ObservedCells | None = None

    def task_sums(self, values: NDArray[np.number | np.bool_]) -> Floats:
        """Return sums over agents, [..., tasks]."""
        if self.listed is not None:
            return self.listed.task_sums(values)
        return np.asarray(values.sum(axis=-2), dtype=np.float64)

    def agent_sums(self, values: Floats) -> Floats:
        """Return sums over tasks, [..., agents]."""
        if self.listed is not None:
            return self.listed.agent_sums(values)
        return np.asarray(values.sum(axis=-1))

    def by_task(self, values: Floats) -> Floats:
        """Return a number of each task for its cells."""
        return values[..., None, :] if self.listed is None else values[self.listed.columns]

    def by_agent(self, values: Floats) -> Floats:
        """Return a number of each agent for its cells."""
        return values[..., None] if self.listed is None else values[self.listed.rows]

    @classmethod
    def of(cls, matrix: ResponseMatrix) -> StandardisedCells:
        """Return the results of a matrix as deviates; a list of cells stays one."""
        listed = matrix.observed_cells
        if matrix.is_counts:
            if listed is not None:
                won, trials = (part.astype(np.float64) for part in listed.parts)
                return cls.of_counts(won, trials, listed)
            repeated = matrix.trials.strides[0] == 0  # one row stands for all agents
            trials = (matrix.trials[:1] if repeated else matrix.trials).astype(np.float64)
            return cls.of_counts(matrix.successes.astype(np.float64), trials)
        if listed is not None:
            return cls.of_scores(listed.parts[0], np.ones(len(listed), dtype=np.bool_), listed)
        return cls.of_scores(np.nan_to_num(matrix.to_numpy()), matrix.observed)

    @classmethod
    def of_counts(
        cls, won: Floats, trials: Floats, listed: ObservedCells | None = None
    ) -> StandardisedCells:
        """Return (k − np) / √(np(1 − p)), so that cells with different trials are comparable."""
        raw = cls(won, trials, listed)
        tried = raw.task_sums(np.broadcast_to(trials, won.shape))
        share = raw.by_task(raw.task_sums(won) / np.maximum(tried, 1.0))
        weight = np.sqrt(np.maximum(trials * share * (1.0 - share), 0.0))
        off = np.divide(won - trials * share, weight, out=np.zeros(won.shape), where=weight > 0)
        return cls(off, weight, listed)._scaled(trials > 0)

    @classmethod
    def of_scores(
        cls, values: Floats, observed: NDArray[np.bool_], listed: ObservedCells | None = None
    ) -> StandardisedCells:
        """Return scores less the mean of their task, by its deviation."""
        return cls(values, observed.astype(np.float64), listed)._scaled(observed)

    def _scaled(self, observed: NDArray[np.bool_]) -> StandardisedCells:
        count = np.maximum(self.task_sums(np.broadcast_to(observed, self.deviate.shape)), 1.0)
        mean = self.by_task(self.task_sums(self.deviate) / count)
        off = np.where(observed, self.deviate - mean, 0.0)
        size = self.by_task(np.sqrt(self.task_sums(off**2) / count))
        varies = np.broadcast_to(size > TINY, off.shape)
        scaled = np.divide(off, size, out=np.zeros_like(off), where=varies)
        weight = np.broadcast_to(np.where(size > TINY, self.weight, 0.0), off.shape)
        return self._replace(deviate=scaled, weight=weight)


def cells_of_blocks(matrix: ResponseMatrix) -> Iterator[tuple[slice, StandardisedCells]]:
    """Yield tasks and their cells, a million cells at a time; a list of cells is one block."""
    agents, tasks = matrix.shape
    step = max(1, 1_000_000 // agents)
    if matrix.observed_cells is not None or step >= tasks:
        yield slice(0, tasks), StandardisedCells.of(matrix)
        return
    for first in range(0, tasks, step):
        columns = slice(first, min(tasks, first + step))
        part = matrix.take(tasks=range(columns.start, columns.stop))
        yield columns, StandardisedCells.of(part)


class WeightedTotals(NamedTuple):
    """Σ wz and Σ w² over the tasks of each agent, and Σ w² over the agents of each task."""

    total: Floats
    squares: Floats
    squares_of_tasks: Floats


def weighted_totals(matrix: ResponseMatrix) -> WeightedTotals:
    """Return sums of weighted deviates over agents and tasks."""
    agents, tasks = matrix.shape
    sums = WeightedTotals(np.zeros(agents), np.zeros(agents), np.zeros(tasks))
    for columns, cells in cells_of_blocks(matrix):
        sums.total[:] += cells.agent_sums(cells.weight * cells.deviate)
        sums.squares[:] += cells.agent_sums(cells.weight**2)
        sums.squares_of_tasks[columns] = cells.task_sums(cells.weight**2)
    return sums


def rest_correlation_deviates(matrix: ResponseMatrix) -> Floats:
    r"""Return how each task correlates with the agents' results on the others, in standard errors, [tasks].

    .. math:: z_i = r_i \sqrt{n_i - 1}

    r is the correlation, over the n agents with a result on the task, with their mean on the others. If a
    task does not depend on ability, its results may be permuted between agents: z has mean 0 and
    variance 1, whatever the prior, and is nearly normal.

    >>> matrix = ResponseMatrix.from_array([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    >>> rest_correlation_deviates(matrix).round(2)
    array([ 1.73,  1.73,  1.73, -1.73])
    """
    sums = weighted_totals(matrix)
    z = np.zeros(len(matrix.tasks))
    for columns, cells in cells_of_blocks(matrix):
        count = cells.task_sums(cells.weight > 0)
        z[columns] = rest_correlations(cells, sums) * np.sqrt(np.maximum(count - 1, 0.0))
    return z


def rest_correlations(cells: StandardisedCells, sums: WeightedTotals | None = None) -> Floats:
    """Return the correlation of each task with the mean over the others, [..., tasks].

    `sums` are those over all tasks, if the cells are only some of them.
    """
    deviate, weight = cells.deviate, cells.weight
    weighted, present = weight * deviate, weight > 0
    total = cells.agent_sums(weighted) if sums is None else sums.total
    squares = cells.agent_sums(weight**2) if sums is None else sums.squares
    others = cells.by_agent(squares) - weight**2
    usable = (others > TINY) & present
    mean = np.divide(
        cells.by_agent(total) - weighted, others, out=np.zeros_like(deviate), where=usable
    )
    count = np.maximum(cells.task_sums(present), 1.0)
    mean = np.where(present, mean - cells.by_task(cells.task_sums(mean) / count), 0.0)
    size = np.sqrt(cells.task_sums(deviate**2) * cells.task_sums(mean**2))
    covariance = cells.task_sums(deviate * mean)
    return np.asarray(np.divide(covariance, size, out=np.zeros_like(size), where=size > TINY))
