"""Learning curves task by task: every run on common times, and the mean of each agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number
from examiner.messages import counted
from examiner.results import Results, reads_results
from examiner.scores.cells import group_means
from examiner.scores.training.checkpoints import at_times, checkpoint_runs
from examiner.scores.training.episodes import Curve, Places, begin_times, end_times, episodes_of
from examiner.scores.training.phases import learners_of
from examiner.scores.training.times import shared_times, values_at
from examiner.validation import Floats

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
        group_means(column[seen], cell[seen], size)
        for column, seen in zip(values.T, exists, strict=True)
    ]
    counts = [np.bincount(cell[seen], minlength=size) for seen in exists]
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
