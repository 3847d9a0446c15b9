"""How agents change places: one line an agent, its rank under each of several summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import QUALITATIVE

LABEL_LIMIT = 28
ROW_HEIGHT = 30


class BumpData(NamedTuple):
    """What the lines draw; `ranks` and `standing` have shape [summaries, agents], NaN where unknown."""

    agents: tuple[str, ...]
    summaries: tuple[str, ...]
    ranks: NDArray[np.float64]
    standing: NDArray[np.float64]


def data(
    agents: Sequence[str],
    summaries: Sequence[str],
    ranks: NDArray[np.float64],
    standing: NDArray[np.float64],
) -> BumpData:
    """Prepare the lines; summaries that say nothing of any agent are left out.

    >>> drawn = data(["a", "b"], ["end", "none"], np.array([[1.0, 2], [np.nan, np.nan]]), np.zeros((2, 2)))
    >>> drawn.summaries
    ('end',)
    """
    told = np.flatnonzero((~np.isnan(ranks)).any(axis=1))
    return BumpData(
        tuple(agents), tuple(summaries[row] for row in told.tolist()), ranks[told], standing[told]
    )


def draw(data: BumpData) -> PlotlyFigure:
    """Draw one line an agent, the best rank on top.

    >>> figure = draw(data(["a"], ["end", "best"], np.array([[1.0], [1.0]]), np.ones((2, 1))))
    >>> [trace["name"] for trace in figure["data"]]
    ['a']
    """
    labels = [plain(label) for label in distinct_labels(data.agents, LABEL_LIMIT)]
    traces = [_line(data, place, label) for place, label in enumerate(labels)]
    seen = data.ranks[~np.isnan(data.ranks)]
    lowest = int(seen.max()) if len(seen) else 1
    layout = {
        "height": 190 + ROW_HEIGHT * lowest,
        "margin": {"l": 10, "r": 20, "t": 20, "b": 60},
        "xaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(data.summaries))),
            "ticktext": [plain(name) for name in data.summaries],
            "range": [-0.3, len(data.summaries) - 0.7],
            "automargin": True,
            "fixedrange": True,
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": "rank"},
            "dtick": max(1, lowest // 10),
            "tick0": 1,
            "range": [lowest + 0.5, 0.5],
            "automargin": True,
            "fixedrange": True,
            "zeroline": False,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    return {"data": traces, "layout": layout}


def _line(data: BumpData, place: int, label: str) -> dict[str, object]:
    colour = QUALITATIVE[place % len(QUALITATIVE)]
    dash = ("solid", "dash", "dot")[place // len(QUALITATIVE) % 3]
    standing = compact(data.standing[:, place])
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "x": list(range(len(data.summaries))),
        "y": compact(data.ranks[:, place]),
        "customdata": [[label, value] for value in standing],
        "hovertemplate": "%{customdata[0]}: rank %{y}, beats %{customdata[1]:.0%}<extra></extra>",
        "line": {"width": 3, "color": colour, "dash": dash},
        "marker": {"size": 9, "color": colour},
        "connectgaps": False,
    }
