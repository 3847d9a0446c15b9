"""Estimates and how far they are known: abilities of agents, errors of tasks, and what both share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from examiner.answers import Answer, Table, bound, error, name, number
from examiner.irt.editions import SAME, Population
from examiner.irt.items import Estimates, Floats, ItemParameters, PerTask, StandardErrors
from examiner.irt.model import Parameter
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.messages import counted, shorten
from examiner.validation import Axes, to_record

PerAgent = Annotated[Estimates, Axes("agents")]
ErrorPerAgent = Annotated[StandardErrors, Axes("agents")]
ErrorPerTask = Annotated[StandardErrors, Axes("tasks")]
DIRECTIONS = 16
"""Directions kept of joint errors, besides those of parameters that all tasks share. The first two are zero
and unit of the scale. With 16 the errors of abilities are within 0.06 % of those by the whole covariance
on tables of 12 to 134 agents and 14 to 500 tasks."""
MOST_STORED = 3000
"""Agents up to whom they are kept: beyond, errors of tasks are small, and their covariance fills memory."""


Z = 1.959963984540054
"""Normal quantile of a 95 % interval."""
Number = TypeVar("Number", float, Floats)


def interval(value: Number, error: Number) -> tuple[Number, Number]:
    """Return the ends of the 95 % interval around an estimate with a standard error.

    >>> [round(end, 2) for end in interval(1.0, 0.5)]
    [0.02, 1.98]
    """
    return value - Z * error, value + Z * error


class JointDraws(NamedTuple):
    """Draws of everything that was estimated, each as likely as the others.

    `items` are the tasks of each draw, `ability` is [draws, agents], and `scale` [draws] the common scale
    of slopes (1 where it is not free). What is true of a share of draws has that chance: an agent's rank,
    a difference between two, a task's difficulty.
    """

    items: tuple[ItemParameters, ...]
    ability: Floats
    agents: tuple[str, ...]
    scale: Floats


class Joint(Protocol):
    """Whoever can tell the joint errors of tasks and agents when asked."""

    @property
    def ability_covariance(self) -> Floats:
        """The covariance of all abilities, [agents, agents]."""
        ...

    def draws(self, count: int, rng: np.random.Generator) -> JointDraws:
        """Return joint draws of tasks, their scale, and abilities."""
        ...


@dataclass(frozen=True, slots=True)
class TaskErrors:
    """Uncertainty of task parameters from the observed information; NaN where it cannot be had.

    Each is [tasks]. `covariance` is Cov(slope, intercept). Low and high ends are 95 % intervals, of
    difficulty by Fieller's theorem: infinite where the slope's interval contains 0. Every slope's does
    where agents are not shown to differ in ability.
    """

    slope: ErrorPerTask
    intercept: ErrorPerTask
    covariance: PerTask
    difficulty: ErrorPerTask
    guessing: ErrorPerTask
    ceiling: ErrorPerTask
    precision: ErrorPerTask
    slope_low: PerTask
    slope_high: PerTask
    difficulty_low: PerTask
    difficulty_high: PerTask
    method: str
    """How the errors were had, in words: the observed information, its blocks, or a bootstrap."""
    population_sd: float = float("nan")
    """Standard error of the population's standard deviation, where it is free (Rasch)."""
    parameters: ParameterCovariance | None = None
    """The covariance of all parameters at once, from which the errors of abilities are computed."""
    log_scale_variance: float = field(default=0.0, compare=False, metadata={"stored": False})
    """Variance of the logarithm of the slopes' common scale; 0 where that is fixed."""
    joint: Joint | None = field(default=None, compare=False, metadata={"stored": False}, repr=False)

    def slope_variances(self, rows: Floats) -> Floats:
        """Return the variances of sums of slopes, for rows of weights [n, tasks].

        Tasks whose errors are not known are left out.

        >>> errors = TaskErrors(np.ones(2), *(10 * [np.zeros(2)]), "by hand")
        >>> errors.slope_variances(np.array([[1.0, 2.0]]))
        array([5.])
        """
        covariance = self.parameters
        if covariance is None:
            return np.asarray(rows**2 @ np.nan_to_num(self.slope**2))
        if covariance.unit_slopes:
            return np.zeros(len(rows))
        return covariance.slope_variances(rows)

    def covariance_of(self, items: ItemParameters) -> ParameterCovariance:
        """Return the covariance of all parameters; errors that have none are independent between tasks.

        >>> errors = TaskErrors(np.ones(1), np.ones(1), *(9 * [np.zeros(1)]), "by hand")
        >>> errors.covariance_of(ItemParameters.of(["t"], [1.0], [0.0])).blocks
        array([[1., 0., 0., 1.]])
        """
        if self.parameters is not None:
            return self.parameters
        names: tuple[Parameter, ...] = ("slope", "intercept")
        if items.precision is not None and np.isfinite(self.precision).any():
            names += ("precision",)
        blocks = self.blocks_of(names, items)
        none = np.zeros((len(items) * len(names), 0))
        return ParameterCovariance(names, (), blocks.reshape(len(items), -1), none)

    def blocks_of(self, names: tuple[Parameter, ...], items: ItemParameters) -> Floats:
        """Return the covariance of some parameters of each task by itself, [tasks, names, names].

        What is not known, and what is not a slope, an intercept or a precision, counts as 0.

        >>> errors = TaskErrors(np.ones(1), 2 * np.ones(1), *(9 * [np.zeros(1)]), "by hand")
        >>> errors.blocks_of(("intercept",), ItemParameters.of(["t"], [1.0], [0.0]))
        array([[[4.]]])
        """
        blocks = np.zeros((len(items), len(names), len(names)))
        variances = {"slope": self.slope**2, "intercept": self.intercept**2}
        if items.precision is not None:
            variances["precision"] = (self.precision / items.precision) ** 2
        for place, parameter in enumerate(names):
            variance = variances.get(parameter, np.zeros(len(items)))
            blocks[:, place, place] = np.nan_to_num(variance)
        if "slope" in names and "intercept" in names:
            first, second = names.index("slope"), names.index("intercept")
            blocks[:, first, second] = blocks[:, second, first] = np.nan_to_num(self.covariance)
        return blocks


