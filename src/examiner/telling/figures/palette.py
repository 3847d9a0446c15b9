"""Colours that colour-blind readers tell apart, on light and on dark pages."""

from __future__ import annotations

from typing import Literal

Kind = Literal["diverging", "sequential"]

# ColorBrewer: the oranges of PuOr and the blues of RdBu, safe for the common colour blindnesses.
DIVERGING = (
    "#7f3b08",
    "#b35806",
    "#e08214",
    "#fdb863",
    "#fee0b6",
    "#f7f7f7",
    "#d1e5f0",
    "#92c5de",
    "#4393c3",
    "#2166ac",
    "#053061",
)
# Cividis (Nuñez, Anderton & Renslow, 2018): seen alike with and without colour blindness.
SEQUENTIAL = (
    "#00224e",
    "#123570",
    "#3b496c",
    "#575d6d",
    "#707173",
    "#8a8678",
    "#a59c74",
    "#c3b369",
    "#e1cc55",
    "#fee838",
)

# Okabe & Ito (2008), without yellow and black: told apart on light and dark pages.
QUALITATIVE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#8a8678",
)

FAINT = "2a"
"""How strongly bands are drawn: the last two hexadecimal digits of a colour."""
GREY = "#888888"
DOTS = "#4393c3"
BAR = "#7f8fa6"
MEAN = "#d95f02"
MIDDLE = "#1b7fbd"


def colour_scale(kind: Kind) -> list[list[float | str]]:
    """Return plotly's colour scale: evenly spaced stops from 0 to 1.

    >>> colour_scale("diverging")[5]
    [0.5, '#f7f7f7']
    """
    colours = DIVERGING if kind == "diverging" else SEQUENTIAL
    return [[step / (len(colours) - 1), colour] for step, colour in enumerate(colours)]
