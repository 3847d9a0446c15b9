"""The Wright map: agents and tasks on one scale, the able and the difficult on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import DOTS, MEAN

LABEL_LIMIT = 60
STEP = 0.2
"""Dots nearer than this share a row and stand side by side."""
REACH = 4.5
"""Difficulties further out are drawn at the edge: few tasks lie there, and none exactly."""


class WrightMapData(NamedTuple):
    """What the map draws; `shown` are difficulties drawn at the edge where they lie beyond it."""

    agents: tuple[str, ...]
    ability: NDArray[np.float64]
    error: NDArray[np.float64]
    tasks: tuple[str, ...]
    difficulty: NDArray[np.float64]
    shown: NDArray[np.float64]
    negative: NDArray[np.bool_]
    agent_place: NDArray[np.float64]
    task_place: NDArray[np.float64]
    low: float
    high: float


def data(
    agents: Sequence[str],
    ability: NDArray[np.float64],
    error: NDArray[np.float64],
    tasks: Sequence[str],
    difficulty: NDArray[np.float64],
    negative: NDArray[np.bool_],
) -> WrightMapData:
    """Prepare the map; dots of like height stand side by side.

    >>> one, two = np.array([0.0]), np.array([0.5, 90.0])
    >>> drawn = data(["a"], one, one, ["t", "u"], two, np.array([False, False]))
    >>> drawn.shown, drawn.task_place
    (array([0.5, 5. ]), array([1., 1.]))
    """
    known = ability[np.isfinite(ability)]
    reach = max(REACH, float(np.abs(known).max(initial=0.0)) + 0.5)
    shown = np.clip(difficulty, -reach - 0.5, reach + 0.5)
    return WrightMapData(
        tuple(agents),
        ability,
        error,
        tuple(tasks),
        difficulty,
        shown,
        negative,
        -_stacked(ability),
        _stacked(shown),
        -reach - 0.5,
        reach + 0.5,
    )


def draw(data: WrightMapData) -> PlotlyFigure:
    """Draw agents on the left, tasks on the right; crosses are tasks on which the able do worse.

    >>> one = np.array([0.0])
    >>> figure = draw(data(["a"], one, one, ["t"], one, np.array([False])))
    >>> [trace["name"] for trace in figure["data"]]
    ['agents', 'tasks']
    """
    traces = [_agents(data)]
    for name, chosen, symbol in (
        ("tasks", ~data.negative, "square"),
        ("tasks, negative discrimination", data.negative, "x"),
    ):
        places = np.flatnonzero(chosen & np.isfinite(data.shown))
        if len(places):
            traces.append(_tasks(data, places, name, symbol))
    widest = float(max(np.nanmax(np.abs(data.agent_place), initial=3.0), 3.0))
    right = float(max(np.nanmax(data.task_place, initial=3.0), 3.0))
    layout = {
        "height": 560,
        "margin": {"l": 60, "r": 20, "t": 40, "b": 40},
        "xaxis": {
            "range": [-widest - 1, right + 1],
            "tickmode": "array",
            "tickvals": [-widest / 2, right / 2],
            "ticktext": ["agents", "tasks"],
            "showgrid": False,
            "zeroline": True,
            "fixedrange": True,
        },
        "yaxis": {
            "title": {"text": "ability and difficulty"},
            "range": [data.low - 0.3, data.high + 0.3],
            "fixedrange": True,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    return {"data": traces, "layout": layout}


def _agents(data: WrightMapData) -> dict[str, object]:
    names = [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "agents",
        "x": compact(data.agent_place),
        "y": compact(data.ability),
        "error_y": {
            "type": "data",
            "array": compact(np.nan_to_num(data.error)),
            "thickness": 1,
            "width": 0,
            "color": DOTS + "66",
        },
        "customdata": [
            [name, *values]
            for name, values in zip(
                names, compact(np.column_stack([data.ability, data.error]), 4), strict=True
            )
        ],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]} ± %{customdata[2]}<extra></extra>",
        "marker": {"size": 9, "color": DOTS},
    }


def _tasks(
    data: WrightMapData, places: NDArray[np.intp], name: str, symbol: str
) -> dict[str, object]:
    labels = distinct_labels(data.tasks, LABEL_LIMIT)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": compact(data.task_place[places]),
        "y": compact(data.shown[places]),
        "customdata": [
            [plain(labels[place]), value]
            for place, value in zip(places, compact(data.difficulty[places], 4), strict=True)
        ],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]}<extra></extra>",
        "marker": {"size": 9, "color": MEAN, "symbol": symbol},
    }


def _stacked(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """1, 2, 3 … for dots that share a row, in the order of their height."""
    places = np.full(len(heights), np.nan)
    rows: dict[int, int] = {}
    for place in np.argsort(heights, kind="stable"):
        if np.isfinite(heights[place]):
            row = round(float(heights[place]) / STEP)
            rows[row] = rows.get(row, 0) + 1
            places[place] = rows[row]
    return places
