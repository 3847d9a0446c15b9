"""Examinations of many simulated agents at once, to see what accuracy costs before it is paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.drawing import Respondents
from examiner.adaptive.rules import Rule
from examiner.adaptive.state import moments, weights_of
from examiner.adaptive.step import Choosing, choose, task_values
from examiner.adaptive.stopping import Ending, Stop, interval
from examiner.checking import read_only
from examiner.irt.fitted import IRTFit
from examiner.irt.items import Floats, ItemParameters
from examiner.wording import InputError, counted

Progress = Callable[[str, int, int], None]

_CELLS = 2_000_000
"""Agents are taken in blocks of at most this many agents × tasks, of at least 64 agents."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimulatedExaminations:
    """What examinations of simulated agents gave, each array of shape [agents].

    `given` [agents, steps] holds positions of tasks in their order, −1 after the end; `answers`,
    `trace` and `trace_error` [agents, steps] what was answered, the ability and its stated error after
    each, NaN after the end.
    """

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

    @property
    def low(self) -> Floats:
        """Lower ends of the 95 % intervals."""
        return np.asarray(interval(self.ability, self.error)[0])

    @property
    def high(self) -> Floats:
        """Upper ends of the 95 % intervals."""
        return np.asarray(interval(self.ability, self.error)[1])

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
        seen = np.bincount(self.given[self.given >= 0], minlength=len(self.tasks))
        return np.asarray(seen / len(self.truth))

    def share_ending(self, ending: Ending) -> float:
        """Return the share of examinations that ended in one way.

        >>> items = ItemParameters.of(["t", "u"], 1.0, 0.0)
        >>> run = simulate(items, [0.0, 1.0], rng=np.random.default_rng(0))
        >>> run.share_ending(Ending.USED_UP)
        1.0
        """
        return sum(one is ending for one in self.ending) / len(self.ending)

    def __repr__(self) -> str:
        return (
            f"SimulatedExaminations: {counted(len(self.truth), 'agent')}, {self.count.mean():.1f} tasks "
            f"each, root mean squared error {self.rmse:.3f}, coverage {self.coverage:.1%}"
        )


