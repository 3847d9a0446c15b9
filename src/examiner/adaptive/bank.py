"""TaskBank: the tasks an examination can draw on, each answer's likelihood on a grid of abilities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.adaptive.answers import Whole, log_density
from examiner.adaptive.calibration import Calibration, calibration_of
from examiner.adaptive.outcomes import outcome_tables
from examiner.adaptive.versions import Uncertainty
from examiner.checking import read_only
from examiner.irt import Quadrature
from examiner.irt.fitted import IRTFit
from examiner.irt.items import Floats, ItemParameters
from examiner.wording import InputError, counted, listed, shorten, unknown_name

_VERSIONS = 32
_MOST_TRIALS = 1_000
"""The chance of every number of successes is kept for every task."""
_FEWEST_NODES = 121
"""Values between nodes are interpolated, so that short tests need nodes as well."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskBank:
    """Tasks with known curves, what each costs, its group, and how many trials one asking takes.

    The calibration holds versions of the parameters that the fit leaves possible. The likelihood of an
    answer is its mean over them, f̄(x | θ) = E f(x | θ, a, d, …): a task known badly says less.
    `likelihood` has shape [outcomes, tasks, nodes], and `information`, that of the averaged likelihood,
    [nodes, tasks].

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
    likelihood: Floats
    information: Floats
    outcomes_exact: bool
    prior_mean: float

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
        versions: int = _VERSIONS,
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
        known = calibration_of(source, uncertainty, max(versions, 8))
        items = known.items
        if not len(items):
            raise InputError("The bank has no tasks to ask. Give parameters of at least one.")
        mean, sd = prior or (0.0, known.population_sd)
        if not (np.isfinite(mean) and np.isfinite(sd) and sd > 0):
            raise InputError(
                f"The prior has mean {mean} and deviation {sd}. Give finite numbers, the second above 0."
            )
        counts = _trials(items, trials)
        rule = _grid(items.rescaled(mean, sd), counts)
        nodes = mean + sd * rule.nodes
        tables = outcome_tables(known.versions, nodes, counts)
        by_node = np.ascontiguousarray(tables.information.T)
        arrays = (_costs(items.tasks, costs), nodes, tables.likelihood, by_node)
        for array in arrays:
            read_only(array)
        return cls(
            known,
            arrays[0],
            _groups(items.tasks, groups),
            counts,
            nodes,
            rule.log_weights,
            arrays[2],
            arrays[3],
            tables.exact,
            float(mean),
        )

    @property
    def items(self) -> ItemParameters:
        """The parameters of the tasks, on the bank's scale."""
        return self.calibration.items

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

    def position(self, task: str) -> int:
        """Return where a task stands, or say that it is not known.

        >>> TaskBank.of(ItemParameters.of(["pong"], [1], [0])).position("pong")
        0
        """
        try:
            return self.tasks.index(task)
        except ValueError:
            raise unknown_name("task", task, self.tasks) from None

    def log_likelihood(self, tasks: NDArray[np.intp], value: Floats, trials: Whole) -> Floats:
        """Return log f̄(x | θ) of answers to tasks, by position, on the nodes: shape [answers, nodes].

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> ones = np.ones(1, dtype=np.int64)
        >>> found = bank.log_likelihood(np.zeros(1, dtype=np.intp), np.ones(1), ones)
        >>> bool(np.allclose(np.exp(found[0]), 1 / (1 + np.exp(-bank.nodes))))
        True
        """
        total = np.zeros((len(tasks), self.nodes.size))
        for version in self.calibration.versions:
            some = _rows(version, tasks)
            total += np.exp(log_density(some, self.nodes, value, trials))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(total / len(self.calibration.versions), 1e-300)))

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


def _rows(items: ItemParameters, tasks: NDArray[np.intp]) -> ItemParameters:
    """Parameters row by row; unlike `take`, a task may come more than once."""
    return ItemParameters(
        tuple(items.tasks[task] for task in tasks),
        items.slope[tasks],
        items.intercept[tasks],
        items.guessing[tasks],
        items.ceiling[tasks],
        None if items.precision is None else items.precision[tasks],
        items.response,
    )


def _costs(tasks: tuple[str, ...], costs: ArrayLike | Mapping[str, float] | None) -> Floats:
    if costs is None:
        return np.ones(len(tasks))
    if isinstance(costs, Mapping):
        lacking = [task for task in tasks if task not in costs]
        if lacking:
            raise InputError(f"No cost is given for {listed(lacking)}. Give one for every task.")
        costs = [costs[task] for task in tasks]
    try:
        array = np.array(np.broadcast_to(np.asarray(costs, dtype=np.float64), (len(tasks),)))
    except (ValueError, TypeError):
        raise InputError(
            f"The costs do not fit {counted(len(tasks), 'task')}. Give one number each."
        ) from None
    wrong = ~(np.isfinite(array) & (array > 0))
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"The cost of {shorten(tasks[first])} is {array[first]:g}. Costs must be above 0."
        )
    return array


def _groups(
    tasks: tuple[str, ...], groups: Sequence[str] | Mapping[str, str] | None
) -> tuple[str, ...] | None:
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        lacking = [task for task in tasks if task not in groups]
        if lacking:
            raise InputError(f"No group is given for {listed(lacking)}. Give one for every task.")
        return tuple(str(groups[task]) for task in tasks)
    if len(groups) != len(tasks):
        raise InputError(
            f"{counted(len(groups), 'group')} are given for {counted(len(tasks), 'task')}. Give one each."
        )
    return tuple(str(group) for group in groups)


def _trials(items: ItemParameters, trials: ArrayLike) -> Whole:
    try:
        given = np.broadcast_to(np.asarray(trials, dtype=np.float64), (len(items),))
    except (ValueError, TypeError):
        raise InputError(
            f"The trials do not fit {counted(len(items), 'task')}. Give one number each."
        ) from None
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
