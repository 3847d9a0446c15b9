"""What an agent whose ability is known with error would do on tasks it has not met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import probability


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Expected results on tasks, [tasks], with intervals.

    Of successes: the chance of one, and where it lies given what is known of ability. Of scores in
    [0, 1]: the expected score, and where a score would fall.
    """

    tasks: tuple[str, ...]
    expected: Floats
    low: Floats
    high: Floats


def predicted_results(
    items: ItemParameters, nodes: Floats, weights: Floats, *, level: float = 0.95
) -> Predictions:
    """Return what is expected on these tasks under a posterior over abilities.

    The interval of a chance is that of ability seen through the task's curve, and leaves out that
    the curve itself is estimated. The interval of a score is that of a beta distribution with the
    mean and the variance of the mixture over abilities.

    >>> items = ItemParameters.of(["t"], [1.0], [0.0])
    >>> found = predicted_results(items, np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25]))
    >>> found.expected, bool(found.low[0] < 0.5 < found.high[0])
    (array([0.5]), True)
    """
    success = probability(items, nodes)
    expected = success @ weights
    tail = (1 - level) / 2
    if items.response == "beta" and items.precision is not None:
        low, high = _score_ends(items.precision, success, weights, expected, tail)
        return Predictions(items.tasks, expected, low, high)
    ends = np.interp([tail, 1 - tail], np.cumsum(weights) - 0.5 * weights, nodes)
    at = probability(items, ends)
    return Predictions(items.tasks, expected, at.min(axis=1), at.max(axis=1))


class Interval(NamedTuple):
    """A value, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def predicted_mean(met: Floats, unmet: ItemParameters, nodes: Floats, weights: Floats) -> Interval:
    r"""Return the mean result over all tasks: of those met as it was, of the others as expected.

    The variance of the sum S over the other tasks is that of what ability leaves open and that of the
    single results:

    .. math:: \operatorname{Var}_\theta E[S \mid \theta] + E_\theta \operatorname{Var}[S \mid \theta]

    >>> items = ItemParameters.of(["t"], [1.0], [0.0])
    >>> predicted_mean(np.array([1.0, 1.0, 1.0]), items, np.array([0.0]), np.array([1.0])).value
    0.875
    """
    count = len(met) + len(unmet)
    success = probability(unmet, nodes)
    total = success.sum(axis=0)
    mean = float(weights @ total)
    single = success * (1 - success)
    if unmet.response == "beta" and unmet.precision is not None:
        single /= (1 + unmet.precision)[:, None]
    variance = float(weights @ (total - mean) ** 2) + float(weights @ single.sum(axis=0))
    value = (float(met.sum()) + mean) / count
    reach = 1.96 * float(np.sqrt(variance)) / count
    return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0))


def _score_ends(
    precision: Floats, success: Floats, weights: Floats, mean: Floats, tail: float
) -> tuple[Floats, Floats]:
    from scipy.special import betaincinv

    within = (success * (1 - success)) @ weights / (1 + precision)
    between = np.maximum(success**2 @ weights - mean**2, 0.0)
    inside = np.clip(mean, 1e-9, 1 - 1e-9)
    total = np.maximum(inside * (1 - inside) / np.maximum(within + between, 1e-12) - 1, 1e-6)
    up, down = inside * total, (1 - inside) * total
    return np.asarray(betaincinv(up, down, tail)), np.asarray(betaincinv(up, down, 1 - tail))
