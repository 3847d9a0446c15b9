"""Aggregates with intervals: how sure one can be of a mean, median, IQM or optimality gap."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only
from examiner.results import Results
from examiner.scores.uncertainty.bootstrap import Map, Progress, each_agent, quantiles
from examiner.scores.uncertainty.corrected import check_corrected, corrected_bounds
from examiner.scores.uncertainty.plan import Interval, Plan, no_interval
from examiner.scores.uncertainty.proportions import wilson
from examiner.scores.uncertainty.resampling import Unit, observed
from examiner.scores.uncertainty.statistics import Aggregate, UserFunction, aggregate_named
from examiner.scores.uncertainty.strata import RunScores, Strata, run_scores, same_sign
from examiner.wording import InputError, counted, listed

FEW_DEGREES = 10
"""Below this many degrees of freedom, normal-like tails are noticeably too short."""

Choice: TypeAlias = str | Aggregate | UserFunction
Bounds: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class AggregateIntervals:
    """Aggregates of agents with their intervals; arrays of shape [agents, aggregates].

    `low` and `high` are NaN where the data say nothing about them, and a note says why.
    """

    agents: tuple[str, ...]
    aggregates: tuple[str, ...]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    unit: Unit
    interval: Interval
    level: float
    reps: int
    notes: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:  # Any: names and numbers
        """Return one dictionary for each agent and aggregate.

        >>> results = Results.from_numpy(np.arange(12.0).reshape(1, 3, 4), agents=["dqn"])
        >>> made = intervals(results, "mean", rng=np.random.default_rng(0))
        >>> made.rows()[0]["value"]
        5.5
        """
        return [
            {
                "agent": agent,
                "aggregate": aggregate,
                "value": float(self.value[row, column]),
                "low": float(self.low[row, column]),
                "high": float(self.high[row, column]),
            }
            for row, agent in enumerate(self.agents)
            for column, aggregate in enumerate(self.aggregates)
        ]


def intervals(
    results: Results,
    aggregates: Choice | Sequence[Choice] = "iqm",
    *,
    rng: np.random.Generator,
    reps: int = 2000,
    unit: Unit = "runs",
    interval: Interval = "rescaled",
    level: float = 0.95,
    measure: str | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> AggregateIntervals:
    """Aggregate each agent over its tasks, with an interval from the stratified bootstrap.

    Trials are averaged within a run. `unit` says what would be another sample: other "runs" of the
    same agents on these tasks; other "tasks", each with all its runs (a cluster); or "both", tasks
    and then runs within them, which counts the noise of runs twice and is cautious.

    `interval` says how: "rescaled" draws one run (or task) fewer than there are, which makes the
    variance right for few runs; "percentile" draws as many, as rliable does; "bca" corrects for
    bias and skewness. Aggregates are names in `AGGREGATES` or functions (see `aggregate_named`).

    References: Agarwal et al. (2021), section 4; Rao & Wu (1988); Efron (1987).

    >>> scores = np.random.default_rng(1).normal(size=(2, 26, 5))
    >>> made = intervals(Results.from_numpy(scores), ["mean", "iqm"],
    ...                            rng=np.random.default_rng(0))
    >>> bool((made.low < made.value).all()), bool((made.value < made.high).all())
    (True, True)
    """
    plan = Plan(reps, unit, interval, level)
    chosen = _chosen(aggregates)
    same_sign(results, measure)
    scores = run_scores(results, measure)
    value = point_values(scores, chosen)
    reason = no_interval(scores, unit)
    ends = (np.full(value.shape, np.nan), np.full(value.shape, np.nan))
    if reason is None:
        ends = _bounds(scores, chosen, value, plan, rng, progress, map)
    low, high, honest = _without_false_certainty(scores, chosen, plan, value, ends)
    for array in (value, low, high):
        read_only(array)
    said = (*scores.notes, *((reason,) if reason else _caveats(scores, unit)), *honest)
    names = tuple(one.name for one in chosen)
    return AggregateIntervals(
        results.agents, names, value, low, high, unit, interval, level, reps, said
    )


def point_values(scores: RunScores, aggregates: Sequence[Aggregate]) -> NDArray[np.float64]:
    """Return the aggregates of what was observed, shape [agents, aggregates].

    >>> from examiner.scores.uncertainty.statistics import AGGREGATES
    >>> table = run_scores(Results.from_numpy([[[1.0, 3.0], [5.0, 7.0]]]))
    >>> point_values(table, [AGGREGATES["mean"]])
    array([[4.]])
    """
    values = np.full((len(scores.agents), len(aggregates)), np.nan)
    for row, strata in enumerate(scores.strata):
        if len(strata.tasks):
            values[row] = [one.statistic(observed(strata))[0] for one in aggregates]
    return values


def _chosen(aggregates: Choice | Sequence[Choice]) -> tuple[Aggregate, ...]:
    if isinstance(aggregates, (str, Aggregate)) or callable(aggregates):
        return (aggregate_named(aggregates),)
    chosen = tuple(aggregate_named(choice) for choice in aggregates)
    if not chosen:
        raise InputError("No aggregates were named. Name one, as 'iqm'.")
    return chosen


def _bounds(
    scores: RunScores,
    aggregates: Sequence[Aggregate],
    value: NDArray[np.float64],
    plan: Plan,
    rng: np.random.Generator,
    progress: Progress | None,
    map: Map,
) -> Bounds:
    if plan.interval == "bca":
        check_corrected(scores, aggregates, plan.unit)
    evaluate = partial(each_agent, statistics=tuple(one.statistic for one in aggregates))
    replicates = plan.replicates(scores, evaluate, rng, progress, map)
    if plan.interval == "bca":
        return corrected_bounds(scores, aggregates, value, replicates, plan.unit, plan.level)
    return quantiles(replicates, plan.level)


def _caveats(scores: RunScores, unit: Unit) -> list[str]:
    """What makes the intervals narrower than they should be."""
    if unit == "tasks":
        return []
    caveats = []
    single = {
        one.agent: int((one.runs == 1).sum()) for one in scores.strata if (one.runs == 1).any()
    }
    if single:
        caveats.append(
            f"Some tasks have a single run, {max(single.values()):,} at most for an agent: they add "
            f"nothing to the intervals, which are too narrow for {listed(single)}."
        )
    fewest = min(int((one.runs - 1).sum()) for one in scores.strata if len(one.tasks))
    if 0 < fewest < FEW_DEGREES:
        caveats.append(
            f"Some intervals rest on {counted(fewest, 'spare run')} (runs beyond the first of each "
            f"task): below {FEW_DEGREES} they are too narrow, and hold the truth less often than said."
        )
    return caveats


def _without_false_certainty(
    scores: RunScores,
    aggregates: Sequence[Aggregate],
    plan: Plan,
    value: NDArray[np.float64],
    ends: Bounds,
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Replace intervals of zero width: by Wilson's where runs are 0 or 1, else by none."""
    low, high, notes = ends[0].copy(), ends[1].copy(), []
    means = np.array([one.name == "mean" for one in aggregates])
    binary = np.array([_alone_and_binary(one) for one in scores.strata])
    if plan.unit == "runs" and binary.any() and means.any():
        for row in np.flatnonzero(binary):
            trials = int(scores.strata[row].runs.sum())
            wins = float(value[row, means][0]) * trials
            low[row, means], high[row, means] = wilson(wins, trials, plan.level)
        notes.append("Runs on the one task are won or lost: intervals of the mean are Wilson's.")
    # What rounding leaves is no width either; false where there is no interval.
    flat = high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    low[flat] = high[flat] = np.nan
    if flat.any():
        names = [agent for agent, row in zip(scores.agents, flat, strict=True) if row.any()]
        notes.append(
            f"Resampling {plan.unit} never changes some aggregates of {listed(names)}, which does not "
            f"make them certain: no interval is given."
        )
    return low, high, notes


def _alone_and_binary(strata: Strata) -> bool:
    return len(strata.tasks) == 1 and bool(np.isin(strata.scores, (0.0, 1.0)).all())
