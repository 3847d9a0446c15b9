"""The best of several, ties broken at random: the first action is no better than others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def best(values: Sequence[float], rng: np.random.Generator) -> int:
    """Return the place of a largest value, each of equal ones equally likely.

    >>> best([0.0, 2.0, 1.0], np.random.default_rng(0))
    1
    >>> sorted({best([1.0, 0.0, 1.0], np.random.default_rng(seed)) for seed in range(9)})
    [0, 2]
    """
    largest = max(values)
    places = [place for place, value in enumerate(values) if value == largest]
    return places[0] if len(places) == 1 else places[int(rng.integers(len(places)))]
