"""One number per agent: mean, median and interquartile mean over tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores.cells import cell_means, run_means


class AgentAggregates(NamedTuple):
    """Each agent over its observed tasks; arrays of shape [agents]."""

    agents: tuple[str, ...]
    tasks: NDArray[np.int64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    iqm: NDArray[np.float64]


def agent_aggregates(results: Results, measure: str | None = None) -> AgentAggregates:
    """Aggregate each agent's scores over the tasks it was observed on.

    Mean and median are of the tasks' means; the interquartile mean is of all runs' scores, as in
    Agarwal et al. (2021). Point values only: they do not say how sure one can be of them.

    >>> agent_aggregates(Results.from_numpy([[1.0, 2.0, 3.0, 10.0]])).iqm
    array([2.5])
    """
    means, runs = cell_means(results, measure), run_means(results, measure)
    seen = ~np.isnan(means)
    aggregates = np.full((3, len(means)), np.nan)
    # Run means come sorted by agent: one split gives every agent its own.
    runs_of = np.split(runs.value, np.searchsorted(runs.agent, np.arange(1, len(means))))
    for agent, (observed, scores) in enumerate(zip(seen, runs_of, strict=True)):
        if observed.any():
            tasks = means[agent, observed]
            aggregates[:, agent] = tasks.mean(), np.median(tasks), interquartile_mean(scores)
    return AgentAggregates(results.agents, seen.sum(axis=1), *aggregates)


def interquartile_mean(values: NDArray[np.float64]) -> float:
    """Return the mean of the middle half: a quarter of the values, rounded down, is cut at each end.

    >>> interquartile_mean(np.array([1.0, 2.0, 3.0, 100.0]))
    2.5
    """
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())
