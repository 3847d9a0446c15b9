"""A flow chart: steps in boxes, one below the other, each with what came of it."""

from __future__ import annotations

from typing import NamedTuple

from examiner.reporting.figures import chart
from examiner.reporting.prose import plain

HALF = 0.32
"""Half the height of a box; steps are 1 apart."""


class FlowData(NamedTuple):
    """What is done at each step, and what came of it."""

    steps: tuple[str, ...]
    outcomes: tuple[str, ...]


def draw_flow(data: FlowData) -> chart.Drawing:
    """Draw boxes and arrows from the first step, on top, to the last.

    >>> drawing = draw_flow(FlowData(("collect", "group"), ("55 tasks", "31 groups")))
    >>> len(drawing["layout"]["shapes"]), len(drawing["data"])
    (2, 2)
    """
    boxes, notes = [], []
    for row, (step, outcome) in enumerate(zip(data.steps, data.outcomes, strict=True)):
        ends = {"x0": 0, "x1": 1, "y0": row - HALF, "y1": row + HALF}
        boxes.append({"type": "rect", "line": {"width": 1, "color": chart.GREY}} | ends)
        text = f"{row + 1}. {plain(step)}: {plain(outcome)}"
        notes.append({"text": text, "x": 0.5, "y": row, "showarrow": False})
    last = len(data.steps) - 1
    between = [end for row in range(last) for end in (row + HALF, row + 1 - HALF, None)]
    heads = [row + 1 - HALF - 0.05 for row in range(last)]
    arrows = {"x": [0.5] * len(between), "y": between}
    traces = [
        chart.line([], [], "then", chart.GREY) | arrows,
        chart.dots([0.5] * last, heads, "then", chart.GREY, symbol="triangle-down"),
    ]
    x = chart.axis(range=[-0.05, 1.05], visible=False)
    y = chart.axis(range=[last + 0.5, -0.5], visible=False)
    height = 60 + 70 * len(data.steps)
    return chart.figure(traces, height, x, y, legend=False, shapes=boxes, annotations=notes)
