"""Trials averaged within a run, then runs within a cell: the order in which results are averaged."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import ObservedCells, Results, check_results, reads_results
from examiner.validation import Floats

_TOGETHER = 1 << 22
"""Rows looked at together where their numbers would fill memory."""


class RowCodes(NamedTuple):
    """Which agent, task and run each row is of, arrays of shape [rows], and how many agents and tasks."""

    agent: NDArray[np.integer]
    task: NDArray[np.integer]
    run: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, results: Results) -> RowCodes:
        """Take the codes of a table's rows."""
        shape, run = (len(results.agents), len(results.tasks)), results.run_codes
        if not run.any():  # one run of everything, which needs no number for each row
            run = np.broadcast_to(np.int64(0), run.shape)
        return cls(results.agent_codes, results.task_codes, run, shape)

    def single(self) -> slice | NDArray[np.int64] | None:
        """Return the cell of each row, agent · tasks + task, where no cell has two rows; else None.

        Rows that stand in the order of cells, all there, are a slice: very large tables are then looked at
        as they lie.

        >>> zero, both = np.array([0, 0]), np.array([0, 1])
        >>> RowCodes(zero, both, zero, (1, 2)).single(), RowCodes(zero, zero, zero, (1, 2)).single()
        (slice(None, None, None), None)
        """
        (n_agents, n_tasks), rows = self.shape, len(self.agent)
        if rows > n_agents * n_tasks:
            return None
        if rows == n_agents * n_tasks:
            agents = np.arange(n_agents, dtype=self.agent.dtype)[:, None]
            tasks = np.arange(n_tasks, dtype=self.task.dtype)
            named = (self.agent, agents), (self.task, tasks)
            if all((codes.reshape(self.shape) == usual).all() for codes, usual in named):
                return slice(None)
        cells = self.agent.astype(np.int64) * n_tasks
        cells += self.task
        met = np.zeros(n_agents * n_tasks, dtype=bool)
        met[cells] = True
        return cells if np.count_nonzero(met) == rows else None


class RunMeans(NamedTuple):
    """The mean of each run's trials: one entry per observed (agent, task, run)."""

    agent: NDArray[np.int64]
    task: NDArray[np.int64]
    run: NDArray[np.int64]
    value: Floats


def judged_runs(results: Results) -> Results:
    """Return results as they are averaged: a training log is reduced first, as in commands and reports.

    >>> judged_runs(Results.from_numpy([[1.0, 2.0]])).provenance.reduction is None
    True
    """
    if not check_results(results).provenance.training:
        return results
    from examiner.scores.training.reduce import reduce  # for training logs, which few are

    return reduce(results)


@reads_results
def run_means(results: Results, measure: str | None = None) -> RunMeans:
    """Average the trials of each run, unobserved ones left out; training logs are reduced.

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 8],
    ...                              "trial": [0, 1, 0], "score": [1, 3, 10]})
    >>> run_means(results).value
    array([ 2., 10.])
    """
    results = judged_runs(results)
    return mean_runs(results.measure(measure), RowCodes.of(results))


@reads_results
def cell_means(results: Results, measure: str | None = None) -> Floats:
    """Return the mean over runs of the mean over trials; NaN where nothing was observed.

    Shape [agents, tasks]. Training logs are reduced first.

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 8],
    ...                              "trial": [0, 1, 0], "score": [1, 3, 10]})
    >>> cell_means(results)
    array([[6.]])
    """
    results = judged_runs(results)
    return mean_cells(results.measure(measure), RowCodes.of(results))


def mean_runs(values: Floats, codes: RowCodes) -> RunMeans:
    """Average values [rows] within runs; NaN is left out.

    >>> codes = RowCodes(np.array([0, 0]), np.array([1, 1]), np.array([5, 5]), (1, 2))
    >>> mean_runs(np.array([1.0, 3.0]), codes).value
    array([2.])
    """
    observed = ~np.isnan(values)
    _, runs = np.unique(codes.run, return_inverse=True)
    (n_agents, n_tasks), n_runs = codes.shape, int(runs.max(initial=0)) + 1
    cells = codes.agent.astype(np.int64) * n_tasks + codes.task
    keys, number = _numbered((cells * n_runs + runs)[observed], n_agents * n_tasks * n_runs)
    means = np.bincount(number, weights=values[observed]) / np.bincount(number)
    cell, run = np.divmod(keys, n_runs)
    agent, task = np.divmod(cell, n_tasks)
    return RunMeans(agent, task, run, means)


