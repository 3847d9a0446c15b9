"""Trials averaged within a run, then runs within a cell: the order in which results are averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats
from examiner.results import Results
from examiner.results.table import check_results


class RowCodes(NamedTuple):
    """Which agent, task and run each row is of, arrays of shape [rows], and how many agents and tasks."""

    agent: NDArray[np.integer]
    task: NDArray[np.integer]
    run: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, results: Results) -> RowCodes:
        """Take the codes of a table's rows."""
        shape = len(results.agents), len(results.tasks)
        return cls(results.agent_codes, results.task_codes, results.run_codes, shape)


class RunMeans(NamedTuple):
    """The mean of each run's trials: one entry per observed (agent, task, run)."""

    agent: NDArray[np.int64]
    task: NDArray[np.int64]
    run: NDArray[np.int64]
    value: Floats


def run_means(results: Results, measure: str | None = None) -> RunMeans:
    """Average the trials of each run, unobserved ones left out.

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 8],
    ...                              "trial": [0, 1, 0], "score": [1, 3, 10]})
    >>> run_means(results).value
    array([ 2., 10.])
    """
    return mean_runs(check_results(results).measure(measure), RowCodes.of(results))


def cell_means(results: Results, measure: str | None = None) -> Floats:
    """Return the mean over runs of the mean over trials; NaN where nothing was observed.

    Shape [agents, tasks].

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 8],
    ...                              "trial": [0, 1, 0], "score": [1, 3, 10]})
    >>> cell_means(results)
    array([[6.]])
    """
    return mean_cells(check_results(results).measure(measure), RowCodes.of(results))


def mean_runs(values: Floats, codes: RowCodes) -> RunMeans:
    """Average values [rows] within runs; NaN is left out.

    >>> codes = RowCodes(np.array([0, 0]), np.array([1, 1]), np.array([5, 5]), (1, 2))
    >>> mean_runs(np.array([1.0, 3.0]), codes).value
    array([2.])
    """
    seen = ~np.isnan(values)
    _, runs = np.unique(codes.run, return_inverse=True)
    (n_agents, n_tasks), n_runs = codes.shape, int(runs.max(initial=0)) + 1
    cells = codes.agent.astype(np.int64) * n_tasks + codes.task
    keys, number = _numbered((cells * n_runs + runs)[seen], n_agents * n_tasks * n_runs)
    means = np.bincount(number, weights=values[seen]) / np.bincount(number)
    cell, run = np.divmod(keys, n_runs)
    agent, task = np.divmod(cell, n_tasks)
    return RunMeans(agent, task, run, means)


def mean_cells(values: Floats, codes: RowCodes) -> Floats:
    """Average values [rows] within runs, then runs within cells; shape [agents, tasks].

    >>> codes = RowCodes(np.array([0, 0]), np.array([1, 1]), np.array([5, 5]), (1, 2))
    >>> mean_cells(np.array([1.0, 3.0]), codes)
    array([[nan,  2.]])
    """
    runs = mean_runs(values, codes)
    size = codes.shape[0] * codes.shape[1]
    cells = runs.agent * codes.shape[1] + runs.task
    sums = np.bincount(cells, weights=runs.value, minlength=size)
    counts = np.bincount(cells, minlength=size)
    means = np.full(size, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means.reshape(codes.shape)


def _numbered(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct keys in order, and each key's number among them; keys lie in [0, size)."""
    # A flag for every possible key beats sorting, unless most flags would stay down.
    if size > 8 * len(keys) + 1_000_000:
        return np.unique(keys, return_inverse=True)
    present = np.zeros(size, dtype=bool)
    present[keys] = True
    number = np.cumsum(present) - 1
    return np.flatnonzero(present), number[keys]
