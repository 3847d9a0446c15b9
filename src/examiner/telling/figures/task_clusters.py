"""Tasks × tasks as a heat map of correlations, like tasks side by side, with lines around clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import colour_scale

LABEL_LIMIT = 24
MANY = 60


class TaskClustersData(NamedTuple):
    """What is drawn; `correlation` has shape [tasks, tasks] in the order drawn, NaN where unknown.

    `borders` are the places before which a new cluster begins.
    """

    tasks: tuple[str, ...]
    correlation: NDArray[np.float64]
    borders: tuple[int, ...]


def data(
    tasks: Sequence[str],
    correlation: NDArray[np.float64],
    order: Sequence[int],
    borders: Sequence[int],
) -> TaskClustersData:
    """Put tasks into their order.

    >>> data(["t", "u"], np.array([[1.0, 0.5], [0.5, 1.0]]), [1, 0], [1]).tasks
    ('u', 't')
    """
    places = list(order)
    return TaskClustersData(
        tuple(tasks[place] for place in places),
        correlation[np.ix_(places, places)],
        tuple(borders),
    )


def draw(data: TaskClustersData) -> PlotlyFigure:
    """Draw the heat map: blue goes together, orange goes against, and lines part the clusters.

    >>> drawn = draw(data(["t", "u"], np.array([[1.0, 0.5], [0.5, 1.0]]), [1, 0], [1]))
    >>> len(drawn["layout"]["shapes"])
    2
    """
    size = len(data.tasks)
    cells = {
        "type": "heatmap",
        "z": compact(data.correlation, digits=3),
        "zmin": -1,
        "zmax": 1,
        "colorscale": colour_scale("diverging"),
        "colorbar": {"title": {"text": "r"}, "thickness": 10},
        "hovertemplate": "%{y}<br>%{x}<br>r = %{z:.2f}<extra></extra>",
        "hoverongaps": False,
    }
    labels = [plain(label) for label in distinct_labels(data.tasks, LABEL_LIMIT)]
    ends = [-0.5, size - 0.5]
    axis = {
        "tickmode": "array",
        "tickvals": list(range(size)),
        "ticktext": labels,
        "tickfont": {"size": 10 if size <= MANY else 8},
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
    layout = {
        "height": 200 + (14 if size <= MANY else 9) * size,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "xaxis": axis | {"tickangle": -90, "range": ends},
        "yaxis": axis | {"range": ends[::-1]},
        "shapes": [line for place in data.borders for line in _lines(place - 0.5, ends)],
    }
    return {"data": [cells], "layout": layout}


def _lines(place: float, ends: Sequence[float]) -> list[dict[str, object]]:
    line = {"width": 1, "color": "#000000"}
    along = {"x0": ends[0], "x1": ends[1], "y0": place, "y1": place}
    across = {"x0": place, "x1": place, "y0": ends[0], "y1": ends[1]}
    return [{"type": "line", "line": line, **where} for where in (along, across)]
