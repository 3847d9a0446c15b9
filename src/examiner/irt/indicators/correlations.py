"""Correlations between indicators of agents, with the interval so few agents leave."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from examiner.checking import Randomness, generator
from examiner.irt.errors.intervals import Z
from examiner.irt.items import Floats

FEWEST_AGENTS = 4
"""Fisher's interval divides by √(n − 3)."""


class IndicatorCorrelation(NamedTuple):
    """Two indicators over the agents that have both: Pearson's and Spearman's correlation.

    `low` and `high` are the 95 % interval of Pearson's.
    """

    a: str
    b: str
    pearson: float
    low: float
    high: float
    spearman: float
    agents: int


def indicator_correlations(
    columns: Mapping[str, Floats], *, rng: Randomness | None = None, reps: int = 2000
) -> tuple[IndicatorCorrelation, ...]:
    r"""Correlate every two indicators over the agents for which both are finite.

    The interval is Fisher's, :math:`\tanh(\operatorname{artanh} r \pm 1.96 / \sqrt{n - 3})`, which
    supposes normal indicators; with a generator, agents are resampled instead (percentiles of `reps`
    bootstraps), which does not.

    >>> one = np.array([1.0, 2.0, 3.0, 4.0, np.inf])
    >>> found = indicator_correlations({"ability": one, "regularity": -one})[0]
    >>> found.pearson, found.agents
    (-1.0, 4)
    """
    drawing = None if rng is None else generator(rng)
    made = []
    for a, b in combinations(columns, 2):
        both = np.isfinite(columns[a]) & np.isfinite(columns[b])
        x, y = columns[a][both], columns[b][both]
        r = _pearson(x, y)
        low, high = _fisher(r, len(x)) if drawing is None else _resampled(x, y, drawing, reps)
        made.append(IndicatorCorrelation(a, b, r, low, high, _spearman(x, y), len(x)))
    return tuple(made)


def _pearson(x: Floats, y: Floats) -> float:
    if len(x) < 3 or not (np.ptp(x) > 0 and np.ptp(y) > 0):
        return float("nan")
    u, v = x - x.mean(), y - y.mean()
    r = float(u @ v / np.sqrt((u @ u) * (v @ v)))
    return min(1.0, max(-1.0, r))


def _spearman(x: Floats, y: Floats) -> float:
    from scipy.stats import rankdata

    return _pearson(rankdata(x), rankdata(y)) if len(x) >= 3 else float("nan")


def _fisher(r: float, count: int) -> tuple[float, float]:
    if not np.isfinite(r) or count < FEWEST_AGENTS:
        return float("nan"), float("nan")
    with np.errstate(divide="ignore"):
        middle, reach = np.arctanh(r), Z / np.sqrt(count - 3)
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _resampled(x: Floats, y: Floats, rng: np.random.Generator, reps: int) -> tuple[float, float]:
    if len(x) < FEWEST_AGENTS:
        return float("nan"), float("nan")
    drawn = rng.integers(len(x), size=(reps, len(x)))
    made = np.array([_pearson(x[rows], y[rows]) for rows in drawn])
    if not np.isfinite(made).any():
        return float("nan"), float("nan")
    low, high = np.nanpercentile(made, (2.5, 97.5))
    return float(low), float(high)
