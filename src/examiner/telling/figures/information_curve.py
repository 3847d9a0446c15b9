"""Bits of a growing set of tasks, against all there is to tell and against chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.bands import band_alone
from examiner.telling.figures.figure import PlotlyFigure, compact
from examiner.telling.figures.labels import distinct_labels, plain
from examiner.telling.figures.palette import BAR, MEAN, MIDDLE

LABEL_LIMIT = 20


class InformationCurveData(NamedTuple):
    """What the curve draws; arrays of shape [size], NaN where there is none."""

    tasks: tuple[str, ...]
    bits: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    chance: NDArray[np.float64]
    chance_high: NDArray[np.float64]
    max_bits: float


def data(
    tasks: Sequence[str],
    bits: NDArray[np.float64],
    max_bits: float,
    interval: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    chance: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> InformationCurveData:
    """Prepare the curve: `interval` holds its ends, `chance` the mean and what one in twenty exceeds.

    >>> data(["t", "u"], np.array([1.0, 1.5]), 2.0).low
    array([nan, nan])
    """
    nothing = np.full(len(tasks), np.nan)
    low, high = interval or (nothing, nothing)
    mean, most = chance or (nothing, nothing)
    return InformationCurveData(tuple(tasks), bits, low, high, mean, most, max_bits)


def draw(data: InformationCurveData) -> PlotlyFigure:
    """Draw the curve, its interval as a band, chance as a dashed line, and the most as a dotted one.

    >>> [trace["name"] for trace in draw(data(["t", "u"], np.array([1.0, 1.5]), 2.0))["data"]]
    ['chosen tasks']
    """
    places = list(range(len(data.tasks)))
    traces: list[dict[str, object]] = []
    if np.isfinite(data.low).any():
        traces.append(_band(data.low, data.high))
    traces.append(_line("chosen tasks", places, data.bits, MIDDLE, "solid"))
    if np.isfinite(data.chance).any():
        traces.append(_line("by chance", places, data.chance, MEAN, "dash"))
        traces.append(
            _line("one in twenty by chance exceeds", places, data.chance_high, BAR, "dot")
        )
    most = {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": "paper",
        "y0": data.max_bits,
        "y1": data.max_bits,
        "line": {"width": 1.5, "dash": "dot", "color": "#888888"},
    }
    labels = [plain(label) for label in distinct_labels(data.tasks, LABEL_LIMIT)]
    layout = {
        "height": 420,
        "margin": {"l": 10, "r": 20, "t": 60, "b": 10},
        "xaxis": {
            "tickmode": "array",
            "tickvals": places,
            "ticktext": labels,
            "tickangle": -45,
            "automargin": True,
            "fixedrange": True,
        },
        "yaxis": {
            "title": {"text": "bits"},
            "range": [0, 1.08 * data.max_bits],
            "fixedrange": True,
            "automargin": True,
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "shapes": [most],
    }
    return {"data": traces, "layout": layout}


def _line(
    name: str, places: list[int], values: NDArray[np.float64], colour: str, dash: str
) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": "lines+markers" if dash == "solid" else "lines",
        "name": name,
        "x": places,
        "y": compact(values),
        "line": {"width": 2, "color": colour, "dash": dash},
        "hovertemplate": name + ": %{y:.3f} bits<extra></extra>",
    }


def _band(low: NDArray[np.float64], high: NDArray[np.float64]) -> dict[str, object]:
    places = np.arange(len(low), dtype=float)
    return band_alone(places, low, high, "interval", MIDDLE)
