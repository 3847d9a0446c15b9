r"""Drift: whether new agents contradict the task parameters of an earlier fit.

The score of a task under its old slope a and intercept d is the gradient g of the expected log-likelihood
of new agents, with information I; the old estimates have errors with covariance Σ, so that

.. math:: X^2 = g^\top (I + I \Sigma I)^{-1} g \sim \chi^2_2

and I⁻¹g is how far the parameters would move in one step. I takes abilities as known, which makes the test
conservative in short tests.

χ² is the distribution for many responses. With few, or on a task that nearly all agents pass, a single
surprising answer is far in its tail, and among hundreds of tasks there always is one. p-values that χ²
finds significant are therefore simulated. With posteriors w_i of the new agents and n_i trials, the score
is linear in the successes x_i:

.. math:: g(x) = \sum_i x_i \sum_q w_{iq} \frac{\nabla P(\theta_q)}{P (1 - P)}
                 - \sum_i n_i \sum_q w_{iq} \frac{\nabla P(\theta_q)}{1 - P}

so that draws of x give draws of g, with abilities from the posteriors and parameters from their errors.

References: Rao (1948), the score test; Glas (1998), for item parameter drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.estimates import TaskErrors
from examiner.irt.estimation.heights import heights
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.evidence import LEVEL
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.messages import counted, listed
from examiner.scores import benjamini_hochberg

_MIN_AGENTS = 20
"""With fewer new agents on a task the normal approximation of the test is not valid."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Tasks of a fit against new agents; each array is [tasks], NaN where too few took it.

    `p` is adjusted for all tasks (Benjamini–Hochberg), and `shift` how far difficulty would move.
    """

    tasks: tuple[str, ...]
    shift: Floats
    p: Floats

    @property
    def moved(self) -> tuple[str, ...]:
        """The tasks that moved, the farthest first."""
        significant = np.flatnonzero(self.p < LEVEL)
        order = significant[np.argsort(-np.abs(self.shift[significant]), kind="stable")]
        return tuple(self.tasks[task] for task in order)

    def sentence(self) -> str:
        """Return which tasks moved, and whether to fit all again.

        >>> Drift(("t", "u"), np.array([0.9, 0.0]), np.array([0.001, 0.8])).sentence()
        "1 of 2 tasks moved (5 %, Benjamini–Hochberg): 't'. Fit all results again, or look at them."
        """
        tested = int(np.isfinite(self.p).sum())
        if not tested:
            return f"Whether tasks have changed is not known: none was taken by {_MIN_AGENTS} new agents."
        moved = self.moved
        if not moved:
            return f"No task of {tested:,} moved significantly (5 %, Benjamini–Hochberg)."
        return (
            f"{len(moved):,} of {counted(tested, 'task')} moved (5 %, Benjamini–Hochberg): {listed(moved)}"
            f". Fit all results again, or look at them."
        )


class Newcomers(NamedTuple):
    """New agents: their posteriors at nodes, and how often they tried each task."""

    nodes: Floats
    weights: Floats
    """Posteriors, [agents, nodes]."""
    trials: Floats
    """[agents, tasks], 0 where a task was not taken."""


def drift(
    expected: KernelStatistics,
    items: ItemParameters,
    covariance: Floats,
    new: Newcomers,
    agents_before: int,
    rng: np.random.Generator,
) -> Drift:
    """Test every task of an earlier fit with an E-step of new agents; `covariance` is Σ, [tasks, 2, 2].

    Where Σ is unknown, it is taken as I⁻¹ n/N with n new agents and N of the fit.
    """
    slopes = expected.kernel.slopes(expected.sums, expected.shape, items.precision)
    slopes = slopes._replace(beyond=None)
    at = heights(("slope", "intercept"), slopes, items, expected.shape, expected.nodes)
    information = at.curvature + 1e-6 * np.eye(2)
    step = np.linalg.solve(information, at.gradient[:, :, None])[:, :, 0]
    taken = (new.trials > 0).sum(axis=0)
    unknown = np.isnan(covariance).sum(axis=(1, 2)) > 0
    rough = np.linalg.inv(information) * (taken / max(agents_before, 1))[:, None, None]
    covariance = np.where(unknown[:, None, None], rough, covariance)
    metric = np.linalg.inv(information + information @ covariance @ information)
    statistic = np.einsum("tp,tpq,tq->t", at.gradient, metric, at.gradient)
    enough = np.flatnonzero(taken >= _MIN_AGENTS)
    p, shift = np.full((2, len(items)), np.nan)
    tail_p = np.exp(-0.5 * statistic[enough])  # of χ² with 2 degrees
    if items.response == "binomial":
        named = np.flatnonzero(benjamini_hochberg(tail_p) < LEVEL)
        # as many draws as determine a tail where some of many tests are significant
        most = int(np.clip(100 * len(enough) // max(len(named), 1), 2_000, 1_000_000))
        for place in named:
            task = int(enough[place])
            errors = covariance[task], metric[task]
            tail_p[place] = tail(
                float(statistic[task]), items.take([task]), task, new, *errors, most, rng
            )
    p[enough] = benjamini_hochberg(tail_p)
    slope, intercept = items.slope + step[:, 0], items.intercept + step[:, 1]
    shift[enough] = (-intercept / slope - items.difficulty)[enough]
    return Drift(items.tasks, shift, p)


def covariances(errors: TaskErrors | None, items: ItemParameters, sd: float) -> Floats:
    """Return Σ of slopes, for abilities in units of `sd`, and intercepts, [tasks, 2, 2]; NaN if unknown."""
    covariance = np.full((len(items), 2, 2), np.nan)
    if errors is None:
        return covariance
    covariance[:, 0, 0], covariance[:, 1, 1] = (sd * errors.slope) ** 2, errors.intercept**2
    covariance[:, 0, 1] = covariance[:, 1, 0] = sd * errors.covariance
    return covariance


def tail(
    statistic: float,
    item: ItemParameters,
    task: int,
    new: Newcomers,
    covariance: Floats,
    metric: Floats,
    most: int,
    rng: np.random.Generator,
) -> float:
    """Return the share of draws in which a task's statistic is at least as large as the observed one.

    `covariance` [2, 2] is that of the old slope and intercept, and `metric` V⁻¹ in gᵀ V⁻¹ g.

    >>> new = Newcomers(np.zeros(1), np.ones((30, 1)), np.ones((30, 1)))
    >>> item = ItemParameters.of(["t"], [1.0], [0.0])
    >>> errors = np.zeros((2, 2)), np.diag([0.0, 1 / 7.5])
    >>> round(tail(64 / 7.5, item, 0, new, *errors, 20_000, np.random.default_rng(0)), 3)  # 23 of 30
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
    while drawn < most and beyond < 50:  # more would hardly change the share
        count = min(max(1, (1 << 20) // len(trials)), most - drawn)
        slope, intercept = rng.multivariate_normal(old, covariance, count, method="eigh").T
        ability = mean + spread * rng.standard_normal((count, len(trials)))
        rising = 1.0 / (1.0 + np.exp(-(slope[:, None] * ability + intercept[:, None])))
        won = rng.binomial(trials.astype(np.int64), low + (high - low) * rising)
        score = won @ per_success - expected
        drawn_statistic = np.einsum("np,pq,nq->n", score, metric, score)
        beyond += int((drawn_statistic >= statistic * (1.0 - 1e-9)).sum())
        drawn += count
    return (beyond + 1.0) / (drawn + 1.0)
