"""Performance profiles: lines of shares above thresholds, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.bands import band_of_line
from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import QUALITATIVE
from examiner.telling.figures.stretch import Stretch, stretch_for

MOST_LINES = len(QUALITATIVE)
LABEL_LIMIT = 28


class ProfileData(NamedTuple):
    """What the profiles draw; arrays of shape [agents, thresholds], NaN where there is no band."""

    agents: tuple[str, ...]
    thresholds: NDArray[np.float64]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    axis: Stretch


def data(
    agents: Sequence[str],
    thresholds: NDArray[np.float64],
    share: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    centre: float | None = None,
) -> ProfileData:
    """Prepare profiles; where a few thresholds lie far out, the axis is stretched.

    >>> line = np.array([[1.0, 0.0]])
    >>> data(["a"], np.array([0.0, 1.0]), line, line, line).axis
    Stretch(centre=0.0, width=None)
    """
    axis = stretch_for(thresholds, 0.0 if centre is None else centre)
    return ProfileData(tuple(agents), thresholds, share, low, high, axis)


def draw(data: ProfileData, title: str = "score") -> PlotlyFigure:
    """Draw one line an agent over its band; at most as many as there are colours.

    >>> line = np.array([[1.0, 0.0]])
    >>> figure = draw(data(["<a>"], np.array([0.0, 1.0]), line, line - 0.1, line + 0.1))
    >>> [trace["name"] for trace in figure["data"]]
    ['&lt;a&gt;', '&lt;a&gt;']
    """
    names = [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)]
    traces: list[dict[str, object]] = []
    for agent, name in enumerate(names[:MOST_LINES]):
        if np.isfinite(data.low[agent]).all():
            traces.append(_band(data, agent, name))
        traces.append(_line(data, agent, name))
    layout = {
        "height": 420,
        "margin": {"l": 50, "r": 20, "t": 40, "b": 50},
        "xaxis": _axis(data, title),
        "yaxis": {"title": {"text": "share above"}, "range": [-0.02, 1.02], "fixedrange": True},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    return {"data": traces, "layout": layout}


def _line(data: ProfileData, agent: int, name: str) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": compact(data.axis.positions(data.thresholds)),
        "y": compact(data.share[agent], digits=4),
        "customdata": compact(data.thresholds),
        "hovertemplate": "%{fullData.name}: %{y:.3~g} above %{customdata:.3~g}<extra></extra>",
        # The share above a threshold falls in steps, at the scores themselves.
        "line": {"color": QUALITATIVE[agent], "width": 2, "shape": "hv"},
        "legendgroup": str(agent),
    }


def _band(data: ProfileData, agent: int, name: str) -> dict[str, object]:
    places = data.axis.positions(data.thresholds)
    along, low = _steps(places, data.low[agent])
    _, high = _steps(places, data.high[agent])
    return band_of_line(along, low, high, name, agent)


def _steps(
    places: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of a step line: level until the next place, then down."""
    return np.repeat(places, 2)[1:], np.repeat(values, 2)[:-1]


def _axis(data: ProfileData, title: str) -> dict[str, object]:
    axis: dict[str, object] = {
        "title": {"text": plain(title)},
        "fixedrange": True,
        "zeroline": False,
    }
    if data.axis.width is None:
        return axis
    marks = data.axis.ticks(float(data.thresholds[0]), float(data.thresholds[-1]), room=0.08)
    return axis | {
        "tickmode": "array",
        "tickvals": compact(data.axis.positions(np.array(marks))),
        "ticktext": [f"{mark:g}" for mark in marks],
    }
