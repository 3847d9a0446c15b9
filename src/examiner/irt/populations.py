r"""The population that agents come from: its mean and deviation, from their results on known tasks.

Agents of a later edition are often more able than those of a fit. Under the population of the fit they are
pulled towards its mean, and tasks that are calibrated on them come out too easy. So the mean μ and the
deviation σ of the newcomers are estimated first, by EM over their marginal likelihood, with
:math:`\mu \sim N(0, 5^2)` and :math:`\log \sigma \sim N(0, 0.3^2)` where the fit has N(0, 1).

References: Kim (2006), for calibration with fixed parameters; Bock & Zimowski (1997), for several groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.posterior import Quadrature, agent_blocks, moments, posterior_weights
from examiner.results import ResponseMatrix

FEWEST = 5
"""Agents below which their population is taken to be that of the fit."""
_ROUNDS, _CLOSE = 200, 1e-6
_MEAN_SD, _LOG_SD_SD = 5.0, 0.3


class Population(NamedTuple):
    """Mean and standard deviation of abilities where the fit has N(0, 1), and the error of the mean."""

    mean: float = 0.0
    sd: float = 1.0
    mean_error: float = 0.0

    def rule(self, rule: Quadrature) -> Quadrature:
        """Return the same nodes with the weights of this population."""
        log_weights = self.log_weights(rule)
        log_weights -= np.log(np.exp(log_weights - log_weights.max()).sum()) + log_weights.max()
        return replace(rule, log_weights=log_weights)

    def log_weights(self, rule: Quadrature) -> Floats:
        """Return the logarithm of the mass that each node of a rule for N(0, 1) stands for."""
        away = (rule.nodes - self.mean) / self.sd
        return np.asarray(rule.log_weights + 0.5 * (rule.nodes**2 - away**2) - np.log(self.sd))

    def error(self, deviation: Floats) -> Floats:
        """Return what the error of the mean adds to abilities with these posterior deviations."""
        return np.asarray((deviation / self.sd) ** 2 * self.mean_error)


def estimate_population(heights: Floats, rule: Quadrature) -> Population:
    """Return the population of agents from log-likelihoods (heights) [agents, nodes] at a rule's nodes.

    >>> rule = Quadrature.grid()
    >>> heights = -0.5 * ((rule.nodes - np.linspace(0.0, 2.0, 40)[:, None]) / 0.3) ** 2
    >>> round(estimate_population(heights, rule).mean, 1)
    1.0
    """
    agents = len(heights)
    if agents < FEWEST:
        return Population()
    found = Population()
    for _ in range(_ROUNDS):
        _, weights = posterior_weights(heights + found.log_weights(rule))
        ability, variance = moments(weights, rule.nodes)
        mean = float(ability.sum() / (agents + (found.sd / _MEAN_SD) ** 2))
        square = float((variance + (ability - mean) ** 2).sum())
        # the highest point over log σ: −n + S / σ² − log σ / 0.3² = 0, by one step of Newton's
        log_sd = np.log(found.sd)
        slope = -agents + square / found.sd**2 - log_sd / _LOG_SD_SD**2
        bend = 2 * square / found.sd**2 + _LOG_SD_SD**-2
        after = Population(mean, float(np.exp(log_sd + np.clip(slope / bend, -0.5, 0.5))))
        moved = max(abs(after.mean - found.mean), abs(after.sd - found.sd))
        found = after
        if moved < _CLOSE:
            break
    # what an agent's results alone leave open, without the population
    alone = 1.0 / np.maximum(1.0 / np.maximum(variance, 1e-9) - found.sd**-2, 1e-6)
    precision = float((1.0 / (found.sd**2 + alone)).sum()) + _MEAN_SD**-2
    return found._replace(mean_error=precision**-0.5)


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
