"""Learning curves task by task: every run on common times, and the mean of each agent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.checking import Floats
from examiner.results import Results
from examiner.scores.cells import group_means
from examiner.scores.training.efficiency import on_grid
from examiner.scores.training.episodes import Places, begin_times, end_times, episodes_of
from examiner.scores.training.phases import learners_of

POINTS = 60
"""Times at which a curve is drawn: more than a small panel shows."""


class TaskCurves(NamedTuple):
    """Runs over time, task by task.

    `times` has shape [tasks, points]: each task has its own budget. `values` has shape [runs, points],
    with the `agent` and `task` of each run; `mean` has shape [agents, tasks, points], over the runs that
    reach so far, NaN where none does.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    unit: str
    times: Floats
    agent: Places
    task: Places
    values: Floats
    mean: Floats
    notes: tuple[str, ...]


def task_curves(
    results: Results,
    measure: str | None = None,
    *,
    last: int | None = None,
    points: int = POINTS,
) -> TaskCurves:
    """Follow every run over the time of its task.

    At each point a run counts as in `efficiency`: with the mean of its episodes since the point before,
    or of its last so many with `last`.

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
    begins, ends, some = begin_times(curve), end_times(curve), curve.lengths > 0
    times = np.full((len(results.tasks), points), np.nan)
    values = np.full((len(some), points), np.nan)
    for task in range(len(results.tasks)):
        runs = some & (episodes.task == task)
        if not runs.any():
            continue
        times[task] = np.linspace(np.nanmin(begins[runs]), np.nanmax(ends[runs]), points)
        inside = runs[curve.run]
        number = np.cumsum(runs) - 1
        part = curve._replace(
            run=number[curve.run[inside]],
            time=curve.time[inside],
            values=curve.values[inside],
            lengths=curve.lengths[runs],
        )
        values[runs] = on_grid(part, times[task], last)
    shape = len(results.agents), len(results.tasks)
    cell = episodes.agent * shape[1] + episodes.task
    means = [
        group_means(column[~np.isnan(column)], cell[~np.isnan(column)], shape[0] * shape[1])
        for column in values.T
    ]
    return TaskCurves(
        agents=results.agents,
        tasks=results.tasks,
        unit=episodes.unit,
        times=times,
        agent=episodes.agent,
        task=episodes.task,
        values=values,
        mean=np.array(means).T.reshape(*shape, points),
        notes=(*idle, *episodes.notes),
    )
