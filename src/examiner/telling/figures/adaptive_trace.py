"""The ability of an agent under examination, closing in task by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive import Examination
from examiner.telling.figures.bands import band_alone
from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import BAR, MEAN, MIDDLE

LABEL_LIMIT = 20
MOST_LABELS = 40


class AdaptiveTraceData(NamedTuple):
    """What the trace draws; arrays of shape [tasks given]. `landmarks` are abilities to compare with."""

    tasks: tuple[str, ...]
    share: NDArray[np.float64]
    expected: NDArray[np.float64]
    ability: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    landmarks: Mapping[str, float]


def data(
    examination: Examination, landmarks: Mapping[str, float] | None = None
) -> AdaptiveTraceData:
    """Prepare the trace of an examination; `share` is the share of successes, or the score, of each task.

    >>> from examiner.adaptive import examine
    >>> from examiner.irt import ItemParameters
    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> *_, last = examine(items, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> data(last).share
    array([1., 0.])
    """
    steps = examination.steps
    return AdaptiveTraceData(
        tuple(step.task for step in steps),
        np.array([step.value / step.trials for step in steps]),
        np.array([step.expected for step in steps]),
        np.array([step.ability for step in steps]),
        np.array([step.low for step in steps]),
        np.array([step.high for step in steps]),
        dict(landmarks or {}),
    )


def draw(data: AdaptiveTraceData) -> PlotlyFigure:
    """Draw the ability after each task, its 95 % interval as a band, and the landmarks as lines.

    >>> nothing = np.zeros(1)
    >>> figure = draw(AdaptiveTraceData(("pong",), nothing, nothing, nothing, nothing - 1, nothing + 1, {}))
    >>> [trace["name"] for trace in figure["data"]]
    ['95 % interval', 'ability']
    """
    places = np.arange(1.0, len(data.tasks) + 1)
    names = [plain(label) for label in distinct_labels(data.tasks, LABEL_LIMIT)]
    band = band_alone(places, data.low, data.high, "95 % interval", MIDDLE)
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "ability",
        "x": compact(places),
        "y": compact(data.ability),
        "line": {"width": 2, "color": MIDDLE},
        # Filled where the agent did better than was expected of it, hollow where worse.
        "marker": {
            "size": 9,
            "color": [MIDDLE if up else "#ffffff" for up in data.share >= data.expected],
            "line": {"width": 2, "color": MIDDLE},
        },
        "text": [
            f"{name}: {share:.2f}, expected {expected:.2f}"
            for name, share, expected in zip(names, data.share, data.expected, strict=True)
        ],
        "hovertemplate": "%{text}<br>ability %{y:.2f}<extra></extra>",
    }
    ticks = places if len(places) <= MOST_LABELS else places[:: len(places) // MOST_LABELS + 1]
    layout = {
        "height": 420,
        "margin": {"l": 10, "r": 20, "t": 60, "b": 10},
        "xaxis": {
            "tickmode": "array",
            "tickvals": ticks.tolist(),
            "ticktext": [names[int(place) - 1] for place in ticks],
            "tickangle": -45,
            "automargin": True,
            "fixedrange": True,
        },
        "yaxis": {"title": {"text": "ability"}, "automargin": True, "fixedrange": True},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "shapes": [_level(ability) for ability in data.landmarks.values()],
        "annotations": [_name(name, ability) for name, ability in data.landmarks.items()],
    }
    return {"data": [band, line], "layout": layout}


def _level(ability: float) -> dict[str, object]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": ability,
        "y1": ability,
        "line": {"width": 1.5, "dash": "dot", "color": BAR},
    }


def _name(name: str, ability: float) -> dict[str, object]:
    return {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "y": ability,
        "yanchor": "bottom",
        "text": plain(distinct_labels([name], LABEL_LIMIT)[0]),
        "showarrow": False,
        "font": {"color": MEAN},
    }
