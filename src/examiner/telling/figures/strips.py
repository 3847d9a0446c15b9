"""Every task of every agent as a dot, with the middle half, the mean and the interquartile mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import BAR, DOTS, MEAN, MIDDLE
from examiner.telling.figures.stretch import Stretch, stretch_for

MOST_DOTS = 4000
LABEL_LIMIT = 28
ROW_HEIGHT = 34


class StripData(NamedTuple):
    """What the strips draw; `scores` has shape [agents, tasks], the summaries [agents]."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: NDArray[np.float64]
    lower_quartile: NDArray[np.float64]
    upper_quartile: NDArray[np.float64]
    mean: NDArray[np.float64]
    iqm: NDArray[np.float64]
    axis: Stretch
    dots: bool  # whether single tasks are drawn: beyond a few thousand they hide each other


def data(
    agents: Sequence[str],
    tasks: Sequence[str],
    scores: NDArray[np.float64],
    mean: NDArray[np.float64],
    iqm: NDArray[np.float64],
    centre: float | None = None,
) -> StripData:
    """Prepare the strips of agents, first agent on top.

    >>> scores = np.array([[0.0, 1.0, 2.0, 3.0, 4.0]])
    >>> drawn = data(["a"], list("tuvwx"), scores, np.array([2.0]), np.array([2.0]))
    >>> drawn.lower_quartile, drawn.upper_quartile
    (array([1.]), array([3.]))
    """
    quartiles = np.full((2, len(agents)), np.nan)
    for place, row in enumerate(scores):
        seen = row[np.isfinite(row)]
        if len(seen):
            quartiles[:, place] = np.percentile(seen, (25, 75))
    return StripData(
        agents=tuple(agents),
        tasks=tuple(tasks),
        scores=scores,
        lower_quartile=quartiles[0],
        upper_quartile=quartiles[1],
        mean=mean,
        iqm=iqm,
        axis=stretch_for(scores, 0.0 if centre is None else centre),
        dots=bool(np.isfinite(scores).sum() <= MOST_DOTS),
    )


def draw(data: StripData, title: str = "score", centre: float | None = None) -> PlotlyFigure:
    """Draw one row an agent: dots are tasks, the bar its middle half; a line marks the centre.

    >>> scores = np.array([[0.0, 1.0]])
    >>> figure = draw(data(["a"], ["t", "u"], scores, np.array([0.5]), np.array([0.5])))
    >>> [trace["name"] for trace in figure["data"]]
    ['middle half', 'one task', 'mean', 'interquartile mean']
    """
    traces = [_bars(data), *([_dots(data)] if data.dots else []), *_markers(data)]
    layout = {
        "height": 120 + ROW_HEIGHT * len(data.agents),
        "margin": {"l": 10, "r": 20, "t": 40, "b": 50},
        "xaxis": _score_axis(data, title),
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(data.agents))),
            "ticktext": [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)],
            "range": [len(data.agents) - 0.4, -0.6],
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
        "shapes": [] if centre is None else [_landmark(data.axis, centre)],
    }
    return {"data": traces, "layout": layout}


def _bars(data: StripData) -> dict[str, object]:
    """One line per agent from the lower to the upper quartile, broken between agents."""
    ends = data.axis.positions(np.column_stack([data.lower_quartile, data.upper_quartile]))
    gaps = np.full(len(data.agents), np.nan)
    rows = np.arange(len(data.agents), dtype=float)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "middle half",
        "x": compact(np.column_stack([ends, gaps]).ravel()),
        "y": compact(np.column_stack([rows, rows, gaps]).ravel()),
        "line": {"width": 14, "color": BAR},
        "opacity": 0.35,
        "hoverinfo": "skip",
        "connectgaps": False,
    }


def _dots(data: StripData) -> dict[str, object]:
    agent, task = np.nonzero(np.isfinite(data.scores))
    scores = data.scores[agent, task]
    # A fixed pattern instead of random jitter: the same results give the same picture.
    offset = ((task * 0.618034) % 1.0 - 0.5) * 0.5
    names = [plain(label) for label in distinct_labels(data.tasks, 60)]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "one task",
        "x": compact(data.axis.positions(scores)),
        "y": compact(agent + offset),
        "customdata": [
            [names[place], value] for place, value in zip(task, compact(scores), strict=True)
        ],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]:.3~g}<extra></extra>",
        "marker": {"size": 5, "color": DOTS, "opacity": 0.75},
    }


def _markers(data: StripData) -> list[dict[str, object]]:
    kinds = (
        ("mean", data.mean, "diamond", MEAN),
        ("interquartile mean", data.iqm, "line-ns", MIDDLE),
    )
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": compact(data.axis.positions(values)),
            "y": list(range(len(data.agents))),
            "customdata": compact(values),
            "hovertemplate": name + ": %{customdata:.3~g}<extra></extra>",
            "marker": {
                "size": 11 if symbol == "diamond" else 18,
                "symbol": symbol,
                "color": colour,
                "line": {"width": 1 if symbol == "diamond" else 4, "color": colour},
            },
        }
        for name, values, symbol, colour in kinds
    ]


def _score_axis(data: StripData, title: str) -> dict[str, object]:
    seen = data.scores[np.isfinite(data.scores)]
    axis: dict[str, object] = {
        "title": {"text": plain(title)},
        "fixedrange": True,
        "zeroline": False,
        "automargin": True,
        "tickangle": 0,
    }
    if data.axis.width is None or not len(seen):
        return axis
    marks = data.axis.ticks(float(seen.min()), float(seen.max()), room=0.09)
    return axis | {
        "tickmode": "array",
        "tickvals": compact(data.axis.positions(np.array(marks))),
        "ticktext": [f"{mark:g}" for mark in marks],
    }


def _landmark(axis: Stretch, centre: float) -> dict[str, object]:
    place = float(axis.positions(np.array([centre]))[0])
    return {
        "type": "line",
        "layer": "below",
        "x0": place,
        "x1": place,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"width": 1.5, "dash": "dot", "color": "#888888"},
    }
