"""Task curves: success over ability, a few tasks in colour before all others in grey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.bands import band_of_line
from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import QUALITATIVE

MOST_LINES = len(QUALITATIVE)
MOST_GREY = 150
LABEL_LIMIT = 32

Floats = NDArray[np.float64]


class TaskCurvesData(NamedTuple):
    """Curves [tasks, abilities] of the tasks in colour, what was observed of them, and the others."""

    tasks: tuple[str, ...]
    ability: Floats
    success: Floats
    low: Floats
    high: Floats
    group_ability: Floats
    group_mean: Floats
    others: Floats


def data(
    tasks: Sequence[str],
    ability: Floats,
    success: Floats,
    low: Floats,
    high: Floats,
    group_ability: Floats,
    group_mean: Floats,
    others: Floats,
) -> TaskCurvesData:
    """Prepare the curves; of very many others, every so many are drawn.

    >>> line = np.array([[0.2, 0.8]])
    >>> at = np.array([-1.0, 1.0])
    >>> data(["t"], at, line, line, line, at, line, np.zeros((400, 2))).others.shape
    (134, 2)
    """
    stride = max(1, -(-len(others) // MOST_GREY))
    return TaskCurvesData(
        tuple(tasks), ability, success, low, high, group_ability, group_mean, others[::stride]
    )


def draw(data: TaskCurvesData) -> PlotlyFigure:
    """Draw lines with bands; dots are groups of agents of like ability.

    >>> line = np.array([[0.2, 0.8]])
    >>> at = np.array([-1.0, 1.0])
    >>> figure = draw(data(["<t>"], at, line, line - 0.1, line + 0.1, at, line, line))
    >>> [trace["name"] for trace in figure["data"]]
    ['other tasks', '&lt;t&gt;', '&lt;t&gt;', '&lt;t&gt;']
    """
    names = [plain(label) for label in distinct_labels(data.tasks, LABEL_LIMIT)]
    traces: list[dict[str, object]] = [_grey(data)] if len(data.others) else []
    for task, name in enumerate(names[:MOST_LINES]):
        if np.isfinite(data.low[task]).all():
            traces.append(band_of_line(data.ability, data.low[task], data.high[task], name, task))
        traces += [_line(data, task, name), _dots(data, task, name)]
    layout = {
        "height": 400,
        "margin": {"l": 50, "r": 20, "t": 40, "b": 50},
        "xaxis": {"title": {"text": "ability"}, "fixedrange": True, "zeroline": False},
        "yaxis": {
            "title": {"text": "expected result"},
            "range": [-0.02, 1.02],
            "fixedrange": True,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    return {"data": traces, "layout": layout}


def _grey(data: TaskCurvesData) -> dict[str, object]:
    """All other curves as one line with gaps."""
    gap = np.full((len(data.others), 1), np.nan)
    along = np.tile(np.append(data.ability, np.nan), len(data.others))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "other tasks",
        "x": compact(along, 4),
        "y": compact(np.hstack([data.others, gap]).ravel(), 3),
        "line": {"color": "#99999955", "width": 1},
        "hoverinfo": "skip",
        "connectgaps": False,
    }


def _line(data: TaskCurvesData, task: int, name: str) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": compact(data.ability),
        "y": compact(data.success[task], 4),
        "line": {"color": QUALITATIVE[task], "width": 2},
        "hovertemplate": "%{fullData.name}: %{y:.2f} at %{x:.2f}<extra></extra>",
        "legendgroup": str(task),
    }


def _dots(data: TaskCurvesData, task: int, name: str) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": compact(data.group_ability),
        "y": compact(data.group_mean[task], 4),
        "marker": {"color": QUALITATIVE[task], "size": 6, "symbol": "circle-open"},
        "hovertemplate": "agents near %{x:.2f}: %{y:.2f}<extra></extra>",
        "showlegend": False,
        "legendgroup": str(task),
    }
