"""Traces, shapes and notes of a drawing, set on matplotlib's axes: points, lines, bands, bars and cells."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.reporting.figures.chart import Part

PIXEL = 0.6
"""Points of paper for a pixel of a screen."""
_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": "--"}
_SYMBOLS = {
    **{"circle": "o", "circle-open": "o", "diamond": "D", "star": "*", "x": "x", "cross": "+"},
    **{"line-ns": "|", "line-ew": "_", "line-ns-open": "|", "line-ew-open": "_"},
    **{"square": "s", "square-open": "s", "triangle-up": "^", "triangle-down": "v"},
    **{"x-thin": "x", "diamond-open": "D", "triangle-left": "<", "triangle-right": ">"},
}
_HOLLOW = "none"


def draw(axes: Any, trace: Part) -> None:  # Any: matplotlib is optional
    """Draw one trace.

    >>> from unittest.mock import Mock
    >>> axes = Mock()
    >>> draw(axes, {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [1, None], "name": "a"})
    >>> axes.plot.call_args.args
    (array([0., 1.]), array([ 1., nan]))
    """
    kind = trace.get("type", "scatter")
    if kind == "heatmap":
        _draw_cells(axes, trace)
    elif kind == "bar":
        _draw_bars(axes, trace)
    else:
        _draw_points(axes, trace)


def _name(trace: Part) -> str:
    name = plain_text(str(trace.get("name", "")))
    return name if name and trace.get("showlegend", True) else "_nolegend_"


def _numbers(values: Any) -> NDArray[np.float64]:  # Any: lists of numbers and None
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _draw_points(axes: Any, trace: Part) -> None:
    x, y = _numbers(trace["x"]), _numbers(trace["y"])
    mode, line = trace.get("mode", "lines"), trace.get("line", {})
    if trace.get("fill") == "toself":
        axes.fill(x, y, color=trace["fillcolor"], linewidth=0, label="_nolegend_")
        return
    if trace.get("connectgaps"):
        kept = ~np.isnan(y)
        x, y = x[kept], y[kept]
    if "lines" in mode:
        axes.plot(
            x,
            y,
            color=line.get("color"),
            linewidth=PIXEL * line.get("width", 2),
            linestyle=_DASHES.get(line.get("dash") or "solid", "-"),
            drawstyle="steps-post" if line.get("shape") == "hv" else "default",
            alpha=trace.get("opacity"),
            solid_capstyle="butt",
            label=_name(trace),
        )
    if "markers" in mode:
        _draw_markers(axes, trace, x, y, labelled="lines" not in mode)
    for side in ("x", "y"):
        if f"error_{side}" in trace:
            _draw_errors(axes, trace[f"error_{side}"], x, y, side)
    if "text" in mode:
        for across, up, text in zip(x, y, trace.get("text", ()), strict=False):
            axes.annotate(
                plain_text(str(text)),
                (across, up),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=6,
            )


def _draw_markers(
    axes: Any, trace: Part, x: NDArray[np.float64], y: NDArray[np.float64], *, labelled: bool
) -> None:
    marker = trace.get("marker", {})
    colour = marker.get("color", trace.get("line", {}).get("color"))
    size = np.asarray(marker.get("size", 6), dtype=np.float64) * PIXEL
    symbol = marker.get("symbol", "circle")
    edge = marker.get("line", {})
    stroke = symbol.startswith(("line-", "x", "cross"))
    scale = {"cmap": _colours(marker["colorscale"])} if "colorscale" in marker else {}
    hollow = "-open" in symbol and not stroke
    drawn = axes.scatter(
        x,
        y,
        s=size**2,
        **scale,
        marker=_SYMBOLS.get(symbol, "o"),
        c=_HOLLOW if hollow else colour,
        **({} if stroke else {"edgecolors": colour if hollow else edge.get("color", "none")}),
        linewidths=PIXEL * edge.get("width", 2 if hollow or stroke else 0),
        label=_name(trace) if labelled else "_nolegend_",
        alpha=trace.get("opacity"),
        zorder=3,
        clip_on=trace.get("cliponaxis", True),
    )
    if marker.get("showscale"):
        _draw_colour_bar(axes, drawn, marker.get("colorbar", {}))


def _colours(scale: Sequence[Sequence[Any]]) -> Any:  # Any: shares and colours, as plotly has them
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("scale", [tuple(stop) for stop in scale])


def _draw_errors(
    axes: Any, bars: Part, x: NDArray[np.float64], y: NDArray[np.float64], side: str
) -> None:
    upper = _numbers(bars["array"])
    lower = _numbers(bars.get("arrayminus", bars["array"]))
    axes.errorbar(
        x,
        y,
        **{f"{side}err": np.vstack([np.nan_to_num(lower), np.nan_to_num(upper)])},
        fmt="none",
        ecolor=bars.get("color"),
        elinewidth=PIXEL * bars.get("thickness", 1),
        capsize=PIXEL * bars.get("width", 0),
        label="_nolegend_",
    )


def _draw_bars(axes: Any, trace: Part) -> None:
    colour = trace.get("marker", {}).get("color")
    if trace.get("orientation") == "h":
        axes.barh(_numbers(trace["y"]), _numbers(trace["x"]), color=colour, label=_name(trace))
    else:
        axes.bar(_numbers(trace["x"]), _numbers(trace["y"]), color=colour, label=_name(trace))


def _draw_cells(axes: Any, trace: Part) -> None:
    values = np.array([_numbers(row) for row in trace["z"]])
    x = _numbers(trace.get("x", range(values.shape[1])))
    y = _numbers(trace.get("y", range(values.shape[0])))
    drawn = axes.pcolormesh(
        _edges(x),
        _edges(y),
        np.ma.masked_invalid(values),
        cmap=_colours(trace["colorscale"]),
        vmin=trace.get("zmin"),
        vmax=trace.get("zmax"),
        rasterized=values.size > 10_000,
    )
    texts = trace.get("text")
    if texts and trace.get("texttemplate"):
        for up, row in zip(y, texts, strict=False):
            for across, text in zip(x, row, strict=False):
                axes.text(across, up, str(text), ha="center", va="center", fontsize=6)
    if trace.get("showscale", True):
        _draw_colour_bar(axes, drawn, trace.get("colorbar", {}))


def _draw_colour_bar(axes: Any, drawn: Any, bar: Part) -> None:
    room = axes.inset_axes((1.02, 0.0, 0.02, 1.0))
    scale = axes.figure.colorbar(drawn, cax=room)
    scale.outline.set_visible(False)
    title = bar.get("title", {}).get("text")
    if title:
        scale.set_label(plain_text(title))
    if "tickvals" in bar:
        texts = bar.get("ticktext", [f"{value:g}" for value in bar["tickvals"]])
        scale.set_ticks(bar["tickvals"], labels=[plain_text(str(text)) for text in texts])


def _edges(middles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where cells around these middles begin and end."""
    if len(middles) == 1:
        return np.array([middles[0] - 0.5, middles[0] + 0.5])
    between = (middles[1:] + middles[:-1]) / 2
    ends = 2 * middles[0] - between[0], 2 * middles[-1] - between[-1]
    return np.concatenate([[ends[0]], between, [ends[1]]])


