r"""Errors of tasks where agents lie in parts, in memory one after the other or on other machines.

All that covariances need of the scores of agents are sums over agents (Louis 1982, eq. 3.2'): those of
complete information, of missing information times a vector, and of its blocks. Each part answers for its
own agents without priors, which are counted once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.abilities import ability_errors
from examiner.irt.errors.all_tasks import AllTasks
from examiner.irt.errors.complete import CompleteScores
from examiner.irt.errors.freedom import CompleteInformation, Freedom, Scores
from examiner.irt.errors.listed_scores import scores_of
from examiner.irt.errors.observed_information import louis
from examiner.irt.estimation.parts import AskedSource
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.irt.posterior import Quadrature
from examiner.irt.priors import Priors, SlopeScale
from examiner.messages import InputError
from examiner.results import ResponseMatrix

_TABLES = 10
"""Tables of [tasks, nodes] in double precision at work where trials are the same for all."""
_LEVELS = 24
"""The same where they are not: the derivatives by both parameters, ahead and behind."""
_BLOCK = 250
"""Agents whose levels are had at once, in rows of all parameters."""
_MOVED = 500
"""Agents whose derivatives by all parameters are had at once."""

_NOT_TOGETHER = (
    "Agents lie in parts, so that covariances of all abilities are not told. Fit in memory, or draw from "
    "the fit."
)


@dataclass(frozen=True, slots=True)
class PartScores:
    """A question about some agents, whose answers add up over agents, or are told of each.

    `beside` and `an_agent` are bytes that an answer takes, whatever the agents and for each of them.
    """

    items: ItemParameters
    model: Model
    rule: Quadrature
    alike: bool
    """Whether all agents were given the same trials."""
    what: Literal["blocks", "times", "information", "abilities"] = "blocks"
    columns: Floats | None = None
    covariance: ParameterCovariance | None = None
    """That of the parameters of tasks, by which abilities are asked for."""
    population_sd: float = 1.0

    @property
    def wanted(self) -> str:
        """What it is asked for, in words."""
        if self.what == "abilities":
            return "Errors of abilities that count those of tasks"
        return "Standard errors of tasks"

    @property
    def beside(self) -> int:
        """Bytes at work whatever the agents."""
        tasks, nodes = len(self.items), len(self.rule)
        tables = _TABLES if self.alike else _LEVELS
        found = tables * 8 * tasks * nodes
        if not self.alike:
            found += _BLOCK * tasks * 64
        if self.what == "information":
            found += 3 * 8 * (2 * tasks) ** 2
        if self.what == "abilities":
            found += _MOVED * tasks * 64
        return found

    @property
    def an_agent(self) -> int:
        """Bytes at work for each agent."""
        return 20 * len(self.items) + 40 * len(self.rule)

    def __call__(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return sums over the agents of a matrix, or arrays of its agents."""
        return self.answered_by(self._of(matrix))

    def answered_by(self, scores: Scores) -> tuple[Floats, ...]:
        """Return the answer that the scores of some agents give."""
        if self.what == "blocks":
            return (*scores.complete, scores.missing_blocks())
        if self.what == "information":
            return (np.asarray(scores.information(), dtype=np.float64),)
        if self.what == "times":
            assert self.columns is not None
            return (scores.times(self.columns),)
        assert self.covariance is not None
        return ability_errors(scores, self.covariance, self.model, self.population_sd)

    def _of(self, matrix: ResponseMatrix) -> Scores:
        free = Freedom.at(self.items, self.model, None)
        if CompleteScores.serves(matrix, self.items, free):
            return CompleteScores(matrix, self.items, self.rule, free)
        return scores_of(louis(matrix, self.items, self.model, None, self.rule))


