"""Bands around lines, each one closed shape: along one edge, and back along the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures.figure import compact
from examiner.telling.figures.palette import QUALITATIVE

Floats = NDArray[np.float64]
_FAINT = "2a"
"""How strongly bands are drawn: the last two hexadecimal digits of a colour."""


def band_of_line(
    along: Floats, low: Floats, high: Floats, name: str, place: int
) -> dict[str, object]:
    """Return the faint band of a line of many, in its colour; it comes and goes with the line.

    >>> edge = np.array([0.0, 1.0])
    >>> band_of_line(edge, edge - 1, edge + 1, "a", 0)["y"]
    [-1.0, 0.0, 2.0, 1.0]
    """
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": compact(np.concatenate([along, along[::-1]])),
        "y": compact(np.concatenate([low, high[::-1]]), 4),
        "fill": "toself",
        "fillcolor": QUALITATIVE[place] + _FAINT,
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": str(place),
    }


def band_alone(
    along: Floats, low: Floats, high: Floats, name: str, colour: str, opacity: float = 0.3
) -> dict[str, object]:
    """Return a band with a name of its own in the legend.

    >>> edge = np.array([0.0, 1.0])
    >>> band_alone(edge, edge - 1, edge + 1, "interval", "#888888")["y"]
    [1.0, 2.0, 0.0, -1.0]
    """
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": compact(np.concatenate([along, along[::-1]])),
        "y": compact(np.concatenate([high, low[::-1]])),
        "fill": "toself",
        "opacity": opacity,
        "line": {"width": 0, "color": colour},
        "hoverinfo": "skip",
    }
