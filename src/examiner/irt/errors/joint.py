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

from functools import cached_property

import numpy as np

from examiner.irt.errors.abilities import moved_means
from examiner.irt.errors.all_tasks import AllTasks
from examiner.irt.errors.complete import CompleteScores
from examiner.irt.errors.freedom import Freedom, Scores
from examiner.irt.errors.listed_scores import scores_of
from examiner.irt.errors.observed_information import louis
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model
from examiner.irt.posterior import Quadrature, drawn_abilities, posterior_blocks
from examiner.irt.priors import Priors, SlopeScale
from examiner.results import ResponseMatrix


class JointErrors(AllTasks):
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
        self._matrix, self._rule = matrix, rule
        standard = items.rescaled(0.0, population_sd)
        freedom = Freedom.at(standard, model, priors, scale)
        scores: Scores
        if CompleteScores.serves(matrix, standard, freedom):
            scores = CompleteScores(matrix, standard, rule, freedom)
        else:
            scores = scores_of(louis(matrix, standard, model, priors, rule, scale))
        super().__init__(items, model, scores, population_sd)

    def _drawn_abilities(
        self, made: list[ItemParameters], rng: np.random.Generator
    ) -> tuple[tuple[str, ...], Floats]:
        matrix = self._matrix
        ability = np.empty((len(made), len(matrix.agents)))
        for row, items in enumerate(made):
            for part in posterior_blocks(matrix, items, self._rule, listed=True):
                drawn = drawn_abilities(part.weights, self._rule.nodes, rng)
                ability[row, part.block.rows] = drawn
        return matrix.agents, ability

    def abilities(self) -> tuple[Floats, Floats]:
        """Return the posterior standard deviations of agents, and with the errors of tasks in them."""
        agents = len(self._matrix.agents)
        own, added = np.empty((2, agents))
        for rows, spread, moves in moved_means(self._scores, self._model, self._sd):
            own[rows], added[rows] = spread, self.found.together.variances(moves)
        return own * self._sd, np.sqrt(own**2 + np.maximum(added, 0.0)) * self._sd

    @cached_property
    def ability_covariance(self) -> Floats:
        """The covariance of all abilities, [agents, agents]."""
        agents = len(self._matrix.agents)
        every, own = np.empty((agents, self._freedom.count)), np.empty(agents)
        for rows, spread, moves in moved_means(self._scores, self._model, self._sd):
            own[rows], every[rows] = spread, moves
        found = self.found.together.between(every)
        found[np.diag_indices(agents)] += own**2
        return found * self._sd**2