class PartedScores:
    """Scores of agents in parts, of which each is asked for its sums."""

    def __init__(self, source: AskedSource, ask: PartScores, freedom: Freedom) -> None:
        self._source, self._ask, self.freedom = source, ask, freedom
        self._along = freedom.moving_along(ask.items.slope)

    @cached_property
    def _blocks(self) -> tuple[Floats, ...]:
        return self._source.total(self._ask)

    @property
    def complete(self) -> CompleteInformation:
        """Σ_j E_j[−H] and the priors' curvature."""
        own, coupling, shared = (part.copy() for part in self._blocks[:3])
        width = own.shape[1]
        own[:, np.arange(width), np.arange(width)] += self.freedom.tightness()
        shared += np.diag(self.freedom.shared_tightness())
        task, column = np.nonzero(self.freedom.fixed)
        own[task, column, column] = 1.0
        return CompleteInformation(own, coupling, shared)

    def information(self) -> Floats:
        """Return the whole observed information, [size, size]."""
        (found,) = self._source.total(self._asked("information"))
        tightness = [self.freedom.tightness().ravel(), self.freedom.shared_tightness()]
        found[np.diag_indices_from(found)] += np.concatenate(tightness)
        if self._along is not None:
            found -= np.multiply.outer(self._along, self._along)
        fixed = np.flatnonzero(self.freedom.fixed.ravel())
        found[fixed], found[:, fixed] = 0.0, 0.0
        found[fixed, fixed] = 1.0
        return found

    def times(self, columns: Floats) -> Floats:
        """Return the missing information times columns [size, n], with what a free scale takes off."""
        (found,) = self._source.total(self._asked("times", columns))
        if self._along is None:
            return found
        return np.asarray(found + np.multiply.outer(self._along, self._along @ columns))

    def missing_blocks(self) -> Floats:
        """Return the missing information of each task by itself, [tasks, own, own]."""
        found = self._blocks[3].copy()
        if self._along is not None:
            tasks, own = self.freedom.fixed.shape
            alone = self._along[: tasks * own].reshape(tasks, own)
            found += alone[:, :, None] * alone[:, None, :]
        return found

    def moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats]]:
        """Refuse: how abilities move with tasks is not told of agents in parts."""
        raise InputError(_NOT_TOGETHER)

    def _asked(
        self, what: Literal["times", "information"], columns: Floats | None = None
    ) -> PartScores:
        return replace(self._ask, what=what, columns=columns)


class PartedErrors(AllTasks):
    """Errors of tasks, and what they do to abilities, where agents lie in parts."""

    def __init__(
        self,
        source: AskedSource,
        items: ItemParameters,
        model: Model,
        priors: Priors | None,
        rule: Quadrature,
        population_sd: float = 1.0,
        scale: SlopeScale | None = None,
    ) -> None:
        standard = items.rescaled(0.0, population_sd)
        freedom = Freedom.at(standard, model, priors, scale)
        plain = model.name == "2pl" and items.response == "binomial"
        alike = plain and source.alike
        ask = PartScores(standard, model, rule, alike)
        super().__init__(items, model, PartedScores(source, ask, freedom), population_sd)
        self._source, self._rule, self._ask = source, rule, ask

    def abilities(self) -> tuple[Floats, Floats, Floats]:
        """Return deviations of agents' posteriors, with the errors of tasks in them, and what they share.

        The last are directions [agents, n] in which the errors of tasks move abilities together.
        """
        asked = replace(
            self._ask, what="abilities", covariance=self.parameters, population_sd=self._sd
        )
        own, added, shared = self._source.each(asked)
        return np.sqrt(own) * self._sd, np.sqrt(own + added) * self._sd, shared * self._sd

    @property
    def ability_covariance(self) -> Floats:
        """Refuse: abilities are not told together."""
        raise InputError(_NOT_TOGETHER)

    def _drawn_abilities(
        self, made: list[ItemParameters], rng: np.random.Generator
    ) -> tuple[tuple[str, ...], Floats]:
        """Normal around the posterior means under each draw of tasks: one pass over all parts a draw."""
        ability = np.empty((len(made), len(self._source.agents)))
        for row, items in enumerate(made):
            found = self._source.expected(items, self._rule)
            ability[row] = rng.normal(found.ability, np.sqrt(np.maximum(found.variance, 0.0)))
        return self._source.agents, ability
