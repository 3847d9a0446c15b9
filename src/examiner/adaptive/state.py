"""What is known of an agent in the middle of its examination, and the task that tells most next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from examiner.adaptive.answers import Flags, Floats, Indices, TaskResponse
from examiner.adaptive.bank import TaskBank, weights_of
from examiner.adaptive.rules import RULES, Choosing, Rule
from examiner.irt import AbilityEstimates, IRTFit, ItemParameters
from examiner.messages import InputError, counted, listed, shorten
from examiner.validation import Randomness, generator, read_only


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExaminationState:
    """Tasks given and answers had, and the posterior over ability on the bank's nodes.

    `aside` are tasks that could not be answered, or that this agent shall not be given.

    >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> state = ExaminationState.start(bank).after(bank, TaskResponse("pong", 1.0))
    >>> state.tasks, round(state.ability, 2)
    (('pong',), 0.61)
    """

    answers: tuple[TaskResponse, ...]
    aside: tuple[str, ...]
    log_posterior: Floats
    ability: float
    deviation: float
    error: float
    cost: float

    @classmethod
    def start(cls, bank: TaskBank) -> ExaminationState:
        """Return the state before the first task: what is known of the population.

        >>> ExaminationState.start(TaskBank.of(ItemParameters.of(["pong"], [1], [0])))
        ExaminationState: ability 0.00 ± 1.00 after 0 tasks
        """
        return cls._of(bank, (), (), bank.log_prior, 0.0)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks given, in their order."""
        return tuple(answer.task for answer in self.answers)

    @property
    def estimates(self) -> AbilityEstimates:
        """Ability, deviation and error as those of one agent among many, shape [1] each."""
        numbers = self.ability, self.deviation, self.error
        return AbilityEstimates(*(np.array([number]) for number in numbers))

    def after(self, bank: TaskBank, answer: TaskResponse) -> ExaminationState:
        """Return the state after one more answer.

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> ExaminationState.start(bank).after(bank, TaskResponse("pong", 0.0)).ability < 0
        True
        """
        column = bank.column(answer.task)
        if answer.task in self.tasks:
            raise InputError(
                f"The task {shorten(answer.task)} was answered before. Give each task once, all its "
                f"trials in one answer: (3, 5)."
            )
        log_likelihood = bank.log_likelihood(
            np.array([column]), np.array([answer.value]), np.array([answer.trials])
        )[0]
        cost = self.cost + float(bank.costs[column])
        answers = (*self.answers, answer)
        return self._of(bank, answers, self.aside, self.log_posterior + log_likelihood, cost)

    def without(self, *tasks: str) -> ExaminationState:
        """Return the state with tasks put aside: they will not be chosen.

        >>> ExaminationState.start(TaskBank.of(ItemParameters.of(["pong"], [1], [0]))).without("pong").aside
        ('pong',)
        """
        return replace(self, aside=tuple(dict.fromkeys((*self.aside, *tasks))))

    def offered(self, bank: TaskBank) -> Flags:
        """Tell which tasks can still be given, shape [tasks].

        >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], [1, 1], [0, 0]))
        >>> ExaminationState.start(bank).without("pong").offered(bank)
        array([False,  True])
        """
        return ~bank.among((*self.tasks, *self.aside))

    @classmethod
    def _of(
        cls,
        bank: TaskBank,
        answers: tuple[TaskResponse, ...],
        aside: tuple[str, ...],
        log_posterior: Floats,
        cost: float,
    ) -> ExaminationState:
        read_only(log_posterior)
        estimates = bank.estimates(
            weights_of(log_posterior[None]),
            np.array([bank.column(answer.task) for answer in answers], dtype=np.intp),
            np.array([[answer.value for answer in answers]]),
            np.array([[answer.trials for answer in answers]], dtype=np.int64),
        )
        ability, deviation, error = (float(part[0]) for part in estimates)
        return cls(answers, aside, log_posterior, ability, deviation, error, cost)

    def __repr__(self) -> str:
        return (
            f"ExaminationState: ability {round(self.ability, 2) + 0.0:.2f} ± {self.error:.2f} after "
            f"{counted(len(self.answers), 'task')}"
        )


class Choice(NamedTuple):
    """The next task, and its value under the rule for each unit of cost."""

    task: str
    value: float


