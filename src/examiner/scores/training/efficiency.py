"""Sample-efficiency curves: an aggregate over tasks at each number of frames, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Scalar, Table, bound, count, name, number
from examiner.messages import InputError, counted, listed
from examiner.results import Results, reads_results
from examiner.scores.aggregate import (
    AGGREGATES,
    Aggregate,
    Statistic,
    UserFunction,
    aggregate_named,
)
from examiner.scores.bootstrap import (
    Bootstrap,
    ByResampling,
    Chosen,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.comparable import OwnFunction
from examiner.scores.runs import RunScores, Sample, arranged, same_sign
from examiner.scores.standing import best_first
from examiner.scores.training.checkpoints import (
    checkpoint_runs,
    learners_of,
    shared_times,
    values_at,
)
from examiner.scores.training.episodes import (
    CUT_SHORT,
    REACHED,
    Curve,
    Episodes,
    Places,
    begin_times,
    end_times,
    episodes_of,
)
from examiner.scores.training.task_curves import on_curve_scale
from examiner.validation import Floats, Randomness, generator, read_only, seed_of

POINTS = 25
"""Evenly spaced points at which a curve is computed."""


class Reached(NamedTuple):
    """When a value was first reached by the aggregate, the upper and the lower end of its band; [agents].

    NaN is never.
    """

    at: Floats
    earliest: Floats
    latest: Floats


class AggregateAtEnd(Table):
    """An aggregate of each agent at the last time at which it has a value, best first."""

    agent: tuple[str, ...] = name("Agent")
    value: Floats = number("Aggregate over tasks and runs at the end", unit="score")
    value_low: Floats = bound("value", "low")
    value_high: Floats = bound("value", "high")
    time: Floats = number("Time of the end")
    runs: Floats = count("Runs that exist at the end")
    all_runs: NDArray[np.int64] = count("Runs of the agent")


class AggregateOverTime(Table):
    """An aggregate of each agent at each time."""

    agent: tuple[str, ...] = name("Agent")
    time: Floats = number("Time since the start of training")
    value: Floats = number("Aggregate over tasks and runs", unit="score")
    value_low: Floats = bound("value", "low")
    value_high: Floats = bound("value", "high")
    runs: NDArray[np.int64] = count("Runs that exist at this time")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class EfficiencyCurves(ByResampling):
    """An aggregate at each number of frames; arrays of shape [agents, points], bands pointwise.

    `frames` are in `time_unit`, which may be steps. `runs` counts the runs that exist at each point, out of
    `all_runs` of the agent, shape [agents].
    """

    kind = "efficiency"

    agent_names: tuple[str, ...]
    aggregate: str
    frames: Floats
    value: Floats
    low: Floats
    high: Floats
    runs: NDArray[np.int64]
    all_runs: NDArray[np.int64]
    time_unit: str = "frames"
    score_unit: str = ""

    @property
    def headline(self) -> str:
        """Which agent ends highest."""
        best, end = self.agent_names[0], int(self.ends[0])
        if end < 0:
            return "No agent has a value at any time."
        title = AGGREGATES[self.aggregate].title if self.aggregate in AGGREGATES else self.aggregate
        at = f"{self.frames[end]:,.0f} {self.time_unit}"
        return f"{best} has the best {title} at the end: {self.value[0, end]:.3g} at {at}."

    @property
    def agents(self) -> AggregateAtEnd:
        """One row per agent: its value at the end."""
        rows, ends = np.arange(len(self.agent_names)), self.ends
        value, low, high, runs = (
            np.where(ends < 0, np.nan, part[rows, ends])
            for part in (self.value, self.low, self.high, self.runs)
        )
        return AggregateAtEnd(
            agent=self.agent_names,
            value=value,
            value_low=low,
            value_high=high,
            time=np.where(ends < 0, np.nan, self.frames[ends]),
            runs=runs,
            all_runs=self.all_runs,
            level=self.level,
            score_unit=self.score_unit,
        )

    @property
    def curves(self) -> AggregateOverTime:
        """One row per agent and time."""
        points = len(self.frames)
        return AggregateOverTime(
            agent=[agent for agent in self.agent_names for _ in range(points)],
            time=np.tile(self.frames, len(self.agent_names)),
            value=self.value.ravel(),
            value_low=self.low.ravel(),
            value_high=self.high.ravel(),
            runs=self.runs.ravel(),
            level=self.level,
            score_unit=self.score_unit,
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents at the end, and their curves."""
        return {"agents": self.agents, "curves": self.curves}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The aggregate, and the unit of time."""
        return {
            "aggregate": Scalar(self.aggregate, "Aggregate over tasks and runs"),
            "time_unit": Scalar(self.time_unit, "Unit of time"),
        }

    @property
    def ends(self) -> NDArray[np.int64]:
        """The last point at which each agent has a value, -1 where it has none; shape [agents]."""
        finite = ~np.isnan(self.value)
        last = self.value.shape[1] - 1 - finite[:, ::-1].argmax(axis=1)
        return np.where(finite.any(axis=1), last, -1).astype(np.int64)

    def reached(self, threshold: float) -> Reached:
        """Return when each agent's aggregate first reached a value, and when its band did.

        >>> edge = np.array([[0.0, 1.0, 2.0]])
        >>> made = EfficiencyCurves(agent_names=("a",), aggregate="iqm", frames=np.array([5.0, 10.0, 15.0]),
        ...     value=edge, low=edge - 1, high=edge + 1, how=Chosen(9, "runs"), seed=0, notes=(),
        ...     runs=np.ones((1, 3), int), all_runs=np.ones(1, int))
        >>> made.reached(1.0)
        Reached(at=array([10.]), earliest=array([5.]), latest=array([15.]))
        """

        def first(values: Floats) -> Floats:
            there = values >= threshold  # NaN is not
            return np.where(there.any(axis=1), self.frames[there.argmax(axis=1)], np.nan)

        return Reached(first(self.value), first(self.high), first(self.low))


@reads_results
def efficiency(
    results: Results,
    aggregate: str | Aggregate | UserFunction = "mean",
    frames: Sequence[float] | None = None,
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    last: int | None = None,
    **how: Unpack[ResamplingOptions],
) -> EfficiencyCurves:
    """Follow an aggregate over the frames of training.

    At each point a run of checkpoints counts with its last one by then, a run of episodes with the mean of
    those since the point before, or with its last where there are none; with `last`, with the mean of its
    last so many rows by then. So agents that were logged at different intervals are compared at common
    times. The aggregate is over the runs that exist at a point, `runs` of them: those that have begun and
    not ended. It is NaN where half of an agent's tasks or more have no run. Existing runs are resampled
    with their curves, as `Resampling` says. Points default to the times of the checkpoints, where runs
    share them, else to 25 that are evenly spaced. Agents come best first at the end.

    References: Agarwal et al. (2021), section 4.

    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1],
    ...        "frames": [10, 20, 10, 20], "score": [0.0, 2.0, 1.0, 4.0]}
    >>> efficiency(Results.from_dict(log), "mean", [10, 20], rng=0).value
    array([[0.5, 3. ]])
    """
    wished = Resampling(**how).by_percentiles("Curves have no 'bca' bands.")
    known, seed = aggregate_named(aggregate), seed_of(rng)
    scale = on_curve_scale(results, measure, normalise)
    results = scale.log
    same_sign(results, measure)
    results, idle = learners_of(results)
    episodes = _episodes(results)
    curve = episodes.observed(results.measure(measure))
    checkpoints = checkpoint_runs(results, episodes)
    points = _points(curve, episodes, frames, shared=bool(checkpoints.all()))
    values = values_at(curve, points, checkpoints, last)
    observed = curve.lengths > 0
    chosen = wished.on(_every_run(results, episodes, observed))
    summary = _AggregateCurve(
        results, episodes, values, observed, known.statistic, chosen, generator(seed)
    )
    lines = [summary.of(agent) for agent in range(len(results.agents))]
    value, low, high = (np.array([line[part] for line in lines]) for part in range(3))
    if np.isnan(value).all():
        raise InputError(
            f"No number of {episodes.unit} is covered by the runs of an agent on most of its tasks. Look "
            f'at fewer tasks (`results.keeping("task:NAME")`), or name points (`frames=[...]`).'
        )
    runs = np.array([(~np.isnan(values[episodes.agent == agent])).sum(axis=0)
                     for agent in range(len(results.agents))])  # fmt: skip
    notes = (*scale.notes, *idle, *episodes.notes, *_ended_early(curve, episodes, points))
    notes = (*notes, *_uncovered(results, value), *summary.reasons)
    order = best_first(results.agents, _last_known(value), higher_is_better=known.higher_is_better)
    value, low, high, runs = value[order], low[order], high[order], runs[order]
    read_only(points, value, low, high, runs)
    return EfficiencyCurves(
        agent_names=tuple(results.agents[row] for row in order),
        aggregate=known.name,
        frames=points,
        value=value,
        low=low,
        high=high,
        runs=runs,
        all_runs=np.bincount(episodes.agent[observed], minlength=len(results.agents))[order],
        how=chosen,
        seed=seed,
        time_unit=episodes.unit,
        score_unit=scale.unit,
        notes=notes,
    )


def _last_known(value: Floats) -> Floats:
    """The last value of each agent's curve, NaN where it has none; shape [agents]."""
    finite = ~np.isnan(value)
    last = value.shape[1] - 1 - finite[:, ::-1].argmax(axis=1)
    return np.asarray(value[np.arange(len(value)), last])


