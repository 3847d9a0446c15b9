"""What a posterior over ability foretells: results, their mean, a rank, and which results surprise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.estimates import interval
from examiner.irt.estimation.kernels import log_density
from examiner.irt.fitted import Abilities
from examiner.irt.items import SCORES, Floats, ItemParameters, Response, probability
from examiner.irt.outcomes import Cells, expected_result, result_variance, tails
from examiner.irt.posterior import posterior_weights
from examiner.scores import Estimate

UNEXPECTED = 0.05
"""A result with a smaller chance, given the agent's other results, is called unexpected."""


class PredictedTask(NamedTuple):
    """The expected result on a task, with its interval.

    Of successes: the chance of one, and where it lies given what is known of ability. Of scores: the
    expected score, and where a score would fall.
    """

    task: str
    expected: float
    expected_low: float
    expected_high: float


def predicted_results(
    items: ItemParameters, nodes: Floats, weights: Floats, *, level: float = 0.95
) -> tuple[PredictedTask, ...]:
    """Return what is expected on these tasks under a posterior over abilities.

    The interval of a chance is that of ability seen through the task's curve, and leaves out that
    the curve itself is estimated. The interval of a score is that of a beta (or a normal) distribution with
    the mean and the variance of the mixture over abilities.

    >>> items = ItemParameters.of(["t"], [1.0], [0.0])
    >>> (one,) = predicted_results(items, np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25]))
    >>> one.expected, one.expected_low < 0.5 < one.expected_high
    (0.5, True)
    """
    result = expected_result(items, nodes)
    expected = result @ weights
    tail = (1 - level) / 2
    if items.response in SCORES:
        within = result_variance(items, nodes) @ weights
        variance = within + np.maximum(result**2 @ weights - expected**2, 0.0)
        low, high = _score_ends(items.response, expected, variance, tail)
    else:
        ends = np.interp([tail, 1 - tail], np.cumsum(weights) - 0.5 * weights, nodes)
        at = probability(items, ends)
        low, high = at.min(axis=0), at.max(axis=0)
    columns = (expected.tolist(), low.tolist(), high.tolist())
    return tuple(map(PredictedTask, items.tasks, *columns))


def predicted_mean(
    met: Floats,
    unmet: ItemParameters,
    nodes: Floats,
    weights: Floats,
    constant: Floats | None = None,
) -> Estimate:
    r"""Return the mean result over all tasks: of those met as it was, of the others as expected.

    `constant` are tasks not met that all agents had the same result on, and no curve can be fitted to: they
    count as that.

    The variance of the sum S over the other tasks is that of what ability leaves open and that of the
    single results:

    .. math:: \operatorname{Var}_\theta E[S \mid \theta] + E_\theta \operatorname{Var}[S \mid \theta]

    >>> items = ItemParameters.of(["t"], [1.0], [0.0])
    >>> predicted_mean(np.array([1.0, 1.0, 1.0]), items, np.array([0.0]), np.array([1.0])).value
    0.875
    """
    fixed = np.empty(0) if constant is None else constant
    count = len(met) + len(unmet) + len(fixed)
    total = expected_result(unmet, nodes).sum(axis=0)
    mean = float(weights @ total)
    single = result_variance(unmet, nodes)
    variance = float(weights @ (total - mean) ** 2) + float(weights @ single.sum(axis=0))
    value = (float(met.sum() + fixed.sum()) + mean) / count
    low, high = interval(value, float(np.sqrt(variance)) / count)
    if unmet.response == "normal":
        return Estimate(value, low, high)
    return Estimate(value, max(low, 0.0), min(high, 1.0))


def _score_ends(
    response: Response, mean: Floats, variance: Floats, tail: float
) -> tuple[Floats, Floats]:
    from scipy.special import betaincinv, ndtri

    if response == "normal":
        reach = float(-ndtri(tail)) * np.sqrt(variance)
        return mean - reach, mean + reach
    inside = np.clip(mean, 1e-9, 1 - 1e-9)
    total = np.maximum(inside * (1 - inside) / np.maximum(variance, 1e-12) - 1, 1e-6)
    up, down = inside * total, (1 - inside) * total
    return np.asarray(betaincinv(up, down, tail)), np.asarray(betaincinv(up, down, 1 - tail))


class RankInterval(NamedTuple):
    """The rank by ability among fitted agents (1 is the highest ability), and its interval."""

    rank: int
    low: int
    high: int
    among: int


def rank_among(
    fitted: Abilities,
    nodes: Floats,
    weights: Floats,
    *,
    level: float = 0.95,
    aside: str | None = None,
) -> RankInterval:
    r"""Rank a newcomer with posterior `weights` over abilities `nodes` among fitted agents.

    Given θ, each fitted agent is ahead with chance :math:`\Phi((\theta_j - \theta) / s_j)`, and their
    number is nearly normal; its distribution is averaged over the posterior of θ. s_j is the posterior
    deviation: errors of tasks move agents of similar ability alike, and do not change their order. The
    agent `aside`, the newcomer itself where it is one of the fitted agents, is not counted.

    >>> fitted = Abilities(("a", "b"), np.array([-3.0, 3.0]), np.array([0.1, 0.1]), "")
    >>> rank_among(fitted, np.array([0.0]), np.array([1.0]))
    RankInterval(rank=2, low=2, high=2, among=3)
    """
    from scipy.special import ndtr

    finite = np.isfinite(fitted.ability) & np.array(
        [name != aside for name in fitted.agents], dtype=bool
    )
    ability = fitted.ability[finite]
    alone = fitted.error if fitted.posterior is None else fitted.posterior
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
    """A result, what was expected, and the probability of one this far off to the same side."""

    task: str
    result: float
    expected: float
    probability: float


def unexpected_results(
    items: ItemParameters, cells: Cells, log_prior: Floats, nodes: Floats
) -> tuple[Unexpected, ...]:
    """Return the results that the agent's other results make improbable, the least probable first.

    `log_prior` [nodes] is that of abilities: a task is judged by the posterior without its own result.
    """
    log_likelihoods = log_density(items, nodes, *cells)
    log_posterior = log_prior + log_likelihoods.sum(axis=0)
    _, weights = posterior_weights(log_posterior - log_likelihoods)
    expected = (weights * expected_result(items, nodes)).sum(axis=1)
    share = cells.value / cells.trials
    below, above = tails(items, cells, nodes)
    lower = share < expected
    chance = np.where(lower, (weights * below).sum(axis=1), (weights * above).sum(axis=1))
    improbable = np.flatnonzero(chance < UNEXPECTED)
    order = improbable[np.argsort(chance[improbable], kind="stable")]
    columns = (share[order].tolist(), expected[order].tolist(), chance[order].tolist())
    return tuple(
        Unexpected(items.tasks[task], *values)
        for task, *values in zip(order, *columns, strict=True)
    )