def _leading(covariance: Floats, posterior: Floats | None) -> Floats | None:
    """The directions [agents, directions] that make up most of what abilities share."""
    if posterior is None or len(posterior) > MOST_STORED:
        return None
    values, vectors = np.linalg.eigh(covariance - np.diag(posterior**2))
    chosen = np.argsort(-values)[:DIRECTIONS]
    return np.asarray(vectors[:, chosen] * np.sqrt(np.maximum(values[chosen], 0.0)))


class AbilityTable(Table):
    """Abilities of agents, the highest first."""

    agent: tuple[str, ...] = name("Agent")
    ability: Floats = number("Ability", unit="logits")
    ability_error: Floats = error("ability")
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")


@dataclass(frozen=True, slots=True, repr=False)
class Abilities(Answer):
    """Abilities of agents and their standard errors, on the scale of the fit.

    >>> Abilities(("a", "b"), np.array([1.0, 2.0]), np.array([0.5, 0.4]), "")["b"].ability_error
    0.4
    """

    kind: ClassVar[str] = "abilities"

    agents: Annotated[tuple[str, ...], Axes("agents")]
    ability: PerAgent
    error: ErrorPerAgent
    method: str
    notes: tuple[str, ...] = ()
    posterior: ErrorPerAgent | None = None
    """Posterior standard deviations with tasks taken as known, where `error` counts their errors too."""
    together: Annotated[Estimates, Axes("agents", "directions")] | None = None
    """What abilities err by together: directions in which the errors of tasks move them, of stored fits."""
    populations: Annotated[Estimates, Axes("agents", "population")] | None = None
    """Each agent's `Population` (mean, deviation, error of the mean, edition) where not all are N(0, 1)."""
    joint: Joint | None = field(default=None, compare=False, metadata={"stored": False}, repr=False)

    @property
    def population_of_agent(self) -> Mapping[str, Population]:
        """The population that each agent is from, by name."""
        if self.populations is None:
            return dict.fromkeys(self.agents, SAME)
        return dict(zip(self.agents, map(Population.of, self.populations), strict=True))

    @property
    def newest_population(self) -> Population:
        """The population of the last edition."""
        if self.populations is None:
            return SAME
        return Population.of(self.populations[self.populations[:, 3].argmax()])

    @property
    def covariance(self) -> Floats:
        """The covariance of the errors of all abilities, [agents, agents], computed when asked for.

        >>> Abilities(("a", "b"), np.zeros(2), np.array([0.5, 0.4]), "").covariance.round(2)
        array([[0.25, 0.  ],
               [0.  , 0.16]])
        """
        if self.joint is not None:
            return self.joint.ability_covariance
        covariance = np.diag(self.error**2)
        if self.together is not None:
            shared = self.together @ self.together.T
            covariance += shared - np.diag(np.diagonal(shared))
        return covariance

    def differences(self) -> tuple[Floats, Floats]:
        """Return θ_row − θ_column of every two agents and its error, from their joint covariance.

        What is not known of the scale's zero moves all alike, and is no part of a difference.

        >>> abilities = Abilities(("a", "b"), np.array([1.0, 0.0]), np.array([0.3, 0.4]), "")
        >>> difference, error = abilities.differences()
        >>> float(difference[0, 1]), float(error[0, 1].round(3))
        (1.0, 0.5)
        """
        variance, covariance = self.error**2, self.covariance
        squares = np.maximum(variance[:, None] + variance - 2 * covariance, 0.0)
        errors = np.sqrt(squares * (1 - np.eye(len(covariance))))
        return self.ability[:, None] - self.ability, errors

    def to_record(self) -> dict[str, object]:
        """Return plain JSON values; of the joint errors their leading directions are kept.

        >>> Abilities(("a",), np.array([1.0]), np.array([0.5]), "").to_record()["ability"]
        [1.0]
        """
        parts: dict[str, object] = {
            part.name: getattr(self, part.name) for part in fields(self) if part.name != "joint"
        }
        if self.joint is not None:
            parts["together"] = _leading(self.covariance, self.posterior)
        return {key: to_record(part) for key, part in parts.items() if part is not None}

    @property
    def headline(self) -> str:
        """The agent with the highest ability."""
        finite = np.flatnonzero(np.isfinite(self.ability))
        if not finite.size:
            return "No ability is known."
        best = finite[self.ability[finite].argmax()]
        return (
            f"{shorten(self.agents[best])} has the highest ability of "
            f"{counted(len(self.agents), 'agent')}, {self.ability[best]:.2f} ± {self.error[best]:.2f}."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Abilities of agents."""
        low, high = interval(self.ability, self.error)
        table = AbilityTable(
            agent=self.agents,
            ability=self.ability,
            ability_error=self.error,
            ability_low=low,
            ability_high=high,
        )
        return {"agents": table.sorted_by("ability", descending=True)}

    @property
    def settings(self) -> Mapping[str, str]:
        """How abilities were estimated."""
        return {"method": self.method}
