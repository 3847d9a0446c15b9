"""IRTFit: tasks and agents on one scale, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from math import log
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from examiner.answers import Answer, Scalar, Table
from examiner.irt.editions import Population
from examiner.irt.estimates import Abilities as Abilities
from examiner.irt.estimates import JointDraws as JointDraws
from examiner.irt.estimates import TaskErrors as TaskErrors
from examiner.irt.evidence import Evidence, signs
from examiner.irt.fit_tables import (
    ExcludedAgents,
    ExcludedTasks,
    FittedAgents,
    FittedTasks,
    agent_table,
    edition_table,
    task_table,
)
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.posterior import Quadrature
from examiner.irt.priors import Priors, SlopeScale
from examiner.messages import InputError, counted, listed
from examiner.results import ResponseMatrix
from examiner.scores import Recipe
from examiner.validation import (
    Axes,
    Bounds,
    Randomness,
    ShapeError,
    check_names,
    from_record,
    generator,
    to_record,
)

Estimator = Literal["map", "ml"]
Deviation = Annotated[float, Bounds(1e-6, 1e6, "a standard deviation above 0 and below 1e6")]


class FitOutcome(Enum):
    """How a fit ended; the value is the sentence the user reads."""

    CONVERGED = "The fit converged."
    STARTS_DISAGREE = (
        "The fit converged, but several starts ended at different optima: the best one is shown."
    )
    BOUNDARY = "The fit converged, but some estimates run to a boundary (see the flags)."
    DISCONNECTED = (
        "The fit converged, but its agents fall in groups that share no task (see the warnings): do not "
        "compare abilities, nor difficulties, across groups."
    )
    NOT_CONVERGED = (
        "The fit did not converge within its iterations: do not trust its numbers; allow more."
    )
    GIVEN = "The parameters were given, not fitted."


class Dropped(NamedTuple):
    """A task or an agent that had no part in the fit, and why.

    `value` is what every agent had on a task, so that it counts in means over all tasks; NaN where that
    is not known.
    """

    name: str
    reason: str
    value: float = float("nan")


class Starts(NamedTuple):
    """Objectives reached from each start (the best first), and how many agree with the best."""

    objectives: tuple[float, ...]
    agreeing: int


@dataclass(frozen=True, eq=False, repr=False)
class IRTFit(Answer):
    """A fitted model: parameters of tasks, abilities of agents, and what stands behind them.

    Abilities are N(0, population_sd²); `abilities` are posterior means (EAP). Their errors count what is
    not known of tasks and of the scale's zero and unit (see `agent_posterior`); without standard errors of
    tasks they are posterior standard deviations alone. `objective` is the
    log-likelihood plus the log-priors without their constants, and equals `log_likelihood` under maximum
    likelihood. `flags` are words about each task. `errors` is None where standard errors were not asked
    for, `matrix` None where the fit was read from a file.
    """

    kind: ClassVar[str] = "fit"

    model: str
    estimator: Estimator
    items: ItemParameters
    abilities: Abilities
    population_sd: Deviation
    log_likelihood: float
    objective: float
    outcome: FitOutcome
    converged: bool
    iterations: int
    starts: Starts
    quadrature: Quadrature
    priors: Priors | None
    flags: Annotated[tuple[tuple[str, ...], ...], Axes("tasks")]
    dropped: tuple[Dropped, ...] = ()
    left_out: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    errors: TaskErrors | None = None
    matrix: ResponseMatrix | None = field(default=None, metadata={"stored": False})
    parameters: int = 0
    """Number of free parameters."""
    slope_scale: SlopeScale | None = None
    """What slopes have in common where the prior leaves it free: their scale, and the spread around it."""
    evidence: Evidence | None = None
    """Whether abilities differ at all, and tasks in discrimination; None without errors."""
    recipe: Recipe | None = None
    """How raw results became the responses, so that a new agent's can be treated alike."""
    means: Annotated[Floats, Axes("agents")] | None = None
    """Each fitted agent's mean over all tasks it met, those set aside among them: its score as it is."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Agents that share no task with those of other groups; none where all are connected."""
    editions: tuple[str, ...] = ()
    """Editions of agents, the reference first, where each has a population of its own."""
    seed: int | None = field(default=None, metadata={"stored": False})
    """The seed of random starts, where a whole number was given."""

    def with_recipe(self, recipe: Recipe | None) -> IRTFit:
        """Return the same fit with the recipe of its responses, which `place` applies.

        >>> from examiner.irt.ability import known
        >>> fit = known(ItemParameters.of(["t"], [1.0], [0.0]))
        >>> fit.with_recipe(Recipe(success=1.0)).recipe.success
        1.0
        """
        return replace(self, recipe=recipe)

    @cached_property
    def tasks(self) -> FittedTasks:
        """Difficulty and discrimination of tasks, the most difficult first.

        >>> from examiner.irt.ability import known
        >>> known(ItemParameters.of(["t"], [2.0], [1.0])).tasks["t"].difficulty
        -0.5
        """
        return task_table(self.items, self.errors, self.flags, self.evidence)

    @cached_property
    def agents(self) -> FittedAgents:
        """Abilities of agents, the highest first.

        >>> from examiner.irt.ability import known
        >>> len(known(ItemParameters.of(["t"], [2.0], [1.0])).agents)
        0
        """
        return agent_table(self.abilities, self.means, self.groups)

    @property
    def tables(self) -> Mapping[str, Table]:
        """Tasks, agents, editions where they were given, and what was excluded from the fit."""
        excluded = {
            "excluded_tasks": ExcludedTasks.from_rows(
                {"task": task.name, "reason": task.reason} for task in self.dropped
            ),
            "excluded_agents": ExcludedAgents.from_rows(
                {"agent": agent.name, "reason": agent.reason} for agent in self.left_out
            ),
        }
        editions = {}
        if self.editions:
            editions["editions"] = edition_table(self.editions, self.abilities, self.population_sd)
        return {"tasks": self.tasks, "agents": self.agents, **editions, **excluded}

    @property
    def headline(self) -> str:
        """How many tasks discriminate between agents, or how the fit ended without standard errors."""
        tasks = counted(len(self.items), "task")
        agents = counted(len(self.abilities.agents), "agent")
        if self.outcome in (FitOutcome.NOT_CONVERGED, FitOutcome.GIVEN) or self.errors is None:
            return f"{self.model} model of {agents} and {tasks}. {self.outcome.value}"
        if self.evidence is not None and not self.evidence.abilities_differ:
            return (
                f"{self.model} model of {agents} and {tasks}: no agent is significantly more able than "
                f"another ({self.evidence.abilities.p})."
            )
        rising, falling = (
            int(part.sum()) for part in signs(self.items, self.errors, self.evidence)
        )
        negative = f", and significantly negative on {falling:,}" if falling else ""
        return (
            f"{self.model} model of {agents}: discrimination is significantly positive on "
            f"{rising if rising else 'none'} of {tasks}{negative}."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The model, how the fit ended, its likelihood, and whether agents and tasks differ."""
        landmark = None if self.items.landmark is None else float(self.items.landmark[0])
        evidence = self.evidence
        slopes = None if evidence is None else evidence.discrimination
        return {
            "model": Scalar(self.model, "Model"),
            "estimator": Scalar(self.estimator, "map: with priors; ml: maximum likelihood"),
            "outcome": Scalar(self.outcome.value, "How the fit ended"),
            "converged": Scalar(self.converged, "Whether the fit converged"),
            "log_likelihood": Scalar(self.log_likelihood, "Marginal log-likelihood"),
            "objective": Scalar(self.objective, "Log-likelihood plus log-priors"),
            "aic": Scalar(self.aic, "Akaike's criterion, under maximum likelihood"),
            "bic": Scalar(self.bic, "Schwarz's criterion, under maximum likelihood"),
            "parameters": Scalar(self.parameters, "Free parameters"),
            "iterations": Scalar(self.iterations, "Iterations from the best start"),
            "starts": Scalar(len(self.starts.objectives), "Starting points"),
            "agreeing_starts": Scalar(self.starts.agreeing, "Starts that reached the best optimum"),
            "population_sd": Scalar(self.population_sd, "Standard deviation of ability", "logits"),
            "response": Scalar(self.items.response, "Distribution of responses"),
            "landmark": Scalar(landmark, "Score at which difficulty is stated"),
            "abilities_differ": Scalar(
                None if evidence is None else evidence.abilities_differ,
                "Whether agents differ significantly in ability",
            ),
            "abilities_p_value": Scalar(
                None if evidence is None else evidence.abilities.p_value,
                "p-value of the test that all agents have one ability",
            ),
            "slopes_differ": Scalar(
                None if evidence is None else evidence.slopes_differ,
                "Whether tasks differ significantly in discrimination",
            ),
            "slopes_p_value": Scalar(
                None if slopes is None else slopes.p_value,
                "p-value of the test that all tasks have one discrimination",
            ),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed of random starts, the quadrature and the priors."""
        return {
            "seed": self.seed,
            "quadrature": self.quadrature.kind,
            "nodes": len(self.quadrature),
            "priors": to_record(self.priors),
            "recipe": None if self.recipe is None else _recipe_words(self.recipe),
        }

    def draws(self, count: int = 1000, *, rng: Randomness = 0) -> JointDraws:
        """Return joint draws of tasks, their scale and abilities: what the responses leave possible.

        >>> import numpy as np
        >>> from examiner.irt import fit, simulate
        >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
        >>> fit(simulate(items, 20, rng=0)).draws(50, rng=1).ability.shape
        (50, 20)
        """
        joint = None if self.errors is None else self.errors.joint
        if joint is None:
            raise InputError(
                "This fit was read from a file, or made without standard errors, so that nothing can be "
                "drawn from it. Fit again with errors."
            )
        if count < 1:
            raise InputError(f"{count} draws are asked for. Give at least 1.")
        return joint.draws(count, generator(rng))

    @property
    def task_priors(self) -> Priors | None:
        """The priors of single tasks, once the common scale of slopes is known."""
        return None if self.priors is None else self.priors.given(self.slope_scale)

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, 2p − 2 log L: under maximum likelihood only."""
        if self.estimator != "ml":
            return None
        return 2 * self.parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float | None:
        """Schwarz's criterion, p log n − 2 log L: under maximum likelihood only."""
        if self.estimator != "ml":
            return None
        return float(self.parameters * log(len(self.abilities.agents)) - 2 * self.log_likelihood)


def _recipe_words(recipe: Recipe) -> dict[str, Any]:  # Any: JSON values
    """How responses were computed from results; functions by their names."""
    parts = ("measure", "normaliser", "transform", "success", "share", "beating")
    values = {part: getattr(recipe, part) for part in parts}
    return {
        part: value if value is None or isinstance(value, (str, float, int)) else str(value)
        for part, value in values.items()
    }


def fit_from_record(stored: Mapping[str, Any]) -> IRTFit:  # Any: JSON values
    """Read what `to_record` made of a fit; it has no responses.

    >>> from examiner.irt.ability import known
    >>> from examiner.validation import to_record
    >>> fit = known(ItemParameters.of(["t"], [1.0], [1 / 3]))
    >>> fit_from_record(to_record(fit)).items == fit.items
    True
    >>> fit_from_record({"model": "2pl"})
    Traceback (most recent call last):
    ...
    examiner.validation.records.ShapeError: estimator is missing. Give ...
    """
    record = {name: part for name, part in stored.items() if name != "schema"}
    fit = from_record(IRTFit, record, strict=True)
    check_names(fit.abilities.agents, "agent")
    _check_populations(fit)
    _check_covariance(fit)
    parts = {part.name: getattr(fit.items, part.name) for part in fields(fit.items)}
    return replace(fit, items=ItemParameters.of(**parts))


def _check_populations(fit: IRTFit) -> None:
    """Refuse populations of agents that are none."""
    populations = fit.abilities.populations
    if populations is None:
        return
    width = len(Population._fields)
    if populations.shape[1:] != (width,):
        shape = " × ".join(map(str, populations.shape))
        raise ShapeError("abilities.populations", f"is {shape}", f"{width} numbers for each agent")
    editions = populations[:, 3]
    if (
        not np.isfinite(populations).all()
        or (populations[:, 1] <= 0).any()
        or (editions % 1 != 0).any()
    ):
        raise ShapeError(
            "abilities.populations", "has a population that is none", "positive deviations"
        )


def _check_covariance(fit: IRTFit) -> None:
    """Refuse a covariance of task parameters that does not belong to the items of the fit."""
    covariance = None if fit.errors is None else fit.errors.parameters
    if covariance is None:
        return
    names, width = covariance.names, len(covariance.own)
    lacking = {
        "precision": fit.items.precision,
        "zero_cut": fit.items.cuts,
        "cut_gap": fit.items.cuts,
    }
    strange = any(name in lacking and lacking[name] is None for name in names)
    shared_slope = not covariance.unit_slopes or "slope" in covariance.shared
    if strange or not shared_slope or len(set(names)) < len(names):
        raise ShapeError(
            "errors.parameters", f"has the parameters {listed(names)}", "those of the items"
        )
    for part, shape in (
        ("blocks", (len(fit.items), width**2)),
        (
            "directions",
            (len(fit.items) * width + len(covariance.shared) + covariance.populations,),
        ),
    ):
        values = getattr(covariance, part)
        if values.shape[: len(shape)] != shape:
            size = " × ".join(str(length) for length in values.shape)
            raise ShapeError(f"errors.parameters.{part}", f"is {size}", " × ".join(map(str, shape)))
        if not np.isfinite(values).all():
            raise ShapeError(f"errors.parameters.{part}", "is not finite", "a number")
