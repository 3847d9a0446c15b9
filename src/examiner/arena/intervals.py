"""Means of runs, and their differences, with Student's intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and the interval around it; the ends are NaN where one run cannot tell."""

    mean: float
    low: float
    high: float
    runs: int


def mean_of_runs(values: Sequence[float]) -> Estimate:
    r"""Return the mean over runs and its interval.

    .. math:: \bar{x} \pm t_{n-1} \, s / \sqrt{n}

    >>> mean_of_runs([1.0, 2.0, 3.0])
    Estimate(mean=2.0, low=-0.48..., high=4.48..., runs=3)
    """
    numbers = np.asarray(values, dtype=float)
    count = len(numbers)
    mean = float(numbers.mean()) if count else math.nan
    if count < 2:
        return Estimate(mean, math.nan, math.nan, count)
    half = _half_width(float(numbers.var(ddof=1)) / count, count - 1)
    return Estimate(mean, mean - half, mean + half, count)


def difference_of_runs(values: Sequence[float], others: Sequence[float]) -> Estimate:
    """Return how much higher the first mean is, with Welch's interval: the two spreads may differ.

    >>> difference_of_runs([5.0, 5.0], [1.0, 1.0])
    Estimate(mean=4.0, low=4.0, high=4.0, runs=2)
    """
    samples = [np.asarray(one, dtype=float) for one in (values, others)]
    counts = [len(one) for one in samples]
    if min(counts) < 1:
        return Estimate(math.nan, math.nan, math.nan, 0)
    mean = float(samples[0].mean() - samples[1].mean())
    if min(counts) < 2:
        return Estimate(mean, math.nan, math.nan, min(counts))
    parts = [float(one.var(ddof=1)) / len(one) for one in samples]
    variance = sum(parts)
    weights = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    half = _half_width(variance, variance**2 / weights if weights else math.inf)
    return Estimate(mean, mean - half, mean + half, min(counts))


def _half_width(variance: float, degrees: float) -> float:
    from scipy.special import stdtrit  # scipy takes half a second to import

    if not variance:
        return 0.0
    quantile = (1.0 + CONFIDENCE) / 2.0
    return float(stdtrit(min(degrees, 1e9), quantile)) * math.sqrt(variance)
