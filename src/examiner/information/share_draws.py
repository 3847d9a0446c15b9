r"""Posterior draws of the true shares of wins of agents, by empirical Bayes.

On each task the log-odds of agents' shares are :math:`\operatorname{logit} p_a \sim N(m, \tau^2)`. The
distribution of (m, τ) over tasks is estimated on a grid (Laird, 1978), and drawn again for every table by
the Bayesian bootstrap of tasks (Rubin, 1981). So shares near 0 and 1, where bits are largest, keep the long
tails that few trials leave open.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from examiner.information.observations import Moments
from examiner.validation import Floats

LOGITS = np.linspace(-8.0, 8.0, 81)
MEANS, DEVIATIONS = np.linspace(-5.0, 5.0, 21), np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0])


def share_draws(moments: Moments, index: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield means of a measure of zeros and ones, [agents, tasks], that channels smooth to drawn shares.

    Channels smooth k wins of n trials to (k + ½) / (n + 1); a drawn share is a true one and needs none.
    A single trial does not show how much an agent varies, though: its deviation, and bits with it, would
    come from the prior alone. So on tasks with single trials (`with_single_trials`) drawn shares are
    smoothed like those counted, all alike, since agents should not be told apart by how often they tried.
    Where runs differ by more than their trials explain, trials count less.

    >>> from examiner.information.observations import moments, observe
    >>> from examiner.results import Results
    >>> wins = moments(observe(Results.from_numpy(np.tile([0.0, 1.0], (4, 3, 5)))))
    >>> next(share_draws(wins, 0, np.random.default_rng(0))).shape
    (4, 3)
    """
    trials, mean = moments.trials[index], np.nan_to_num(moments.mean[index])
    prior, used = _priors(), trials / _excess(moments, index)
    log = (mean * used)[:, :, None] * LOGITS - used[:, :, None] * np.logaddexp(0.0, LOGITS)
    cells = np.exp(log - log.max(axis=2, keepdims=True))  # likelihoods, [agents, tasks, nodes]
    whole = np.log(cells @ prior.T).sum(axis=0)
    likelihood = np.exp(whole - whole.max(axis=1, keepdims=True))  # [tasks, priors]
    weight = np.full(len(prior), 1 / len(prior))
    # Steps of the EM algorithm: later ones hardly move any more
    for _ in range(50):
        posterior = likelihood * weight
        posterior /= posterior.sum(axis=1, keepdims=True)
        weight = (posterior.sum(axis=0) + 1 / len(weight)) / (len(posterior) + 1)
    step, single = LOGITS[1] - LOGITS[0], with_single_trials(trials)
    while True:
        tasks = rng.dirichlet(np.ones(len(posterior) + 1))
        again = tasks[:-1] @ posterior + tasks[-1] / len(weight)
        own = prior[_drawn_places(likelihood * again, rng)]  # [tasks, nodes]
        logit = LOGITS[_drawn_places(cells * own, rng)]
        # Agents of tasks that differ are nowhere exactly equal.
        apart = step * (rng.random(logit.shape) - 0.5) * ((own > 0).sum(axis=1) > 1)
        share = 1 / (1 + np.exp(-logit - apart))
        drawn = np.where(single, share, (share * (trials + 1) - 0.5) / np.maximum(trials, 1))
        yield np.where(trials > 0, drawn, np.nan)


def with_single_trials(trials: Floats) -> NDArray[np.bool_]:
    """Return on which tasks an agent has a single trial, [tasks].

    >>> with_single_trials(np.array([[5.0, 5.0], [0.0, 1.0]]))
    array([False,  True])
    """
    return np.asarray((trials == 1).any(axis=0))


def _priors() -> Floats:
    """Distributions of log-odds at the nodes, [priors, nodes]: one for each mean and deviation."""
    mean, deviation = (part.ravel()[:, None] for part in np.meshgrid(MEANS, DEVIATIONS))
    width = np.maximum(deviation, 1e-3)
    log = -0.5 * ((LOGITS - mean) / width) ** 2
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _drawn_places(weights: Floats, rng: np.random.Generator) -> np.ndarray:
    """Draw a place on the last axis with these weights."""
    sums = np.cumsum(weights, axis=-1)
    return np.asarray((sums < rng.random((*sums.shape[:-1], 1)) * sums[..., -1:]).sum(axis=-1))


def _excess(moments: Moments, index: int) -> float:
    """How much more runs vary than their trials explain, at least 1."""
    trials, units, mean = (part[index] for part in (moments.trials, moments.units, moments.mean))
    spare = np.maximum(units - 1, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.nansum(np.where(spare > 0, mean * (1 - mean) * units / trials * spare, 0.0))
    observed = np.nansum(np.where(spare > 0, moments.unit_square[index], 0.0))
    return max(float(observed / max(alone, 1e-300)), 1.0) if alone > 0 else 1.0
