"""Examinations of many simulated agents at once, to see what accuracy costs before it is paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.adaptive.answers import Floats, Indices, Whole
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import closed_tasks
from examiner.adaptive.examine import Sitting
from examiner.adaptive.rules import Choosing, Rule
from examiner.adaptive.stopping import Ending, Stop
from examiner.answers import Answer, Scalar, Table, bound, count, error, name, number, text
from examiner.irt import (
    AS_BINOMIAL,
    IRTFit,
    ItemParameters,
    interval,
    moved,
    with_ends,
)
from examiner.messages import InputError, counted
from examiner.scores import Progress
from examiner.validation import Randomness, generator, read_only


class SimulatedAgents(Table):
    """Simulated agents: true and estimated abilities, and what the examination took."""

    truth: Floats = number("True ability", unit="logits")
    ability: Floats = number("Estimated ability", unit="logits")
    ability_error: Floats = error("ability")
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")
    tasks: NDArray[np.int64] = count("Tasks given")
    cost: Floats = number("Cost of the tasks given")
    outcome: tuple[str, ...] = text("How the examination ended")


class TaskExposure(Table):
    """How often each task was given."""

    task: tuple[str, ...] = name("Task")
    exposure: Floats = number("Share of agents that the task was given to")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimulatedExaminations(Answer):
    """What examinations of simulated agents gave, each array of shape [agents].

    `given` [agents, steps] holds columns of tasks in their order, −1 after the end; `answers`,
    `trace` and `trace_error` [agents, steps] what was answered, the ability and its stated error after
    each, NaN after the end.
    """

    kind: ClassVar[str] = "simulated-examinations"

    tasks: tuple[str, ...]
    truth: Floats
    ability: Floats
    error: Floats
    count: NDArray[np.int64]
    cost: Floats
    ending: tuple[Ending, ...]
    given: NDArray[np.int32]
    answers: Floats
    trace: Floats
    trace_error: Floats
    seed: int | None = None

    @property
    def low(self) -> Floats:
        """Lower ends of the 95 % intervals."""
        return interval(self.ability, self.error)[0]

    @property
    def high(self) -> Floats:
        """Upper ends of the 95 % intervals."""
        return interval(self.ability, self.error)[1]

    @property
    def coverage(self) -> float:
        """Share of agents whose true ability lies in their interval."""
        return float(((self.low <= self.truth) & (self.truth <= self.high)).mean())

    @property
    def rmse(self) -> float:
        """Root of the mean squared difference between estimated and true abilities."""
        return float(np.sqrt(((self.ability - self.truth) ** 2).mean()))

    @property
    def exposure(self) -> Floats:
        """Share of agents that each task was given to, shape [tasks]."""
        counts = np.bincount(self.given[self.given >= 0], minlength=len(self.tasks))
        return np.asarray(counts / len(self.truth))

    def share_ending(self, ending: Ending) -> float:
        """Return the share of examinations that ended in one way.

        >>> items = ItemParameters.of(["t", "u"], 1.0, 0.0)
        >>> run = simulate(items, [0.0, 1.0], rng=0)
        >>> run.share_ending(Ending.USED_UP)
        1.0
        """
        return self.ending.count(ending) / len(self.ending)

    @property
    def headline(self) -> str:
        """How many tasks were given, and how accurate abilities were."""
        return (
            f"{counted(len(self.truth), 'simulated agent')} had {self.count.mean():.1f} tasks on average; "
            f"the root mean squared error of ability is {self.rmse:.3f}, the coverage {self.coverage:.1%}."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """One row per agent, and how often each task was given."""
        agents = SimulatedAgents(
            truth=self.truth,
            ability=self.ability,
            ability_error=self.error,
            ability_low=self.low,
            ability_high=self.high,
            tasks=self.count,
            cost=self.cost,
            outcome=tuple(ending.value for ending in self.ending),
        )
        return {"agents": agents, "tasks": TaskExposure(task=self.tasks, exposure=self.exposure)}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Accuracy over all agents."""
        return {
            "rmse": Scalar(self.rmse, "Root mean squared error of ability", "logits"),
            "coverage": Scalar(self.coverage, "Share of true abilities inside their intervals"),
        }


