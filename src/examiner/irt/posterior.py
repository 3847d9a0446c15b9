"""The marginal likelihood of any parameters under any quadrature, and what agents look like under it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import curves
from examiner.results import ResponseMatrix
from examiner.wording import InputError, listed

_SHORT = 200
_FINE, _COARSER = 0.2, 0.5
"""Posterior standard deviations between nodes: short tests can afford them close."""


class Posterior(NamedTuple):
    """What the responses say of each agent: log marginal likelihood, and weights of the nodes."""

    log_marginal: Floats
    weights: Floats


def log_likelihood(
    matrix: ResponseMatrix,
    items: ItemParameters,
    nodes: int | Quadrature | None = None,
    *,
    population_sd: float = 1.0,
) -> float:
    """Return Σⱼ log ∫ Πᵢ f(xⱼᵢ | θ) φ(θ) dθ for any parameters and any quadrature.

    `nodes` is a number of Gauss–Hermite nodes, a `Quadrature` (`Quadrature.grid(-6, 6, 241)`), or
    nothing, for a grid as fine as the tasks need. Tasks of the matrix without parameters are an
    error; cells that were not observed are left out. Abilities are N(0, population_sd²).

    >>> matrix = ResponseMatrix.from_array([[1], [0]], tasks=["t"])
    >>> round(log_likelihood(matrix, ItemParameters.of(["t"], [1.0], [0.0])), 6)  # 2 log(1/2)
    -1.386294
    """
    matched = items_for(matrix, items)
    rule = quadrature_for(nodes, matched.rescaled(0.0, population_sd), matrix)
    return float(posterior(matrix, matched, rule, population_sd=population_sd).log_marginal.sum())


def items_for(matrix: ResponseMatrix, items: ItemParameters) -> ItemParameters:
    """Return the parameters in the order of the matrix's tasks."""
    if items.tasks == matrix.tasks:
        return items
    place = {task: column for column, task in enumerate(items.tasks)}
    unknown = [task for task in matrix.tasks if task not in place]
    if unknown:
        raise InputError(
            f"No parameters are known of {listed(unknown)}. Leave these tasks out of the matrix."
        )
    return items.take([place[task] for task in matrix.tasks])


def quadrature_for(
    nodes: int | Quadrature | None, items: ItemParameters, matrix: ResponseMatrix
) -> Quadrature:
    """Return the quadrature asked for, or one as fine as these tasks and trials need."""
    if isinstance(nodes, Quadrature):
        return nodes
    if isinstance(nodes, int):
        return Quadrature.gauss_hermite(nodes)
    trials: Floats | float = 1.0
    if matrix.is_counts:
        trials = matrix.trials.max(axis=0).astype(np.float64)
    return Quadrature.for_items(items, trials, spacing=_FINE if len(items) <= _SHORT else _COARSER)


def log_likelihoods(matrix: ResponseMatrix, items: ItemParameters, abilities: Floats) -> Floats:
    """Return log f(xⱼ | θ) of every agent (rows) at every ability (columns), constants included."""
    kernel = kernel_for(items.response, matrix)
    terms = kernel.terms(curves(items, abilities), items.precision)
    total = np.repeat(kernel.constant(matrix)[:, None], abilities.size, axis=1)
    for data, term in zip(kernel.statistics(matrix), terms, strict=True):
        total += data @ term
    return total


def posterior(
    matrix: ResponseMatrix,
    items: ItemParameters,
    rule: Quadrature,
    *,
    population_sd: float = 1.0,
) -> Posterior:
    """Return each agent's log marginal likelihood and posterior weights over the nodes.

    Node θ of the rule stands for the ability population_sd · θ.
    """
    joint = log_likelihoods(matrix, items, population_sd * rule.nodes)
    joint += rule.log_weights
    top = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - top)
    mass = weights.sum(axis=1, keepdims=True)
    weights /= mass
    return Posterior((top + np.log(mass))[:, 0], weights)
