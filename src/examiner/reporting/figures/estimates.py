"""Estimates with their intervals, a row each: the figure of every answer that has no other."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np

from examiner.messages import visible
from examiner.reporting.figures import chart
from examiner.reporting.prose import cut, three_digits
from examiner.validation import Floats

ROW_PIXELS = 18
LABEL_PIXELS, CHART_PIXELS = 230, 420


class EstimatesData(NamedTuple):
    """Rows from the first on, each with its estimate and the ends of its interval (NaN where unknown)."""

    names: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    title: str


def draw_estimates(data: EstimatesData) -> chart.Drawing:
    """Draw a dot and its interval per row.

    >>> one = np.array([0.0])
    >>> len(draw_estimates(EstimatesData(("a",), one, one - 1, one + 1, "ability"))["data"])
    2
    """
    rows = np.arange(float(len(data.names)))
    traces = [
        chart.segments(data.low, data.high, "interval", chart.DOTS),
        chart.dots(data.estimate, rows, data.title, chart.MIDDLE, "%{x:.3g}", size=7),
    ]
    y = chart.rows_axis(data.names)
    height = 90 + ROW_PIXELS * len(rows)
    return chart.figure(traces, height, chart.axis(data.title), y, legend=False)


def svg_estimates(data: EstimatesData) -> str:
    """Return the same figure as a small picture that needs no script, for notebooks.

    >>> one = np.array([0.0])
    >>> svg_estimates(EstimatesData(("<a>",), one, one - 1, one + 1, "ability")).count("&lt;a&gt;")
    1
    """
    ends = np.concatenate([data.estimate, data.low, data.high])
    ends = ends[np.isfinite(ends)]
    if not len(ends):
        return ""
    first, span = float(ends.min()), float(np.ptp(ends)) or 1.0
    place = LABEL_PIXELS + 10 + (np.stack(data[1:4]) - first) / span * (CHART_PIXELS - 20)
    marks = []
    for row, name in enumerate(data.names):
        y = ROW_PIXELS * (row + 0.5)
        label = escape(visible(cut(name, 32)))
        marks.append(f'<text x="{LABEL_PIXELS - 6}" y="{y + 4}" text-anchor="end">{label}</text>')
        x, low, high = place[:, row]
        if np.isfinite(low) and np.isfinite(high):
            marks.append(
                f'<line stroke="{chart.DOTS}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
            )
        if np.isfinite(x):
            marks.append(f'<circle fill="{chart.MIDDLE}" cx="{x:.1f}" cy="{y}" r="3.5"/>')
    bottom = ROW_PIXELS * len(data.names) + 16
    sides = (
        (LABEL_PIXELS + 10, "start", first),
        (LABEL_PIXELS + CHART_PIXELS - 10, "end", first + span),
    )
    for x, anchor, value in sides:
        text = escape(three_digits(value))
        marks.append(f'<text x="{x}" y="{bottom}" text-anchor="{anchor}">{text}</text>')
    middle = LABEL_PIXELS + CHART_PIXELS / 2
    title = escape(visible(data.title))
    marks.append(f'<text x="{middle}" y="{bottom}" text-anchor="middle">{title}</text>')
    width, height = LABEL_PIXELS + CHART_PIXELS, bottom + 8
    style = f'font-size="12" fill="currentColor" stroke-width="2" style="max-width:{width}px"'
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
    return f"<svg {box} {style}>{''.join(marks)}</svg>"
