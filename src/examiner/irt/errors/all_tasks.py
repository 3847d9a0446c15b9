"""Errors of all tasks together, whoever tells the scores of agents; and draws of everything estimated."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from examiner.irt.errors.covariance import Covariances, covariances
from examiner.irt.errors.freedom import Scores
from examiner.irt.errors.intervals import told
from examiner.irt.estimates import DIRECTIONS, JointDraws, TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model, moved
from examiner.irt.parameter_covariance import ParameterCovariance


class AllTasks:
    """Covariances of the parameters of tasks, as users read them, and draws from them.

    `standard` are the tasks for abilities N(0, 1), on which errors are had, and `sd` is the population's
    standard deviation on the scale that users read.
    """

    def __init__(
        self, items: ItemParameters, model: Model, scores: Scores, population_sd: float
    ) -> None:
        self._items, self._model, self._sd = items, model, population_sd
        self._standard = items.rescaled(0.0, population_sd)
        self._scores, self._freedom = scores, scores.freedom

    @cached_property
    def found(self) -> Covariances:
        """The covariances of the parameters of tasks."""
        return covariances(self._scores)

    @property
    def tasks(self) -> TaskErrors:
        """Errors and intervals of tasks on the scale users read."""
        errors = told(self._items, self._model, self.found, self._sd)
        return replace(errors, parameters=self.parameters)

    @cached_property
    def parameters(self) -> ParameterCovariance:
        """The covariance of all parameters, as a fit stores it: blocks of tasks and leading directions."""
        together, freedom = self.found.together, self._freedom
        tasks, own = freedom.fixed.shape
        every: list[Floats] = []
        for column in range(tasks * own, freedom.count):
            direction, together = together.without(column)
            every.append(direction[:, None])
        every.append(together.leading(self.found.blocks_of_tasks, DIRECTIONS))
        directions = np.concatenate(every, axis=1)
        directions[: tasks * own][freedom.fixed.ravel()] = 0.0
        blocks = np.nan_to_num(self.found.blocks[:, :own, :own])
        mine = directions[: tasks * own].reshape(tasks, own, -1)
        blocks = blocks - np.einsum("tin,tjn->tij", mine, mine)
        return ParameterCovariance(
            freedom.own,
            freedom.shared,
            blocks.reshape(tasks, -1),
            directions,
            unit_slopes=self._model.unit_slopes,
        )

    def draws(self, count: int, rng: np.random.Generator) -> JointDraws:
        """Return joint draws of tasks, their scale, and abilities.

        Parameters are normal around the estimates (see `_stretched` for slopes); each draw of tasks
        gives every agent a posterior to draw from.
        """
        freedom = self._freedom
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
        agents, ability = self._drawn_abilities(made, rng)
        # Rasch tells the shared slope as the unit of ability
        unit = np.array([items.slope[0] if self._model.unit_slopes else self._sd for items in made])
        told_items = (items.rescaled(0.0, 1.0 / sd) for items, sd in zip(made, unit, strict=True))
        common = 1.0 if freedom.scale is None else freedom.scale.common
        scale = common * np.exp(stretched)
        if "slope" in freedom.shared and freedom.scale is not None:
            scale = np.array([items.slope[0] for items in made])
        return JointDraws(tuple(told_items), ability * unit[:, None], agents, scale)

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

    def _drawn_abilities(
        self, made: list[ItemParameters], rng: np.random.Generator
    ) -> tuple[tuple[str, ...], Floats]:
        """Agents, and abilities drawn from their posteriors under each draw of tasks: [draws, agents]."""
        raise NotImplementedError
