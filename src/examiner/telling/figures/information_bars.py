"""Bits of each task as bars, with their intervals, and what chance would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import BAR, MEAN, MIDDLE

LABEL_LIMIT = 28
ROW_HEIGHT = 22


class InformationBarsData(NamedTuple):
    """What the bars draw; arrays of shape [tasks], NaN where there is none."""

    tasks: tuple[str, ...]
    bits: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    chance: NDArray[np.float64]
    max_bits: float


def data(
    tasks: Sequence[str],
    bits: NDArray[np.float64],
    max_bits: float,
    low: NDArray[np.float64] | None = None,
    high: NDArray[np.float64] | None = None,
    chance: NDArray[np.float64] | None = None,
) -> InformationBarsData:
    """Prepare the bars, first task on top.

    >>> data(["t"], np.array([1.5]), 2.0).chance
    array([nan])
    """
    nothing = np.full(len(tasks), np.nan)
    low, high, chance = (nothing if part is None else part for part in (low, high, chance))
    return InformationBarsData(tuple(tasks), bits, low, high, chance, max_bits)


def draw(data: InformationBarsData) -> PlotlyFigure:
    """Draw one bar a task, a line for its interval and a mark for chance.

    >>> bars = data(["t"], np.array([1.5]), 2.0, chance=np.array([0.1]))
    >>> [trace["name"] for trace in draw(bars)["data"]]
    ['bits', 'by chance']
    """
    rows = list(range(len(data.tasks)))
    bars: dict[str, object] = {
        "type": "bar",
        "orientation": "h",
        "name": "bits",
        "x": compact(data.bits),
        "y": rows,
        "marker": {"color": BAR},
        "hovertemplate": "%{y}: %{x:.3f} bits<extra></extra>",
    }
    traces = [bars]
    if np.isfinite(data.low).any():
        traces.append(_intervals(data))
    if np.isfinite(data.chance).any():
        marker = {"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": MEAN}}
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "by chance",
                "x": compact(data.chance),
                "y": rows,
                "marker": marker,
                "hovertemplate": "by chance: %{x:.3f} bits<extra></extra>",
            }
        )
    return {"data": traces, "layout": _layout(data)}


def _intervals(data: InformationBarsData) -> dict[str, object]:
    gaps = np.full(len(data.tasks), np.nan)
    rows = np.arange(len(data.tasks), dtype=float)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "interval",
        "x": compact(np.column_stack([data.low, data.high, gaps]).ravel()),
        "y": compact(np.column_stack([rows, rows, gaps]).ravel()),
        "line": {"width": 2, "color": MIDDLE},
        "hoverinfo": "skip",
        "connectgaps": False,
    }


def _layout(data: InformationBarsData) -> dict[str, object]:
    labels = [plain(label) for label in distinct_labels(data.tasks, LABEL_LIMIT)]
    return {
        "height": 110 + ROW_HEIGHT * len(data.tasks),
        "margin": {"l": 10, "r": 20, "t": 40, "b": 50},
        "xaxis": {
            "title": {"text": f"bits, of {data.max_bits:.2f} at most"},
            "rangemode": "tozero",
            "fixedrange": True,
            "automargin": True,
        },
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(data.tasks))),
            "ticktext": labels,
            "range": [len(data.tasks) - 0.4, -0.6],
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "bargap": 0.3,
    }
