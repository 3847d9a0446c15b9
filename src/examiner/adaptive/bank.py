"""TaskBank: the tasks an examination can draw on, each answer's likelihood on a grid of abilities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from examiner.adaptive.answers import (
    Flags,
    Floats,
    Indices,
    Whole,
    outcome_tables,
)
from examiner.irt import (
    AbilityEstimates,
    Beta,
    BetaBinomial,
    Binomial,
    IRTFit,
    ItemParameters,
    Kernel,
    ParameterCovariance,
    Population,
    Quadrature,
    SlopeTables,
    estimate_abilities,
    log_density,
    posterior_weights,
)
from examiner.messages import InputError, counted, listed, shorten, unknown_name
from examiner.results import check_undivided
from examiner.scores import Recipe
from examiner.validation import check_known, read_only

_TAKEN_AS_EXACT = "The task parameters are taken as exact: the stated errors do not count theirs."
_NO_ERRORS = (
    "The fit has no standard errors of its tasks, so that the stated errors do not count them. "
    "Fit again with standard errors."
)

Uncertainty = Literal["all", "none"]
"""Which errors of the fit are counted in those of abilities."""


def weights_of(log_posterior: Floats) -> Floats:
    """Return posterior weights that sum to 1 in each row."""
    return np.asarray(posterior_weights(log_posterior.copy())[1])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskBank:
    """Tasks with known curves, what each costs, its group, and how many trials one asking takes.

    `fit` is where they come from, None where parameters were given by hand. The posterior of an agent is
    that of `irt.agent_posterior`; its error counts the errors of the fit by `covariance`, None where
    parameters are taken as exact. `likelihood` has shape [outcomes, tasks, nodes], and `information`
    [nodes, tasks]. `outcome_logs` is the logarithm of the first, None where several counts of successes
    are one outcome.

    >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> bank
    TaskBank: 2 tasks, binomial, parameters taken as exact
    """

    fit: IRTFit | None
    items: ItemParameters
    covariance: ParameterCovariance | None
    notes: tuple[str, ...]
    costs: Floats
    groups: tuple[str, ...] | None
    trials: Whole
    nodes: Floats
    log_prior: Floats
    prior_mean: float
    prior_sd: float
    """The standard deviation by which a fit of the Rasch model scales its prior; infinite for a prior of
    one's own, which no parameter of the fit moves."""
    population: Population
    """That of the newest edition of the fit."""
    likelihood: Floats
    outcome_logs: Floats | None
    information: Floats
    slopes: SlopeTables | None
    """Derivatives by the parameters of tasks, where their errors are counted."""

    @classmethod
    def of(
        cls,
        source: IRTFit | ItemParameters | TaskBank,
        *,
        costs: ArrayLike | Mapping[str, float] | None = None,
        groups: Sequence[str] | Mapping[str, str] | None = None,
        trials: ArrayLike = 1,
        uncertainty: Uncertainty = "all",
        prior: tuple[float, float] | None = None,
    ) -> TaskBank:
        """Build a bank from a fit, or from parameters that are taken as exact.

        With `uncertainty` "none" the errors of the fit are not counted in those of abilities. `prior` is
        the mean and standard deviation of abilities before the first answer, by default those of the
        fit's newest population; `trials` how many one asking takes.

        >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
        >>> TaskBank.of(items, costs={"pong": 1.0, "qbert": 2.5}).costs
        array([1. , 2.5])
        """
        if isinstance(source, TaskBank):
            return source
        if isinstance(source, IRTFit):
            check_undivided(
                source.groups, "one examination cannot place an agent among all of them"
            )
        check_known("uncertainty", uncertainty, get_args(Uncertainty))
        if not isinstance(source, IRTFit | ItemParameters):
            raise InputError(
                f"A bank is made of a fit or of task parameters, not of a {type(source).__name__}."
            )
        fit, items = (source, source.items) if isinstance(source, IRTFit) else (None, source)
        population_sd = 1.0 if fit is None else fit.population_sd
        covariance, notes = _covariance(fit, uncertainty)
        if not len(items):
            raise InputError("The bank has no tasks to ask. Give parameters of at least one.")
        if items.response == "normal":
            raise InputError(
                "This fit is of scores without ends, and examinations ask for successes or scores from 0 "
                'to 1. Fit with `success=...`, or with `model="beta"`; `place` takes any scores.'
            )
        population = Population() if fit is None or prior else fit.abilities.newest_population
        mean, sd = prior or (population_sd * population.mean, population_sd * population.sd)
        if not (np.isfinite(mean) and np.isfinite(sd) and sd > 0):
            raise InputError(
                f"The prior has mean {mean} and deviation {sd}. Give finite numbers, the second above 0."
            )
        counts = _trials(items, trials)
        rule = _grid(items.rescaled(mean, sd), counts)
        nodes = mean + sd * rule.nodes
        tables = outcome_tables(items, nodes, counts)
        bank = cls(
            fit,
            items,
            covariance,
            notes,
            _costs(items.tasks, costs),
            _groups(items.tasks, groups),
            counts,
            nodes,
            rule.log_weights,
            float(mean),
            population_sd if prior is None else float("inf"),
            population,
            tables.likelihood,
            np.log(np.maximum(tables.likelihood, 1e-300)) if tables.exact else None,
            np.ascontiguousarray(tables.information.T),
            None if covariance is None else SlopeTables(items, nodes, covariance.names),
        )
        for array in (bank.costs, nodes, bank.likelihood, bank.outcome_logs, bank.information):
            if array is not None:
                read_only(array)
        return bank

    @property
    def recipe(self) -> Recipe | None:
        """How raw results become answers, where the fit knows it."""
        return None if self.fit is None else self.fit.recipe

    @property
    def uncertainty(self) -> Uncertainty:
        """Whether the errors of the fit are counted."""
        return "none" if self.covariance is None else "all"

    @property
    def landmarks(self) -> Mapping[str, tuple[float, float]]:
        """Ability and error of each agent of the fit, to be compared with."""
        if self.fit is None:
            return {}
        abilities = self.fit.abilities
        pairs = zip(abilities.ability.tolist(), abilities.error.tolist(), strict=True)
        return dict(zip(abilities.agents, pairs, strict=True))

    @property
    def preferred(self) -> Flags:
        """Tasks to ask first, [tasks]: of positive slope, and with errors where those are counted."""
        positive = self.items.slope >= 0
        errors = None if self.fit is None else self.fit.errors
        if self.covariance is None or errors is None:
            return np.asarray(positive)
        return np.asarray(positive & np.isfinite(errors.slope) & np.isfinite(errors.intercept))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks."""
        return self.items.tasks

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that differ as soon as a parameter or a task does."""
        items = self.items
        parts = (items.slope, items.intercept, items.guessing, items.ceiling, items.precision)
        digest = hashlib.sha256("\n".join((items.response, *items.tasks)).encode())
        for part in parts:
            digest.update(b"" if part is None else part.tobytes())
        return digest.hexdigest()[:16]

    @property
    def least_error(self) -> float:
        """The error that stays however many tasks are given: that of the scale's zero, σ / √agents."""
        if self.fit is None or self.covariance is None or not self.fit.abilities.agents:
            return 0.0
        return float(self.fit.population_sd / np.sqrt(len(self.fit.abilities.agents)))

    @property
    def estimates_before(self) -> AbilityEstimates:
        """The ability of an agent before its first task, that of the population: shape [1]."""
        weights = weights_of(self.log_prior[None])
        return estimate_abilities(weights, self.nodes, (), (), None, self.prior_sd)

    def __len__(self) -> int:
        """Number of tasks."""
        return len(self.items)

    def column(self, task: str) -> int:
        """Return where a task stands, or say that it is not known.

        >>> TaskBank.of(ItemParameters.of(["pong"], [1], [0])).column("pong")
        0
        """
        if task not in self.tasks:
            raise unknown_name("task", task, self.tasks)
        return self.tasks.index(task)

    def among(self, tasks: Sequence[str]) -> Flags:
        """Tell which tasks of the bank are among these, shape [tasks].

        >>> TaskBank.of(ItemParameters.of(["pong", "qbert"], [1, 1], [0, 0])).among(["qbert"])
        array([False,  True])
        """
        named = set(tasks)
        return np.array([task in named for task in self.tasks], dtype=bool)

    def log_likelihood(self, tasks: Indices, value: Floats, trials: Whole) -> Floats:
        """Return log f(x | θ) of answers to tasks, by column, on the nodes: shape [answers, nodes].

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> ones = np.ones(1, dtype=np.int64)
        >>> logs = bank.log_likelihood(np.zeros(1, dtype=np.intp), np.ones(1), ones)
        >>> bool(np.allclose(np.exp(logs[0]), 1 / (1 + np.exp(-bank.nodes))))
        True
        """
        if self.outcome_logs is not None and (trials == self.trials[tasks]).all():
            return np.asarray(self.outcome_logs[value.astype(np.intp), tasks])
        return log_density(self.items.take(tasks), self.nodes, value, trials)

    def estimates(
        self, weights: Floats, tasks: Indices, value: Floats, trials: Whole
    ) -> AbilityEstimates:
        """Return the abilities of agents with posterior weights [agents, nodes].

        `tasks` are the columns that were given to any of them, `value` and `trials` [agents, those tasks]
        what each answered; trials are 0 where a task was not given.

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> none = np.zeros((1, 0))
        >>> before = bank.estimates(
        ...     np.exp(bank.log_prior)[None], np.zeros(0, np.intp), none, none.astype(np.int64)
        ... )
        >>> before.error.round(6)
        array([1.])
        """
        if self.covariance is None or self.slopes is None or not tasks.size:
            return estimate_abilities(weights, self.nodes, (), (), None, self.prior_sd)
        kernel, statistics = self._statistics(value, trials)
        slopes, covariance = self.slopes.of(kernel, tasks), self.covariance.take(tasks)
        return estimate_abilities(
            weights, self.nodes, statistics, slopes, covariance, self.prior_sd, self.population
        )

    def _statistics(self, value: Floats, trials: Whole) -> tuple[Kernel, tuple[Floats, ...]]:
        if self.items.response == "beta":
            scores = Beta()
            return scores, scores.of_scores(np.where(trials > 0, value, np.nan))
        counts: Binomial | BetaBinomial = Binomial()
        if self.items.response == "beta-binomial":
            counts = BetaBinomial(max(int(trials.max()), int(self.trials.max())))
        return counts, counts.of_counts(value, trials.astype(np.float64))

    def __repr__(self) -> str:
        counting = {"all": "errors of the fit counted", "none": "parameters taken as exact"}
        about = f"{self.items.response}, {counting[self.uncertainty]}"
        return f"TaskBank: {counted(len(self), 'task')}, {about}"


