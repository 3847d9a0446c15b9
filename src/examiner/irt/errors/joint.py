r"""Errors of tasks and agents together: what is not known of tasks, their scale included, moves agents.

The treatment of one agent is that of `agent_posterior`. All agents of a fit depend on the same tasks:

.. math:: \operatorname{Cov}(\hat\theta) = \operatorname{diag}(s_j^2) + J \Sigma J^\top

The uncertainty of zero and unit of the scale is in Σ: all tasks moved or stretched alike. So it is in every
ability, and cancels from differences.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from examiner.irt.agent_posterior import AbilityEstimates, with_calibration
from examiner.irt.editions import Editions
from examiner.irt.errors import information
from examiner.irt.errors.covariance import covariances
from examiner.irt.errors.information import Freedom, Information
from examiner.irt.errors.intervals import task_errors
from examiner.irt.errors.scores import ability_errors, ability_moves
from examiner.irt.estimates import JointDraws, TaskErrors
from examiner.irt.estimation.passes import ability_draws
from examiner.irt.estimation.sources import MemorySource, ResponseSource
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model, Unknowns, moved
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.irt.posterior import Quadrature
from examiner.irt.priors import Priors, SlopeScale
from examiner.messages import InputError
from examiner.results import ResponseMatrix

_TABLES, _LEVELS = 10, 24
"""Tables of [tasks, nodes] in double precision: where trials are the same for all, and where not."""


class TooLittleMemoryError(InputError):
    """Errors need more memory than there is, while the fit does not."""


class JointErrors:
    """Errors of tasks, and what they do to the abilities of agents; the largest parts when asked for.

    Those of tasks come from the inverse of the observed information of the marginal likelihood with all
    free and shared parameters together, and with the priors' curvature under MAP (Louis, 1982, eq. 3.2').
    Responses may be anywhere: all that is needed of them are sums over blocks of agents.

    >>> from examiner.irt.models import MODELS
    >>> matrix = ResponseMatrix.from_array(np.tile([[1, 0], [0, 1], [1, 1], [0, 0]], (25, 1)))
    >>> items = ItemParameters.of(matrix.tasks, slope=[0.5, 0.5], intercept=[0.0, 0.0])
    >>> errors = JointErrors.of(matrix, items, MODELS["1pl"], None, Quadrature.grid()).tasks
    >>> bool(errors.intercept[0] < 0.3), bool(np.isinf(errors.difficulty_high[0]))
    (True, True)
    """

    def __init__(
        self,
        source: ResponseSource,
        items: ItemParameters,
        model: Model,
        priors: Priors | None,
        rule: Quadrature,
        population_sd: float = 1.0,
        scale: SlopeScale | None = None,
        editions: Editions | None = None,
        populations: Floats | None = None,
    ) -> None:
        populations = np.zeros(0) if populations is None else populations
        self._source, self._nodes, self._populations = source, rule, populations
        self._rule = rule if editions is None else editions.rule(rule, populations)
        self._items, self._model, self._sd = items, model, population_sd
        self._standard = items.rescaled(0.0, population_sd)
        self._freedom = Freedom.at(self._standard, model, priors, scale, editions)
        self._check_memory()

    @classmethod
    def of(
        cls,
        matrix: ResponseMatrix,
        items: ItemParameters,
        model: Model,
        priors: Priors | None,
        rule: Quadrature,
        population_sd: float = 1.0,
        scale: SlopeScale | None = None,
    ) -> JointErrors:
        """Return the errors at any parameters of the tasks of a matrix."""
        source = MemorySource(matrix, items.response)
        source = source.suited(Unknowns.of(model, items.response, items.tasks, priors))
        return cls(source, items, model, priors, rule, population_sd, scale)

    @cached_property
    def information(self) -> Information:
        """The observed information, for abilities that are N(0, 1)."""
        mean_moves = 1.0 / self._sd if self._model.unit_slopes else None
        return Information(
            self._source, self._standard, self._rule, self._freedom, self._populations, mean_moves
        )

    @cached_property
    def tasks(self) -> TaskErrors:
        """Errors and intervals of tasks on the scale users read."""
        unit_slopes = self._model.unit_slopes
        found = covariances(self.information, unit_slopes=unit_slopes)
        return task_errors(self._items, self._model, found)

    @property
    def parameters(self) -> ParameterCovariance:
        """The covariance of all parameters, as a fit stores it: blocks of tasks and leading directions."""
        assert self.tasks.parameters is not None
        return self.tasks.parameters

    @property
    def population_errors(self) -> Floats:
        """Standard errors of means and log deviations of editions but the first."""
        end = self._freedom.populations
        last = self.parameters.directions[-end:] if end else np.zeros((0, 0))
        return np.asarray(np.sqrt((last**2).sum(axis=1)))

    def abilities(self) -> tuple[AbilityEstimates, Floats]:
        """Return the abilities of agents, whose errors count those of tasks, and what the errors share.

        The last are directions [agents, n] in which the errors of tasks move abilities together.
        """
        work = self.information.job, self.parameters
        _, (mean, variance, added, shared) = self._source.total(ability_errors, work)
        estimates = with_calibration(mean, np.sqrt(variance), added)
        return AbilityEstimates(*(self._sd * part for part in estimates)), shared * self._sd

    @cached_property
    def ability_covariance(self) -> Floats:
        """The covariance of all abilities, [agents, agents]."""
        _, (variance, moves) = self._source.total(ability_moves, self.information.job)
        covariance = self.parameters.between(moves[:, self._freedom.order])
        covariance[np.diag_indices_from(covariance)] += variance
        return covariance * self._sd**2

    def draws(self, count: int, rng: np.random.Generator) -> JointDraws:
        """Return joint draws of tasks, their scale, and abilities.

        Parameters are normal around the estimates (see `_stretched` for slopes); each draw of tasks
        gives every agent a posterior to draw from.
        """
        freedom = self._freedom
        away = self.parameters.drawn(count, rng)
        tasks, width = freedom.fixed.shape
        of_tasks = away[:, : tasks * width].reshape(count, tasks, width)
        stretched = self._stretched(of_tasks, rng)
        drawn = []
        for mine, shared in zip(of_tasks, away[:, tasks * width :], strict=True):
            items = self._standard
            for name, steps in (
                *zip(freedom.own, mine.T, strict=True),
                *zip(freedom.shared, shared, strict=False),
            ):
                items = moved(items, name, steps)
            drawn.append(items)
        agents = len(self._source.agents)
        ability = np.empty((count, agents))
        for row, items in enumerate(drawn):
            random = np.stack([rng.random(agents), rng.random(agents)], axis=1)
            rule = self._rule
            if freedom.editions is not None:
                moved_by = away[row, freedom.count - freedom.populations :]
                rule = freedom.editions.rule(self._nodes, self._populations + moved_by)
            at = self._source.pass_at(items, rule)
            _, (ability[row],) = self._source.total(ability_draws, (at, random))
        # Rasch tells the shared slope as the unit of ability
        unit = np.array([i.slope[0] if self._model.unit_slopes else self._sd for i in drawn])
        told_items = (items.rescaled(0.0, 1.0 / sd) for items, sd in zip(drawn, unit, strict=True))
        common = 1.0 if freedom.scale is None else freedom.scale.common
        scale = common * np.exp(stretched)
        if "slope" in freedom.shared and freedom.scale is not None:
            scale = np.array([items.slope[0] for items in drawn])
        return JointDraws(tuple(told_items), ability * unit[:, None], self._source.agents, scale)

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

    def _check_memory(self) -> None:
        """Refuse errors that need more than the memory the source may use."""
        source, size = self._source, self._freedom.count
        if source.memory is None:
            return
        tables = _TABLES if source.whole.alike and source.plain else _LEVELS
        needed = 0.25 + 8e-9 * tables * len(self._items) * len(self._rule)
        if size <= information.MOST_TOGETHER:
            needed += 4 * 8e-9 * size**2
        if needed > source.memory:
            least = math.ceil(10 * needed) / 10
            raise TooLittleMemoryError(
                f"Standard errors of tasks need {least:.1f} GB of memory, and {source.memory:g} are given."
            )
