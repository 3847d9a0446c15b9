r"""Intervals of predictions that also hold for agents unlike those they were learnt from.

A prediction from few tasks is shrunk towards the mean of the agents it was learnt from. That is right for
one more of them, and wrong for an agent that is newer and better than most. Intervals are therefore centred
on the prediction without this shrinkage, and are wider towards both ends of the training agents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.validation import Floats

EXTREME_SHARE = 0.25
"""Agents held out together at either end, to see how far off predictions are beyond the training range."""


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
    """The shrinkage of predictions of held-out agents towards the centre, and their errors."""

    centre: float
    slope: float
    half: float
    quarters: tuple[float, float]  # the quartiles of the truth
    ends: tuple[float, float]  # the worst and the best agent
    pulled_half: float = 0.0  # half-width around predictions with their shrinkage

    def unshrunk(self, value: Floats, centre: float | None = None) -> Floats:
        """Undo the shrinkage of predictions towards the centre (or another one)."""
        middle = self.centre if centre is None else centre
        return middle + (value - middle) / self.slope

    def interval(self, value: Floats, reach: Reach, wider: Floats | float = 0.0) -> Predicted:
        r"""Return the interval around each prediction; `wider` is what else is open of v, at that level.

        With u the prediction v without its shrinkage, h the half-width, and ρ the reach,

        .. math:: u = c + (v - c) / b, \qquad
                  \Big[u - h - \rho_- (Q_1 - u)_+,\; u + h + \rho_+ (u - Q_3)_+\Big]

        wider by half of the way that u lies beyond all agents. That holds whichever population the agent
        comes from; if it is one more of the same population, v with its own half-width does. This is
        unknown, so the interval is the smallest that contains both, and v is never on its edge.
        """
        u = self.unshrunk(value)
        below, above = (np.maximum(away, 0.0) for away in (self.ends[0] - u, u - self.ends[1]))
        # Beyond the best and the worst agent, which nothing validates, both sides grow by half of the way
        further = np.hypot(self.half, wider / self.slope) + 0.5 * (below + above)
        low = u - further - reach.low * np.maximum(self.quarters[0] - u, 0.0)
        high = u + further + reach.high * np.maximum(u - self.quarters[1], 0.0)
        outside = (below > 0) | (above > 0)
        pulled = np.hypot(self.pulled_half, wider)
        return Predicted(
            value, np.minimum(low, value - pulled), np.maximum(high, value + pulled), outside
        )


def calibrated(truth: Floats, predicted: Floats, level: float) -> PredictionCalibration:
    r"""Calibrate intervals on predictions of agents [agents] while they were held out; NaN is excluded.

    The slope :math:`b = \operatorname{Cov}(v, y) / \operatorname{Var}(y)` of predictions on the truth is
    their shrinkage; u is unbiased for every truth, whichever population an agent comes from (the
    classical estimator of calibration: Osborne, 1991, section 2.1). The half-width is the
    :math:`\lceil (1 - \alpha)(n + 1) \rceil`-th smallest :math:`|y - u|` (Vovk et al., 2005, section 2.2),
    infinite where so few agents cannot bound it.

    >>> truth = np.arange(20.0)
    >>> found = calibrated(truth, 9.5 + 0.8 * (truth - 9.5), 0.9)
    >>> round(found.slope, 2), round(found.half, 2)
    (0.8, 0.0)
    """
    both = np.isfinite(truth) & np.isfinite(predicted)
    y, v = truth[both], predicted[both]
    if not len(y):
        endless = float("inf")
        ends = -endless, endless
        return PredictionCalibration(0.0, 1.0, endless, ends, ends, endless)
    centre = float(y.mean())
    spread = float(((y - centre) ** 2).sum())
    slope = float(((y - centre) * (v - v.mean())).sum()) / spread if spread > 0 else 1.0
    # With a smaller slope, undoing the shrinkage would amplify noise
    slope = min(max(slope, 0.5), 1.0)
    rank = int(np.ceil(level * (len(y) + 1) - 1e-9))
    half, pulled_half = (
        float(np.sort(np.abs(off))[rank - 1]) if rank <= len(y) else float("inf")
        for off in (y - centre - (v - centre) / slope, y - v)
    )
    low, high = np.quantile(y, [EXTREME_SHARE, 1 - EXTREME_SHARE])
    ends = float(y.min()), float(y.max())
    return PredictionCalibration(centre, slope, half, (float(low), float(high)), ends, pulled_half)


class Extreme(NamedTuple):
    """Predictions of the best agents (`sign` 1) or the worst (−1), learnt from all others alone."""

    sign: int
    truth: Floats  # [agents held out]
    predicted: Floats  # [agents held out]
    others: Floats  # the truth of those it was learnt from


def reach_of(calibration: PredictionCalibration, extreme: Extreme) -> float:
    r"""How much wider the outer side must be for each unit beyond the quartile of the training agents.

    .. math:: \rho = \frac{(q_{0.95}\{\pm(y - u)\} - h)_+}{\operatorname{mean}\,(\pm(u - Q))_+}

    >>> flat = PredictionCalibration(0.0, 1.0, 0.1, (-1.0, 1.0), (-2.0, 2.0))
    >>> round(reach_of(flat, Extreme(1, np.full(4, 3.1), np.full(4, 2.0), np.linspace(-2, 2, 9))), 2)
    1.0
    """
    both = np.isfinite(extreme.truth) & np.isfinite(extreme.predicted)
    others = extreme.sign * extreme.others[np.isfinite(extreme.others)]
    if both.sum() < 3 or len(others) < 2 or not np.isfinite(calibration.half):
        return 0.0
    centre = extreme.sign * float(others.mean())
    u = extreme.sign * calibration.unshrunk(extreme.predicted[both], centre)
    quarter = float(np.quantile(others, 1 - EXTREME_SHARE))
    # At least a quarter of a deviation: agents near the centre show nothing of those far out
    step = max(float(np.maximum(u - quarter, 0.0).mean()), 0.25 * float(others.std()), 1e-300)
    # Share of agents held out at an end that the interval must contain on the outer side
    off = float(np.quantile(extreme.sign * extreme.truth[both] - u, 0.95))
    return max(0.0, off - calibration.half) / step


def at_the_ends(truth: Floats, families: NDArray[np.int64]) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return who is held out at the upper and at the lower end: a quarter of the agents each, [agents].

    Relatives of theirs (the same number in `families`) are held out too, and NaN never is by itself.

    >>> [which.tolist() for _, which in at_the_ends(np.array([1.0, 2, 3, 4]), np.arange(4))]
    [[False, False, False, True], [True, False, False, False]]
    """
    count = int(EXTREME_SHARE * np.isfinite(truth).sum())
    ends = []
    for sign in (1, -1):
        order = np.argsort(np.where(np.isfinite(truth), -sign * truth, np.inf), kind="stable")
        ends.append((sign, np.isin(families, families[order[:count]])))
    return ends
