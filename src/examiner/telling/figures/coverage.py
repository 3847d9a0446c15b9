"""Coverage grid: how many tasks have each two values, and which two none has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import colour_scale

LABEL_LIMIT = 40
CELL = 19


class CoverageData(NamedTuple):
    """What the grid draws; `joint` has shape [values, values], its diagonal counts single values.

    NaN where two values are of one dimension, so that no task can have both. `missing` are places of
    values of two dimensions that some task has each and none has both.
    """

    dimensions: tuple[str, ...]
    values: tuple[str, ...]
    joint: NDArray[np.float64]
    missing: tuple[tuple[int, int], ...]


def data(labels: Sequence[tuple[str, str]], joint: NDArray[np.int64]) -> CoverageData:
    """Prepare the grid from pairs of dimension and value, and counts of tasks with both.

    >>> grid = data([("haste", "yes"), ("haste", "no"), ("end", "set")], np.diag([1, 2, 0]))
    >>> grid.joint
    array([[ 1., nan,  0.],
           [nan,  2.,  0.],
           [ 0.,  0.,  0.]])
    """
    dimensions = np.array([dimension for dimension, _ in labels])
    same = (dimensions[:, None] == dimensions) & ~np.eye(len(labels), dtype=bool)
    had = np.diagonal(joint) > 0
    absent = (joint == 0) & ~same & had[:, None] & had
    return CoverageData(
        tuple(dimension for dimension, _ in labels),
        tuple(value for _, value in labels),
        np.where(same, np.nan, joint.astype(np.float64)),
        tuple((int(row), int(column)) for row, column in np.argwhere(absent)),
    )


def draw(data: CoverageData) -> PlotlyFigure:
    """Draw the grid: colour counts tasks, a cross is a pair of values that no task has.

    >>> figure = draw(data([("haste", "yes"), ("end", "set")], np.diag([1, 2])))
    >>> [trace["type"] for trace in figure["data"]], figure["data"][1]["x"]
    (['heatmap', 'scatter'], [1, 0])
    """
    names = [
        f"{dimension.rpartition('.')[2].replace('_', ' ')}: {value}"
        for dimension, value in zip(data.dimensions, data.values, strict=True)
    ]
    labels = [plain(label) for label in distinct_labels(names, LABEL_LIMIT)]
    cells = {
        "type": "heatmap",
        "z": compact(np.log1p(data.joint)),
        "customdata": compact(data.joint),
        "colorscale": colour_scale("sequential"),
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{y}<br>%{x}<br>tasks: %{customdata}<extra></extra>",
        "hoverongaps": False,
    }
    axis = _names_axis(labels)
    ends = [-0.5, len(labels) - 0.5]
    layout = {
        "height": 220 + CELL * len(labels),
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "xaxis": axis | {"tickangle": -90, "range": ends},
        "yaxis": axis | {"range": ends[::-1]},
        "showlegend": False,
    }
    return {"data": [cells, _crosses(data)], "layout": layout}


def _crosses(data: CoverageData) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "no task has both",
        "x": [column for _, column in data.missing],
        "y": [row for row, _ in data.missing],
        "marker": {"symbol": "x-thin", "size": 8, "line": {"width": 2, "color": "#ffffff"}},
        "hoverinfo": "skip",
    }


def _names_axis(labels: Sequence[str]) -> dict[str, object]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": list(labels),
        "tickfont": {"size": 11},
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
