r"""Errors of tasks and agents together: what is not known of tasks, their scale included, moves agents.

An ability is a posterior mean under the estimated tasks, so that its error has two parts: what the agent's
own results leave open, and what the tasks' errors do to it, by the delta method:

.. math:: \operatorname{Cov}(\hat\theta) = \operatorname{diag}(s_j^2) + J \Sigma J^\top, \quad
          J_j = \partial \mathrm{E}_j[\theta] / \partial\beta = \operatorname{Cov}_j(\theta, s_j)

with Σ the covariance of all parameters β of tasks and s_j the gradient of log f(x_j | θ) by them. The
doubt about zero and unit of the scale is in Σ: all tasks moved or stretched alike. So it is in every
ability, and cancels from differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.covariance import Covariances, covariances
from examiner.irt.errors.intervals import told
from examiner.irt.errors.observed_information import Louis, louis, orthonormal, reached
from examiner.irt.fitted import TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model
from examiner.irt.posterior import Quadrature
from examiner.irt.priors import Priors, SlopeScale
from examiner.results import ResponseMatrix


class JointErrors:
    """Errors of tasks, and what they do to the abilities of agents; the largest parts when asked for."""

    def __init__(
        self,
        matrix: ResponseMatrix,
        items: ItemParameters,
        model: Model,
        priors: Priors | None,
        rule: Quadrature,
        population_sd: float = 1.0,
        scale: SlopeScale | None = None,
    ) -> None:
        self._items, self._model, self._sd = items, model, population_sd
        standard = items.rescaled(0.0, population_sd)
        self._parts: Louis = louis(matrix, standard, model, priors, rule, scale)

    @cached_property
    def found(self) -> Covariances:
        """The covariances of the parameters of tasks."""
        return covariances(self._parts)

    @property
    def tasks(self) -> TaskErrors:
        """Errors and intervals of tasks on the scale users read."""
        return told(self._items, self._model, self.found, self._sd)

    def abilities(self) -> tuple[Floats, Floats]:
        """Return the posterior standard deviations of agents, and with the errors of tasks in them."""
        agents = len(self._parts.matrix.agents)
        own, added = np.empty((2, agents))
        for rows, spread, moves in self._moves():
            own[rows], added[rows] = spread, self.found.together.variances(moves)
        return own * self._sd, np.sqrt(own**2 + np.maximum(added, 0.0)) * self._sd

    @cached_property
    def ability_covariance(self) -> Floats:
        """The covariance of all abilities, [agents, agents]."""
        agents = len(self._parts.matrix.agents)
        every, own = np.empty((agents, self._parts.freedom.count)), np.empty(agents)
        for rows, spread, moves in self._moves():
            own[rows], every[rows] = spread, moves
        found = self.found.together.between(every)
        found[np.diag_indices(agents)] += own**2
        return found * self._sd**2

    def _moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
        """Yield rows of agents, their posterior deviations, and J of them [agents, size].

        J is the deviation times the first coefficient of the scores in polynomials orthonormal under
        the posterior, of which the first is (θ − mean) / deviation.
        """
        for some in reached(self._parts):
            first = next(orthonormal(some.parts.rule.nodes, some.weights))
            spread = np.sqrt(_variances(some.parts.rule.nodes, some.weights))
            moves = spread[:, None] * some.moments(some.weights * first)
            yield self._parts.order[some.block.rows], spread, moves


def _variances(nodes: Floats, weights: Floats) -> Floats:
    mean = weights @ nodes
    return np.maximum((weights * (nodes - mean[:, None]) ** 2).sum(axis=1), 0.0)
