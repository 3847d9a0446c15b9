"""Figures for papers: a drawing in plotly's words set by matplotlib, as wide as one column or two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from examiner.messages import InputError, shorten
from examiner.reporting.figures import printed_traces
from examiner.reporting.figures.chart import Drawing, Part
from examiner.reporting.figures.printed_traces import plain_text
from examiner.results import write_bytes

Columns = Literal["one", "two"]
WIDTHS = {"one": 3.4, "two": 7.0}
"""Inches, as the templates of conferences and journals have them."""
ENDINGS = (".svg", ".pdf", ".png")
_PIXELS_PER_INCH = {"one": 140, "two": 105}  # of a drawing's height
_SIZES = {"one": 7, "two": 8}  # points of letters


def save_printed(drawing: Drawing, path: str | Path, columns: Columns = "two") -> Path:
    """Write a drawing as SVG, PDF or PNG, whole or not at all; needs matplotlib.

    >>> save_printed({"data": [], "layout": {}}, "figure.docx")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot draw 'figure.docx': its ending is none of .svg, .pdf, .png. \
Choose one.
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"Cannot draw {shorten(path, 200)}: its ending is none of {', '.join(ENDINGS)}. Choose one."
        )
    if columns not in WIDTHS:
        raise InputError(f"A figure is as wide as 'one' column or 'two', not {shorten(columns)}.")
    with _settings(columns):
        figure = _set(drawing, columns)
        stream = BytesIO()
        # Without a date the same figure is the same bytes.
        dated = {"Date": None} if path.suffix.lower() == ".svg" else {}
        if path.suffix.lower() == ".pdf":
            dated = {"CreationDate": None}
        figure.savefig(stream, format=path.suffix.lower()[1:], metadata=dated, dpi=300)
    return write_bytes(stream.getvalue(), path)


@contextmanager
def _settings(columns: Columns) -> Iterator[None]:
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            "Figures as SVG, PDF or PNG need the package `matplotlib`. Run `pip install "
            "'examiner[figures]'`."
        ) from None
    size = _SIZES[columns]
    chosen: dict[Any, Any] = {  # Any: matplotlib's own names and values
        "font.size": size,
        "axes.titlesize": size,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "legend.frameon": False,
        "legend.fontsize": size,
        "pdf.fonttype": 42,  # letters as letters: conferences refuse others
        "svg.hashsalt": "examiner",
        "text.usetex": False,
    }
    with matplotlib.rc_context(chosen):
        yield


def _set(drawing: Drawing, columns: Columns) -> Any:  # Any: matplotlib is optional
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    layout = drawing["layout"]
    height = float(layout.get("height", 400)) / _PIXELS_PER_INCH[columns]
    size = WIDTHS[columns], min(max(height, 1.4), 9.0)  # inches
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    panels = _panels(figure, drawing)
    for trace in drawing["data"]:
        axes = panels[trace.get("xaxis", "x"), trace.get("yaxis", "y")]
        printed_traces.draw(axes, trace)
    first = next(iter(panels.values()))
    for shape in layout.get("shapes", ()):
        printed_traces.draw_shape(first, shape)
    for note in layout.get("annotations", ()):
        titled_axes = _titled(panels, layout, note)
        if titled_axes is None:
            printed_traces.draw_note(first, note)
        else:
            titled_axes.set_title(plain_text(str(note["text"])), loc="left", pad=2)
    for (x, y), axes in panels.items():
        _set_axis(axes, "x", layout.get(_key(x), {}))
        _set_axis(axes, "y", layout.get(_key(y), {}))
    _share_names(panels)
    if layout.get("showlegend", True):
        _set_legend(figure, panels, drawing)
    _fit(figure, panels, drawing)
    return figure


def _titled(panels: dict[tuple[str, str], Any], layout: Part, note: Part) -> Any | None:
    """The panel above whose upper left corner a note stands: it is its title."""
    for (x, y), axes in panels.items():
        across, up = (layout.get(_key(name), {}).get("domain") for name in (x, y))
        if across and up and (note["x"], note["y"]) == (across[0], up[1]):
            return axes
    return None


def _key(name: str) -> str:
    """Where the layout tells of an axis: `xaxis2` of `x2`."""
    return f"{name[0]}axis{name[1:]}"


def _panels(figure: Any, drawing: Drawing) -> dict[tuple[str, str], Any]:
    """Axes for each pair that a trace is drawn on; there is always one."""
    pairs = [(trace.get("xaxis", "x"), trace.get("yaxis", "y")) for trace in drawing["data"]]
    distinct = dict.fromkeys(pairs or [("x", "y")])
    return {pair: figure.add_axes((0.1, 0.1, 0.8, 0.8)) for pair in distinct}


