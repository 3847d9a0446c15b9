"""IRTFit: tasks and agents on one scale, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from math import log
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from examiner.checking import Axes, Bounds, check_names, from_record
from examiner.irt.items import Floats, ItemParameters, PerTask
from examiner.irt.model import Priors
from examiner.irt.posterior import Quadrature
from examiner.results import ResponseMatrix
from examiner.results.display import html_columns
from examiner.scores.recipe import Recipe
from examiner.wording import counted

Estimator = Literal["map", "ml"]
PerAgent = Annotated[Floats, Axes("agents")]
Deviation = Annotated[float, Bounds(1e-6, 1e6, "a standard deviation above 0 and below 1e6")]


def rows_of(columns: Mapping[str, Sequence[object]]) -> list[dict[str, object]]:
    """Return columns of equal length as plain rows.

    >>> rows_of({"task": ["t", "u"], "difficulty": [0.5, 1.0]})[1]
    {'task': 'u', 'difficulty': 1.0}
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def table_of(
    caption: str, columns: Mapping[str, Sequence[object]], notes: Sequence[str] = ()
) -> str:
    """Return columns as HTML, headed by their names in words; words about a row are joined."""
    told = {name.replace("_", " "): column for name, column in columns.items()}
    if "flags" in told:
        told["flags"] = ["; ".join(words) for words in columns["flags"]]  # type: ignore[arg-type]
    return html_columns(caption, told, notes)


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


class ToldByName:
    """Results with a row for each task or agent: one short line, and a table in a notebook.

    The names are the first field, and every array as long as they are is a column.
    """

    __slots__ = ()

    def _headline(self) -> str:
        """What matters most, for the short line."""
        return ""

    def __repr__(self) -> str:
        kind = fields(self)[0].name  # type: ignore[arg-type]  # every heir is a dataclass
        said = self._headline()
        count = counted(len(getattr(self, kind)), kind.removesuffix("s"))
        return f"{type(self).__name__} of {count}{': ' if said else ''}{said}"

    def _repr_html_(self) -> str:
        named, *others = (field.name for field in fields(self))  # type: ignore[arg-type]
        names = getattr(self, named)
        columns = {named.removesuffix("s"): names} | {
            name: part.tolist()
            for name in others
            if isinstance(part := getattr(self, name), np.ndarray) and part.shape == (len(names),)
        }
        return table_of(repr(self), columns)


class Dropped(NamedTuple):
    """A task or an agent that had no part in the fit, and why."""

    name: str
    reason: str


class Starts(NamedTuple):
    """Objectives reached from each start (the best first), and how many agree with the best."""

    objectives: tuple[float, ...]
    agreeing: int


@dataclass(frozen=True, slots=True, repr=False)
class TaskErrors:
    """Uncertainty of task parameters from the observed information; NaN where it cannot be had.

    Each is [tasks]. `covariance` is Cov(slope, intercept). Low and high ends are 95 % intervals, of
    difficulty by Fieller's theorem: infinite where the slope's interval contains 0.
    """

    slope: PerTask
    intercept: PerTask
    covariance: PerTask
    difficulty: PerTask
    guessing: PerTask
    ceiling: PerTask
    precision: PerTask
    slope_low: PerTask
    slope_high: PerTask
    difficulty_low: PerTask
    difficulty_high: PerTask
    method: str
    """How the errors were had, in words: the observed information, its blocks, or a bootstrap."""
    population_sd: float = float("nan")
    """Standard error of the population's standard deviation, where it is free (Rasch)."""

    def __repr__(self) -> str:
        return f"TaskErrors of {counted(len(self.slope), 'task')}: {self.method}"


