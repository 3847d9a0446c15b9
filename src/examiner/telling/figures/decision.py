"""More runs or more tasks: the error to expect of a comparison, over the number of tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import plain
from examiner.telling.figures.palette import MEAN, colour_scale


class DecisionData(NamedTuple):
    """What is drawn: `error` has shape [tasks, runs]; `now` is the design used: tasks, runs, error."""

    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    error: NDArray[np.float64]
    now: tuple[float, float, float]


def data(
    tasks: NDArray[np.int64],
    runs: NDArray[np.int64],
    error: NDArray[np.float64],
    now: tuple[float, float, float],
) -> DecisionData:
    """Prepare one line for each number of runs.

    >>> data(np.array([1, 2]), np.array([1]), np.array([[2.0], [1.4]]), (2, 1, 1.4)).now
    (2, 1, 1.4)
    """
    return DecisionData(tasks, runs, error, now)


def draw(data: DecisionData, title: str = "score") -> PlotlyFigure:
    """Draw the standard error of a difference; the darker the line, the fewer the runs.

    >>> figure = draw(data(np.array([1, 2]), np.array([1]), np.array([[2.0], [1.4]]), (2, 1, 1.4)))
    >>> [trace["name"] for trace in figure["data"]]
    ['1 run', 'these results']
    """
    scale = [str(colour) for _, colour in colour_scale("sequential")]
    steps = np.linspace(1, len(scale) - 3, max(len(data.runs), 2)).round().astype(int)
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "1 run" if runs == 1 else f"{runs} runs",
            "x": data.tasks.tolist(),
            "y": compact(data.error[:, place]),
            "line": {"width": 2, "color": scale[steps[place]]},
            "hovertemplate": f"%{{x}} tasks, {runs} runs: %{{y:.3~g}}<extra></extra>",
        }
        for place, runs in enumerate(data.runs.tolist())
    ]
    now = {
        "type": "scatter",
        "mode": "markers",
        "name": "these results",
        "x": [data.now[0]],
        "y": [data.now[2]],
        "marker": {"size": 11, "symbol": "diamond", "color": MEAN},
        "hovertemplate": f"%{{x}} tasks, {data.now[1]:.3g} runs: %{{y:.3~g}}<extra></extra>",
    }
    layout = {
        "height": 400,
        "margin": {"l": 60, "r": 20, "t": 40, "b": 50},
        "xaxis": {"title": {"text": "tasks"}, "fixedrange": True, "zeroline": False},
        "yaxis": {
            "title": {"text": plain(f"standard error of a difference ({title})")},
            "rangemode": "tozero",
            "fixedrange": True,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    return {"data": [*lines, now], "layout": layout}
