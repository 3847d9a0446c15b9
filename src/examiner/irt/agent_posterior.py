r"""The posterior of an agent's ability: one treatment for fits, placements, examinations and predictions.

An ability is the mean of the posterior under the estimated tasks, with the population of the fit as prior:

.. math:: \hat\theta = \mathrm{E}[\theta \mid x, \hat\beta], \quad
          p(\theta \mid x, \hat\beta) \propto N(\theta; 0, \sigma^2) \prod_i f(x_i \mid \theta, \hat\beta_i)

Its error has two parts: what the agent's own responses leave open, and what the errors of the task
parameters β do to the mean, by the delta method:

.. math:: \operatorname{error}^2 = \operatorname{Var}(\theta \mid x, \hat\beta) + J \Sigma J^\top, \quad
          J = \partial \hat\theta / \partial\beta
            = \operatorname{Cov}(\theta, \partial \log f / \partial\beta)

Σ is the covariance of all task parameters that is stored with the fit (`ParameterCovariance`); the
uncertainty of the scale's zero and unit is part of it. Intervals are the mean ± 1.96 errors.

An agent of the calibration sample is treated like any other. Its responses helped to estimate β, so that
β̂ errs in a direction that depends on them; the first-order formula above counts Σ as if it did not. The
effect is of order 1 / agents of an error that itself falls with agents. In exchange a fitted agent
has one ability and one error, whether it is read from the fit, placed on it or examined with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.editions import SAME, Population
from examiner.irt.estimation.kernels import Kernel
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.model import Parameter, moved
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.irt.posterior import Quadrature, moments, posterior_blocks
from examiner.results import ResponseMatrix

_STEP = 1e-5
"""Step of central differences of F_c, as long as rounding and truncation err alike."""


class AbilityEstimates(NamedTuple):
    """Abilities of agents, the standard deviations of their posteriors, and their total standard errors.

    `deviation` takes task parameters as known, `error` counts their errors too; each is [agents].
    """

    ability: Floats
    deviation: Floats
    error: Floats


def with_calibration(
    ability: Floats, deviation: Floats, calibration_variance: Floats
) -> AbilityEstimates:
    """Return estimates whose errors count those of the task parameters, J Σ Jᵀ [agents]."""
    return AbilityEstimates(ability, deviation, np.sqrt(deviation**2 + calibration_variance))


def widened(deviation: Floats, effect: float, population_sd: float) -> Floats:
    """Return posterior deviations with the design effect of groups of tasks."""
    share = np.minimum((deviation / population_sd) ** 2, 1.0)
    return np.asarray(deviation * np.sqrt(share + (1.0 - share) * effect))


def estimate_abilities(
    weights: Floats,
    nodes: Floats,
    statistics: Sequence[Floats],
    slopes: Sequence[Floats],
    covariance: ParameterCovariance | None,
    population_sd: float,
    population: Population = SAME,
) -> AbilityEstimates:
    """Return the abilities of agents with posterior weights [agents, nodes] at the abilities `nodes`.

    `statistics` are the kernel's T_c [agents, tasks], 0 where nothing was observed, and `slopes` what
    `response_slopes` returns for the same tasks. Without a covariance task parameters are exact.
    """
    ability, variance = moments(weights, nodes)
    deviation = np.sqrt(variance)
    if covariance is None:
        return AbilityEstimates(ability, deviation, deviation)
    deviation = widened(deviation, covariance.design_effect, population_sd * population.sd)
    centred = weights * (nodes - ability[:, None])
    of_tasks, shared = ability_moves(
        centred, nodes, statistics, slopes, covariance, population_sd, population
    )
    return with_calibration(ability, deviation, covariance.propagated(of_tasks, shared)[0])


def ability_moves(
    centred: Floats,
    nodes: Floats,
    statistics: Sequence[Floats],
    slopes: Sequence[Floats],
    covariance: ParameterCovariance,
    population_sd: float,
    population: Population = SAME,
) -> tuple[list[Floats], Floats]:
    """Return J: how abilities move with parameters of tasks [agents, tasks], and shared ones [agents, n].

    `centred` are posterior weights times θ less its mean. Numbers of populations follow the shared ones.
    """
    moves = [
        np.asarray(
            sum(data * (centred @ by[place].T) for data, by in zip(statistics, slopes, strict=True))
        )
        for place in range(len(covariance.names))
    ]
    of_tasks, cut = moves[: len(covariance.own)], len(covariance.own)
    shared = np.zeros((len(centred), len(moves) - cut))
    for column, part in enumerate(moves[cut:]):
        shared[:, column] = part.sum(axis=1)
    standard = nodes / population_sd
    if covariance.unit_slopes:  # the shared slope is the standard deviation σ of the prior N(0, σ²)
        by_scale = (standard - population.mean) * standard / population.sd**2 / population_sd
        shared[:, covariance.shared.index("slope")] = centred @ by_scale
    of_populations = population.moves(centred, standard, covariance.populations)
    return of_tasks, np.concatenate([shared, of_populations], axis=1)


def term_slopes(
    kernel: Kernel, items: ItemParameters, nodes: Floats, names: Sequence[Parameter]
) -> tuple[Floats, ...]:
    """Return ∂F_c/∂parameter of a kernel by central differences, each [parameters, tasks, nodes]."""
    by_name = []
    for name in names:
        ahead, behind = moved(items, name, _STEP), moved(items, name, -_STEP)
        up = kernel.terms(curves(ahead, nodes), ahead.precision)
        down = kernel.terms(curves(behind, nodes), behind.precision)
        by_name.append([(high - low) / (2 * _STEP) for high, low in zip(up, down, strict=True)])
    return tuple(np.stack(parts) for parts in zip(*by_name, strict=True))


def response_slopes(
    kernel: Kernel, items: ItemParameters, nodes: Floats, names: Sequence[Parameter]
) -> tuple[Floats, ...]:
    """Return ∂F_c/∂parameter, each [parameters, tasks, nodes]; one that all tasks share has one task.

    Successes without guessing and slipping have F = (η, log(1 − P)) with η = aθ + d: a closed form.
    """
    if not _has_closed_form(items):
        return term_slopes(kernel, items, nodes, names)
    return _closed_form(curves(items, nodes).success, nodes, names)


class SlopeTables:
    """`response_slopes` of tasks of a fit, computed for a task when they are first needed.

    Every step of an examination needs those of the tasks given so far, and of no others.
    """

    def __init__(self, items: ItemParameters, nodes: Floats, names: Sequence[Parameter]) -> None:
        self._items, self._nodes, self._names = items, nodes, names
        self._by_task: dict[tuple[Kernel, int], tuple[Floats, ...]] = {}
        closed = _has_closed_form(items)
        self._success = curves(items, nodes).success if closed else None

    def of(self, kernel: Kernel, tasks: NDArray[np.intp]) -> tuple[Floats, ...]:
        """Return the slopes of some tasks, by their columns."""
        if self._success is not None:
            return _closed_form(self._success[tasks], self._nodes, self._names)
        new = [task for task in tasks.tolist() if (kernel, task) not in self._by_task]
        if new:
            slopes = term_slopes(kernel, self._items.take(new), self._nodes, self._names)
            for row, task in enumerate(new):
                self._by_task[kernel, task] = tuple(by[:, row] for by in slopes)
        parts = [self._by_task[kernel, task] for task in tasks.tolist()]
        return tuple(np.stack(part, axis=1) for part in zip(*parts, strict=True))


def _has_closed_form(items: ItemParameters) -> bool:
    plain = not items.guessing.any() and bool((items.ceiling == 1).all())
    return items.response == "binomial" and plain


def _closed_form(
    success: Floats, nodes: Floats, names: Sequence[Parameter]
) -> tuple[Floats, Floats]:
    by_logit = np.stack([nodes if name == "slope" else np.ones_like(nodes) for name in names])
    return by_logit[:, None], -by_logit[:, None] * success


class AgentPosteriors(NamedTuple):
    """Estimates of agents, and their posterior weights [agents, nodes] at the abilities `nodes`."""

    estimates: AbilityEstimates
    weights: Floats
    nodes: Floats


def agent_posteriors(
    matrix: ResponseMatrix,
    items: ItemParameters,
    rule: Quadrature,
    covariance: ParameterCovariance | None = None,
    *,
    population_sd: float = 1.0,
    population: Population = SAME,
) -> AgentPosteriors:
    """Return the posteriors of agents who responded to tasks of a fit; `covariance` is of these tasks.

    `rule` is for N(0, 1), and agents are from the `population`.

    >>> items = ItemParameters.of(["t", "u"], slope=[1.0, 1.0], intercept=[0.0, 0.0])
    >>> matrix = ResponseMatrix.from_array([[1, 1]], tasks=["t", "u"])
    >>> exact = agent_posteriors(matrix, items, Quadrature.grid()).estimates
    >>> names, blocks = ("slope", "intercept"), np.tile([0.1, 0.0, 0.0, 0.1], (2, 1))
    >>> covariance = ParameterCovariance(names, (), blocks, np.zeros((4, 0)))
    >>> uncertain = agent_posteriors(matrix, items, Quadrature.grid(), covariance).estimates
    >>> bool(uncertain.ability == exact.ability), bool(uncertain.error > exact.error)
    (True, True)
    """
    from examiner.irt.estimation.kernels import kernel_for

    rule, nodes = population.rule(rule), population_sd * rule.nodes
    slopes: tuple[Floats, ...] = ()
    if covariance is not None:
        kernel = kernel_for(items.response, matrix, items)
        slopes = response_slopes(kernel, items, nodes, covariance.names)
    every, weights = [], []
    size = 0 if covariance is None else len(covariance.directions)
    for block, _, block_weights in posterior_blocks(
        matrix, items, rule, population_sd=population_sd, width=size
    ):
        statistics = block.statistics
        every.append(
            estimate_abilities(
                block_weights, nodes, statistics, slopes, covariance, population_sd, population
            )
        )
        weights.append(block_weights)
    estimates = AbilityEstimates(*(np.concatenate(part) for part in zip(*every, strict=True)))
    return AgentPosteriors(estimates, np.concatenate(weights), nodes)