def _covariance(
    fit: IRTFit | None, uncertainty: Uncertainty
) -> tuple[ParameterCovariance | None, tuple[str, ...]]:
    """The covariance of task parameters that is counted, and a note where there is none."""
    if fit is None or uncertainty == "none":
        return None, (_TAKEN_AS_EXACT,)
    if fit.errors is None:
        return None, (_NO_ERRORS,)
    return fit.errors.covariance_of(fit.items), ()


def _grid(items: ItemParameters, trials: Whole) -> Quadrature:
    """Nodes a little closer than the deviation of a posterior after every task, and never few.

    The sum over a Gaussian with nodes h deviations apart errs by 2 exp(−2π² / h²): 8e-14 at 0.8, and
    3e-4 at 1.5, which serves banks of many thousand tasks of which an agent is given few.
    """
    counts = trials.astype(np.float64)
    spacing = float(np.clip(0.8 * np.sqrt(len(items) / 2000), 0.8, 1.5))
    nodes = len(Quadrature.for_items(items, counts, spacing=spacing))
    # values between nodes are interpolated, so that short tests need nodes as well
    return Quadrature.for_items(items, counts, spacing=spacing * min(1.0, nodes / 121))


def _by_task(tasks: Sequence[str], given: Any, what: str) -> Any:  # Any: numbers or names
    """What is given by the names of the tasks, put into their order; anything else as it is."""
    if not isinstance(given, Mapping):
        return given
    lacking = [task for task in tasks if task not in given]
    if lacking:
        raise InputError(f"No {what} is given for {listed(lacking)}. Give one for every task.")
    return [given[task] for task in tasks]


