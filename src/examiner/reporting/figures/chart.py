"""What figures are drawn with: colours, lines, bands, dots, cells, axes, and the chart around them.

Colour-blind readers tell the colours apart, on light and on dark pages.

A drawn figure is a plain dictionary, which `plotly.graph_objects.Figure(figure)` takes as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.reporting.prose import labels, plain
from examiner.validation import Floats

Along: TypeAlias = Floats | Sequence[float]
Part: TypeAlias = dict[str, Any]  # Any: a trace, an axis or a shape, in plotly's words
Drawing: TypeAlias = dict[str, Any]  # Any: a whole figure; plotly checks it in the tests

# ColorBrewer: the oranges of PuOr and the blues of RdBu, safe for the common colour blindnesses.
DIVERGING = (
    *("#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7"),
    *("#d1e5f0", "#92c5de", "#4393c3", "#2166ac", "#053061"),
)
# Cividis (Nuñez, Anderton & Renslow, 2018): seen alike with and without colour blindness.
SEQUENTIAL = (
    *("#00224e", "#123570", "#3b496c", "#575d6d", "#707173"),
    *("#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"),
)
# Okabe & Ito (2008), without yellow and black: told apart on light and dark pages.
QUALITATIVE = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a8678")
FAINT, LIGHT = "2a", "66"
"""How strongly bands, and lines behind others, are drawn: the last two hexadecimal digits of a colour."""
GREY, DOTS, BAR, MEAN, MIDDLE = "#888888", "#4393c3", "#7f8fa6", "#d95f02", "#1b7fbd"
MOST_LINES = len(QUALITATIVE)
"""Lines that have a colour of their own."""
LEGEND_LETTERS = 24
"""Of a name in a legend: longer ones leave no room for the chart."""
LEGEND_ABOVE = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}


def compact(values: Along, digits: int = 5) -> list[Any]:  # Any: nested lists
    """Return nested lists with few digits, None for NaN: a picture needs no seventeen decimals.

    Whole numbers are integers: a page with a table of zeros and ones is half as large without ".0".

    >>> compact(np.array([[1 / 3, np.nan], [12345678.9, 0.0]]))
    [[0.33333, None], [12346000, 0]]
    """
    if not isinstance(values, np.ndarray):
        return list(values)
    # Most tables hold few different values, and each is shortened once.
    different, place = np.unique(values, return_inverse=True)
    short = [_short(value, digits) for value in different.tolist()]
    shortened: list[Any] = np.array(short, dtype=object)[place.reshape(values.shape)].tolist()
    return shortened


def _short(value: float, digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def figure(
    traces: Sequence[Part],
    height: int,
    x: Part,
    y: Part,
    *,
    legend: bool = True,
    top: int = 40,
    **layout: object,
) -> Drawing:
    """Return a figure of traces, its legend above them.

    >>> figure([], 400, axis("bits"), axis())["layout"]["xaxis"]["title"]
    {'text': 'bits'}
    """
    shown = {"legend": LEGEND_ABOVE} if legend else {"showlegend": False}
    margin = {"l": 10, "r": 20, "t": top, "b": 10}
    axes = {"xaxis": x, "yaxis": y, "hovermode": "closest"}
    return {
        "data": list(traces),
        "layout": {"height": height, "margin": margin} | axes | shown | layout,
    }


def axis(title: str | None = None, **more: object) -> Part:
    """Return an axis that cannot be dragged; its title is no markup.

    >>> axis("<b>")["title"]
    {'text': '&lt;b&gt;'}
    """
    named = {} if title is None else {"title": {"text": plain(title)}}
    return named | {"automargin": True, "fixedrange": True, "zeroline": False} | more


def names_axis(names: Sequence[str], limit: int = 28, **more: object) -> Part:
    """Return an axis with a name at each number, so that none is ever read as a number or a date.

    >>> names_axis(["2020-01-01"])["ticktext"]
    ['2020-01-01']
    """
    ticks = list(range(len(names)))
    named = axis(tickmode="array", tickvals=ticks, ticktext=labels(names, limit), showgrid=False)
    return named | more


def rows_axis(names: Sequence[str], **more: object) -> Part:
    """Return an upright axis of names, the first on top.

    >>> rows_axis(["a", "b"])["range"]
    [1.6, -0.6]
    """
    return names_axis(names) | {"range": [len(names) - 0.4, -0.6]} | more


def square_axes(names: Sequence[str], limit: int, **more: object) -> tuple[Part, Part]:
    """Return two axes of the same names, from left to right and from top to bottom.

    >>> [side["range"] for side in square_axes(["t", "u"], 12)]
    [[-0.5, 1.5], [1.5, -0.5]]
    """
    both, ends = names_axis(names, limit, **more), [-0.5, len(names) - 0.5]
    return both | {"tickangle": -90, "range": ends}, both | {"range": ends[::-1]}


def scatter(x: Along, y: Along, name: str, hover: str | None, **more: object) -> Part:
    """Return a trace of points; without a hover text it is not hovered.

    >>> scatter([1], [2], "a", None)["hoverinfo"]
    'skip'
    """
    hover_text = (
        {"hoverinfo": "skip"} if hover is None else {"hovertemplate": f"{hover}<extra></extra>"}
    )
    return {"type": "scatter", "name": name, "x": compact(x), "y": compact(y)} | hover_text | more


def line(
    x: Along,
    y: Along,
    name: str,
    colour: str,
    hover: str | None = None,
    *,
    width: float = 2,
    dash: str = "solid",
    **more: object,
) -> Part:
    """Return a line; it is broken where a value is not known.

    >>> line([0, 1], [1, 2], "a", "#000000")["mode"]
    'lines'
    """
    drawn = {"mode": "lines", "line": {"width": width, "color": colour, "dash": dash}}
    return scatter(x, y, name, hover, **drawn) | more


def dots(
    x: Along,
    y: Along,
    name: str,
    colour: str,
    hover: str | None = None,
    *,
    size: int = 9,
    symbol: str = "circle",
    **more: object,
) -> Part:
    """Return dots, or marks of another shape.

    >>> dots([0], [1], "a", "#000000", symbol="star")["marker"]["symbol"]
    'star'
    """
    marker = {"size": size, "color": colour, "symbol": symbol}
    if symbol.startswith("line-"):  # a stroke has no inside to be coloured
        marker["line"] = {"width": 4, "color": colour}
    return scatter(x, y, name, hover, mode="markers", marker=marker) | more


def error_bars(lengths: Floats, colour: str, **more: object) -> Part:
    """Return bars of these lengths to both sides of points; NaN has none.

    >>> error_bars(np.array([0.5, np.nan]), "#000000")["array"]
    [0.5, None]
    """
    bars = {"type": "data", "array": compact(lengths), "thickness": 1, "width": 0, "color": colour}
    return bars | more


def band(along: Floats, low: Floats, high: Floats, name: str, colour: str, **more: object) -> Part:
    """Return a faint band as one closed shape: along one edge, and back along the other.

    >>> edge = np.array([0.0, 1.0])
    >>> band(edge, edge - 1, edge + 1, "interval", "#888888")["y"]
    [-1, 0, 2, 1]
    """
    x, y = np.concatenate([along, along[::-1]]), np.concatenate([low, high[::-1]])
    filled = {"fill": "toself", "fillcolor": colour + FAINT}
    return line(x, y, name, colour, width=0) | filled | more


def segments(low: Floats, high: Floats, name: str, colour: str, **more: object) -> Part:
    """Return one level stroke a row from its lower to its upper end.

    >>> segments(np.array([1.0]), np.array([2.0]), "interval", "#888888")["x"]
    [1, 2, None]
    """
    gaps, rows = np.full(len(low), np.nan), np.arange(float(len(low)))
    x, y = np.column_stack([low, high, gaps]), np.column_stack([rows, rows, gaps])
    return line(x.ravel(), y.ravel(), name, colour, connectgaps=False) | more


def banded(
    names: Sequence[str],
    along: Floats,
    values: Floats,
    low: Floats,
    high: Floats,
    hover: str,
    *,
    of: str = "",
    stepped: bool = False,
    **more: object,
) -> list[Part]:
    """Return a line over its band for each name that has a colour; values have shape [names, along].

    A band goes only where it is known, and comes and goes with its line. Stepped lines are level until
    the next point. `of` says what the names are, "agents" or "tasks", for pages that link them.

    >>> line = np.array([[1.0, 0.0]])
    >>> [trace["name"] for trace in banded(["<a>"], line[0], line, line - 1, line + 1, "%{y}")]
    ['&lt;a&gt;', '&lt;a&gt;']
    """
    traces = []
    for index, (name, colour) in enumerate(
        zip(labels(names, LEGEND_LETTERS), QUALITATIVE, strict=False)
    ):
        bounded = np.isfinite(low[index]) & np.isfinite(high[index])
        group: Part = {"legendgroup": str(index)} | linked(of, names[index])
        if bounded.any():
            x, bottom, top = along[bounded], low[index][bounded], high[index][bounded]
            if stepped:
                x = np.repeat(x, 2)[1:]
                bottom, top = (np.repeat(edge, 2)[:-1] for edge in (bottom, top))
            traces.append(band(x, bottom, top, name, colour, showlegend=False) | group)
        drawn = line(along, values[index], name, colour, hover) | group | more
        if stepped:
            drawn["line"]["shape"] = "hv"
        traces.append(drawn)
    return traces


def with_room(x: Floats, y: Floats, across: float, up: float) -> NDArray[np.bool_]:
    """Say which points of shape [points] have room for a label, the first come first.

    A label takes a share of the chart's width and height; points themselves are no labels.

    >>> with_room(np.array([0.0, 0.01, 1.0]), np.array([0.0, 0.01, 1.0]), 0.2, 0.05)
    array([ True, False,  True])
    """
    sizes = [float(np.ptp(side)) or 1.0 for side in (x, y)]
    kept: list[int] = []
    for point in range(len(x)):
        clear = all(
            abs(x[point] - x[other]) > across * sizes[0] or abs(y[point] - y[other]) > up * sizes[1]
            for other in kept
        )
        if clear:
            kept.append(point)
    return np.isin(np.arange(len(x)), kept)


def named_above(names: Sequence[str], x: Floats, y: Floats) -> Part:
    """Return names above points, where there is room for them.

    >>> named_above(["a", "b"], np.zeros(2), np.zeros(2))["text"]
    ['a', '']
    """
    clear = with_room(x, y, 0.3, 0.07)
    shown = [name if free else "" for name, free in zip(names, clear, strict=True)]
    placed = {"mode": "markers+text", "textposition": "top center", "textfont": {"size": 10}}
    return placed | {"text": shown}


def linked(of: str, names: str | Sequence[str]) -> Part:
    """Say of whom a trace is, one name, or its points, a name each: pages link what has the same name.

    >>> linked("tasks", "pong"), linked("", "pong")
    ({'meta': {'tasks': 'pong'}}, {})
    """
    if not of:
        return {}
    return {"meta": {of: names if isinstance(names, str) else list(names)}}


def greyed(along: Floats, values: Floats, name: str) -> list[Part]:
    """Return many lines in grey as one trace with gaps; values have shape [lines, along].

    >>> greyed(np.array([0.0]), np.zeros((0, 1)), "others")
    []
    """
    if not len(values):
        return []
    x = np.tile(np.append(along, np.nan), len(values))
    y = np.hstack([values, np.full((len(values), 1), np.nan)]).ravel()
    return [line(x, y, name, GREY + LIGHT, width=1, connectgaps=False)]


def cells(
    values: Floats, kind: Literal["diverging", "sequential"], hover: str, **more: object
) -> Part:
    """Return a heat map, row by row; what is not known has no colour.

    >>> cells(np.array([[1.0, np.nan]]), "sequential", "%{z}")["z"]
    [[1, None]]
    """
    scale = colour_scale(DIVERGING if kind == "diverging" else SEQUENTIAL)
    shown = {"z": compact(values, 3), "colorscale": scale, "hoverongaps": False}
    return {"type": "heatmap", "hovertemplate": f"{hover}<extra></extra>"} | shown | more


def colour_scale(colours: Sequence[str]) -> list[list[Any]]:  # Any: a share and its colour
    """Return colours at equal steps from 0 to 1.

    >>> colour_scale(["#000000", "#ffffff"])
    [[0.0, '#000000'], [1.0, '#ffffff']]
    """
    return [[step / (len(colours) - 1), colour] for step, colour in enumerate(colours)]


def across(
    *, x: float | None = None, y: float | None = None, colour: str = GREY, width: float = 1.5
) -> Part:
    """Return a dotted line through the whole chart, upright at x or level at y.

    >>> across(y=1.0)["xref"]
    'paper'
    """
    stroke = {"width": width, "dash": "dot", "color": colour}
    shape: Part = {"type": "line", "layer": "below", "line": stroke}
    if x is not None:
        return shape | {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return shape | {"y0": y, "y1": y, "x0": 0, "x1": 1, "xref": "paper"}