def next_task(
    state: ExaminationState,
    items: TaskBank | ItemParameters | IRTFit,
    rule: str | Rule | Choosing = "information",
    *,
    rng: Randomness | None = None,
    at_most_cost: float = np.inf,
) -> Choice | None:
    """Return the best next task, or None where no task is left that can be given for the cost.

    `rng` is needed where chance has a part in the choice.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> bank = TaskBank.of(items)
    >>> next_task(ExaminationState.start(bank), bank).task
    'apt'
    """
    bank = TaskBank.of(items)
    choosing = Choosing.of(rule)
    if choosing.random and rng is None:
        raise InputError("Chance has a part in this choice. Give a random generator: rng=….")
    offered = state.offered(bank) & (bank.costs <= at_most_cost)
    if not offered.any():
        return None
    (task,), (value,) = choose(
        bank,
        choosing,
        weights_of(state.log_posterior[None]),
        np.array([state.ability]),
        offered[None],
        bank.among(state.tasks)[None],
        None if rng is None else generator(rng),
    )
    return Choice(bank.tasks[task], float(value))


def choose(
    bank: TaskBank,
    choosing: Choosing,
    weights: Floats,
    abilities: Floats,
    offered: Flags,
    taken: Flags,
    rng: np.random.Generator | None,
) -> tuple[Indices, Floats]:
    """Return the next task of each agent, and its value for each unit of cost; each must be offered one.

    `weights` [agents, nodes] are posteriors, `taken` [agents, tasks] the tasks given before. Tasks of
    negative slope measure something else, and those without errors cannot be trusted: both come last by
    every rule of `RULES` but "random".
    """
    values = _values(bank, choosing, weights, abilities)
    if choosing.rule in RULES and choosing.rule != "random":
        preferred = offered & bank.preferred
        offered = np.where(preferred.any(axis=1, keepdims=True), preferred, offered)
    if choosing.balance:
        offered = _balanced(bank, choosing.balance, offered, taken)
    rows = np.arange(len(values))
    if choosing.rule == "random" and rng is not None:
        task = np.where(offered, rng.random(values.shape), -1.0).argmax(axis=1)
        return task, values[rows, task]
    open_values = np.where(offered, values, -np.inf)
    if choosing.among == 1 or rng is None:
        task = open_values.argmax(axis=1)
        return task, values[rows, task]
    best = min(choosing.among, values.shape[1])
    top = np.argpartition(-open_values, best - 1, axis=1)[:, :best]
    possible = np.take_along_axis(offered, top, axis=1)
    task = top[rows, np.where(possible, rng.random(top.shape), -1.0).argmax(axis=1)]
    return task, values[rows, task]


def balance_of(bank: TaskBank) -> dict[str, float]:
    """Return the share of the bank's tasks that each group has: the usual aim of a balance.

    >>> items = ItemParameters.of(["t", "u", "v", "w"], 1.0, 0.0)
    >>> balance_of(TaskBank.of(items, groups=["maze", "maze", "maze", "ball"]))
    {'ball': 0.25, 'maze': 0.75}
    """
    groups = _groups(bank)
    return {name: groups.count(name) / len(groups) for name in sorted(set(groups))}


def _values(bank: TaskBank, choosing: Choosing, weights: Floats, abilities: Floats) -> Floats:
    """The value of every task for every agent, for each unit of cost: shape [agents, tasks]."""
    rule = RULES[choosing.rule] if isinstance(choosing.rule, str) else choosing.rule
    values = np.asarray(rule(bank, weights, abilities), dtype=np.float64)
    if values.shape != (len(weights), len(bank)):
        raise InputError(
            f"The rule {choosing.rule_name} returned shape {values.shape}. It must return "
            f"{(len(weights), len(bank))}: agents × tasks."
        )
    if (bank.costs == 1.0).all():
        return values
    return np.asarray(values / bank.costs)


def _groups(bank: TaskBank) -> tuple[str, ...]:
    if bank.groups is None:
        raise InputError("The bank has no groups to balance. Give `groups`, one for each task.")
    return bank.groups


def _balanced(bank: TaskBank, balance: Mapping[str, float], offered: Flags, taken: Flags) -> Flags:
    """Leave of the offered tasks those of the group that is furthest behind its share."""
    groups = _groups(bank)
    strange = [name for name in balance if name not in groups]
    if strange:
        raise InputError(
            f"No task is of the group {listed(strange)}. Groups are {listed(sorted(set(groups)))}."
        )
    member = np.array([[group == name for group in groups] for name in balance])
    left = (offered[:, None, :] & member).any(axis=2)
    counts = (taken[:, None, :] & member).sum(axis=2)
    aims = np.array(list(balance.values()))
    behind = np.where(
        left & (aims > 0), aims * (counts.sum(axis=1, keepdims=True) + 1) - counts, -np.inf
    )
    chosen = offered & member[behind.argmax(axis=1)]
    return np.where(np.isfinite(behind.max(axis=1))[:, None], chosen, offered)
