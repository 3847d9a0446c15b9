"""The table of papers/001: every game and agent at each report point, mean, standard deviation and runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number
from examiner.messages import counted, listed
from examiner.results import Results, Scales, reads_results
from examiner.scores.cells import group_means, judged_runs
from examiner.scores.comparable import OwnFunction
from examiner.scores.normalise import (
    is_normalised,
    normaliser_name,
    on_scale,
    score_unit,
    task_scores,
)
from examiner.scores.normalise import normalise as normalised
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.training.checkpoints import (
    at_times,
    checkpoint_runs,
    learners_of,
    shared_times,
    values_at,
)
from examiner.scores.training.curves import LearningCurves
from examiner.scores.training.episodes import Curve, Places, begin_times, end_times, episodes_of
from examiner.validation import Floats

ALIKE = 10
"""Ranges of tasks within one order of magnitude of each other are alike."""


class CurveScale(NamedTuple):
    """A log whose scores are one increasing function of the raw score per task; what it is, in words."""

    log: Results
    unit: str
    notes: tuple[str, ...] = ()


ONE_FUNCTION = ("human", "chance", "random-only", "min-max")
"""Normalisers that are one increasing function of the score per task, the same for all agents."""


def on_curve_scale(
    results: Results, measure: str | None = None, normalise: str | OwnFunction | None = "auto"
) -> CurveScale:
    """Return a log on one scale for all tasks, agents and times, so that tasks can be averaged.

    A normaliser that is one function of the score per task learns from the reduced log, as in `rank`.
    Others compare agents with each other at one time: for them, and where "auto" finds no scale, see
    `on_range_of_log`. With None, scores stay as they were read.

    >>> table = {"agent": ["a", "b"] * 2, "task": ["t", "t", "u", "u"], "score": [0, 2, 0, 500]}
    >>> on_curve_scale(Results.from_dict(table), normalise="min-max").log.measure()
    array([0., 1., 0., 1.])
    """
    measure = results.measure_name(measure)
    if normalise is None or is_normalised(results, measure):
        return CurveScale(results, score_unit(results, measure))
    if callable(normalise):
        log = normalised(results, normalise, measure)
        return CurveScale(log, score_unit(log, measure))
    reduced = judged_runs(results)
    name = normaliser_name(reduced, normalise, measure)
    if name not in ONE_FUNCTION:
        return on_range_of_log(results, measure)
    scale = NORMALISERS[name].learn(task_scores(reduced, measure))
    log = on_scale(results, name, task_scores(results, measure), scale)
    return CurveScale(log, score_unit(log, measure))


def on_range_of_log(results: Results, measure: str | None = None) -> CurveScale:
    r"""Return a log whose tasks can be averaged: as it is where ranges are alike, else by min and max.

    .. math:: x' = \frac{x - \min_t}{\max_t - \min_t}

    The minimum and maximum of task t are those of the whole log, all agents and times: the same raw score
    has the same value for every agent. Where lower is better, 1 is the minimum. Ranges are alike where
    they overlap and none is ten times as wide as another, or where all scores lie in [0, 1].

    >>> table = {"agent": ["a"] * 4, "task": ["t", "t", "u", "u"], "run": [0, 1] * 2}
    >>> on_range_of_log(Results.from_dict(table | {"score": [0, 2, 0, 500]})).log.measure()
    array([0., 1., 0., 1.])
    """
    measure = results.measure_name(measure)
    values, task = results.measure(measure), results.task_codes
    low, high = np.full((2, len(results.tasks)), np.nan)
    np.fmin.at(low, task, values)
    np.fmax.at(high, task, values)
    sign = results.scales.aligned(results.task_names, measure).sign
    if (sign > 0).all() and _alike(low, high):
        return CurveScale(results, f"{measure} as it was read")
    span = np.where(high > low, high - low, np.nan)[task]
    scaled = np.where(sign[task] > 0, values - low[task], high[task] - values) / span
    flat = [name for name, wide in zip(results.tasks, high > low, strict=True) if not wide]
    notes = (f"{counted(len(flat), 'task')} with one score throughout excluded: {listed(flat)}.",)
    unit = f"{measure} between the lowest (0) and the highest (1) of the whole log on each task"
    if (sign < 0).any():
        unit += ", turned round where lower is better"
    step = f"{measure} scaled to the range of each task in the whole log"
    log = results.with_measure(measure, scaled, step, notes if flat else ())
    kept = Scales(entry for entry in results.scales if entry.measure != measure)
    return CurveScale(replace(log, scales=kept), unit, notes if flat else ())


def _alike(low: Floats, high: Floats) -> bool:
    """Whether the ranges of tasks overlap and are of one order of magnitude, or all lie in [0, 1]."""
    if np.nanmin(low) >= 0 and np.nanmax(high) <= 1:
        return True
    span = (high - low)[high > low]
    if not len(span):
        return True
    return bool(np.nanmax(low) < np.nanmin(high) and span.max() < ALIKE * span.min())


POINTS = 60
"""Times at which a curve is drawn: more than a small panel shows."""
MOST_TIMES = 200
"""Times of checkpoints that are drawn, evenly chosen where there are more: a page holds every run."""


class MeanCurves(Table):
    """The mean over runs of each agent on each task at each time."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    time: Floats = number("Time since the start of training")
    mean: Floats = number("Mean over the runs that exist at this time", unit="score")
    runs: Places = count("Runs that exist at this time")


