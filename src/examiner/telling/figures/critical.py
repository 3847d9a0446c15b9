"""The critical-difference diagram: agents at their mean ranks, bars over those that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import BAR, DOTS

LABEL_LIMIT = 28


class CriticalData(NamedTuple):
    """Agents from the best mean rank to the worst; `bars` are the first and last place of a group."""

    agents: tuple[str, ...]
    mean_rank: NDArray[np.float64]
    bars: tuple[tuple[int, int], ...]
    critical: float  # Nemenyi's critical difference; NaN for other tests


def data(
    agents: Sequence[str],
    mean_rank: NDArray[np.float64],
    cliques: Sequence[Sequence[int]],
    critical: float = float("nan"),
) -> CriticalData:
    """Sort agents by mean rank; a clique becomes a bar from its best to its worst.

    >>> data(["b", "a", "c"], np.array([2.0, 1.2, 2.8]), [(0, 2)]).bars
    ((1, 2),)
    """
    order = np.argsort(mean_rank, kind="stable")
    place = np.argsort(order, kind="stable")
    ends = [[int(place[agent]) for agent in clique] for clique in cliques]
    return CriticalData(
        tuple(agents[agent] for agent in order.tolist()),
        mean_rank[order],
        tuple((min(group), max(group)) for group in ends),
        critical,
    )


def draw(data: CriticalData) -> PlotlyFigure:
    """Draw the best half of the agents on the left and the others on the right, as Demšar (2006) does.

    >>> figure = draw(data(["b", "a", "c"], np.array([2.0, 1.2, 2.8]), [(0, 2)]))
    >>> [note["text"] for note in figure["layout"]["annotations"]]
    ['a (1.20)', 'b (2.00)', 'c (2.80)']
    """
    count = len(data.agents)
    first = 1.0 + 0.4 * len(data.bars)
    depth = first + (count + 1) // 2
    names = [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)]
    shapes, notes = [], []
    for agent, (name, rank) in enumerate(zip(names, data.mean_rank.tolist(), strict=True)):
        left = agent < (count + 1) // 2
        level = -(first + (agent if left else count - 1 - agent))
        edge = 1 - 0.02 * count if left else count + 0.02 * count
        shapes += [_line(rank, 0, rank, level), _line(rank, level, edge, level)]
        notes.append(_label(f"{name} ({rank:.2f})", edge, level, "right" if left else "left"))
    for number, (best, worst) in enumerate(data.bars):
        ends = data.mean_rank[best] - 0.03, data.mean_rank[worst] + 0.03
        height = -0.5 - 0.4 * number
        shapes.append(_line(float(ends[0]), height, float(ends[1]), height, width=5, colour=BAR))
    margin = max(0.4, 0.45 * count)
    layout = {
        "height": 90 + 26 * int(np.ceil(depth)),
        "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
        "shapes": shapes,
        "annotations": notes,
        "xaxis": {
            "side": "top",
            "range": [1 - margin, count + margin],
            "tickmode": "array",
            "tickvals": list(range(1, count + 1)) if count <= 20 else [1, count],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "title": {"text": "mean rank over tasks"},
        },
        "yaxis": {"range": [-depth, 0], "visible": False, "fixedrange": True},
        "showlegend": False,
    }
    return {"data": [_dots(data, names)], "layout": layout}


def _dots(data: CriticalData, names: Sequence[str]) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": data.mean_rank.tolist(),
        "y": [0] * len(names),
        "text": list(names),
        "hovertemplate": "%{text}: %{x:.3~g}<extra></extra>",
        "marker": {"size": 8, "color": DOTS},
        "cliponaxis": False,
    }


def _line(
    x0: float, y0: float, x1: float, y1: float, width: float = 1, colour: str = "#888888"
) -> dict[str, object]:
    line = {"width": width, "color": colour}
    return {"type": "line", "x0": x0, "y0": y0, "x1": x1, "y1": y1, "line": line}


def _label(text: str, x: float, y: float, anchor: str) -> dict[str, object]:
    return {"text": text, "x": x, "y": y, "xanchor": anchor, "showarrow": False, "xshift": 0}
