"""Resampled agents: whole families are drawn, and estimates get the ends of where they come out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.scores import Estimate
from examiner.validation import Floats

REPS = 400


def resampled_agents(
    families: NDArray[np.integer], rng: np.random.Generator, reps: int = REPS
) -> Floats:
    """How often each agent counts: once, then in each resample of families; shape [1 + reps, agents].

    >>> weight = resampled_agents(np.array([0, 1, 0]), np.random.default_rng(0), 50)
    >>> weight.shape, bool((weight[:, 0] == weight[:, 2]).all())
    ((51, 3), True)
    """
    count = int(families.max()) + 1
    drawn = rng.multinomial(count, np.full(count, 1.0 / count), size=reps)
    return np.vstack([np.ones(len(families)), drawn[:, families].astype(np.float64)])


def estimate_of(values: Floats, level: float = 0.95) -> Estimate:
    """The estimate itself, which comes first, and the ends over resamples, which contain it.

    Resampled agents may all be worse, or better, than those they were drawn from: a figure that is not
    a mean has a bias.

    >>> estimate_of(np.array([0.5, 0.1, 0.2, np.nan]))
    Estimate(value=0.5, low=0.1, high=0.5)
    """
    value, known = float(values[0]), values[1:][~np.isnan(values[1:])]
    if not len(known):
        return Estimate(value)
    tail = round(50 * (1 - level), 9)  # a percentile must not move by rounding
    low, high = np.percentile(known, (tail, 100 - tail), method="inverted_cdf")
    return Estimate(value, min(value, float(low)), max(value, float(high)))
