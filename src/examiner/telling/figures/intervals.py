"""Aggregates of agents as points with intervals, one panel an aggregate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import MIDDLE

LABEL_LIMIT = 28
ROW_HEIGHT = 26
GAP = 0.05


class IntervalData(NamedTuple):
    """What the panels draw; arrays of shape [agents, aggregates], NaN where there is no interval."""

    agents: tuple[str, ...]
    aggregates: tuple[str, ...]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def data(
    agents: Sequence[str],
    aggregates: Sequence[str],
    value: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> IntervalData:
    """Prepare the panels, first agent on top.

    >>> one = np.array([[1.0]])
    >>> data(["a"], ["mean"], one, one - 1, one + 1).agents
    ('a',)
    """
    return IntervalData(tuple(agents), tuple(aggregates), value, low, high)


def draw(data: IntervalData) -> PlotlyFigure:
    """Draw a panel for each aggregate, side by side, with agents as rows.

    >>> one = np.array([[1.0, 2.0]])
    >>> figure = draw(data(["a"], ["mean", "iqm"], one, one - 1, one + 1))
    >>> [trace["xaxis"] for trace in figure["data"]]
    ['x', 'x2']
    """
    panels = len(data.aggregates)
    width = (1 - GAP * (panels - 1)) / panels
    layout: dict[str, object] = {
        "height": 90 + ROW_HEIGHT * len(data.agents),
        "margin": {"l": 10, "r": 20, "t": 10, "b": 50},
        "showlegend": False,
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(data.agents))),
            "ticktext": [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)],
            "range": [len(data.agents) - 0.4, -0.6],
            "automargin": True,
            "fixedrange": True,
            "zeroline": False,
        },
    }
    for panel, name in enumerate(data.aggregates):
        start = panel * (width + GAP)
        layout[f"xaxis{panel + 1 if panel else ''}"] = {
            "title": {"text": plain(name)},
            "domain": [round(start, 4), round(start + width, 4)],
            "fixedrange": True,
            "zeroline": False,
            "nticks": 5,
        }
    return {"data": [_panel(data, panel) for panel in range(panels)], "layout": layout}


def _panel(data: IntervalData, panel: int) -> dict[str, object]:
    value, low, high = (part[:, panel] for part in (data.value, data.low, data.high))
    # No interval has no bar: a length of zero would claim to be one.
    bars = np.isfinite(low) & np.isfinite(high)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": compact(value),
        "y": list(range(len(data.agents))),
        "xaxis": f"x{panel + 1 if panel else ''}",
        "yaxis": "y",
        "marker": {"size": 8, "color": MIDDLE},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": compact(np.where(bars, high - value, np.nan)),
            "arrayminus": compact(np.where(bars, value - low, np.nan)),
            "thickness": 2,
            "width": 4,
            "color": MIDDLE,
        },
        "customdata": compact(np.column_stack([low, high])),
        "hovertemplate": "%{x:.3~g} (%{customdata[0]:.3~g} to %{customdata[1]:.3~g})<extra></extra>",
    }
