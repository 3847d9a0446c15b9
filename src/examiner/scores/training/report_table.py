"""The table of papers/001: every game and agent at each report point, mean, standard deviation and runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number
from examiner.messages import counted
from examiner.scores.cells import group_means
from examiner.scores.training.curves import LearningCurves
from examiner.validation import Floats


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
        seen = ~np.isnan(values)
        count = np.bincount(cell[seen], minlength=shape[0] * shape[1])
        mean = group_means(values[seen], cell[seen], shape[0] * shape[1])
        squares = np.bincount(
            cell[seen], weights=(values - mean[cell])[seen] ** 2, minlength=shape[0] * shape[1]
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
