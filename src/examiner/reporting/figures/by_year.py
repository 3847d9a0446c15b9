"""Panels over years: a mean with its interval in each, and what chance would give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.panels import Panel, panelled


class YearsData(NamedTuple):
    """What is told of each year: value and interval [titles, years], and the single agents' values.

    `chance` [titles, years] is NaN where chance gives nothing to compare with; `points` has a row of
    (title, year, value) for each agent.
    """

    titles: tuple[str, ...]
    years: Floats
    value: Floats
    low: Floats
    high: Floats
    chance: Floats
    points: Floats


def draw_years(data: YearsData) -> chart.Drawing:
    """Draw a panel for each: means with intervals, agents as faint dots, chance dotted.

    >>> one = np.array([[0.5, 0.7]])
    >>> years = np.array([2015.0, 2016.0])
    >>> drawn = YearsData(("ability",), years, one, one, one, one * np.nan, np.zeros((0, 3)))
    >>> [trace["name"] for trace in draw_years(drawn)["data"]]
    ['mean, 95 %']
    """
    panels = []
    for row, title in enumerate(data.titles):
        shown = data.points[data.points[:, 0] == row]
        traces = []
        if len(shown):
            faint = chart.dots(shown[:, 1], shown[:, 2], "agents", chart.GREY + chart.LIGHT, size=5)
            traces.append(faint)
        lower, upper = data.value[row] - data.low[row], data.high[row] - data.value[row]
        bars = chart.error_bars(upper, chart.MIDDLE, arrayminus=chart.compact(lower))
        mean = chart.dots(
            data.years, data.value[row], "mean, 95 %", chart.MIDDLE, "%{x}: %{y:.3~g}"
        )
        traces.append(mean | {"error_y": bars})
        if np.isfinite(data.chance[row]).any():
            chance = data.chance[row]
            traces.append(chart.line(data.years, chance, "by chance", chart.GREY, dash="dot"))
        panels.append(
            Panel(
                title,
                [trace | {"showlegend": row == 0 or "chance" in trace["name"]} for trace in traces],
            )
        )
    ticks = chart.axis(tickmode="array", tickvals=data.years.tolist(), ticktext=_years(data.years))
    return panelled(panels, ticks, chart.axis())


def _years(years: Floats) -> list[str]:
    return [f"{year:g}" for year in years.tolist()]
