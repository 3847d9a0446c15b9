r"""Errors of tasks and agents together: what is not known of tasks, their scale included, moves agents.

The treatment of one agent is that of `agent_posterior`. All agents of a fit depend on the same tasks:

.. math:: \operatorname{Cov}(\hat\theta) = \operatorname{diag}(s_j^2) + J \Sigma J^\top

The uncertainty of zero and unit of the scale is in Σ: all tasks moved or stretched alike. So it is in every
ability, and cancels from differences.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from examiner.irt.agent_posterior import AbilityEstimates, with_calibration
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

    def abilities(self) -> AbilityEstimates:
        """Return the abilities of agents; their errors count those of tasks."""
        estimates = np.empty((3, len(self._matrix.agents)))
        for rows, mean, deviation, moves in moved_means(self._scores, self._model, self._sd):
            added = self.parameters.variances(moves)
            estimates[:, rows] = with_calibration(mean, deviation, added)
        return AbilityEstimates(*(estimates * self._sd))

    @cached_property
    def ability_covariance(self) -> Floats:
        """The covariance of all abilities, [agents, agents]."""
        agents = len(self._matrix.agents)
        every, deviations = np.empty((agents, self._freedom.count)), np.empty(agents)
        for rows, _, deviation, moves in moved_means(self._scores, self._model, self._sd):
            deviations[rows], every[rows] = deviation, moves
        covariance = self.parameters.between(every)
        covariance[np.diag_indices(agents)] += deviations**2
        return covariance * self._sd**2
