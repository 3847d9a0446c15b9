"""Where the climb to an optimum begins, and from how many places."""

from __future__ import annotations

import numpy as np

from examiner.irt.estimation.sources import ResponseSource
from examiner.irt.items import Floats
from examiner.irt.model import Point, Unknowns

_GENTLE = 0.1
"""Where one slope for all starts if the responses show none."""


def starting_points(
    source: ResponseSource, unknowns: Unknowns, count: int, rng: np.random.Generator
) -> list[Point]:
    """Return the first start from the responses, and others at random."""
    shared = "slope" in unknowns.shared
    slope, intercept = source.first_start(shared_slope=shared)
    if shared:  # one slope for all is positive, whichever task comes first
        slope = np.full(slope.size, max(float(slope.mean()), _GENTLE))
    first = slope, intercept
    drawn = [_random_start(first, child, shared_slope=shared) for child in rng.spawn(count - 1)]
    precision = source.first_precision()
    return [unknowns.start(slope, intercept, precision) for slope, intercept in (first, *drawn)]


def number_of_starts(trials: float) -> int:
    """Return how many starts to try: small data have several optima.

    Ten up to 5,000 trials of all cells, one above 100,000.

    >>> number_of_starts(5_000), number_of_starts(100_001)
    (10, 1)
    """
    for most, count in ((5_000, 10), (20_000, 5), (100_000, 3)):
        if trials <= most:
            return count
    return 1


def _random_start(
    first: tuple[Floats, Floats], rng: np.random.Generator, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Slopes drawn from N(1, 1) whatever the data say, and intercepts near the shares'."""
    slope, intercept = first
    if shared_slope:
        return np.full(slope.size, rng.uniform(0.3, 3.0)), intercept + rng.normal(0, 1, slope.size)
    return rng.normal(1.0, 1.0, slope.size), intercept + rng.normal(0.0, 1.0, slope.size)
