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

from examiner.irt.errors.any_scores import LouisScores
from examiner.irt.errors.complete import CompleteScores
from examiner.irt.errors.covariance import Covariances, covariances
from examiner.irt.errors.freedom import Freedom, Scores
from examiner.irt.errors.intervals import told
from examiner.irt.errors.observed_information import louis
from examiner.irt.estimates import DIRECTIONS, JointDraws, TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model, moved
from examiner.irt.posterior import Quadrature, drawn_abilities, posterior_blocks
from examiner.irt.priors import Priors, SlopeScale
from examiner.results import ResponseMatrix


class JointErrors:
    """Errors of tasks, and what they do to the abilities of agents; the largest parts when asked for.

    Those of tasks come from the inverse of the observed information of the marginal likelihood with all
    free and shared parameters together, and with the priors' curvature under MAP (Louis, 1982, eq. 3.2').

    >>> from examiner.irt.models import MODELS
    >>> matrix = ResponseMatrix.from_array(np.tile([[1, 0], [0, 1], [1, 1], [0, 0]], (25, 1)))
    >>> items = ItemParameters.of(matrix.tasks, slope=[0.5, 0.5], intercept=[0.0, 0.0])
    >>> errors = JointErrors(matrix, items, MODELS["1pl"], None, Quadrature.grid()).tasks
    >>> bool(errors.intercept[0] < 0.3), bool(np.isinf(errors.difficulty_high[0]))
    (True, True)
    """

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
        self._matrix, self._rule = matrix, rule
        self._standard = items.rescaled(0.0, population_sd)
        self._freedom = Freedom.at(self._standard, model, priors, scale)
        self._scores: Scores
        if CompleteScores.serves(matrix, self._standard, self._freedom):
            self._scores = CompleteScores(matrix, self._standard, rule, self._freedom)
        else:
            self._scores = LouisScores(louis(matrix, self._standard, model, priors, rule, scale))

    @cached_property
    def found(self) -> Covariances:
        """The covariances of the parameters of tasks."""
        return covariances(self._scores)

    @property
    def tasks(self) -> TaskErrors:
        """Errors and intervals of tasks on the scale users read."""
        return told(self._items, self._model, self.found, self._sd)

    @cached_property
    def directions(self) -> Floats:
        """Leading directions in which tasks err together: [2 or 3 tasks, directions].

        Those of slopes, then of intercepts, then of precisions where each task has its own.
        """
        together, freedom = self.found.together, self._freedom
        every: list[Floats] = []
        if "slope" in freedom.shared:
            direction, together = together.without(int(freedom.columns("slope")[0]))
            every.append(direction[:, None])
        every.append(together.leading(self.found.blocks_of_tasks, DIRECTIONS - len(every)))
        found = np.concatenate(every, axis=1)
        slopes = found[freedom.columns("slope")] / self._sd
        if self._model.unit_slopes:
            slopes = np.zeros_like(slopes)
        told = [slopes, found[freedom.columns("intercept")]]
        if "precision" in freedom.own and self._items.precision is not None:
            told.append(found[freedom.columns("precision")] * self._items.precision[:, None])
        return np.concatenate(told)

    def draws(self, count: int, rng: np.random.Generator) -> JointDraws:
        """Return joint draws of tasks, their scale, and abilities.

        Parameters are normal around the estimates (see `_stretched` for slopes); each draw of tasks
        gives every agent a posterior to draw from.
        """
        freedom, matrix = self._freedom, self._matrix
        away = self.found.together.drawn(count, rng)
        tasks, width = freedom.fixed.shape
        own = away[:, : tasks * width].reshape(count, tasks, width)
        stretched = self._stretched(own, rng)
        made = []
        for mine, rest in zip(own, away[:, tasks * width :], strict=True):
            items = self._standard
            for name, steps in (
                *zip(freedom.own, mine.T, strict=True),
                *zip(freedom.shared, rest, strict=True),
            ):
                items = moved(items, name, steps)
            made.append(items)
        ability = np.empty((count, len(matrix.agents)))
        for row, items in enumerate(made):
            for part in posterior_blocks(matrix, items, self._rule):
                drawn = drawn_abilities(part.weights, self._rule.nodes, rng)
                ability[row, part.block.rows] = drawn
        # Rasch tells the shared slope as the unit of ability
        unit = np.array([items.slope[0] if self._model.unit_slopes else self._sd for items in made])
        told_items = (items.rescaled(0.0, 1.0 / sd) for items, sd in zip(made, unit, strict=True))
        common = 1.0 if freedom.scale is None else freedom.scale.common
        scale = common * np.exp(stretched)
        if "slope" in freedom.shared and freedom.scale is not None:
            scale = np.array([items.slope[0] for items in made])
        return JointDraws(tuple(told_items), ability * unit[:, None], matrix.agents, scale)

    def _stretched(self, own: Floats, rng: np.random.Generator) -> Floats:
        """Draw how log c moves, and turn the moves of slopes [draws, tasks] into those it makes them.

        Slopes are closer to normal as e and log c: with da the normal deviation of slopes and g that
        of log c given it, a = eᵍ (â (1 − g) + da).
        """
        freedom, slope = self._freedom, self._standard.slope
        if freedom.relative is None or freedom.scale is None or "slope" not in freedom.own:
            return np.zeros(len(own))
        moves, deviation = freedom.relative.scale_given(slope, freedom.scale)
        away = own[:, :, freedom.own.index("slope")]
        stretched = np.asarray(away @ moves + deviation * rng.standard_normal(len(own)))
        factor = stretched[:, None]
        away[:] = np.exp(factor) * (slope * (1 - factor) + away) - slope
        return stretched

    def abilities(self) -> tuple[Floats, Floats]:
        """Return the posterior standard deviations of agents, and with the errors of tasks in them."""
        agents = len(self._matrix.agents)
        own, added = np.empty((2, agents))
        for rows, spread, moves in self._moves():
            own[rows], added[rows] = spread, self.found.together.variances(moves)
        return own * self._sd, np.sqrt(own**2 + np.maximum(added, 0.0)) * self._sd

    @cached_property
    def ability_covariance(self) -> Floats:
        """The covariance of all abilities, [agents, agents]."""
        agents = len(self._matrix.agents)
        every, own = np.empty((agents, self._freedom.count)), np.empty(agents)
        for rows, spread, moves in self._moves():
            own[rows], every[rows] = spread, moves
        found = self.found.together.between(every)
        found[np.diag_indices(agents)] += own**2
        return found * self._sd**2

    def _moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
        """Yield rows of agents, their posterior deviations, and J of them [agents, size]."""
        for rows, mean, spread, moves in self._scores.moves():
            if self._model.unit_slopes:  # θ told is the shared slope times θ: both move
                moves[:, self._freedom.columns("slope")[0]] += mean / self._sd
            yield rows, spread, moves
