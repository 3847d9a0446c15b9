"""What a model expects of agents over difficulty: a line each, with the band of its ability."""

from __future__ import annotations

from typing import NamedTuple

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats


class AgentLinesData(NamedTuple):
    """Chances of success [agents, difficulties], and their 95 % bands."""

    agents: tuple[str, ...]
    difficulty: Floats
    success: Floats
    low: Floats
    high: Floats


def draw_lines(data: AgentLinesData) -> chart.Drawing:
    """Draw falling lines, those of more able agents further to the right.

    >>> import numpy as np
    >>> line = np.array([[0.8, 0.2]])
    >>> drawn = AgentLinesData(("a",), np.array([-1.0, 1.0]), line, line, line)
    >>> [trace["name"] for trace in draw_lines(drawn)["data"]]
    ['a', 'a']
    """
    hover = "%{fullData.name}: %{y:.2f} at difficulty %{x:.2f}"
    lines = chart.banded(data.agents, data.difficulty, data.success, data.low, data.high, hover)
    y = chart.axis("chance of success", range=[-0.02, 1.02])
    return chart.figure(lines, 400, chart.axis("difficulty"), y)
