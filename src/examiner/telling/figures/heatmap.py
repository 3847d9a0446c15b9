"""Agents × tasks as a heat map: colour is the comparable score, a gap is "not observed"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import colour_scale
from examiner.telling.figures.stretch import Stretch, stretch_for

ROBUST_PERCENTILES = (5.0, 95.0)
LABEL_LIMIT = 24
FEW_AGENTS = 30
HOVER = (
    "%{y}<br>%{x}<br>comparable: %{customdata[1]:.3~g}<br>raw: %{customdata[0]:.4~g}"
    "<br>rank in task: %{customdata[2]}<extra></extra>"
)


class HeatmapData(NamedTuple):
    """What the heat map draws; arrays of shape [agents, tasks], NaN where nothing was observed."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    raw: NDArray[np.float64]
    comparable: NDArray[np.float64]
    rank: NDArray[np.float64]  # 1 is the best agent of the task; ties share the better rank
    colour: NDArray[np.float64]  # -1 … 1 around a centre, 0 … 1 without one
    low: float  # values beyond low and high have the colours of the ends
    high: float
    centre: float | None


def data(
    agents: Sequence[str],
    tasks: Sequence[str],
    raw: NDArray[np.float64],
    comparable: NDArray[np.float64],
    rank: NDArray[np.float64],
    centre: float | None = None,
) -> HeatmapData:
    """Prepare a heat map; colours turn at the centre, if there is one and values lie around it.

    Where almost all lie on one side, turning there would leave half of the colours unused.

    >>> scores = np.array([[0.0, 1.0], [3.0, np.nan]])
    >>> data(["a", "b"], ["t", "u"], scores, scores, scores, centre=1.0).colour.round(2)
    array([[-1.,  0.],
           [ 1., nan]])
    """
    seen = comparable[np.isfinite(comparable)]
    ends = np.percentile(seen, ROBUST_PERCENTILES) if len(seen) else np.array([0.0, 1.0])
    low, high = float(ends[0]), float(ends[1])
    if centre is not None and not low <= centre <= high:
        centre = None
    return HeatmapData(
        agents=tuple(agents),
        tasks=tuple(tasks),
        raw=raw,
        comparable=comparable,
        rank=rank,
        colour=colour_positions(comparable, low, high, centre, _axis(comparable, centre)),
        low=low,
        high=high,
        centre=centre,
    )


def colour_positions(
    values: NDArray[np.float64], low: float, high: float, centre: float | None, axis: Stretch
) -> NDArray[np.float64]:
    """Place values on the colour scale, those beyond its ends at the ends.

    Around a centre each side has its own length: random play is as far below 1.0 as a colour can
    be, and so is the best score above it.

    >>> colour_positions(np.array([0.0, 1.0, 9.0]), 0.5, 3.0, 1.0, Stretch(1.0))
    array([-1.,  0.,  1.])
    """
    if centre is None:
        if not high > low:
            return np.where(np.isnan(values), np.nan, 0.5)
        return (np.clip(values, low, high) - low) / (high - low)
    place, ends = axis.positions(values), axis.positions(np.array([low, high, centre]))
    below, above = float(ends[2] - ends[0]), float(ends[1] - ends[2])
    longest = max(below, above)
    if longest <= 0:
        return np.where(np.isnan(values), np.nan, 0.0)
    # A side that only a few values lie on has no length of its own and borrows the other's.
    below, above = (side if side > 0 else longest for side in (below, above))
    distance = place - float(ends[2])
    scaled: NDArray[np.float64] = np.where(distance < 0, distance / below, distance / above)
    return np.clip(scaled, -1.0, 1.0)


def draw(data: HeatmapData) -> PlotlyFigure:
    """Draw the heat map: agents from top to bottom and tasks from left to right, in the order given.

    Names stand at numbered positions, so that none is ever read as a number, a date or twice.

    >>> scores = np.array([[0.0, 1.0]])
    >>> figure = draw(data(["a"], ["<t>", "2020-01-01"], scores, scores, scores))
    >>> figure["layout"]["xaxis"]["ticktext"]
    ['&lt;t&gt;', '2020-01-01']
    """
    row = 28 if len(data.agents) <= FEW_AGENTS else 15
    trace = {
        "type": "heatmap",
        "z": compact(data.colour, digits=3),
        "customdata": compact(np.dstack([data.raw, data.comparable, data.rank])),
        "zmin": -1 if data.centre is not None else 0,
        "zmax": 1,
        "colorscale": colour_scale("sequential" if data.centre is None else "diverging"),
        "colorbar": _colour_bar(data),
        "hovertemplate": HOVER,
        "hoverongaps": False,
    }
    layout = {
        "height": 190 + row * len(data.agents) + 40,
        "margin": {"l": 10, "r": 10, "t": 70, "b": 10},
        "xaxis": _names_axis(data.tasks, 10) | {"tickangle": -90},
        "yaxis": _names_axis(data.agents, 12 if row > 20 else 10) | {"autorange": "reversed"},
    }
    return {"data": [trace], "layout": layout}


def _names_axis(names: Sequence[str], size: int) -> dict[str, object]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [plain(label) for label in distinct_labels(names, LABEL_LIMIT)],
        "tickfont": {"size": size},
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }


def _colour_bar(data: HeatmapData) -> dict[str, object]:
    axis = _axis(data.comparable, data.centre)
    marks = np.array(axis.ticks(data.low, data.high, room=0.1))
    if not len(marks):
        marks = np.array([data.low])
    places = colour_positions(marks, data.low, data.high, data.centre, axis)
    return {
        "orientation": "h",
        "y": 1.0,
        "yanchor": "bottom",
        "x": 0.0,
        "xanchor": "left",
        "lenmode": "pixels",
        "len": 300,
        "thickness": 10,
        "tickmode": "array",
        "tickvals": compact(places),
        "ticktext": [f"{mark:g}" for mark in marks],
    }


def _axis(values: NDArray[np.float64], centre: float | None) -> Stretch:
    return Stretch() if centre is None else stretch_for(values, centre)
