"""One number per agent: mean, median and interquartile mean over tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores.uncertainty.resampling import observed
from examiner.scores.uncertainty.strata import run_scores
from examiner.scores.uncertainty.weighted import iqm


class AgentAggregates(NamedTuple):
    """Each agent over its observed tasks; arrays of shape [agents]."""

    agents: tuple[str, ...]
    tasks: NDArray[np.int64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    iqm: NDArray[np.float64]


def aggregate(results: Results, measure: str | None = None) -> AgentAggregates:
    """Aggregate each agent's scores over the tasks it was observed on.

    Mean and median are of the tasks' means; the interquartile mean is of all runs' scores, as in
    Agarwal et al. (2021), every task weighing the same where runs are uneven. Point values only:
    `aggregate_intervals` says how sure one can be of them.

    >>> aggregate(Results.from_numpy([[1.0, 2.0, 3.0, 10.0]])).iqm
    array([2.5])
    """
    scores = run_scores(results, measure)
    aggregates = np.full((3, len(scores.agents)), np.nan)
    for agent, strata in enumerate(scores.strata):
        if len(strata.tasks):
            means = strata.means
            middle = float(iqm(observed(strata))[0])
            aggregates[:, agent] = means.mean(), np.median(means), middle
    tasks = np.array([len(strata.tasks) for strata in scores.strata])
    return AgentAggregates(results.agents, tasks, *aggregates)


def interquartile_mean(values: NDArray[np.float64]) -> float:
    """Return the mean of the middle half: a quarter of the values, rounded down, is cut at each end.

    >>> interquartile_mean(np.array([1.0, 2.0, 3.0, 100.0]))
    2.5
    """
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())
