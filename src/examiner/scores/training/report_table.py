"""The table of papers/001: every game and agent at each report point, mean, standard deviation and runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.cells import group_means
from examiner.scores.training.curves import LearningCurves
from examiner.validation import Floats


class ReportTable(NamedTuple):
    """What each agent reached on each task by each point; arrays of shape [agents, tasks, points].

    `mean` and `deviation` are over runs: NaN where none reaches the point, and the deviation where only
    one does. `runs` counts those that do.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    points: Floats
    unit: str
    mean: Floats
    deviation: Floats
    runs: NDArray[np.int64]

    def records(self) -> list[dict[str, Any]]:  # Any: JSON values
        """Return one record for each task, agent and point that some run reaches.

        >>> one = np.ones((1, 1, 1))
        >>> table = ReportTable(("a",), ("t",), np.array([10.0]), "frames", one, one, one.astype(int))
        >>> table.records()[0]["mean"]
        1.0
        """
        return [
            {
                "task": self.tasks[task],
                "agent": self.agents[agent],
                "point": float(self.points[point]),
                "mean": float(self.mean[agent, task, point]),
                "standard deviation": float(self.deviation[agent, task, point]),
                "runs": int(self.runs[agent, task, point]),
            }
            for task, agent, point in np.argwhere(self.runs.transpose(1, 0, 2) > 0).tolist()
        ]


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
    shape = len(curves.agents), len(curves.tasks)
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
        agents=curves.agents,
        tasks=curves.tasks,
        points=curves.points,
        unit=curves.unit,
        mean=np.stack(means, axis=2),
        deviation=np.stack(deviations, axis=2),
        runs=np.stack(counts, axis=2).astype(np.int64),
    )
