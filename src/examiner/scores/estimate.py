"""Estimate: a number with the ends of its interval."""

from __future__ import annotations

import math
from typing import NamedTuple


class Estimate(NamedTuple):
    """A number and the ends of its interval; NaN where there is none.

    >>> Estimate(0.5, 0.4, 0.7).high
    0.7
    """

    value: float
    low: float = math.nan
    high: float = math.nan