@dataclass(frozen=True, slots=True, repr=False)
class Abilities(ToldByName):
    """Abilities of agents and their standard errors, on the scale of the fit.

    >>> Abilities(("a", "b"), np.array([1.0, 2.0]), np.array([0.5, 0.4]), "posterior means")
    Abilities of 2 agents: posterior means
    """

    agents: Annotated[tuple[str, ...], Axes("agents")]
    ability: PerAgent
    error: PerAgent
    method: str
    notes: tuple[str, ...] = ()

    def _headline(self) -> str:
        return self.method


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IRTFit:
    """A fitted model: parameters of tasks, abilities of agents, and what stands behind them.

    Abilities are N(0, population_sd²); `abilities` are posterior means (EAP) with posterior
    standard deviations. `objective` is the log-likelihood plus the log-priors without their
    constants, and equals `log_likelihood` under maximum likelihood. `flags` are words about each
    task. `errors` is None where standard errors were not asked for, `matrix` None where the fit was
    read from a file.
    """

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
    warnings: tuple[str, ...] = ()
    errors: TaskErrors | None = None
    matrix: ResponseMatrix | None = field(default=None, metadata={"stored": False})
    parameters: int = 0
    """Number of free parameters."""
    recipe: Recipe | None = None
    """How raw results became the responses, so that a new agent's can be treated alike."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Agents that share no task with those of other groups; none where all hang together."""

    def with_recipe(self, recipe: Recipe | None) -> IRTFit:
        """Return the same fit with the recipe of its responses, which `place` applies.

        >>> from examiner.irt.ability import known
        >>> fit = known(ItemParameters.of(["t"], [1.0], [0.0]))
        >>> fit.with_recipe(Recipe(success=1.0)).recipe.success
        1.0
        """
        return replace(self, recipe=recipe)

    def task_rows(self) -> list[dict[str, object]]:
        """Return a plain row for each task: difficulty, discrimination, their errors, and flags.

        >>> from examiner.irt.ability import known
        >>> known(ItemParameters.of(["t"], [2.0], [1.0])).task_rows()[0]["difficulty"]
        -0.5
        """
        return rows_of(self._task_columns())

    def _task_columns(self) -> dict[str, Sequence[object]]:
        nothing: list[object] = [None] * len(self.items)
        errors = self.errors
        return {
            "task": self.items.tasks,
            "difficulty": self.items.difficulty.tolist(),
            "difficulty_se": nothing if errors is None else errors.difficulty.tolist(),
            "discrimination": self.items.discrimination.tolist(),
            "discrimination_se": nothing if errors is None else errors.slope.tolist(),
            "guessing": self.items.guessing.tolist(),
            "ceiling": self.items.ceiling.tolist(),
            "flags": self.flags,
        }

    def agent_rows(self) -> list[dict[str, object]]:
        """Return a plain row for each agent: its ability and the error of it.

        >>> from examiner.irt.ability import known
        >>> known(ItemParameters.of(["t"], [2.0], [1.0])).agent_rows()
        []
        """
        held = self.abilities
        ability, error = held.ability.tolist(), held.error.tolist()
        return rows_of({"agent": held.agents, "ability": ability, "ability_se": error})

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

    def __repr__(self) -> str:
        agents = counted(len(self.abilities.agents), "agent")
        tasks = counted(len(self.items), "task")
        return (
            f"IRTFit: {self.model} of {agents} × {tasks}, {self.estimator}, log-likelihood "
            f"{self.log_likelihood:.2f}. {self.outcome.value}"
        )

    def _repr_html_(self) -> str:
        notes = [*self.warnings, *(f"{name}: {reason}" for name, reason in self.dropped[:12])]
        return table_of(repr(self), self._task_columns(), notes)


def fit_from_record(stored: Mapping[str, Any]) -> IRTFit:  # Any: JSON values
    """Read what `to_record` made of a fit; it has no responses.

    >>> from examiner.irt.ability import known
    >>> from examiner.checking import to_record
    >>> fit = known(ItemParameters.of(["t"], [1.0], [1 / 3]))
    >>> fit_from_record(to_record(fit)).items == fit.items
    True
    >>> fit_from_record({"model": "2pl"})
    Traceback (most recent call last):
    ...
    examiner.checking.records.ShapeError: estimator is missing. Give ...
    """
    known = {name: part for name, part in stored.items() if name != "schema"}
    made = from_record(IRTFit, known, strict=True)
    items, precision = made.items, made.items.precision
    if precision is not None:  # an infinite one was written as nothing by the first schema
        precision = np.where(np.isnan(precision), np.inf, precision)
    check_names(made.abilities.agents, "agent")
    parts = {part.name: getattr(items, part.name) for part in fields(items)}
    return replace(made, items=ItemParameters.of(**parts | {"precision": precision}))
