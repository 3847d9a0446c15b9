r"""Intervals of predictions that also hold for agents unlike those they were learnt from.

A prediction from few tasks is drawn towards the mean of the agents it was learnt from. That is right for
one more of them, and wrong for an agent that is newer and better than most. Intervals therefore stand
around the prediction with that pull undone, and grow towards both ends of what was seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.validation import Floats

LEAST_SLOPE = 0.5
"""Where predictions follow the truth less than this, undoing the pull would blow up noise."""
EXTREME_SHARE = 0.25
"""Agents held out together at either end, to see how far off predictions are beyond what was seen."""
REACH_LEVEL = 0.95
"""Share of agents held out at an end that the interval shall hold on the outer side."""
LEAST_STEP = 0.25
"""Agents held out at an end count as so far out at least, in deviations: near says nothing of far."""
BEYOND = 0.5
"""Beyond the best and the worst agent both sides grow by this share of the way: no agent shows it."""
FEWEST_AT_AN_END = 3


class Predicted(NamedTuple):
    """A number for each agent with the ends of its interval, arrays of shape [agents].

    `beyond` says who lies beyond the agents that the prediction was learnt from.
    """

    value: Floats
    low: Floats
    high: Floats
    beyond: NDArray[np.bool_]


class Reach(NamedTuple):
    """By how much the lower and the upper end move out, for each unit beyond the quartile there."""

    low: float = 0.0
    high: float = 0.0


class PredictionCalibration(NamedTuple):
    """What held-out agents say about predictions: their pull to the centre, and how far off they are."""

    centre: float
    slope: float
    half: float
    quarters: tuple[float, float]  # the quartiles of the truth
    ends: tuple[float, float]  # the worst and the best agent
    pulled_half: float = 0.0  # how far off predictions are as they are said, with their pull

    def unshrunk(self, value: Floats, centre: float | None = None) -> Floats:
        """Undo the pull towards the centre (or another one) on predictions."""
        middle = self.centre if centre is None else centre
        return middle + (value - middle) / self.slope

    def interval(self, value: Floats, reach: Reach, wider: Floats | float = 0.0) -> Predicted:
        r"""Return the interval around each prediction; `wider` is what else is open of v, at that level.

        With u the prediction v without its pull, h the half-width, and ρ the reach,

        .. math:: u = c + (v - c) / b, \qquad
                  \Big[u - h - \rho_- (Q_1 - u)_+,\; u + h + \rho_+ (u - Q_3)_+\Big]

        wider by half of the way that u lies beyond all agents. That holds whichever population the agent
        comes from; if it is one more of those seen, v with its own half-width does. Nobody knows which, so
        the interval is the smallest that contains both, and v is never on its edge.
        """
        u = self.unshrunk(value)
        below, above = (np.maximum(away, 0.0) for away in (self.ends[0] - u, u - self.ends[1]))
        further = np.hypot(self.half, wider / self.slope) + BEYOND * (below + above)
        low = u - further - reach.low * np.maximum(self.quarters[0] - u, 0.0)
        high = u + further + reach.high * np.maximum(u - self.quarters[1], 0.0)
        outside = (below > 0) | (above > 0)
        pulled = np.hypot(self.pulled_half, wider)
        return Predicted(
            value, np.minimum(low, value - pulled), np.maximum(high, value + pulled), outside
        )


def calibrated(truth: Floats, said: Floats, level: float) -> PredictionCalibration:
    r"""Learn from what was said of agents [agents] while they were held out; NaN is left out.

    The slope :math:`b = \operatorname{Cov}(v, y) / \operatorname{Var}(y)` of predictions on the truth says
    how far they are pulled; u is unbiased for every truth, whichever population an agent comes from (the
    classical estimator of calibration: Osborne, 1991, section 2.1). The half-width is the
    :math:`\lceil (1 - \alpha)(n + 1) \rceil`-th smallest :math:`|y - u|` (Vovk et al., 2005, section 2.2),
    infinite where so few agents cannot bound it.

    >>> truth = np.arange(20.0)
    >>> found = calibrated(truth, 9.5 + 0.8 * (truth - 9.5), 0.9)
    >>> round(found.slope, 2), round(found.half, 2)
    (0.8, 0.0)
    """
    known = np.isfinite(truth) & np.isfinite(said)
    y, v = truth[known], said[known]
    if not len(y):
        endless = float("inf")
        ends = -endless, endless
        return PredictionCalibration(0.0, 1.0, endless, ends, ends, endless)
    centre = float(y.mean())
    spread = float(((y - centre) ** 2).sum())
    slope = float(((y - centre) * (v - v.mean())).sum()) / spread if spread > 0 else 1.0
    slope = min(max(slope, LEAST_SLOPE), 1.0)
    rank = int(np.ceil(level * (len(y) + 1) - 1e-9))
    half, pulled_half = (
        float(np.sort(np.abs(off))[rank - 1]) if rank <= len(y) else float("inf")
        for off in (y - centre - (v - centre) / slope, y - v)
    )
    low, high = np.quantile(y, [EXTREME_SHARE, 1 - EXTREME_SHARE])
    ends = float(y.min()), float(y.max())
    return PredictionCalibration(centre, slope, half, (float(low), float(high)), ends, pulled_half)


class Extreme(NamedTuple):
    """What was said of the best agents (`sign` 1) or the worst (−1), learnt from all others alone."""

    sign: int
    truth: Floats  # [agents held out]
    said: Floats  # [agents held out]
    others: Floats  # the truth of those it was learnt from


def reach_of(calibration: PredictionCalibration, extreme: Extreme) -> float:
    r"""How much wider the outer side must be for each unit beyond the quartile of the agents seen.

    .. math:: \rho = \frac{(q_{0.95}\{\pm(y - u)\} - h)_+}{\operatorname{mean}\,(\pm(u - Q))_+}

    >>> flat = PredictionCalibration(0.0, 1.0, 0.1, (-1.0, 1.0), (-2.0, 2.0))
    >>> round(reach_of(flat, Extreme(1, np.full(4, 3.1), np.full(4, 2.0), np.linspace(-2, 2, 9))), 2)
    1.0
    """
    known = np.isfinite(extreme.truth) & np.isfinite(extreme.said)
    others = extreme.sign * extreme.others[np.isfinite(extreme.others)]
    if known.sum() < FEWEST_AT_AN_END or len(others) < 2 or not np.isfinite(calibration.half):
        return 0.0
    centre = extreme.sign * float(others.mean())
    u = extreme.sign * calibration.unshrunk(extreme.said[known], centre)
    quarter = float(np.quantile(others, 1 - EXTREME_SHARE))
    step = max(float(np.maximum(u - quarter, 0.0).mean()), LEAST_STEP * float(others.std()), 1e-300)
    off = float(np.quantile(extreme.sign * extreme.truth[known] - u, REACH_LEVEL))
    return max(0.0, off - calibration.half) / step


def at_the_ends(truth: Floats, families: NDArray[np.int64]) -> list[tuple[int, NDArray[np.bool_]]]:
    """Say who is held out at the upper and at the lower end: a quarter of the agents each, [agents].

    Relatives of theirs (the same number in `families`) are held out too, and NaN never is by itself.

    >>> [which.tolist() for _, which in at_the_ends(np.array([1.0, 2, 3, 4]), np.arange(4))]
    [[False, False, False, True], [True, False, False, False]]
    """
    count = int(EXTREME_SHARE * np.isfinite(truth).sum())
    found = []
    for sign in (1, -1):
        order = np.argsort(np.where(np.isfinite(truth), -sign * truth, np.inf), kind="stable")
        found.append((sign, np.isin(families, families[order[:count]])))
    return found