def _every_run(results: Results, episodes: Episodes, observed: NDArray[np.bool_]) -> RunScores:
    """All runs of all agents by number: they say whether runs or tasks are resampled."""
    strata = []
    for agent, agent_name in enumerate(results.agents):
        runs = np.flatnonzero((episodes.agent == agent) & observed)
        runs = runs[np.argsort(episodes.task[runs], kind="stable")]
        strata.append(arranged(agent_name, episodes.task[runs], runs.astype(np.float64)))
    return RunScores(results.agents, results.tasks, tuple(strata), ())


class _AggregateCurve:
    """An agent's aggregate at every point with both ends, from the runs that exist there."""

    def __init__(
        self,
        results: Results,
        episodes: Episodes,
        values: Floats,
        observed: NDArray[np.bool_],
        statistic: Statistic,
        how: Chosen,
        rng: np.random.Generator,
    ) -> None:
        self.results, self.episodes, self.values = results, episodes, values
        self.observed = observed
        self.statistic, self.how = statistic, how
        self.entropy = rng.integers(0, 1 << 32, size=4).tolist()
        self.reasons: tuple[str, ...] = ()

    def of(self, agent: int) -> Floats:
        """Return [3, points]: value, low and high; NaN where half of the tasks or more have no run."""
        runs = np.flatnonzero((self.episodes.agent == agent) & self.observed)
        runs = runs[np.argsort(self.episodes.task[runs], kind="stable")]
        exists = ~np.isnan(self.values[runs])
        tasks = len(np.unique(self.episodes.task[runs]))
        lines = np.full((3, self.values.shape[1]), np.nan)
        # Points at which the same runs exist are resampled together.
        patterns, which = np.unique(exists, axis=1, return_inverse=True)
        for place, pattern in enumerate(patterns.T):
            there = runs[pattern]
            if 2 * len(np.unique(self.episodes.task[there])) <= tasks:
                continue
            columns = np.flatnonzero(which.ravel() == place)
            lines[:, columns] = self._resampled(agent, there, columns)
        return lines

    def _resampled(self, agent: int, runs: Places, columns: NDArray[np.intp]) -> Floats:
        # Scores stand for the runs' numbers here: [tasks, runs, points] are the runs' curves.
        name = self.results.agents[agent]
        strata = arranged(name, self.episodes.task[runs], runs.astype(np.float64))
        content = arranged(name, self.episodes.task[runs], np.nanmean(self.values[runs], axis=1))
        scores = RunScores((name,), self.results.tasks, (strata,), (), drawn_by=(content,))
        bootstrap = Bootstrap.of_scores(scores, self.how)
        if bootstrap.reason:
            self.reasons = tuple(dict.fromkeys((*self.reasons, bootstrap.reason)))
        along = self.values[strata.scores.astype(np.int64)][:, :, columns]
        statistic = partial(_at_points, values=along, statistic=self.statistic)
        rng = np.random.default_rng(self.entropy)
        return bootstrap.along(statistic, rng, len(columns))[:, 0]


