"""Trials averaged within a run, then runs within a cell: the order in which results are averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.results.table import check_results


class RunMeans(NamedTuple):
    """The mean of each run's trials: one entry per observed (agent, task, run)."""

    agent: NDArray[np.int64]
    task: NDArray[np.int64]
    run: NDArray[np.int64]
    value: NDArray[np.float64]


def run_means(results: Results, measure: str | None = None) -> RunMeans:
    """Average the trials of each run, unobserved ones left out.

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 8],
    ...                              "trial": [0, 1, 0], "score": [1, 3, 10]})
    >>> run_means(results).value
    array([ 2., 10.])
    """
    values = check_results(results).measure(measure)
    seen = ~np.isnan(values)
    _, runs = np.unique(results.run_codes, return_inverse=True)
    n_tasks, n_runs = len(results.tasks), int(runs.max()) + 1
    cells = results.agent_codes.astype(np.int64) * n_tasks + results.task_codes
    keys, place = _numbered((cells * n_runs + runs)[seen], len(results.agents) * n_tasks * n_runs)
    means = np.bincount(place, weights=values[seen]) / np.bincount(place)
    cell, run = np.divmod(keys, n_runs)
    agent, task = np.divmod(cell, n_tasks)
    return RunMeans(agent, task, run, means)


def cell_means(results: Results, measure: str | None = None) -> NDArray[np.float64]:
    """Return the mean over runs of the mean over trials; NaN where nothing was observed.

    Shape [agents, tasks].

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 8],
    ...                              "trial": [0, 1, 0], "score": [1, 3, 10]})
    >>> cell_means(results)
    array([[6.]])
    """
    runs = run_means(results, measure)
    shape = len(results.agents), len(results.tasks)
    cells = runs.agent * shape[1] + runs.task
    size = shape[0] * shape[1]
    sums = np.bincount(cells, weights=runs.value, minlength=size)
    counts = np.bincount(cells, minlength=size)
    means = np.full(size, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means.reshape(shape)


def _numbered(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct keys in order, and each key's place among them; keys lie in [0, size)."""
    if size > 8 * len(keys) + 1_000_000:
        return np.unique(keys, return_inverse=True)
    present = np.zeros(size, dtype=bool)
    present[keys] = True
    place = np.cumsum(present) - 1
    return np.flatnonzero(present), place[keys]
