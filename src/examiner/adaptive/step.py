"""The next task: the one that tells most for its cost, as exposure and balance allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import RULES, Rule
from examiner.adaptive.state import ExaminationState, weights_of
from examiner.irt.fitted import IRTFit
from examiner.irt.items import Floats, ItemParameters
from examiner.wording import InputError, listed, unknown_name

Flags = NDArray[np.bool_]


class Choice(NamedTuple):
    """The next task, and its value under the rule for each unit of cost."""

    task: str
    value: float


@dataclass(frozen=True, slots=True)
class Choosing:
    """How tasks are chosen.

    `rule` is one of `RULES` or a function like them. `among` chooses at random between so many of the
    best (randomesque: Kingsbury and Zara, 1989). `open_shares` gives the chance that a task is open to
    an agent at all, as `exposure_shares` finds it (Sympson and Hetter, 1985). `balance` gives the share
    of tasks that each group shall have: the next task comes from the group furthest behind.

    >>> Choosing("posterior-variance", among=5).among
    5
    """

    rule: str | Rule = "information"
    among: int = 1
    open_shares: Mapping[str, float] | None = None
    balance: Mapping[str, float] | None = field(default=None)

    def __post_init__(self) -> None:
        if isinstance(self.rule, str) and self.rule not in RULES:
            raise unknown_name("rule", self.rule, RULES)
        if not isinstance(self.among, int) or self.among < 1:
            raise InputError(
                f"The next task is chosen among {self.among!r}. Give a whole number of at least 1."
            )
        for what, shares in (("open", self.open_shares), ("balance", self.balance)):
            wrong = [name for name, share in (shares or {}).items() if not 0 <= share <= 1]
            if wrong:
                raise InputError(
                    f"The {what} share of {listed(wrong)} is not between 0 and 1. Give shares."
                )

    @property
    def rule_name(self) -> str:
        """The rule's name, or that of the function."""
        return self.rule if isinstance(self.rule, str) else getattr(self.rule, "__name__", "rule")

    @property
    def random(self) -> bool:
        """Whether chance has a part in the choice."""
        return self.among > 1 or self.rule == "random"


def next_task(
    state: ExaminationState,
    items: TaskBank | ItemParameters | IRTFit,
    rule: str | Rule | Choosing = "information",
    *,
    rng: np.random.Generator | None = None,
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
    choosing = rule if isinstance(rule, Choosing) else Choosing(rule)
    if choosing.random and rng is None:
        raise InputError("Chance has a part in this choice. Give a random generator: rng=….")
    offered = state.offered(bank) & (bank.costs <= at_most_cost)
    if not offered.any():
        return None
    weights = weights_of(state.log_posterior[None])
    values = task_values(bank, choosing, weights, np.array([state.ability]))
    counts = None
    if bank.groups is not None and choosing.balance is not None:
        given = [bank.groups[bank.position(task)] for task in state.tasks]
        counts = np.array([[given.count(name) for name in choosing.balance]])
    place = choose(bank, choosing, values, offered[None], counts, rng)[0]
    return Choice(bank.tasks[place], float(values[0, place]))


def task_values(bank: TaskBank, choosing: Choosing, weights: Floats, abilities: Floats) -> Floats:
    """Return the value of every task for every agent, for each unit of cost: shape [agents, tasks]."""
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


def choose(
    bank: TaskBank,
    choosing: Choosing,
    values: Floats,
    offered: Flags,
    group_counts: NDArray[np.int64] | None = None,
    rng: np.random.Generator | None = None,
) -> NDArray[np.intp]:
    """Return the position of the next task of each agent; each must be offered at least one.

    `group_counts` [agents, groups] counts the tasks given of each group of the balance. Tasks on which
    the able do worse come last by every rule of `RULES` but "random": they measure something else.
    """
    if choosing.rule in RULES and choosing.rule != "random":
        rising = offered & (bank.items.slope >= 0)
        offered = np.where(rising.any(axis=1, keepdims=True), rising, offered)
    if choosing.balance is not None:
        offered = _balanced(bank, choosing.balance, offered, group_counts)
    open_values = np.where(offered, values, -np.inf)
    if choosing.rule == "random" and rng is not None:
        return np.asarray(np.where(offered, rng.random(values.shape), -1.0).argmax(axis=1))
    if choosing.among == 1 or rng is None:
        return np.asarray(open_values.argmax(axis=1))
    best = min(choosing.among, values.shape[1])
    top = np.argpartition(-open_values, best - 1, axis=1)[:, :best]
    possible = np.take_along_axis(offered, top, axis=1)
    drawn = np.where(possible, rng.random(top.shape), -1.0).argmax(axis=1)
    return np.asarray(np.take_along_axis(top, drawn[:, None], axis=1)[:, 0])


def balance_of(bank: TaskBank) -> dict[str, float]:
    """Return the share of the bank's tasks that each group has: the usual aim of a balance.

    >>> items = ItemParameters.of(["t", "u", "v", "w"], 1.0, 0.0)
    >>> balance_of(TaskBank.of(items, groups=["maze", "maze", "maze", "ball"]))
    {'ball': 0.25, 'maze': 0.75}
    """
    if bank.groups is None:
        raise InputError("The bank has no groups to balance. Give `groups`, one for each task.")
    return {name: bank.groups.count(name) / len(bank.groups) for name in sorted(set(bank.groups))}


def _balanced(
    bank: TaskBank,
    balance: Mapping[str, float],
    offered: Flags,
    group_counts: NDArray[np.int64] | None,
) -> Flags:
    """Leave of the offered tasks those of the group that is furthest behind its share."""
    if bank.groups is None:
        raise InputError("The bank has no groups to balance. Give `groups`, one for each task.")
    names = list(balance)
    strange = [name for name in names if name not in bank.groups]
    if strange:
        raise InputError(
            f"No task is of the group {listed(strange)}. Groups are {listed(sorted(set(bank.groups)))}."
        )
    member = np.array([[group == name for group in bank.groups] for name in names])
    left = (offered[:, None, :] & member[None]).any(axis=2)
    counts = np.zeros((len(offered), len(names))) if group_counts is None else group_counts
    aims = np.array([balance[name] for name in names])
    given = counts.sum(axis=1, keepdims=True)
    behind = np.where(left & (aims > 0), aims * (given + 1) - counts, -np.inf)
    group = behind.argmax(axis=1)
    chosen = offered & member[group]
    return np.where(np.isfinite(behind.max(axis=1))[:, None], chosen, offered)