def simulate(
    source: TaskBank | ItemParameters | IRTFit,
    abilities: ArrayLike,
    *,
    rng: Randomness = 0,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    truth: ItemParameters | None = None,
    progress: Progress | None = None,
) -> SimulatedExaminations:
    """Examine agents of known ability whose answers are drawn from the model.

    Answers are drawn from the parameters that the bank's calibration leaves possible; or from `truth`,
    parameters known from elsewhere: then the errors of the calibration show. Agents are examined in
    blocks, each with its own child of `rng`.

    >>> items = ItemParameters.of([f"task {n}" for n in range(40)], 1.5, difficulty=np.linspace(-2, 2, 40))
    >>> run = simulate(items, [-1.0, 1.0], stop=Stop(most=5), rng=0)
    >>> run.count, bool(run.ability[0] < run.ability[1])
    (array([5, 5]), True)
    """
    bank = TaskBank.of(source)
    plan = Choosing.of(choosing)
    ends = (stop or Stop()).checked(bank)
    if truth is not None and (truth.tasks, truth.response) != (bank.tasks, bank.items.response):
        raise InputError(
            "The true parameters are of other tasks or another response than the bank's. Give the same."
        )
    theta = np.array(np.atleast_1d(np.asarray(abilities, dtype=np.float64)))
    if theta.ndim != 1 or not theta.size or not np.isfinite(theta).all():
        raise InputError("Abilities must be a list of at least one finite number.")
    read_only(theta)
    size = max(64, 2_000_000 // len(bank))  # agents at once: bounds memory
    starts = range(0, theta.size, size)
    steps = min(ends.most or len(bank), len(bank))
    given = np.full((theta.size, steps), -1, dtype=np.int32)
    answers, trace, trace_error = np.full((3, theta.size, steps), np.nan)
    endings: list[Ending] = []
    for start, child in zip(starts, generator(rng).spawn(len(starts)), strict=True):
        respondents = Respondents(bank, theta[start : start + size], truth, child)
        sitting = Sitting(bank, len(respondents.abilities))
        if plan.open_shares is not None:
            sitting.closed = closed_tasks(bank, plan.open_shares, len(sitting.ending), child)
        turns = sitting.rounds(plan, ends, respondents.answer, repeat(child))
        for step, turn in enumerate(turns):
            at = start + turn.rows
            given[at, step], answers[at, step] = turn.task, turn.value
            trace[at, step], trace_error[at, step] = turn.estimates.ability, turn.estimates.error
        endings += sitting.ending.tolist()
        if progress is not None:
            progress("examining simulated agents", len(endings), theta.size)
    count = (given >= 0).sum(axis=1)
    rows, most = np.arange(theta.size), int(count.max())  # steps that no agent came to are omitted
    return SimulatedExaminations(
        bank.tasks,
        theta,
        trace[rows, count - 1],
        trace_error[rows, count - 1],
        count,
        np.where(given >= 0, bank.costs[given], 0.0).sum(axis=1),
        tuple(endings),
        given[:, :most],
        answers[:, :most],
        trace[:, :most],
        trace_error[:, :most],
        rng if isinstance(rng, int) else None,
    )


class Respondents:
    """Agents of known ability, and the parameters their answers are drawn from.

    These are the `truth`; or else every agent meets tasks as the fit leaves them possible, N(β̂, D + F Fᵀ).
    `roots` are those of D [tasks, own, own], `common` [agents, directions] draws of the joint errors.
    """

    def __init__(
        self,
        bank: TaskBank,
        abilities: Floats,
        truth: ItemParameters | None,
        rng: np.random.Generator,
    ) -> None:
        self.abilities, self.trials, self.rng = abilities, bank.trials, rng
        self.items = bank.items if truth is None else truth
        self.covariance = bank.covariance if truth is None else None
        if self.covariance is not None:
            self.common = rng.standard_normal((len(abilities), self.covariance.directions.shape[1]))
            values, vectors = np.linalg.eigh(self.covariance.task_blocks)
            self.roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]

    def answer(self, agents: Indices, task: Indices) -> tuple[Floats, Whole]:
        """Draw the answer of each agent to its own task: successes of trials, or a score."""
        rng, items, trials = self.rng, self._possible(agents, task), self.trials[task]
        eta = items.slope * self.abilities[agents] + items.intercept
        low, high = items.guessing, items.ceiling
        chance = low + (high - low) / (1 + np.exp(-np.clip(eta, -500, 500)))
        if items.precision is not None:
            finite = np.minimum(items.precision, AS_BINOMIAL)
            inside = np.clip(chance, 1e-9, 1 - 1e-9)
            drawn = rng.beta(inside * finite, (1 - inside) * finite)
            if items.response == "beta":
                return with_ends(items, eta, drawn, rng), trials
            chance = np.where(items.precision < AS_BINOMIAL, drawn, chance)
        if (trials == 1).all():
            return (rng.random(chance.size) < chance).astype(np.float64), trials
        return rng.binomial(trials, np.clip(chance, 0, 1)).astype(np.float64), trials

    def _possible(self, agents: Indices, task: Indices) -> ItemParameters:
        """Draw the parameters of the task of each agent; no agent is given a task twice."""
        items, covariance = self.items.take(task), self.covariance
        if covariance is None:
            return items
        components, common = len(covariance.own), self.common[agents]
        rows = covariance.directions[task[:, None] * components + np.arange(components)]
        steps = np.einsum("tin,tn->ti", rows, common)
        steps += np.einsum("tij,tj->ti", self.roots[task], self.rng.standard_normal(steps.shape))
        for parameter, step in zip(covariance.own, steps.T, strict=True):
            items = moved(items, parameter, step)
        shared = common @ covariance.shared_directions.T
        for parameter, step in zip(covariance.shared, shared.T, strict=True):
            if parameter != "slope" or not covariance.unit_slopes:  # else it is the prior's
                items = moved(items, parameter, step)
        return items
