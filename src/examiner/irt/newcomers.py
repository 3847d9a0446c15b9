"""What is not known of the population of newcomers: its mean and deviation err with the tasks of a fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.agent_posterior import ability_moves, response_slopes
from examiner.irt.editions import Population
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.items import ItemParameters
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.irt.populations import population_information
from examiner.irt.posterior import Quadrature, posterior_blocks
from examiner.results import ResponseMatrix


def with_newcomers(
    covariance: ParameterCovariance,
    columns: NDArray[np.intp],
    matrix: ResponseMatrix,
    items: ItemParameters,
    rule: Quadrature,
    population: Population,
) -> ParameterCovariance:
    r"""Return the covariance of a fit with mean and log deviation π of a population estimated on it.

    They move with the parameters β of tasks as the maximum of the newcomers' likelihood does, and have
    errors of their own:

    .. math:: \frac{d\hat\pi}{d\beta} = I_\pi^{-1} \sum_j \mathrm{Cov}_j(s_\pi, s_\beta), \qquad
              \operatorname{Cov}(\hat\pi \mid \beta) = I_\pi^{-1}

    `columns` are the places of the matrix's tasks in the covariance, and `items` these tasks where the
    population of the fit is N(0, 1).
    """
    met = replace(covariance.take(columns), unit_slopes=False)  # in units of the population
    kernel = kernel_for(items.response, matrix, items)
    slopes = response_slopes(kernel, items, rule.nodes, met.names)
    together, information = np.zeros((2, len(met.directions))), np.zeros((2, 2))
    for block, _, weights in posterior_blocks(matrix, items, population.rule(rule)):
        information += population_information(weights, rule, population)
        for row, score in enumerate(population.scores(rule.nodes)):
            centred = weights * (score - (weights @ score)[:, None])
            own, shared = ability_moves(centred, rule.nodes, block.statistics, slopes, met, 1.0)
            of_tasks = np.stack([part.sum(axis=0) for part in own], axis=1).ravel()
            together[row] += np.append(of_tasks, shared.sum(axis=0))
    unknown = np.asarray(np.linalg.inv(information), dtype=np.float64)
    count = len(covariance.own)
    cut, moves = len(covariance.blocks) * count, np.zeros((2, len(covariance.directions)))
    places = (columns[:, None] * count + np.arange(count)).ravel()
    moves[:, places], moves[:, cut:] = np.split(unknown @ together, [len(places)], axis=1)
    return covariance.with_population(moves, unknown)
