r"""The population that agents come from: its mean and deviation, from their results on known tasks.

Agents of a later edition are often more able than those of a fit. Under the population of the fit they are
pulled towards its mean, and tasks that are calibrated on them come out too easy. So the mean μ and the
deviation σ of the newcomers are estimated first, by EM over their marginal likelihood, with
:math:`\mu \sim N(0, 5^2)` and :math:`\log \sigma \sim N(0, 0.3^2)` where the fit has N(0, 1).

References: Kim (2006), for calibration with fixed parameters; Bock & Zimowski (1997), for several groups.
"""

from __future__ import annotations

import numpy as np

from examiner.irt.editions import SAME, Population, complete_information, population_step
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.posterior import Quadrature, agent_blocks, moments, posterior_weights
from examiner.results import ResponseMatrix

FEWEST = 5
"""Agents below which their population is taken to be that of the fit."""
_ROUNDS, _CLOSE = 200, 1e-6


def estimate_population(heights: Floats, rule: Quadrature, like: Population = SAME) -> Population:
    """Return the population of agents from log-likelihoods (heights) [agents, nodes] at a rule's nodes.

    Fewer than five agents are taken to be from a population `like` one that is known. The error of the
    mean takes tasks as known.

    >>> rule = Quadrature.grid()
    >>> heights = -0.5 * ((rule.nodes - np.linspace(0.0, 2.0, 40)[:, None]) / 0.3) ** 2
    >>> round(estimate_population(heights, rule).mean, 1)
    1.0
    """
    if len(heights) < FEWEST:
        return like
    population = like._replace(edition=like.edition + 1)
    for _ in range(_ROUNDS):
        _, weights = posterior_weights(heights + population.log_weights(rule))
        mean, log_sd = population_step(np.log(population.sd), *moments(weights, rule.nodes))
        after = population._replace(mean=mean, sd=float(np.exp(log_sd)))
        moved = max(abs(after.mean - population.mean), abs(after.sd - population.sd))
        population = after
        if moved < _CLOSE:
            break
    covariance = np.linalg.inv(population_information(weights, rule, population))
    return population._replace(mean_error=float(np.sqrt(covariance[0, 0])))


def population_information(weights: Floats, rule: Quadrature, population: Population) -> Floats:
    """Return the observed information of mean and log deviation, tasks taken as known, [2, 2].

    Louis (1982): the information of known abilities, less the covariance of scores under the posteriors
    `weights` [agents, nodes].
    """
    scores = population.scores(rule.nodes)
    means = weights @ scores.T
    missing = np.einsum("jq,aq,bq->ab", weights, scores, scores, optimize=True) - means.T @ means
    ability, variance = moments(weights, rule.nodes)
    whole = complete_information(population.mean, population.sd, ability, variance)
    return np.asarray(whole - missing)


def log_likelihoods(
    matrix: ResponseMatrix, items: ItemParameters, rule: Quadrature, population_sd: float = 1.0
) -> Floats:
    """Return log f(x | θ) of agents at the nodes of a rule [agents, nodes], without a population."""
    kernel = kernel_for(items.response, matrix, items)
    terms = kernel.terms(curves(items, population_sd * rule.nodes), items.precision)
    heights = np.empty((len(matrix.agents), len(rule)))
    for block in agent_blocks(matrix, kernel, width=len(rule)):
        heights[block.rows] = block.log_likelihoods(terms)
    return heights