def mean_cells(values: Floats, codes: RowCodes) -> Floats:
    """Average values [rows] within runs, then runs within cells; shape [agents, tasks].

    >>> codes = RowCodes(np.array([0, 0]), np.array([1, 1]), np.array([5, 5]), (1, 2))
    >>> mean_cells(np.array([1.0, 3.0]), codes)
    array([[nan,  2.]])
    """
    single = codes.single()
    if single is not None:
        return single_values(values, single, codes.shape)
    runs = mean_runs(values, codes)
    n_agents, n_tasks = codes.shape
    cells = runs.agent * n_tasks + runs.task
    return group_means(runs.value, cells, n_agents * n_tasks).reshape(codes.shape)


def single_values(
    values: Floats, single: slice | NDArray[np.int64], shape: tuple[int, int]
) -> Floats:
    """Put values [rows] into a table where no cell has two (`RowCodes.single`); NaN where it has none.

    >>> single_values(np.array([5.0]), np.array([1]), (1, 2))
    array([[nan,  5.]])
    """
    if isinstance(single, slice):
        return values.reshape(shape)
    table = np.full(shape[0] * shape[1], np.nan)
    table[single] = values
    return table.reshape(shape)


def observed_means(results: Results, measure: str | None = None) -> ObservedCells:
    """Return the same of the cells that were observed alone, without a table of all.

    >>> observed_means(Results.from_numpy([[1.0, np.nan], [np.nan, 4.0]])).parts[0]
    array([1., 4.])
    """
    results = judged_runs(results)
    runs = mean_runs(results.measure(measure), RowCodes.of(results))
    shape = len(results.agents), len(results.tasks)
    # Runs come in the order of cells.
    first = np.ones(len(runs.value), dtype=bool)
    first[1:] = (runs.agent[1:] != runs.agent[:-1]) | (runs.task[1:] != runs.task[:-1])
    begins = np.flatnonzero(first)
    means = np.add.reduceat(runs.value, begins) / np.diff(begins, append=len(first))
    return ObservedCells.of(shape, runs.agent[begins], runs.task[begins], means)


def counted_cells(
    agent: NDArray[np.integer], task: NDArray[np.integer], shape: tuple[int, int]
) -> NDArray[np.integer]:
    """Count the rows of each cell, [agents, tasks], in no more memory than small numbers need.

    >>> counted_cells(np.array([0, 0]), np.array([1, 1]), (1, 2))
    array([[0, 2]], dtype=uint16)
    """
    count = np.zeros(shape[0] * shape[1], dtype=np.uint16)
    for start in range(0, len(agent), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        cells = np.multiply(agent[rows], shape[1], dtype=np.int64)
        cells += task[rows]
        np.add.at(count, cells, np.uint16(1))
    if len(agent) >= 2**16 and int(count.sum(dtype=np.int64)) != len(agent):
        cells = agent.astype(np.int64) * shape[1] + task  # a cell of more rows than 16 bits count
        return np.bincount(cells, minlength=count.size).reshape(shape)
    return count.reshape(shape)


def codes_of(labels: Sequence[Hashable]) -> NDArray[np.int64]:
    """Number labels from zero in the order of their first appearance.

    >>> codes_of(["b", "a", "b"])
    array([0, 1, 0])
    """
    met: dict[Hashable, int] = {}
    return np.array([met.setdefault(label, len(met)) for label in labels], dtype=np.int64)


def group_means(values: Floats, group: NDArray[np.integer], groups: int) -> Floats:
    """Average the values of each group, given by its number; NaN for a group without any.

    >>> group_means(np.array([1.0, 3.0, 7.0]), np.array([0, 0, 2]), 3)
    array([ 2., nan,  7.])
    """
    sums = np.bincount(group, weights=values, minlength=groups)
    return ratio(sums, np.bincount(group, minlength=groups))


def ratio(sums: Floats | NDArray[np.integer], counts: Floats | NDArray[np.integer]) -> Floats:
    """Divide sums by how much they are the sums of; NaN where that is nothing.

    >>> ratio(np.array([6.0, 0.0]), np.array([2, 0]))
    array([ 3., nan])
    """
    means = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _numbered(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct keys in order, and each key's number among them; keys lie in [0, size)."""
    # A flag for every possible key beats sorting, unless most flags would stay down.
    if size > 8 * len(keys) + 1_000_000:
        return np.unique(keys, return_inverse=True)
    present = np.zeros(size, dtype=bool)
    present[keys] = True
    number = np.cumsum(present) - 1
    return np.flatnonzero(present), number[keys]
