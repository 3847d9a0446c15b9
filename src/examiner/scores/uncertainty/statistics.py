"""The aggregates known by name, and how a user's own function becomes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.uncertainty.resampling import Sample
from examiner.scores.uncertainty.weighted import OptimalityGap, Statistic, iqm, mean, median
from examiner.wording import InputError, unknown_name


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

UserFunction = Callable[[NDArray[np.float64], NDArray[np.generic]], NDArray[np.float64]]


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

    def __call__(self, sample: Sample) -> NDArray[np.float64]:
        """Return the user's number for each replicate."""
        values = np.asarray(self.function(sample.scores, sample.weights), dtype=np.float64)
        replicates = sample.weights.shape[2]
        if values.shape != (replicates,):
            raise InputError(
                f"The aggregate {self.name!r} returned shape {values.shape} for {replicates} "
                f"replicates. Return one number for each: weights have shape [tasks, runs, replicates]."
            )
        return values