def _episodes(results: Results) -> Episodes:
    episodes = episodes_of(results)
    if not episodes.is_timed:
        raise InputError(
            "Sample-efficiency curves need a column 'frames' or 'steps', with a number in every row: those "
            'of the run so far. Name it (`time="COLUMN"`), or look at final scores only.'
        )
    return episodes


def _points(
    curve: Curve, episodes: Episodes, frames: Sequence[float] | None, *, shared: bool
) -> Floats:
    """The points that were asked for, else those that some run of every task covers."""
    if frames is not None:
        points = np.unique(np.array(frames, dtype=np.float64))
        if not len(points) or not np.isfinite(points).all():
            raise InputError(
                f"The points are {list(frames)}. Give numbers of frames, at least one."
            )
        return points
    begins, ends = begin_times(curve), end_times(curve)
    tasks = [episodes.task == task for task in np.unique(episodes.task[curve.lengths > 0]).tolist()]
    spans = np.array([(np.nanmin(begins[runs]), np.nanmax(ends[runs])) for runs in tasks])
    spans = spans[spans[:, 1] >= CUT_SHORT * np.median(spans[:, 1])]
    first, final = float(spans[:, 0].max()), float(spans[:, 1].min())
    if final < first:
        raise InputError(
            f"No number of {episodes.unit} is covered by runs on all tasks: those on one begin at "
            f"{first:,.15g}, those on another end at {final:,.15g}. Look at fewer tasks "
            f'(`results.keeping("task:NAME")`), or name points (`frames=[...]`).'
        )
    times = shared_times(curve, 2 * POINTS) if shared else None
    if times is None:
        return np.unique(np.linspace(first, final, POINTS))
    return times[(times >= first) & (times <= final)]


def _ended_early(curve: Curve, episodes: Episodes, points: Floats) -> tuple[str, ...]:
    """Say how many runs end before the last point, and when the first of them does."""
    ends = end_times(curve)
    early = ends < REACHED * points[-1]  # never where a run is empty
    if not early.any():
        return ()
    return (
        f"{int(early.sum()):,} of {counted(int((curve.lengths > 0).sum()), 'run')} end before "
        f"{points[-1]:,.0f} {episodes.unit}, the first at {np.nanmin(ends):,.0f}: each point is of the "
        f"runs that exist there.",
    )


def _uncovered(results: Results, value: Floats) -> tuple[str, ...]:
    """Name agents that have no point at all."""
    names = [agent for agent, row in zip(results.agents, value, strict=True) if np.isnan(row).all()]
    if not names:
        return ()
    return (
        f"{counted(len(names), 'agent')} {'has' if len(names) == 1 else 'have'} no curve: no time is "
        f"covered by runs on most of their tasks: {listed(names)}.",
    )


def _at_points(sample: Sample, values: Floats, statistic: Statistic) -> Floats:
    """The statistic at every point, [points, replicates]."""
    return np.array(
        [statistic(sample._replace(scores=values[:, :, point])) for point in range(values.shape[2])]
    )