def _numbers(tasks: Sequence[str], given: Any, what: str) -> Floats:  # Any: as users give them
    ordered = _by_task(tasks, given, what)
    try:
        return np.array(np.broadcast_to(np.asarray(ordered, dtype=np.float64), (len(tasks),)))
    except (ValueError, TypeError):
        raise InputError(
            f"The {what}s do not fit {counted(len(tasks), 'task')}. Give one number each."
        ) from None


def _costs(tasks: tuple[str, ...], costs: ArrayLike | Mapping[str, float] | None) -> Floats:
    array = _numbers(tasks, 1.0 if costs is None else costs, "cost")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if wrong.size:
        first = wrong[0]
        raise InputError(
            f"The cost of {shorten(tasks[first])} is {array[first]:g}. Costs must be above 0."
        )
    return array


def _groups(
    tasks: tuple[str, ...], groups: Sequence[str] | Mapping[str, str] | None
) -> tuple[str, ...] | None:
    if groups is None:
        return None
    named = _by_task(tasks, groups, "group")
    if len(named) != len(tasks):
        raise InputError(
            f"{counted(len(named), 'group')} are given for {counted(len(tasks), 'task')}. Give one each."
        )
    return tuple(str(group) for group in named)


def _trials(items: ItemParameters, trials: ArrayLike) -> Whole:
    given = _numbers(items.tasks, trials, "trial")
    if not (np.isfinite(given) & (given >= 1) & (given == np.floor(given))).all():
        raise InputError("Trials must be whole numbers of at least 1.")
    if (given > 1_000).any():  # the chance of every number of successes is kept for every task
        raise InputError(
            f"One asking would take {given.max():,.0f} trials. Ask for at most 1,000 at once."
        )
    if items.response == "beta" and (given != 1).any():
        raise InputError(
            "A score from 0 to 1 has no trials. Leave the trials out for the beta model."
        )
    return given.astype(np.int64)
