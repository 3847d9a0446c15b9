"""Sample-efficiency curves: an aggregate over tasks at each number of frames, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np

from examiner.checking import Floats, Randomness, generator, read_only
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.aggregate import Aggregate, Statistic, UserFunction, aggregate_named
from examiner.scores.training.episodes import Curve, Episodes, end_times, episodes_of, window_means
from examiner.scores.uncertainty.bootstrap import (
    Bootstrap,
    ByResampling,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.uncertainty.resampling import Sample
from examiner.scores.uncertainty.strata import RunScores, Strata, arranged, same_sign
from examiner.wording import InputError, counted

POINTS = 25


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class EfficiencyCurves(ByResampling):
    """An aggregate at each number of frames; arrays of shape [agents, points], bands pointwise."""

    agents: tuple[str, ...]
    aggregate: str
    frames: Floats
    value: Floats
    low: Floats
    high: Floats

    def __repr__(self) -> str:
        agents, points = counted(len(self.agents), "agent"), counted(len(self.frames), "point")
        return f"EfficiencyCurves of {agents} by {self.aggregate}, {points} up to {self.frames[-1]:,.0f}"

    def _repr_html_(self) -> str:
        values = dict(zip(self.agents, self.value, strict=True))
        return html_columns(repr(self), {"frames": self.frames, **values}, self.notes)


def efficiency(
    results: Results,
    aggregate: str | Aggregate | UserFunction = "iqm",
    frames: Sequence[float] | None = None,
    *,
    rng: Randomness,
    measure: str | None = None,
    **how: Unpack[ResamplingOptions],
) -> EfficiencyCurves:
    """Follow an aggregate over the frames of training.

    At each point a run counts with the mean of its episodes since the point before, or with its last
    one where there are none. A run is resampled with its whole curve, as `Resampling` says. Points
    default to 25, evenly spaced over the frames that every run covers; NaN where some run of an agent
    does not reach.

    References: Agarwal et al. (2021), section 4.

    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1],
    ...        "frames": [10, 20, 10, 20], "score": [0.0, 2.0, 1.0, 4.0]}
    >>> efficiency(Results.from_dict(log), "mean", [10, 20], rng=0).value
    array([[0.5, 3. ]])
    """
    chosen = Resampling(**how).by_percentiles("Curves have no 'bca' bands.")
    known = aggregate_named(aggregate)
    same_sign(results, measure)
    episodes = _episodes(results)
    curve = episodes.observed(results.measure(measure))
    points = _points(curve, frames)
    values = _at(curve, points)
    bootstrap = Bootstrap.of_scores(_run_numbers(results, episodes, curve), chosen)
    # Scores stand for the runs' numbers here: [tasks, runs, points] are the runs' curves.
    along = [values[strata.scores.astype(np.int64)] for strata in bootstrap.scores.strata]

    def at_points(agent: int) -> Statistic:
        return partial(_at_points, values=along[agent], statistic=known.statistic)

    value, low, high = bootstrap.along(at_points, generator(rng), len(points))
    read_only(points, value, low, high)
    return EfficiencyCurves(
        agents=results.agents,
        aggregate=known.name,
        frames=points,
        value=value,
        low=low,
        high=high,
        how=chosen,
        notes=(*episodes.notes, *((bootstrap.reason,) if bootstrap.reason else ())),
    )


def _episodes(results: Results) -> Episodes:
    episodes = episodes_of(results)
    if not episodes.is_timed:
        raise InputError(
            "Sample-efficiency curves need a column 'frames' or 'steps', with a number in every row: those "
            "of the run so far. Name it (`--time COLUMN`), or look at final scores only."
        )
    return episodes


def _points(curve: Curve, frames: Sequence[float] | None) -> Floats:
    if frames is not None:
        points = np.unique(np.array(frames, dtype=np.float64))
        if not len(points) or not np.isfinite(points).all():
            raise InputError(
                f"The points are {list(frames)}. Give numbers of frames, at least one."
            )
        return points
    some = curve.lengths > 0
    first = float(curve.time[curve.start[some]].max())
    last = float(end_times(curve)[some].min())
    if not last >= first:
        raise InputError(
            f"No number of frames is covered by all of {counted(int(some.sum()), 'run')}: one begins "
            f"at {first:,.15g}, another ends at {last:,.15g}. Name points (frames=[…])."
        )
    return np.unique(np.linspace(first, last, POINTS))


def _at(curve: Curve, points: Floats) -> Floats:
    """The mean since the point before of each run, shape [runs, points]; NaN beyond its end."""
    stop, start = curve.ended_by(points), curve.start[:, None]
    before = np.pad(stop[:, :-1], ((0, 0), (1, 0)))
    begin = np.where(stop > before, before, np.maximum(stop - 1, 0))
    means = window_means(curve.values, (start + begin).ravel(), (start + stop).ravel())
    return np.where(end_times(curve)[:, None] >= points, means.reshape(stop.shape), np.nan)


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
