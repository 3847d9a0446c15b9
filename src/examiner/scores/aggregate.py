"""One number per agent: the aggregates known by name, a user's own, and those of every agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats
from examiner.results import Results
from examiner.results.display import html_table
from examiner.scores.uncertainty.resampling import Sample, observed
from examiner.scores.uncertainty.strata import run_scores
from examiner.scores.uncertainty.weighted import OptimalityGap, Statistic, iqm, mean, median
from examiner.wording import InputError, counted, unknown_name


class Aggregate(NamedTuple):
    """A number over all tasks and runs of an agent: what it is called and how it is computed."""

    name: str
    title: str
    statistic: Statistic
    higher_is_better: bool = True
    smooth: bool = True  # the median is not: its jackknife says nothing


AGGREGATES: Mapping[str, Aggregate] = MappingProxyType(
    {
        "mean": Aggregate("mean", "mean", mean),
        "median": Aggregate("median", "median", median, smooth=False),
        "iqm": Aggregate("iqm", "interquartile mean", iqm),
        "optimality_gap": Aggregate(
            "optimality_gap", "optimality gap", OptimalityGap(1.0), higher_is_better=False
        ),
    }
)
"""Name → aggregate. A new one is a function of a `Sample` and one line here."""

UserFunction = Callable[[Floats, NDArray[np.generic]], Floats]


def aggregate_named(choice: str | Aggregate | UserFunction) -> Aggregate:
    """Return the aggregate of a name, or make one of a function.

    A function is given `scores` of shape [tasks, runs] and `weights` of shape
    [tasks, runs, replicates], how often each score counts (0 where a task has fewer runs than
    others), and returns one number per replicate.

    >>> def solved(scores, weights):
    ...     return ((scores > 0.5)[..., None] * weights).sum((0, 1)) / weights.sum((0, 1))
    >>> aggregate_named(solved).name, aggregate_named("optimality-gap").name
    ('solved', 'optimality_gap')
    """
    if isinstance(choice, Aggregate):
        return choice
    if callable(choice):
        name = getattr(choice, "__name__", "function")
        return Aggregate(name, name, UserStatistic(name, choice))
    name = str(choice).lower().replace("-", "_")
    if name not in AGGREGATES:
        raise unknown_name("aggregate", choice, AGGREGATES)
    return AGGREGATES[name]


@dataclass(frozen=True, slots=True)
class UserStatistic:
    """A user's function of scores and weights, checked for what it returns."""

    name: str
    function: UserFunction

    def __call__(self, sample: Sample) -> Floats:
        """Return the user's number for each replicate."""
        values = np.asarray(self.function(sample.scores, sample.weights), dtype=np.float64)
        replicates = sample.weights.shape[2]
        if values.shape != (replicates,):
            raise InputError(
                f"The aggregate {self.name!r} returned shape {values.shape} for {replicates} "
                f"replicates. Return one number for each: weights have shape [tasks, runs, replicates]."
            )
        return values


class AgentAggregates(NamedTuple):
    """Each agent over its observed tasks; arrays of shape [agents]."""

    agents: tuple[str, ...]
    tasks: NDArray[np.int64]
    mean: Floats
    median: Floats
    iqm: Floats

    def __repr__(self) -> str:
        return f"AgentAggregates of {counted(len(self.agents), 'agent')}: mean, median, iqm"

    def _repr_html_(self) -> str:
        parts = (self.tasks, self.mean, self.median, self.iqm)
        rows = zip(self.agents, *(part.tolist() for part in parts), strict=True)
        return html_table(repr(self), list(self._fields), [list(row) for row in rows])


def aggregate(results: Results, measure: str | None = None) -> AgentAggregates:
    """Aggregate each agent's scores over the tasks it was observed on.

    Mean and median are of the tasks' means; the interquartile mean is of all runs' scores, as in
    Agarwal et al. (2021), every task weighing the same where runs are uneven. Point values only:
    `intervals` says how sure one can be of them.

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


def interquartile_mean(values: Floats) -> float:
    """Return the mean of the middle half: a quarter of the values, rounded down, is cut at each end.

    >>> interquartile_mean(np.array([1.0, 2.0, 3.0, 100.0]))
    2.5
    """
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())
