"""What a result is like at an ability: its mean, its variance, and the chances below and above it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.arrays import log_choose
from examiner.irt.estimation.score_kernels import ends_of
from examiner.irt.items import Floats, ItemParameters, chances_of_ends, curves, probability


class Cells(NamedTuple):
    """One agent's observed cells, each [tasks]: successes and trials, or scores and ones."""

    value: Floats
    trials: Floats


def expected_result(items: ItemParameters, abilities: Floats | float) -> Floats:
    r"""Return the mean result of every task (rows) at every ability (columns).

    P of successes; the centre plus σ (aθ + d) of normal scores; of beta scores with ends

    .. math:: \mathrm{E}[y] = P(y = 1) + P(0 < y < 1)\, P

    >>> items = ItemParameters.of(["t"], [1.0], [2.0], precision=0.25, response="normal", landmark=1.0)
    >>> expected_result(items, 0.5)
    array([[6.]])
    """
    shape = curves(items, abilities)
    if items.response == "normal":
        assert items.precision is not None and items.centre is not None
        return np.asarray(items.centre[:, None] + shape.success / np.sqrt(items.precision)[:, None])
    return shape.success if items.response != "beta" else probability(items, abilities).T


def result_variance(items: ItemParameters, abilities: Floats | float) -> Floats:
    r"""Return the variance of a single result of every task (rows) at every ability (columns).

    P (1 − P) of a success; σ² of normal scores; of beta scores that of the mixture of 0, 1 and inside:

    .. math:: P(1) + P(\text{inside}) \Big(P^2 + \frac{P (1 - P)}{1 + \phi}\Big) - \mathrm{E}[y]^2

    >>> items = ItemParameters.of(["t"], [1.0], [0.0], precision=4.0, response="beta")
    >>> result_variance(items, 0.0).round(6)
    array([[0.05]])
    """
    shape = curves(items, abilities)
    if items.response == "normal":
        assert items.precision is not None
        return np.broadcast_to(1.0 / items.precision[:, None], shape.success.shape).copy()
    spread = shape.success * shape.failure
    if items.response != "beta":
        return np.asarray(spread)
    assert items.precision is not None
    zero, one = chances_of_ends(shape)
    inside = 1 - zero - one
    mean = one + inside * shape.success
    square = one + inside * (shape.success**2 + spread / (1 + items.precision)[:, None])
    return np.asarray(np.maximum(square - mean**2, 0.0))


def landmark_reached(items: ItemParameters, results: Floats) -> Floats:
    """Return 1 or 0 for normal scores that reach the landmark or do not, [agents, tasks]; others as is.

    >>> items = ItemParameters.of(["t"], [1.0], [0.0], precision=1.0, response="normal", landmark=1.0)
    >>> landmark_reached(items, np.array([[0.9], [1.2], [np.nan]])).ravel()
    array([ 0.,  1., nan])
    """
    if items.landmark is None:
        return results
    return np.where(np.isnan(results), np.nan, (results >= items.landmark).astype(np.float64))


def tails(items: ItemParameters, cells: Cells, nodes: Floats) -> tuple[Floats, Floats]:
    """Return P(X ≤ x) and P(X ≥ x) of each cell at each ability, [tasks, abilities].

    >>> items = ItemParameters.of(["t"], [1.0], [0.0], precision=1.0, response="normal")
    >>> tails(items, Cells(np.zeros(1), np.ones(1)), np.zeros(1))[0]
    array([[0.5]])
    """
    from scipy.special import bdtr, bdtrc, ndtr

    value, trials = cells.value[:, None], cells.trials[:, None]
    if items.response == "normal":
        assert items.precision is not None
        apart = (value - expected_result(items, nodes)) * np.sqrt(items.precision)[:, None]
        return np.asarray(ndtr(apart)), np.asarray(ndtr(-apart))
    if items.response == "beta":
        return _tails_of_scores(items, cells, nodes)
    success = curves(items, nodes).success
    if items.response == "beta-binomial" and items.precision is not None:
        return _overdispersed_tails(items.precision, cells, success)
    below = np.asarray(bdtr(value, trials.astype(int), success), dtype=np.float64)
    above = np.where(value > 0, bdtrc(value - 1, trials.astype(int), success), 1.0)
    return below, np.asarray(above)


def _tails_of_scores(items: ItemParameters, cells: Cells, nodes: Floats) -> tuple[Floats, Floats]:
    """Zeros below, ones above, and the beta between them."""
    from scipy.special import betainc

    assert items.precision is not None
    shape = curves(items, nodes)
    zero, one = chances_of_ends(shape)
    phi, ends = items.precision[:, None], ends_of(cells.value)
    up = np.clip(shape.success, 1e-10, 1 - 1e-10) * phi
    at = np.where(ends.inside > 0, cells.value, 0.5)[:, None]
    under, inside = betainc(up, phi - up, at), 1 - zero - one
    lowest, highest = ends.zero[:, None] > 0, ends.one[:, None] > 0
    below = np.where(lowest, zero, np.where(highest, 1.0, zero + inside * under))
    above = np.where(lowest, 1.0, np.where(highest, one, one + inside * (1 - under)))
    return np.asarray(below, dtype=np.float64), np.asarray(above, dtype=np.float64)


def _overdispersed_tails(precision: Floats, cells: Cells, success: Floats) -> tuple[Floats, Floats]:
    """Sums of beta-binomial chances, Σ C(n, r) B(r + α, n − r + β) / B(α, β)."""
    from scipy.special import betaln

    nu = np.minimum(precision, 1e8)[:, None]  # beyond that it is the binomial to eight digits
    up = np.clip(success, 1e-10, 1 - 1e-10) * nu
    down = nu - up
    below, above = np.zeros_like(success), np.zeros_like(success)
    n, k = cells.trials[:, None], cells.value[:, None]
    for r in range(int(cells.trials.max()) + 1):
        choose = log_choose(np.maximum(n, r), r)  # beyond n the chance is 0, whatever this is
        chance = np.exp(choose + betaln(r + up, np.maximum(n - r, 0) + down) - betaln(up, down))
        chance = np.where(r <= n, chance, 0.0)
        below += np.where(r <= k, chance, 0.0)
        above += np.where(r >= k, chance, 0.0)
    return below, above
