"""Abilities of agents with their errors, a row an agent, the highest on top."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats

ROW = 16
"""Pixels a row is high."""


class AbilityRowsData(NamedTuple):
    """Agents from the highest ability to the lowest, with 95 % intervals, each [agents]."""

    agents: tuple[str, ...]
    ability: Floats
    low: Floats
    high: Floats


def draw_rows(data: AbilityRowsData) -> chart.Drawing:
    """Draw a dot and its interval for each agent.

    >>> one = np.array([0.0])
    >>> len(draw_rows(AbilityRowsData(("a",), one, one - 1, one + 1))["data"])
    2
    """
    rows = np.arange(float(len(data.agents)))
    traces = [
        chart.segments(data.low, data.high, "95 %", chart.DOTS),
        chart.dots(data.ability, rows, "ability", chart.MIDDLE, "%{x:.2f}", size=7),
    ]
    y = chart.rows_axis(data.agents)
    return chart.figure(traces, 90 + ROW * len(rows), chart.axis("ability"), y, legend=False)
