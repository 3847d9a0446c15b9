"""What a set of tasks costs against what it tells of agents that had no part in choosing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.bands import band_alone
from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import plain
from examiner.telling.figures.palette import BAR, MEAN, QUALITATIVE

LOWEST = -0.2
"""Below this R² nothing more is to be seen: the set is worse than guessing the mean."""


class CostQualityData(NamedTuple):
    """R² of held-out agents for each method and size; arrays of shape [methods, sizes].

    `cost` is what the sets cost (in tasks where no cost is known); `low` and `high` bound `r2`. The
    random sets stand last, with the ends of where nineteen of twenty of them lie.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    cost: NDArray[np.float64]
    r2: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    priced: bool


def data(
    methods: Sequence[str],
    sizes: Sequence[int],
    cost: NDArray[np.float64],
    r2: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    priced: bool = False,
) -> CostQualityData:
    """Prepare the curves.

    >>> one = np.ones((1, 2))
    >>> data(["random"], [1, 3], one, one, one, one).sizes
    (1, 3)
    """
    return CostQualityData(tuple(methods), tuple(sizes), cost, r2, low, high, priced)


def draw(data: CostQualityData) -> PlotlyFigure:
    """Draw a line for each method, best-of thick, and random sets as a band.

    >>> one = np.ones((2, 2))
    >>> figure = draw(data(["best_of", "random"], [1, 3], one, one, one, one))
    >>> [trace["name"] for trace in figure["data"]]
    ['19 of 20 random sets', 'best_of', 'random']
    """
    traces: list[dict[str, object]] = []
    if "random" in data.methods:
        traces.append(_band(data, data.methods.index("random")))
    colours = iter(QUALITATIVE * 3)
    width: float
    for place, name in enumerate(data.methods):
        if name == "best_of":
            colour, width, dash = MEAN, 4, "solid"
        elif name == "random":
            colour, width, dash = BAR, 2, "dash"
        else:
            colour, width, dash = next(colours), 1.5, "solid"
        traces.append(_line(data, place, colour, width, dash))
    layout = {
        "height": 460,
        "margin": {"l": 10, "r": 20, "t": 90, "b": 10},
        "xaxis": {
            "title": {"text": "cost of the set" if data.priced else "tasks in the set"},
            "rangemode": "tozero",
            "automargin": True,
            "fixedrange": True,
        },
        "yaxis": {
            "title": {"text": "R² of held-out agents"},
            "range": [max(LOWEST, float(np.nanmin(data.r2)) - 0.05), 1.02],
            "automargin": True,
            "fixedrange": True,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    }
    return {"data": traces, "layout": layout}


def _line(
    data: CostQualityData, place: int, colour: str, width: float, dash: str
) -> dict[str, object]:
    label = plain(data.methods[place])
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "x": compact(data.cost[place]),
        "y": compact(data.r2[place]),
        "customdata": [
            [size, *compact(np.array([low, high]))]
            for size, low, high in zip(data.sizes, data.low[place], data.high[place], strict=True)
        ],
        "line": {"width": width, "color": colour, "dash": dash},
        "hovertemplate": label
        + ", %{customdata[0]} tasks: R² %{y:.3f} (%{customdata[1]} to %{customdata[2]})<extra></extra>",
    }


def _band(data: CostQualityData, place: int) -> dict[str, object]:
    cost, low, high = data.cost[place], data.low[place], data.high[place]
    return band_alone(cost, low, high, "19 of 20 random sets", BAR, opacity=0.25)