def simulate(
    source: TaskBank | ItemParameters | IRTFit,
    abilities: ArrayLike,
    *,
    rng: np.random.Generator,
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
    >>> run = simulate(items, [-1.0, 1.0], stop=Stop(most=5), rng=np.random.default_rng(0))
    >>> run.count, bool(run.ability[0] < run.ability[1])
    (array([5, 5]), True)
    """
    bank = TaskBank.of(source)
    plan = choosing if isinstance(choosing, Choosing) else Choosing(choosing)
    ends = (stop or Stop()).checked(bank)
    if truth is not None and (truth.tasks, truth.response) != (bank.tasks, bank.items.response):
        raise InputError(
            "The true parameters are of other tasks or another response than the bank's. Give the same."
        )
    theta = np.array(np.atleast_1d(np.asarray(abilities, dtype=np.float64)))
    if theta.ndim != 1 or not theta.size or not np.isfinite(theta).all():
        raise InputError("Abilities must be a list of at least one finite number.")
    read_only(theta)
    size = max(64, _CELLS // len(bank))
    starts = range(0, theta.size, size)
    blocks = []
    for start, child in zip(starts, rng.spawn(len(starts)), strict=True):
        part = theta[start : start + size]
        answering = Respondents.of(bank, part, truth, child)
        blocks.append(_examine_block(bank, answering, plan, ends, child))
        if progress is not None:
            progress("examining simulated agents", start + part.size, theta.size)
    return _joined(bank, theta, blocks)


class _Block(NamedTuple):
    ability: Floats
    error: Floats
    cost: Floats
    ending: list[Ending]
    given: NDArray[np.int32]
    answers: Floats
    trace: Floats
    trace_error: Floats


def _examine_block(
    bank: TaskBank,
    answering: Respondents,
    plan: Choosing,
    stop: Stop,
    rng: np.random.Generator,
) -> _Block:
    agents, most = answering.ability.size, min(stop.most or len(bank), len(bank))
    tables = np.log(np.maximum(bank.likelihood, 1e-300)) if bank.outcomes_exact else None
    closed = _closed(bank, plan, agents, rng)
    offered = np.ones((agents, len(bank)), dtype=bool)
    posterior = np.repeat(bank.log_prior[None], agents, axis=0)
    ability, error, cost = np.zeros(agents), np.zeros(agents), np.zeros(agents)
    ending = [Ending.USED_UP] * agents
    given = np.full((agents, most), -1, dtype=np.int32)
    answers, trace, trace_error = (np.full((agents, most), np.nan) for _ in range(3))
    groups = _GroupCounts.of(bank, plan, agents)
    active = np.arange(agents)
    found = moments(bank, weights_of(posterior[:1]))
    ability[:], error[:] = found.ability[0], found.error[0]
    weights = weights_of(posterior)
    for step in range(most):
        can = _can_be_given(bank, stop, offered[active], closed[active], cost[active])
        left = can.any(axis=1)
        for agent in active[~left]:
            ending[agent] = Ending.BUDGET if offered[agent].any() else Ending.USED_UP
        active, can, weights = active[left], can[left], weights[left]
        if not active.size:
            break
        values = task_values(bank, plan, weights, ability[active])
        task = choose(bank, plan, values, can, groups.of_agents(active), rng)
        value = answering.answers(active, task, bank.trials[task], rng)
        if tables is not None:
            posterior[active] += tables[value.astype(np.intp), task]
        else:
            posterior[active] += bank.log_likelihood(task, value, bank.trials[task])
        offered[active, task] = False
        cost[active] += bank.costs[task]
        groups.add(active, task)
        weights = weights_of(posterior[active])
        found = moments(bank, weights)
        ability[active], error[active] = found.ability, found.error
        given[active, step], answers[active, step] = task, value
        trace[active, step], trace_error[active, step] = found.ability, found.error
        precise, clear = stop.reached(bank, found, step + 1)
        for agent in active[precise]:
            ending[agent] = Ending.PRECISE
        for agent in active[clear]:
            ending[agent] = Ending.DECIDED
        left = offered[active].any(axis=1) & (step + 1 < most)
        futile = stop.futile(bank, found, offered[active], step + 1) & left & ~(precise | clear)
        for agent in active[futile]:
            ending[agent] = Ending.FUTILE
        goes_on = ~(precise | clear | futile)
        active, weights = active[goes_on], weights[goes_on]
    else:
        for agent in active:
            ending[agent] = Ending.MOST_TASKS if offered[agent].any() else Ending.USED_UP
    return _Block(ability, error, cost, ending, given, answers, trace, trace_error)


@dataclass(slots=True)
class _GroupCounts:
    """How many tasks of each group each agent was given; nothing where no balance is asked for."""

    counts: NDArray[np.int64] | None
    group_of_task: NDArray[np.int64]

    @classmethod
    def of(cls, bank: TaskBank, plan: Choosing, agents: int) -> _GroupCounts:
        if plan.balance is None or bank.groups is None:
            return cls(None, np.zeros(0, dtype=np.int64))
        names = list(plan.balance)
        place = [names.index(group) if group in names else len(names) for group in bank.groups]
        return cls(np.zeros((agents, len(names) + 1), dtype=np.int64), np.array(place))

    def of_agents(self, agents: NDArray[np.intp]) -> NDArray[np.int64] | None:
        return None if self.counts is None else self.counts[agents, :-1]

    def add(self, agents: NDArray[np.intp], task: NDArray[np.intp]) -> None:
        if self.counts is not None:
            self.counts[agents, self.group_of_task[task]] += 1


def _closed(
    bank: TaskBank, plan: Choosing, agents: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    if plan.open_shares is None:
        return np.zeros((agents, len(bank)), dtype=bool)
    shares = np.array([plan.open_shares.get(task, 1.0) for task in bank.tasks])
    return np.asarray(rng.random((agents, len(bank))) >= shares)


def _can_be_given(
    bank: TaskBank,
    stop: Stop,
    offered: NDArray[np.bool_],
    closed: NDArray[np.bool_],
    cost: Floats,
) -> NDArray[np.bool_]:
    if stop.budget is not None:
        offered = offered & (bank.costs <= (stop.budget - cost + 1e-9)[:, None])
    is_open = offered & ~closed
    some: NDArray[np.bool_] = np.asarray(is_open.any(axis=1))
    return np.where(some[:, None], is_open, offered)


def _joined(bank: TaskBank, theta: Floats, blocks: list[_Block]) -> SimulatedExaminations:
    given = np.concatenate([block.given for block in blocks])
    used = max(int((given >= 0).sum(axis=1).max()), 1)
    return SimulatedExaminations(
        bank.tasks,
        theta,
        np.concatenate([block.ability for block in blocks]),
        np.concatenate([block.error for block in blocks]),
        (given >= 0).sum(axis=1),
        np.concatenate([block.cost for block in blocks]),
        tuple(end for block in blocks for end in block.ending),
        given[:, :used],
        np.concatenate([block.answers for block in blocks])[:, :used],
        np.concatenate([block.trace for block in blocks])[:, :used],
        np.concatenate([block.trace_error for block in blocks])[:, :used],
    )
