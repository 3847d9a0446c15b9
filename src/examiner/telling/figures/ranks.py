"""The probability of each rank for each agent, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import colour_scale

LABEL_LIMIT = 28
FEW = 12
"""Up to this many ranks the probabilities are written into the cells."""


class RankData(NamedTuple):
    """What the map draws: agents in the order of their expected rank; `probability` [agents, ranks]."""

    agents: tuple[str, ...]
    probability: NDArray[np.float64]
    expected: NDArray[np.float64]


def data(agents: Sequence[str], probability: NDArray[np.float64]) -> RankData:
    """Sort the agents by their expected rank.

    >>> data(["b", "a"], np.array([[0.1, 0.9], [0.9, 0.1]])).agents
    ('a', 'b')
    """
    expected: NDArray[np.float64] = probability @ np.arange(1.0, probability.shape[1] + 1)
    order = np.argsort(expected, kind="stable")
    return RankData(
        tuple(agents[place] for place in order.tolist()), probability[order], expected[order]
    )


def draw(data: RankData) -> PlotlyFigure:
    """Draw agents from top to bottom and ranks from left to right.

    >>> draw(data(["a", "b"], np.eye(2)))["data"][0]["text"]
    [['1', ''], ['', '1']]
    """
    agents, ranks = data.probability.shape
    trace = {
        "type": "heatmap",
        "x": list(range(1, ranks + 1)),
        "y": list(range(agents)),
        "z": compact(data.probability, digits=3),
        "zmin": 0,
        "zmax": 1,
        "colorscale": colour_scale("sequential"),
        "colorbar": {"thickness": 10, "title": {"text": "probability"}},
        "hovertemplate": "rank %{x}: %{z:.3~g}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    if ranks <= FEW:
        trace |= {"text": _texts(data.probability), "texttemplate": "%{text}"}
    layout = {
        "height": 110 + 26 * agents,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 50},
        "xaxis": {
            "title": {"text": "rank"},
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "tick0": 1,
            "dtick": max(1, ranks // 20),
        },
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(agents)),
            "ticktext": [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)],
            "range": [agents - 0.5, -0.5],
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
        },
    }
    return {"data": [trace], "layout": layout}


def _texts(probability: NDArray[np.float64]) -> list[list[str]]:
    """Two digits; nothing where a rank hardly ever came."""
    return [
        [f"{share:.2g}" if share >= 0.005 else "" for share in row] for row in probability.tolist()
    ]
