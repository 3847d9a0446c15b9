"""Agents compared with the first: means with intervals, coloured by significance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats

STANDINGS = (
    ("leads", chart.MEAN),
    ("not significantly different", chart.MIDDLE),
    ("significantly worse", chart.BAR),
)
ALIKE = "not significantly different"


class StandingData(NamedTuple):
    """Agents from the first on with their means and intervals; `group` compares each with the first.

    It is 0 for the first, 1 for agents that do not differ significantly from it, 2 for the others; 1 for
    all where no agents differ significantly.
    """

    agents: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    group: tuple[int, ...]


def draw(data: StandingData, title: str = "mean") -> chart.Drawing:
    """Draw one row per agent, its mean and interval, coloured by its group.

    >>> one = np.array([1.0, 0.5])
    >>> [trace["name"] for trace in draw(StandingData(("a", "b"), one, one, one, (0, 2)))["data"]]
    ['leads', 'significantly worse']
    """
    traces = []
    for group, (standing, colour) in enumerate(STANDINGS):
        name = standing if 0 in data.group else ALIKE
        rows = np.flatnonzero(np.array(data.group) == group)
        if not len(rows):
            continue
        value, low, high = (part[rows] for part in (data.value, data.low, data.high))
        bars = chart.error_bars(high - value, colour, thickness=2, width=4, symmetric=False)
        hover = "%{x:.3~g} (%{customdata[0]:.3~g} to %{customdata[1]:.3~g})"
        points = chart.dots(value, rows.tolist(), name, colour, hover, size=10)
        shown = {"error_x": bars | {"arrayminus": chart.compact(value - low)}}
        traces.append(points | shown | {"customdata": chart.compact(np.column_stack([low, high]))})
    x, y = chart.axis(title), chart.rows_axis(data.agents)
    return chart.figure(traces, 96 + 24 * len(data.agents), x, y)
