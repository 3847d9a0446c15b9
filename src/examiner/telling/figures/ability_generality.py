"""Ability against generality: are able agents good at all that is easy for them, or here and there?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import DOTS, MEAN

LABEL_LIMIT = 60
MOST_NAMED = 25

Floats = NDArray[np.float64]


class AbilityGeneralityData(NamedTuple):
    """What is drawn, each [agents]; `shown` is generality, above all others where it is infinite."""

    agents: tuple[str, ...]
    ability: Floats
    error: Floats
    generality: Floats
    shown: Floats


def data(
    agents: Sequence[str], ability: Floats, error: Floats, generality: Floats
) -> AbilityGeneralityData:
    """Prepare the points; agents without a generality are left out by their NaN.

    >>> one = np.zeros(2)
    >>> data(["a", "b"], one, one, np.array([2.0, np.inf])).shown
    array([2. , 2.5])
    """
    finite = generality[np.isfinite(generality)]
    top = 1.25 * float(finite.max()) if len(finite) else 1.0
    shown = np.where(np.isinf(generality), top, generality)
    return AbilityGeneralityData(tuple(agents), ability, error, generality, shown)


def draw(data: AbilityGeneralityData) -> PlotlyFigure:
    """Draw one point an agent with the error of its ability; stars are infinite generality.

    >>> one = np.zeros(2)
    >>> figure = draw(data(["a", "b"], one, one, np.array([2.0, np.inf])))
    >>> [trace["name"] for trace in figure["data"]]
    ['agents', 'infinite generality']
    """
    labels = [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)]
    infinite = np.isinf(data.generality)
    traces = []
    for name, chosen, symbol, colour in (
        ("agents", ~infinite, "circle", DOTS),
        ("infinite generality", infinite, "star", MEAN),
    ):
        places = np.flatnonzero(chosen & np.isfinite(data.shown) & np.isfinite(data.ability))
        if len(places):
            traces.append(_points(data, places, labels, name, symbol, colour))
    layout = {
        "height": 440,
        "margin": {"l": 60, "r": 20, "t": 40, "b": 50},
        "xaxis": {"title": {"text": "ability"}, "fixedrange": True, "zeroline": False},
        "yaxis": {"title": {"text": "generality"}, "rangemode": "tozero", "fixedrange": True},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    return {"data": traces, "layout": layout}


def _points(
    data: AbilityGeneralityData,
    places: NDArray[np.intp],
    labels: list[str],
    name: str,
    symbol: str,
    colour: str,
) -> dict[str, object]:
    named = len(data.agents) <= MOST_NAMED
    return {
        "type": "scatter",
        "mode": "markers+text" if named else "markers",
        "name": name,
        "x": compact(data.ability[places]),
        "y": compact(data.shown[places]),
        "text": [labels[place] for place in places] if named else None,
        "textposition": "top center",
        "textfont": {"size": 10},
        "error_x": {
            "type": "data",
            "array": compact(np.nan_to_num(data.error[places])),
            "thickness": 1,
            "width": 0,
            "color": colour + "66",
        },
        "customdata": [[labels[place]] for place in places],
        "hovertemplate": "%{customdata[0]}: ability %{x:.2f}, generality %{y:.3~g}<extra></extra>"
        if name == "agents"
        else "%{customdata[0]}: ability %{x:.2f}, generality infinite<extra></extra>",
        "marker": {"size": 9, "color": colour, "symbol": symbol},
    }