def _set_axis(axes: Any, side: Literal["x", "y"], part: Part) -> None:
    axis = axes.xaxis if side == "x" else axes.yaxis
    if part.get("type") == "log":
        axes.set(**{f"{side}scale": "log"})
    if "tickvals" in part:
        texts = part.get("ticktext", [f"{value:g}" for value in part["tickvals"]])
        axis.set_ticks(part["tickvals"], [plain_text(str(text)) for text in texts])
    elif "nticks" in part and part.get("type") != "log":
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(part["nticks"]))
    if not part.get("showticklabels", True):
        axis.set_tick_params(labelbottom=False, labelleft=False)
    title = part.get("title", {}).get("text")
    if title:
        axis.set_label_text(plain_text(title))
    if "range" in part:
        low, high = part["range"]
        axes.set(
            **{f"{side}lim": (10**low, 10**high) if part.get("type") == "log" else (low, high)}
        )
    elif part.get("rangemode") == "tozero":
        axes.set(**{f"{side}lim": (0, None)})
    if part.get("autorange") == "reversed":
        axis.set_inverted(True)
    if part.get("side") == "top":
        axis.tick_top()
        axis.set_label_position("top")
        axes.spines["top"].set_visible(True)
        axes.spines["bottom"].set_visible(False)
    if part.get("visible") is False:
        axis.set_visible(False)
        for spine in ("left", "right") if side == "y" else ("top", "bottom"):
            axes.spines[spine].set_visible(False)
    elif part.get("showgrid", True):
        axis.grid(True, linewidth=0.4, color="#dddddd")
        axes.set_axisbelow(True)
    _turn_names(axis, side, part)


def _turn_names(axis: Any, side: str, part: Part) -> None:
    """Upright names below a chart, where there are many or the drawing turns them."""
    names = part.get("ticktext", [])
    long = sum(len(str(name)) for name in names) > 70
    if side == "x" and names and (part.get("tickangle") or long) and part.get("tickangle") != 0:
        for label in axis.get_ticklabels():
            label.set_rotation(90)
    if len(names) > 40:
        for label in axis.get_ticklabels():
            label.set_fontsize(4)


def _share_names(panels: dict[tuple[str, str], Any]) -> None:
    """Panels that share an upright axis name its rows once, on the left."""
    named_axes: set[str] = set()
    for (_, y), axes in panels.items():
        if y in named_axes:
            axes.tick_params(labelleft=False)
            axes.yaxis.set_label_text("")
        named_axes.add(y)


def _set_legend(figure: Any, panels: dict[tuple[str, str], Any], drawing: Drawing) -> None:
    shown = {
        plain_text(str(trace.get("name", "")))
        for trace in drawing["data"]
        if trace.get("showlegend", True) and trace.get("name")
    }
    handles: dict[str, Any] = {}
    for axes in panels.values():
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label in shown:
                handles.setdefault(label, handle)
    if not handles or (len(handles) < 2 and len(panels) == 1):
        return
    longest = max(map(len, handles))
    size = figure.get_figwidth() * 72
    letters = 0.6 * _SIZES["two"]
    columns = max(1, min(len(handles), int(size / (letters * (longest + 6)))))
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=columns)


def _fit(figure: Any, panels: dict[tuple[str, str], Any], drawing: Drawing) -> None:
    """Place the axes so that all that is written around them is just within the figure."""
    layout = drawing["layout"]
    width, height = figure.get_size_inches()
    legend = figure.legends[0] if figure.legends else None
    top = 0.0
    if legend is not None:
        renderer = figure.canvas.get_renderer()
        top = legend.get_window_extent(renderer).height / figure.dpi
    left = right = bottom = 0.1
    above = 0.1
    for _ in range(3):  # room for letters changes with where they stand, and settles at once
        inner = (
            left / width,
            bottom / height,
            max(width - left - right, 0.3 * width) / width,
            max(height - bottom - above - top, 0.25 * height) / height,
        )
        for (x, y), axes in panels.items():
            across, up = (layout.get(_key(name), {}).get("domain", (0, 1)) for name in (x, y))
            axes.set_position(
                (
                    inner[0] + inner[2] * across[0],
                    inner[1] + inner[3] * up[0],
                    inner[2] * (across[1] - across[0]),
                    inner[3] * (up[1] - up[0]),
                )
            )
        box = _extent(figure, panels)
        edge = 0.03  # inches around what is drawn
        left = max(left - box[0] + edge, 0.0)
        bottom = max(bottom - box[1] + edge, 0.0)
        right = max(right + box[2] - width + edge, 0.0)
        above = max(above + box[3] - (height - top) + edge, 0.0)


def _extent(figure: Any, panels: dict[tuple[str, str], Any]) -> tuple[float, float, float, float]:
    """The left, lower, right and upper end of all that the axes draw and write, in inches."""
    renderer = figure.canvas.get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in panels.values()]
    ends = [(box.x0, box.y0, box.x1, box.y1) for box in boxes if box is not None]
    ends = [end for end in ends if all(map(math.isfinite, end))]
    low_x, low_y, high_x, high_y = zip(*ends, strict=True)
    scale = figure.dpi
    return min(low_x) / scale, min(low_y) / scale, max(high_x) / scale, max(high_y) / scale
