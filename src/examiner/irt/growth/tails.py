r"""How far out a task's score lies by chance: responses of new agents drawn anew under the old parameters.

χ² is the distribution of many responses. Of few, or of a task that nearly all pass, one surprising answer
lies far out in it, and among hundreds of tasks there always is one. With posteriors w_i of the new agents,
n_i trials and x_i successes, the score is linear in these:

.. math:: g(x) = \sum_i x_i \sum_q w_{iq} \frac{\nabla P(\theta_q)}{P (1 - P)}
                 - \sum_i n_i \sum_q w_{iq} \frac{\nabla P(\theta_q)}{1 - P}

so that draws of x give draws of g, with abilities from the posteriors and parameters from their old errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.items import Floats, ItemParameters, curves

_FEWEST_DRAWS, _MOST_DRAWS = 2_000, 1_000_000
_ENOUGH_BEYOND = 50
"""Draws beyond what was found, from which on a tail is known well enough."""
_TOGETHER = 1 << 20


class Newcomers(NamedTuple):
    """New agents: what is known of their abilities at nodes, and how often they tried each task."""

    nodes: Floats
    weights: Floats
    """Posteriors, [agents, nodes]."""
    trials: Floats
    """[agents, tasks], 0 where a task was not taken."""


class Null(NamedTuple):
    """What a task's score is held against: its old parameters' errors, and the metric of the statistic."""

    covariance: Floats
    """Of slope and intercept, [2, 2]."""
    metric: Floats
    """V⁻¹ in gᵀ V⁻¹ g, [2, 2]."""


def draws_for(tests: int, named: int) -> int:
    """Return how many draws tell a tail where some of many tests are named.

    >>> draws_for(700, 1), draws_for(700, 70)
    (70000, 2000)
    """
    return int(np.clip(100 * tests // max(named, 1), _FEWEST_DRAWS, _MOST_DRAWS))


def tail(
    statistic: float, item: ItemParameters, task: int, new: Newcomers, null: Null,
    most: int, rng: np.random.Generator,
) -> float:  # fmt: skip
    """Return the share of draws in which a task's statistic is at least as large as the one found.

    >>> new = Newcomers(np.zeros(1), np.ones((30, 1)), np.ones((30, 1)))
    >>> item = ItemParameters.of(["t"], [1.0], [0.0])
    >>> null = Null(np.zeros((2, 2)), np.diag([0.0, 1 / 7.5]))
    >>> round(tail(64 / 7.5, item, 0, new, null, 20_000, np.random.default_rng(0)), 3)  # 23 of 30
    0.005
    """
    took = new.trials[:, task] > 0
    weights, trials = new.weights[took], new.trials[took, task]
    shape = curves(item, new.nodes)
    chance, low, high = shape.success[0], float(item.guessing[0]), float(item.ceiling[0])
    steep = (high - low) * (shape.rising * shape.falling)[0]
    by = steep[:, None] * np.stack([new.nodes, np.ones_like(new.nodes)], axis=1)
    per_success = weights @ (by / (chance * (1.0 - chance))[:, None])
    expected = trials @ (weights @ (by / (1.0 - chance)[:, None]))
    mean = weights @ new.nodes
    spread = np.sqrt(np.maximum(weights @ new.nodes**2 - mean**2, 0.0))
    old = np.array([item.slope[0], item.intercept[0]])
    beyond, drawn = 0, 0
    while drawn < most and beyond < _ENOUGH_BEYOND:
        count = min(max(1, _TOGETHER // len(trials)), most - drawn)
        slope, intercept = rng.multivariate_normal(old, null.covariance, count, method="eigh").T
        ability = mean + spread * rng.standard_normal((count, len(trials)))
        rising = 1.0 / (1.0 + np.exp(-(slope[:, None] * ability + intercept[:, None])))
        won = rng.binomial(trials.astype(np.int64), low + (high - low) * rising)
        score = won @ per_success - expected
        found = np.einsum("np,pq,nq->n", score, null.metric, score)
        beyond += int((found >= statistic * (1.0 - 1e-9)).sum())
        drawn += count
    return (beyond + 1.0) / (drawn + 1.0)