@dataclass(frozen=True, eq=False, repr=False)
class TaskLearningCurves(Answer):
    """Runs over time, task by task.

    `times` has shape [tasks, points]: each task has its own budget. `values` has shape [runs, points],
    with the `agent` and `task` of each run; `mean` has shape [agents, tasks, points], over the `runs` that
    exist there, NaN where none does.
    """

    kind = "task_curves"

    agent_names: tuple[str, ...]
    task_names: tuple[str, ...]
    unit: str
    times: Floats
    agent: Places
    task: Places
    values: Floats
    mean: Floats
    runs: Places
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """How much was followed."""
        size = (
            f"{counted(len(self.agent_names), 'agent')} on {counted(len(self.task_names), 'task')}"
        )
        return f"Learning curves of {counted(len(self.agent), 'run')} of {size}, over {self.unit}."

    @cached_property
    def curves(self) -> MeanCurves:
        """One row per agent, task and time at which some run exists."""
        agent, task, point = np.nonzero(self.runs > 0)
        return MeanCurves(
            agent=[self.agent_names[row] for row in agent],
            task=[self.task_names[row] for row in task],
            time=self.times[task, point],
            mean=self.mean[agent, task, point],
            runs=self.runs[agent, task, point],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The mean curves."""
        return {"curves": self.curves}


@reads_results
def task_curves(
    results: Results,
    measure: str | None = None,
    *,
    last: int | None = None,
    points: int = POINTS,
) -> TaskLearningCurves:
    """Follow every run over the time of its task.

    Where the runs of a task are checkpoints at shared times, these are the points, and a run has a value
    where it has a checkpoint. Else at each point a run counts as in `efficiency`. Times are NaN where a
    task has fewer points than others.

    References: Machado et al. (papers/001), Figure 1: runs in grey, and their average.

    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1],
    ...        "frames": [10, 20, 10, 20], "score": [0.0, 2.0, 1.0, 4.0]}
    >>> made = task_curves(Results.from_dict(log), points=2)
    >>> made.times, made.mean
    (array([[10., 20.]]), array([[[0.5, 3. ]]]))
    """
    results, idle = learners_of(results)
    episodes = episodes_of(results)
    curve = episodes.observed(results.measure(measure))
    checkpoints = checkpoint_runs(results, episodes)
    lines = [
        _lines(curve, (curve.lengths > 0) & (episodes.task == task), checkpoints, last, points)
        for task in range(len(results.tasks))
    ]
    longest = max(len(times) for times, _ in lines)
    times = np.full((len(results.tasks), longest), np.nan)
    values = np.full((len(curve.lengths), longest), np.nan)
    for task, (at, rows) in enumerate(lines):
        times[task, : len(at)] = at
        values[(curve.lengths > 0) & (episodes.task == task), : len(at)] = rows
    shape = len(results.agents), len(results.tasks)
    cell = episodes.agent * shape[1] + episodes.task
    exists = ~np.isnan(values.T)
    size = shape[0] * shape[1]
    means = [
        group_means(column[observed], cell[observed], size)
        for column, observed in zip(values.T, exists, strict=True)
    ]
    counts = [np.bincount(cell[observed], minlength=size) for observed in exists]
    return TaskLearningCurves(
        agent_names=results.agents,
        task_names=results.tasks,
        unit=episodes.unit,
        times=times,
        agent=episodes.agent,
        task=episodes.task,
        values=values,
        mean=np.array(means).T.reshape(*shape, longest),
        runs=np.array(counts).T.reshape(*shape, longest),
        notes=(*idle, *episodes.notes),
    )


def _lines(
    curve: Curve,
    runs: NDArray[np.bool_],
    checkpoints: NDArray[np.bool_],
    last: int | None,
    points: int,
) -> tuple[Floats, Floats]:
    """The times of one task and the values of its runs there: [times], [runs, times]."""
    if not runs.any():
        return np.empty(0), np.empty((0, 0))
    inside = runs[curve.run]
    number = np.cumsum(runs) - 1
    part = Curve(
        number[curve.run[inside]], curve.time[inside], curve.values[inside], curve.lengths[runs]
    )
    if last is None and checkpoints[runs].all():
        part = at_times(part)
        times = shared_times(part, MOST_TIMES)
        if times is not None:
            place = np.searchsorted(times, part.time)
            place = np.minimum(place, len(times) - 1)
            exact = times[place] == part.time
            values = np.full((len(part.lengths), len(times)), np.nan)
            values[part.run[exact], place[exact]] = part.values[exact]
            return times, values
    times = np.linspace(np.min(begin_times(part)), np.max(end_times(part)), points)
    return times, values_at(part, times, checkpoints[runs], last)


class ReportPoints(Table):
    """What each agent reached on each task by each report point."""

    task: tuple[str, ...] = name("Task")
    agent: tuple[str, ...] = name("Agent")
    point: Floats = number("Time of the report point")
    mean: Floats = number("Mean over runs that reach the point", unit="score")
    deviation: Floats = number(
        "Standard deviation over runs", unit="score", title="standard deviation"
    )
    runs: NDArray[np.int64] = count("Runs that reach the point")


@dataclass(frozen=True, eq=False, repr=False)
class ReportTable(Answer):
    """What each agent reached on each task by each point; arrays of shape [agents, tasks, points].

    `mean` and `deviation` are over runs: NaN where none reaches the point, and the deviation where only
    one does. `runs` counts those that do.
    """

    kind = "report_points"

    agent_names: tuple[str, ...]
    task_names: tuple[str, ...]
    points: Floats
    unit: str
    mean: Floats
    deviation: Floats
    runs: NDArray[np.int64]

    @property
    def headline(self) -> str:
        """How much the table holds."""
        size = (
            f"{counted(len(self.agent_names), 'agent')} on {counted(len(self.task_names), 'task')}"
        )
        return f"Means of {size} at {counted(len(self.points), 'report point')} in {self.unit}."

    @cached_property
    def report_points(self) -> ReportPoints:
        """One row per task, agent and point that some run reaches."""
        task, agent, point = np.nonzero(self.runs.transpose(1, 0, 2) > 0)
        return ReportPoints(
            task=[self.task_names[row] for row in task],
            agent=[self.agent_names[row] for row in agent],
            point=self.points[point],
            mean=self.mean[agent, task, point],
            deviation=self.deviation[agent, task, point],
            runs=self.runs[agent, task, point],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points."""
        return {"report_points": self.report_points}


