"""Small panels side by side in rows, each with its title and axes of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from examiner.reporting.figures import chart
from examiner.reporting.prose import labels


class Panel(NamedTuple):
    """One panel: its title, and what is drawn in it."""

    title: str
    traces: Sequence[chart.Part]


def panelled(panels: Sequence[Panel], x: chart.Part, y: chart.Part) -> chart.Drawing:
    """Return a figure of panels, four in a row; the axes' titles stand once on the outer sides.

    >>> panels = [Panel("a", [{"x": [1]}]), Panel("b", [])]
    >>> figure = panelled(panels, chart.axis("time"), chart.axis("score"))
    >>> figure["data"][0]["xaxis"], figure["layout"]["xaxis2"]["domain"]
    ('x', [0.53, 1.0])
    """
    columns = min(4, max(len(panels), 1))
    rows = math.ceil(len(panels) / columns)
    gap = 0.06  # of the width
    width = (1 - gap * (columns - 1)) / columns
    height = 1 / max(rows, 1)
    traces, axes, notes = [], {}, []
    for number, (panel, name) in enumerate(
        zip(panels, labels([panel.title for panel in panels], 28), strict=True)
    ):
        row, column = divmod(number, columns)
        key = "" if number == 0 else str(number + 1)
        left = column * (width + gap)
        bottom = 1 - (row + 1) * height
        top = bottom + height * 0.64  # below the title
        lowest = number + columns >= len(panels)
        across = x if lowest else {side: part for side, part in x.items() if side != "title"}
        if (
            "range" in x and not lowest
        ):  # numbers are those of the panel below, and would meet its title
            across |= {"showticklabels": False}
        up = y if column == 0 else {side: part for side, part in y.items() if side != "title"}
        axes[f"xaxis{key}"] = across | {
            "domain": [round(left, 4), round(left + width, 4)],
            "anchor": f"y{key}",
            "nticks": 4,
        }
        axes[f"yaxis{key}"] = up | {
            "domain": [round(bottom, 4), round(top, 4)],
            "anchor": f"x{key}",
            "nticks": 4,
        }
        notes.append(
            {
                "text": name,
                "showarrow": False,
                "xref": "paper",
                "yref": "paper",
                "x": round(left, 4),
                "y": round(top, 4),
                "xanchor": "left",
                "yanchor": "bottom",
            }
        )
        traces += [{**trace, "xaxis": f"x{key}", "yaxis": f"y{key}"} for trace in panel.traces]
    first, second = axes.pop("xaxis", x), axes.pop("yaxis", y)
    drawn = chart.figure(traces, 90 + 150 * rows, first, second, annotations=notes)
    return drawn | {"layout": drawn["layout"] | axes}
