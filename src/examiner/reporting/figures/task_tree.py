"""A dendrogram: which tasks join first, and at which distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats

MANY = 60
"""From so many tasks on, names are written smaller."""


class TaskTreeData(NamedTuple):
    """What is drawn: tasks in order, the corners of joins [joins, 4, 2], and where clusters are cut."""

    tasks: tuple[str, ...]
    branches: Floats
    cut: float


def draw_tree(data: TaskTreeData) -> chart.Drawing:
    """Draw the dendrogram: like tasks join low, and the dotted line is where clusters part.

    >>> corners = np.array([[[0.0, 0.0], [0.0, 0.4], [1.0, 0.4], [1.0, 0.0]]])
    >>> len(draw_tree(TaskTreeData(("t", "u"), corners, 0.8))["data"])
    2
    """
    size, joins = len(data.tasks), len(data.branches)
    gaps = np.full((joins, 1, 2), np.nan)  # None between joins, so that one line draws all of them
    along, height = np.concatenate([data.branches, gaps], axis=1).reshape(-1, 2).T
    ends = np.array([-0.5, size - 0.5])
    traces = [
        chart.scatter(along, height, "joined", None, mode="lines", line={"color": chart.MIDDLE}),
        chart.line(ends, np.full(2, data.cut), "cut", chart.GREY, width=1, dash="dot"),
    ]
    letters = 10 if size <= MANY else 8
    x = chart.names_axis(data.tasks, 24, tickfont={"size": letters}, tickangle=-90)
    y = chart.axis("1 − r", rangemode="tozero")
    return chart.figure(traces, 420, x | {"range": ends.tolist()}, y, legend=False, top=10)