def report_table(curves: LearningCurves) -> ReportTable:
    r"""Average runs at each report point, with their standard deviation.

    .. math:: \bar x = \frac{1}{n} \sum_r x_r, \quad s^2 = \frac{1}{n - 1} \sum_r (x_r - \bar x)^2

    References: Machado et al. (papers/001), section 3, for the report points; Table 1: "standard deviation
    over trials is within parentheses".

    >>> from examiner.results import Results
    >>> from examiner.scores.training.curves import curves
    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1],
    ...        "frames": [10, 20, 10, 20], "score": [0.0, 2.0, 1.0, 4.0]}
    >>> made = report_table(curves(Results.from_dict(log), points=[20], last=1))
    >>> made.mean[0, 0], made.deviation[0, 0].round(3), made.runs[0, 0]
    (array([3.]), array([1.414]), array([2]))
    """
    shape = len(curves.agent_names), len(curves.task_names)
    cell = curves.agent * shape[1] + curves.task
    means, deviations, counts = [], [], []
    for column in range(len(curves.points)):
        values = curves.values[:, column]
        observed = ~np.isnan(values)
        count = np.bincount(cell[observed], minlength=shape[0] * shape[1])
        mean = group_means(values[observed], cell[observed], shape[0] * shape[1])
        squares = np.bincount(
            cell[observed],
            weights=(values - mean[cell])[observed] ** 2,
            minlength=shape[0] * shape[1],
        )
        spread = np.sqrt(squares / np.maximum(count - 1, 1))
        means.append(mean.reshape(shape))
        deviations.append(np.where(count > 1, spread, np.nan).reshape(shape))
        counts.append(count.reshape(shape))
    return ReportTable(
        agent_names=curves.agent_names,
        task_names=curves.task_names,
        points=curves.points,
        unit=curves.unit,
        mean=np.stack(means, axis=2),
        deviation=np.stack(deviations, axis=2),
        runs=np.stack(counts, axis=2).astype(np.int64),
    )
