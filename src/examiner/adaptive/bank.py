"""TaskBank: the tasks an examination can draw on, each answer's likelihood on a grid of abilities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from examiner.adaptive.answers import (
    Flags,
    Floats,
    Indices,
    Whole,
    outcome_tables,
)
from examiner.adaptive.calibration import Calibration, calibration_of
from examiner.adaptive.versions import Uncertainty
from examiner.irt import IRTFit, ItemParameters, Quadrature
from examiner.irt.estimation.kernels import log_density
from examiner.irt.posterior import moments, posterior_weights
from examiner.messages import InputError, counted, listed, shorten, unknown_name
from examiner.results import check_undivided
from examiner.scores import Recipe
from examiner.validation import read_only

_MOST_TRIALS = 1_000
"""The chance of every number of successes is kept for every task."""
_FEWEST_NODES = 121
"""Values between nodes are interpolated, so that short tests need nodes as well."""
_SMALLEST = 1e-300


class AbilityMoments(NamedTuple):
    """Mean and standard deviation of abilities under weights [agents, nodes], and the stated error."""

    ability: Floats
    deviation: Floats
    error: Floats


def weights_of(log_posterior: Floats) -> Floats:
    """Return posterior weights that sum to 1 in each row."""
    return posterior_weights(log_posterior.copy())[1]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskBank:
    """Tasks with known curves, what each costs, its group, and how many trials one asking takes.

    The calibration holds versions of the parameters that the fit leaves possible. The likelihood of an
    answer is its mean over them, f̄(x | θ) = E f(x | θ, a, d, …): a task known badly says less.
    `likelihood` has shape [outcomes, tasks, nodes], and `information`, that of the averaged likelihood,
    [nodes, tasks]. `outcome_logs` is the logarithm of the first, None where several counts of successes
    are one outcome.

    >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> bank
    TaskBank: 2 tasks, binomial, parameters taken as exact
    """

    calibration: Calibration
    costs: Floats
    groups: tuple[str, ...] | None
    trials: Whole
    nodes: Floats
    log_prior: Floats
    prior_mean: float
    likelihood: Floats
    outcome_logs: Floats | None
    information: Floats

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

        `uncertainty` says which errors of the fit are counted: "all", those of its "tasks" alone
        (abilities are then compared with the fit's agents, not with their population), or "none": then
        the fit is taken at its word. `prior` is the mean and standard deviation of abilities before the
        first answer, by default those of the fit's population; `trials` how many one asking takes.

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
        known = calibration_of(source, uncertainty)
        items = known.items
        if not len(items):
            raise InputError("The bank has no tasks to ask. Give parameters of at least one.")
        if items.response == "normal":
            raise InputError(
                "This fit is of scores without ends, and examinations ask for successes or scores from 0 "
                'to 1. Fit with `success=...`, or with `model="beta"`; `place` takes any scores.'
            )
        mean, sd = prior or (0.0, known.population_sd)
        if not (np.isfinite(mean) and np.isfinite(sd) and sd > 0):
            raise InputError(
                f"The prior has mean {mean} and deviation {sd}. Give finite numbers, the second above 0."
            )
        counts = _trials(items, trials)
        rule = _grid(items.rescaled(mean, sd), counts)
        nodes = mean + sd * rule.nodes
        tables = outcome_tables(known.versions, nodes, counts)
        bank = cls(
            known,
            _costs(items.tasks, costs),
            _groups(items.tasks, groups),
            counts,
            nodes,
            rule.log_weights,
            float(mean),
            tables.likelihood,
            np.log(np.maximum(tables.likelihood, _SMALLEST)) if tables.exact else None,
            np.ascontiguousarray(tables.information.T),
        )
        for array in (bank.costs, nodes, bank.likelihood, bank.outcome_logs, bank.information):
            if array is not None:
                read_only(array)
        return bank

    @property
    def items(self) -> ItemParameters:
        """The parameters of the tasks, on the bank's scale."""
        return self.calibration.items

    @property
    def recipe(self) -> Recipe | None:
        """How raw results become answers, where the fit knows it."""
        return None if self.calibration.fit is None else self.calibration.fit.recipe

    @property
    def landmarks(self) -> Mapping[str, tuple[float, float]]:
        """Ability and error of each agent of the fit, to be compared with."""
        return self.calibration.landmarks

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
        """The error that stays however many tasks are given: that of the scale's zero."""
        return float(np.sqrt(self.calibration.scale.zero))

    def __len__(self) -> int:
        """Number of tasks."""
        return len(self.items)

    def column(self, task: str) -> int:
        """Return where a task stands, or say that it is not known.

        >>> TaskBank.of(ItemParameters.of(["pong"], [1], [0])).column("pong")
        0
        """
        try:
            return self.tasks.index(task)
        except ValueError:
            raise unknown_name("task", task, self.tasks) from None

    def among(self, tasks: Sequence[str]) -> Flags:
        """Tell which tasks of the bank are among these, shape [tasks].

        >>> TaskBank.of(ItemParameters.of(["pong", "qbert"], [1, 1], [0, 0])).among(["qbert"])
        array([False,  True])
        """
        named = set(tasks)
        return np.array([task in named for task in self.tasks], dtype=bool)

    def log_likelihood(self, tasks: Indices, value: Floats, trials: Whole) -> Floats:
        """Return log f̄(x | θ) of answers to tasks, by column, on the nodes: shape [answers, nodes].

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> ones = np.ones(1, dtype=np.int64)
        >>> found = bank.log_likelihood(np.zeros(1, dtype=np.intp), np.ones(1), ones)
        >>> bool(np.allclose(np.exp(found[0]), 1 / (1 + np.exp(-bank.nodes))))
        True
        """
        if self.outcome_logs is not None and (trials == self.trials[tasks]).all():
            return np.asarray(self.outcome_logs[value.astype(np.intp), tasks])
        total = np.zeros((len(tasks), self.nodes.size))
        for version in self.calibration.versions:
            total += np.exp(log_density(version.take(tasks), self.nodes, value, trials))
        return np.asarray(np.log(np.maximum(total / len(self.calibration.versions), _SMALLEST)))

    def moments(self, weights: Floats) -> AbilityMoments:
        r"""Return abilities, their posterior deviations, and errors that count the fit's scale too.

        .. math:: e^2 = \operatorname{Var}(\theta \mid x) + \operatorname{Var}(m)
                  + (\hat\theta - \mu)^2 \operatorname{Var}(s)

        `weights` has shape [agents, nodes].

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> bank.moments(np.exp(bank.log_prior)[None]).error.round(6)
        array([1.])
        """
        ability, variance = moments(weights, self.nodes)
        zero, unit = self.calibration.scale
        scale = zero + (ability - self.prior_mean) ** 2 * unit
        return AbilityMoments(ability, np.sqrt(variance), np.sqrt(variance + scale))

    def __repr__(self) -> str:
        known = {
            "all": "errors of tasks and scale counted",
            "tasks": "errors of tasks counted",
            "none": "parameters taken as exact",
        }[self.calibration.uncertainty]
        return f"TaskBank: {counted(len(self), 'task')}, {self.items.response}, {known}"


def _grid(items: ItemParameters, trials: Whole) -> Quadrature:
    """Nodes a little closer than the deviation of a posterior after every task, and never few.

    The sum over a Gaussian with nodes h deviations apart errs by 2 exp(−2π² / h²): 8e-14 at 0.8, and
    3e-4 at 1.5, which serves banks of many thousand tasks of which an agent is given few.
    """
    counts = trials.astype(np.float64)
    spacing = float(np.clip(0.8 * np.sqrt(len(items) / 2000), 0.8, 1.5))
    rule = Quadrature.for_items(items, counts, spacing=spacing)
    if len(rule) >= _FEWEST_NODES:
        return rule
    return Quadrature.for_items(items, counts, spacing=spacing * len(rule) / _FEWEST_NODES)


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
    if (given > _MOST_TRIALS).any():
        raise InputError(
            f"One asking would take {given.max():,.0f} trials. Ask for at most {_MOST_TRIALS:,} at once."
        )
    if items.response == "beta" and (given != 1).any():
        raise InputError(
            "A score from 0 to 1 has no trials. Leave the trials out for the beta model."
        )
    return given.astype(np.int64)
