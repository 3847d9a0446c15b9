"""Agent curves: results over difficulty, as they were and as the model expects them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.bands import band_of_line
from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import QUALITATIVE

MOST_LINES = len(QUALITATIVE)
LABEL_LIMIT = 32

Floats = NDArray[np.float64]


class AgentCurvesData(NamedTuple):
    """Empirical means and variances [agents, bins], and expected chances [agents, difficulties]."""

    agents: tuple[str, ...]
    bins: Floats
    mean: Floats
    variance: Floats
    difficulty: Floats
    expected: Floats


def data(
    agents: Sequence[str],
    bins: Floats,
    mean: Floats,
    variance: Floats,
    difficulty: Floats,
    expected: Floats,
) -> AgentCurvesData:
    """Prepare the curves.

    >>> one = np.array([[0.9, 0.1]])
    >>> at = np.array([-1.0, 1.0])
    >>> data(["a"], at, one, one * 0, at, one).agents
    ('a',)
    """
    return AgentCurvesData(tuple(agents), bins, mean, variance, difficulty, expected)


def draw(data: AgentCurvesData) -> PlotlyFigure:
    """Draw what was as a line with a ribbon of ± half its variance, what was expected dotted.

    >>> one = np.array([[0.9, 0.1]])
    >>> at = np.array([-1.0, 1.0])
    >>> len(draw(data(["a"], at, one, one * 0, at, one))["data"])
    3
    """
    names = [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)]
    traces: list[dict[str, object]] = []
    for agent, name in enumerate(names[:MOST_LINES]):
        traces += [_ribbon(data, agent, name), _line(data, agent, name), _expected(data, agent)]
    layout = {
        "height": 420,
        "margin": {"l": 50, "r": 20, "t": 40, "b": 50},
        "xaxis": {"title": {"text": "difficulty"}, "fixedrange": True, "zeroline": False},
        "yaxis": {"title": {"text": "mean result"}, "fixedrange": True, "range": [-0.08, 1.08]},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
        "shapes": [
            {
                "type": "line",
                "layer": "below",
                "x0": place,
                "x1": place,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"width": 1, "dash": "dot", "color": "#888888"},
            }
            for place in compact(data.bins)
        ],
    }
    return {"data": traces, "layout": layout}


def _line(data: AgentCurvesData, agent: int, name: str) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": compact(data.bins),
        "y": compact(data.mean[agent], 4),
        "line": {"color": QUALITATIVE[agent], "width": 2},
        "hovertemplate": "%{fullData.name}: %{y:.2f} at difficulty %{x:.2f}<extra></extra>",
        "legendgroup": str(agent),
        "connectgaps": True,
    }


def _ribbon(data: AgentCurvesData, agent: int, name: str) -> dict[str, object]:
    known = np.isfinite(data.mean[agent])
    mean, half = data.mean[agent][known], data.variance[agent][known] / 2
    return band_of_line(data.bins[known], mean - half, mean + half, name, agent)


def _expected(data: AgentCurvesData, agent: int) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "expected",
        "x": compact(data.difficulty),
        "y": compact(data.expected[agent], 4),
        "line": {"color": QUALITATIVE[agent], "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": str(agent),
    }
