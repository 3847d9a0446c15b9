"""Sample-efficiency curves: an aggregate over tasks at each number of frames, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np

from examiner.checking import Floats, Randomness, generator, read_only
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.aggregate import Aggregate, Statistic, UserFunction, aggregate_named
from examiner.scores.training.episodes import (
    REACHED,
    Curve,
    Episodes,
    begin_times,
    end_times,
    episodes_of,
    window_means,
)
from examiner.scores.training.phases import learners_of
from examiner.scores.uncertainty.bootstrap import (
    Bootstrap,
    ByResampling,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.uncertainty.resampling import Sample
from examiner.scores.uncertainty.strata import RunScores, Strata, arranged, same_sign
from examiner.wording import InputError, counted, listed

POINTS = 25
SHORT = 0.5
"""A run that covers less than this share of what the median run of its agent does was cut off."""


class Reached(NamedTuple):
    """When a value was first reached by the aggregate, the upper and the lower end of its band; [agents].

    NaN is never.
    """

    at: Floats
    earliest: Floats
    latest: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class EfficiencyCurves(ByResampling):
    """An aggregate at each number of frames; arrays of shape [agents, points], bands pointwise.

    `frames` are in `time_unit`, which may be steps.
    """

    agents: tuple[str, ...]
    aggregate: str
    frames: Floats
    value: Floats
    low: Floats
    high: Floats
    time_unit: str = "frames"

    def reached(self, threshold: float) -> Reached:
        """Return when each agent's aggregate first reached a value, and when its band did.

        >>> edge = np.array([[0.0, 1.0, 2.0]])
        >>> made = EfficiencyCurves(agents=("a",), aggregate="iqm", frames=np.array([5.0, 10.0, 15.0]),
        ...     value=edge, low=edge - 1, high=edge + 1, how=Resampling(), notes=())
        >>> made.reached(1.0)
        Reached(at=array([10.]), earliest=array([5.]), latest=array([15.]))
        """

        def first(values: Floats) -> Floats:
            there = values >= threshold  # NaN is not
            return np.where(there.any(axis=1), self.frames[there.argmax(axis=1)], np.nan)

        return Reached(first(self.value), first(self.high), first(self.low))

    def __repr__(self) -> str:
        agents, points = counted(len(self.agents), "agent"), counted(len(self.frames), "point")
        return f"EfficiencyCurves of {agents} by {self.aggregate}, {points} up to {self.frames[-1]:,.0f}"

    def _repr_html_(self) -> str:
        values = dict(zip(self.agents, self.value, strict=True))
        return html_columns(repr(self), {self.time_unit: self.frames, **values}, self.notes)


def efficiency(
    results: Results,
    aggregate: str | Aggregate | UserFunction = "iqm",
    frames: Sequence[float] | None = None,
    *,
    rng: Randomness,
    measure: str | None = None,
    last: int | None = None,
    **how: Unpack[ResamplingOptions],
) -> EfficiencyCurves:
    """Follow an aggregate over the frames of training.

    At each point a run counts with the mean of its episodes since the point before, or with its last
    one where there are none; with `last`, with the mean of its last so many episodes by then. So agents
    that were logged at different intervals are compared at common times. A run is resampled with its
    whole curve, as `Resampling` says. Points default to 25, evenly spaced up to the end of the longest
    agent; NaN where some run of an agent does not reach, or has not begun. Runs that cover less than
    half of what their agent's do on a task were cut off: they are left out, and said.

    References: Agarwal et al. (2021), section 4.

    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1],
    ...        "frames": [10, 20, 10, 20], "score": [0.0, 2.0, 1.0, 4.0]}
    >>> efficiency(Results.from_dict(log), "mean", [10, 20], rng=0).value
    array([[0.5, 3. ]])
    """
    chosen = Resampling(**how).by_percentiles("Curves have no 'bca' bands.")
    known = aggregate_named(aggregate)
    same_sign(results, measure)
    results, idle = learners_of(results)
    episodes = _episodes(results)
    curve, cut_off = _whole_runs(episodes, episodes.observed(results.measure(measure)))
    points = _points(curve, episodes, frames)
    values = on_grid(curve, points, last)
    bootstrap = Bootstrap.of_scores(_run_numbers(results, episodes, curve), chosen)
    # Scores stand for the runs' numbers here: [tasks, runs, points] are the runs' curves.
    along = [values[strata.scores.astype(np.int64)] for strata in bootstrap.scores.strata]

    def at_points(agent: int) -> Statistic:
        return partial(_at_points, values=along[agent], statistic=known.statistic)

    value, low, high = bootstrap.along(at_points, generator(rng), len(points))
    untold = _untold(results, value)
    read_only(points, value, low, high)
    return EfficiencyCurves(
        agents=results.agents,
        aggregate=known.name,
        frames=points,
        value=value,
        low=low,
        high=high,
        how=chosen,
        time_unit=episodes.unit,
        notes=(
            *(*idle, *episodes.notes, *cut_off, *untold),
            *((bootstrap.reason,) if bootstrap.reason else ()),
        ),
    )


def _episodes(results: Results) -> Episodes:
    episodes = episodes_of(results)
    if not episodes.is_timed:
        raise InputError(
            "Sample-efficiency curves need a column 'frames' or 'steps', with a number in every row: those "
            "of the run so far. Name it (`--time COLUMN`), or look at final scores only."
        )
    return episodes


def _whole_runs(episodes: Episodes, curve: Curve) -> tuple[Curve, tuple[str, ...]]:
    """Leave out runs that were cut off: far shorter than others of their agent on their task."""
    ends = end_times(curve)
    cell = episodes.agent * (int(episodes.task.max()) + 1) + episodes.task
    usual = np.array([np.nanmedian(ends[cell == each]) for each in cell]) if len(cell) else ends
    short = ends < SHORT * usual  # never where a run is empty
    if not short.any():
        return curve, ()
    kept = ~short[curve.run]
    lengths = np.where(short, 0, curve.lengths)
    note = (
        f"{counted(int(short.sum()), 'run')} of {len(short):,} ended before half of what the others of "
        f"their agent and task cover: cut off, and left out of the curves."
    )
    return Curve(curve.run[kept], curve.time[kept], curve.values[kept], lengths), (note,)


def _points(curve: Curve, episodes: Episodes, frames: Sequence[float] | None) -> Floats:
    if frames is not None:
        points = np.unique(np.array(frames, dtype=np.float64))
        if not len(points) or not np.isfinite(points).all():
            raise InputError(
                f"The points are {list(frames)}. Give numbers of frames, at least one."
            )
        return points
    begins, ends, some = begin_times(curve), end_times(curve), curve.lengths > 0
    spans = {
        agent: (np.nanmax(begins[rows]), np.nanmin(ends[rows]))
        for agent in np.unique(episodes.agent[some]).tolist()
        if (rows := some & (episodes.agent == agent)).any()
    }
    first = min(begin for begin, _ in spans.values())
    last = max((end for begin, end in spans.values() if end >= begin), default=-np.inf)
    if not last >= first:
        raise InputError(
            f"No number of {episodes.unit} is covered by all runs of an agent: one begins at "
            f"{max(begin for begin, _ in spans.values()):,.15g}, another ends at "
            f"{min(end for _, end in spans.values()):,.15g}. Look at fewer tasks (`--keep task:NAME`), or "
            f"name points (frames=[…])."
        )
    return np.unique(np.linspace(first, last, POINTS))


def on_grid(curve: Curve, points: Floats, last: int | None = None) -> Floats:
    """Return the value of each run at each time, [runs, points]; NaN before its first and after its end.

    The mean since the point before, the last value where there is none; or that of the last k rows.

    >>> curve = Curve(np.zeros(3, int), np.array([10.0, 20, 30]), np.array([1.0, 3, 8]), np.array([3]))
    >>> on_grid(curve, np.array([5.0, 20.0, 30.0])), on_grid(curve, np.array([30.0]), last=3)
    (array([[nan,  2.,  8.]]), array([[4.]]))
    """
    stop, start = curve.ended_by(points), curve.start[:, None]
    if last is None:
        before = np.pad(stop[:, :-1], ((0, 0), (1, 0)))
        begin = np.where(stop > before, before, np.maximum(stop - 1, 0))
    else:
        begin = np.maximum(stop - last, 0)
    means = window_means(curve.values, (start + begin).ravel(), (start + stop).ravel())
    return np.where(
        end_times(curve)[:, None] >= REACHED * points, means.reshape(stop.shape), np.nan
    )


def _untold(results: Results, value: Floats) -> tuple[str, ...]:
    """Say which agents have no point at all, since none is covered by all their runs."""
    names = [agent for agent, row in zip(results.agents, value, strict=True) if np.isnan(row).all()]
    if not names:
        return ()
    return (
        f"Of {counted(len(names), 'agent')} nothing can be said: no time is covered by all their runs: "
        f"{listed(names)}.",
    )


def _run_numbers(results: Results, episodes: Episodes, curve: Curve) -> RunScores:
    """Strata whose scores are the numbers of the runs."""
    strata: list[Strata] = []
    for agent, name in enumerate(results.agents):
        runs = np.flatnonzero((episodes.agent == agent) & (curve.lengths > 0))
        runs = runs[np.argsort(episodes.task[runs], kind="stable")]
        strata.append(arranged(name, episodes.task[runs], runs.astype(np.float64)))
    return RunScores(results.agents, results.tasks, tuple(strata), ())


def _at_points(sample: Sample, values: Floats, statistic: Statistic) -> Floats:
    """The statistic at every point, [points, replicates]; NaN where some run does not reach."""
    gaps = np.isnan(values).sum(axis=(0, 1)) > 0
    return np.array(
        [
            np.full(sample.weights.shape[2], np.nan)
            if gap
            else statistic(sample._replace(scores=values[:, :, point]))
            for point, gap in enumerate(gaps)
        ]
    )