def draw_shape(axes: Any, shape: Part) -> None:
    """Draw a line or a rectangle; `paper` measures along the whole chart.

    >>> from unittest.mock import MagicMock
    >>> axes = MagicMock()
    >>> draw_shape(axes, {"type": "line", "x0": 0, "x1": 1, "y0": 2, "y1": 2, "line": {}})
    >>> axes.plot.call_args.args
    ([0, 1], [2, 2])
    """
    line = shape.get("line", {})
    transform = axes.transData
    if shape.get("xref") == "paper":
        transform = axes.get_yaxis_transform()
    elif shape.get("yref") == "paper":
        transform = axes.get_xaxis_transform()
    if shape.get("type") == "rect":
        from matplotlib.patches import Rectangle

        corner = shape["x0"], shape["y0"]
        width, height = shape["x1"] - shape["x0"], shape["y1"] - shape["y0"]
        face = shape.get("fillcolor", "none")
        edge = line.get("color", "none") if line.get("width", 1) else "none"
        style = {"facecolor": face, "edgecolor": edge, "transform": transform, "zorder": 0.5}
        axes.add_patch(Rectangle(corner, width, height, alpha=shape.get("opacity"), **style))
        return
    limits = axes.get_xlim(), axes.get_ylim()
    axes.plot(
        [shape["x0"], shape["x1"]],
        [shape["y0"], shape["y1"]],
        color=line.get("color", "#000000"),
        linewidth=PIXEL * line.get("width", 2),
        linestyle=_DASHES.get(line.get("dash", "solid"), "-"),
        transform=transform,
        label="_nolegend_",
        zorder=1 if shape.get("layer") == "below" else 2.5,
    )
    if "paper" in (shape.get("xref"), shape.get("yref")) and axes.lines[:-1]:
        axes.set(xlim=limits[0], ylim=limits[1])


def draw_note(axes: Any, note: Part) -> None:
    """Write a note at its place among the data, or on the paper.

    >>> from unittest.mock import Mock
    >>> axes = Mock()
    >>> draw_note(axes, {"text": "best", "x": 1, "y": 2})
    >>> axes.text.call_args.args
    (1, 2, 'best')
    """
    on_paper = note.get("xref") == "paper"
    axes.text(
        note["x"],
        note["y"],
        plain_text(str(note["text"])),
        transform=axes.transAxes if on_paper else axes.transData,
        ha={"left": "left", "right": "right"}.get(note.get("xanchor", ""), "center"),
        va={"bottom": "bottom", "top": "top"}.get(note.get("yanchor", ""), "center"),
        clip_on=False,
    )


def plain_text(text: str) -> str:
    r"""Return a label as matplotlib shows it: no markup, no mathematics.

    >>> plain_text("&lt;b&gt; &#36;x&#36;")
    '<b> \\$x\\$'
    """
    return unescape(text).replace("<br>", " ").replace("$", r"\$")
