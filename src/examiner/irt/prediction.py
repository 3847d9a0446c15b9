"""What a posterior over ability foretells: results, their mean, a rank, and which results surprise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.errors.intervals import interval
from examiner.irt.estimation.kernels import MARGIN, log_choose
from examiner.irt.fitted import Abilities, ToldByName
from examiner.irt.items import Floats, ItemParameters, curves, probability
from examiner.irt.posterior import posterior_weights
from examiner.scores.estimate import Estimate

UNEXPECTED = 0.05
"""A result with a smaller chance, given the agent's other results, is called unexpected."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictions(ToldByName):
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
    success = curves(items, nodes).success
    expected = success @ weights
    tail = (1 - level) / 2
    if items.response == "beta" and items.precision is not None:
        low, high = _score_ends(items.precision, success, weights, expected, tail)
        return Predictions(items.tasks, expected, low, high)
    ends = np.interp([tail, 1 - tail], np.cumsum(weights) - 0.5 * weights, nodes)
    at = probability(items, ends)
    return Predictions(items.tasks, expected, at.min(axis=0), at.max(axis=0))


def predicted_mean(met: Floats, unmet: ItemParameters, nodes: Floats, weights: Floats) -> Estimate:
    r"""Return the mean result over all tasks: of those met as it was, of the others as expected.

    The variance of the sum S over the other tasks is that of what ability leaves open and that of the
    single results:

    .. math:: \operatorname{Var}_\theta E[S \mid \theta] + E_\theta \operatorname{Var}[S \mid \theta]

    >>> items = ItemParameters.of(["t"], [1.0], [0.0])
    >>> predicted_mean(np.array([1.0, 1.0, 1.0]), items, np.array([0.0]), np.array([1.0])).value
    0.875
    """
    count = len(met) + len(unmet)
    success = curves(unmet, nodes).success
    total = success.sum(axis=0)
    mean = float(weights @ total)
    single = success * (1 - success)
    if unmet.response == "beta" and unmet.precision is not None:
        single /= (1 + unmet.precision)[:, None]
    variance = float(weights @ (total - mean) ** 2) + float(weights @ single.sum(axis=0))
    value = (float(met.sum()) + mean) / count
    low, high = interval(value, float(np.sqrt(variance)) / count)
    return Estimate(value, max(low, 0.0), min(high, 1.0))


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


class RankInterval(NamedTuple):
    """The rank by ability among known agents (1 is the ablest), and its interval."""

    rank: int
    low: int
    high: int
    among: int


def rank_among(
    known: Abilities, nodes: Floats, weights: Floats, *, level: float = 0.95
) -> RankInterval:
    r"""Rank a newcomer with posterior `weights` over abilities `nodes` among known agents.

    Given θ, each known agent is ahead with chance :math:`\Phi((\theta_j - \theta) / s_j)`, and their
    number is nearly normal; its distribution is averaged over the posterior of θ. s_j is the posterior
    deviation: what is not known of tasks moves agents of like ability alike, and not their order.

    >>> known = Abilities(("a", "b"), np.array([-3.0, 3.0]), np.array([0.1, 0.1]), "")
    >>> rank_among(known, np.array([0.0]), np.array([1.0]))
    RankInterval(rank=2, low=2, high=2, among=3)
    """
    from scipy.special import ndtr

    finite = np.isfinite(known.ability)
    ability = known.ability[finite]
    alone = known.error if known.posterior is None else known.posterior
    error = np.maximum(np.nan_to_num(alone[finite], nan=0.0), 1e-9)
    count = len(ability)
    if count == 0:
        return RankInterval(1, 1, 1, 1)
    kept = weights > 1e-12
    with np.errstate(over="ignore"):
        ahead = ndtr((ability[:, None] - nodes[kept]) / error[:, None])
    mean, spread = ahead.sum(axis=0), np.sqrt((ahead * (1 - ahead)).sum(axis=0))
    numbers = np.arange(count + 1)
    upto = ndtr((numbers[:, None] + 0.5 - mean) / np.maximum(spread, 1e-6)) @ weights[kept]
    upto /= upto[-1] if upto[-1] > 0 else 1.0
    tail = (1 - level) / 2
    centre = float(weights @ nodes)
    return RankInterval(
        rank=int((ability > centre).sum()) + 1,
        low=int(np.searchsorted(upto, tail)) + 1,
        high=min(int(np.searchsorted(upto, 1 - tail)) + 1, count + 1),
        among=count + 1,
    )


class Unexpected(NamedTuple):
    """A result beside what was expected: the chance of one so far off, or farther, to the same side."""

    task: str
    result: float
    expected: float
    chance: float


class Cells(NamedTuple):
    """One agent's observed cells, each [tasks]: successes and trials, or scores and ones."""

    value: Floats
    trials: Floats


def unexpected_results(
    items: ItemParameters, cells: Cells, joint: Floats, each: Floats, nodes: Floats
) -> tuple[Unexpected, ...]:
    """Return the results that the agent's other results make improbable, the least probable first.

    `joint` [nodes] is the agent's log posterior and `each` [tasks, nodes] the log-likelihood of each
    cell in it: a task is judged by the posterior without its own result, p(θ) / f(x | θ).
    """
    success = curves(items, nodes).success
    _, weights = posterior_weights(joint - each)
    expected = (weights * success).sum(axis=1)
    share = cells.value / cells.trials
    below, above = _tails(items, cells, success)
    lower = share < expected
    chance = np.where(lower, (weights * below).sum(axis=1), (weights * above).sum(axis=1))
    found = np.flatnonzero(chance < UNEXPECTED)
    order = found[np.argsort(chance[found], kind="stable")]
    columns = (share[order].tolist(), expected[order].tolist(), chance[order].tolist())
    return tuple(
        Unexpected(items.tasks[task], *told) for task, *told in zip(order, *columns, strict=True)
    )


def _tails(items: ItemParameters, cells: Cells, success: Floats) -> tuple[Floats, Floats]:
    """P(X ≤ x) and P(X ≥ x) of each cell at each node, [tasks, nodes]."""
    from scipy.special import bdtr, bdtrc, betainc

    value, trials = cells.value[:, None], cells.trials[:, None]
    if items.response == "beta":
        phi = np.asarray(items.precision)[:, None]
        up = np.clip(success, 1e-10, 1 - 1e-10) * phi
        # Moved inwards as for the fit: under a beta an exact 0 or 1 would have no chance at all.
        below = np.asarray(betainc(up, phi - up, MARGIN + (1 - 2 * MARGIN) * value))
        return below, 1.0 - below
    if items.response == "beta-binomial" and items.precision is not None:
        return _overdispersed_tails(items.precision, cells, success)
    below = np.asarray(bdtr(value, trials.astype(int), success))
    above = np.where(value > 0, bdtrc(value - 1, trials.astype(int), success), 1.0)
    return below, above


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
