"""Which task comes next: rules for how much each task would show about each agent, and the choice by them.

A rule takes the bank, posterior weights [agents, nodes] and estimated abilities [agents], and returns
values [agents, tasks], none negative. Values are divided by the costs of the tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from examiner.adaptive.answers import Flags, Floats, Indices
from examiner.adaptive.bank import TaskBank
from examiner.messages import InputError, listed, unknown_name

Rule = Callable[[TaskBank, Floats, Floats], Floats]


def maximum_information(bank: TaskBank, weights: Floats, abilities: Floats) -> Floats:
    r"""Fisher information at the estimated ability, :math:`I_i(\hat\theta)` (Lord, 1980, chapter 10)."""
    return _between(bank, bank.information, abilities)


def posterior_information(bank: TaskBank, weights: Floats, abilities: Floats) -> Floats:
    r"""Expected information, :math:`\int I_i(\theta)\, p(\theta \mid x)\, d\theta`.

    Reference: van der Linden (1998), Psychometrika 63, eq. 14.
    """
    return np.asarray(weights @ bank.information)


def posterior_variance(bank: TaskBank, weights: Floats, abilities: Floats) -> Floats:
    r"""How much the next answer is expected to take off the posterior variance.

    .. math:: \operatorname{Var}(\theta \mid x) - \sum_k p(k \mid x) \operatorname{Var}(\theta \mid x, k)

    Reference: Owen (1975), JASA 70; van der Linden (1998), eq. 17. The mean's spread over outcomes is
    summed, which is the same by the law of total variance and keeps its digits.
    """
    value = np.zeros((len(weights), len(bank)))
    for likelihood in bank.likelihood:
        mass = weights @ likelihood.T
        moment = (weights * (bank.nodes - abilities[:, None])) @ likelihood.T
        value += np.divide(moment**2, mass, out=np.zeros_like(mass), where=mass > 1e-12)
    return value


def kullback_leibler(bank: TaskBank, weights: Floats, abilities: Floats) -> Floats:
    r"""How far the task sets the estimate apart from what else is possible.

    .. math:: \int p(\theta \mid x) \sum_k f_i(k \mid \hat\theta)
              \log \frac{f_i(k \mid \hat\theta)}{f_i(k \mid \theta)}\, d\theta

    References: Chang and Ying (1996), Applied Psychological Measurement 20, eq. 8; with the posterior
    as weight, Veldkamp and van der Linden (2006).
    """
    value = np.zeros((len(weights), len(bank)))
    for likelihood in bank.likelihood:
        here = _between(bank, likelihood.T, abilities)
        logs = np.log(np.maximum(likelihood, 1e-300))
        value += here * (np.log(np.maximum(here, 1e-300)) - weights @ logs.T)
    return np.maximum(value, 0.0)


def mutual_information(bank: TaskBank, weights: Floats, abilities: Floats) -> Floats:
    r"""Expected fall of the posterior's entropy, in nats: the information between answer and ability.

    .. math:: \sum_k \int p(\theta \mid x) f_i(k \mid \theta)
              \log \frac{f_i(k \mid \theta)}{p_i(k \mid x)}\, d\theta

    Reference: Weissman (2007), Educational and Psychological Measurement 67.
    """
    value = np.zeros((len(weights), len(bank)))
    for likelihood in bank.likelihood:
        mass = weights @ likelihood.T
        logs = np.log(np.maximum(likelihood, 1e-300))
        value += weights @ (likelihood * logs).T - mass * np.log(np.maximum(mass, 1e-300))
    return np.maximum(value, 0.0)


def any_task(bank: TaskBank, weights: Floats, abilities: Floats) -> Floats:
    """Nothing: every task is as good as another, so that the order is random."""
    return np.zeros((len(weights), len(bank)))


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "information": maximum_information,
        "posterior-information": posterior_information,
        "posterior-variance": posterior_variance,
        "kullback-leibler": kullback_leibler,
        "mutual-information": mutual_information,
        "random": any_task,
    }
)
"""Name → rule. A new one is one function here; wherever a name is accepted, a function is too."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """How tasks are chosen.

    `rule` is one of `RULES` or a function like them. `among` chooses at random between so many of the
    best (randomesque: Kingsbury and Zara, 1989). `open_shares` gives the chance that a task is open to
    an agent at all, as `exposure` finds it (Sympson and Hetter, 1985). `balance` gives the share
    of tasks that each group shall have: the next task comes from the group furthest behind.

    >>> Choosing("posterior-variance", among=5).among
    5
    """

    rule: str | Rule = "information"
    among: int = 1
    open_shares: Mapping[str, float] | None = None
    balance: Mapping[str, float] | None = None

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

    @classmethod
    def of(cls, rule: str | Rule | Choosing) -> Choosing:
        """Return a way of choosing, by its rule alone where nothing else is said.

        >>> Choosing.of("random").rule_name
        'random'
        """
        return rule if isinstance(rule, Choosing) else cls(rule)

    @property
    def rule_name(self) -> str:
        """The rule's name, or that of the function."""
        return self.rule if isinstance(self.rule, str) else getattr(self.rule, "__name__", "rule")


def choose(
    bank: TaskBank,
    choosing: Choosing,
    weights: Floats,
    offered: Flags,
    taken: Flags,
    rng: np.random.Generator,
) -> tuple[Indices, Floats]:
    """Return the next task of each agent, and its value for each unit of cost; each must be offered one.

    `weights` [agents, nodes] are posteriors, `taken` [agents, tasks] the tasks given before. Tasks of
    negative slope measure something else, and those without errors cannot be trusted: both come last by
    every rule of `RULES` but "random".
    """
    rule = RULES[choosing.rule] if isinstance(choosing.rule, str) else choosing.rule
    values = np.asarray(rule(bank, weights, weights @ bank.nodes), dtype=np.float64)
    if values.shape != offered.shape:
        raise InputError(
            f"The rule {choosing.rule_name} returned shape {values.shape}. It must return "
            f"{offered.shape}: agents × tasks."
        )
    values = values / bank.costs
    if choosing.rule in RULES and choosing.rule != "random":
        offered = among_these(offered, bank.preferred)
    if choosing.balance:
        offered = _balanced(bank, choosing.balance, offered, taken)
    rows = np.arange(len(values))
    if choosing.rule == "random":
        task = np.where(offered, rng.random(values.shape), -1.0).argmax(axis=1)
        return task, values[rows, task]
    open_values = np.where(offered, values, -np.inf)
    if choosing.among == 1:
        task = open_values.argmax(axis=1)
        return task, values[rows, task]
    best = min(choosing.among, values.shape[1])
    top = np.argpartition(-open_values, best - 1, axis=1)[:, :best]
    possible = np.take_along_axis(offered, top, axis=1)
    task = top[rows, np.where(possible, rng.random(top.shape), -1.0).argmax(axis=1)]
    return task, values[rows, task]


def among_these(offered: Flags, preferred: Flags) -> Flags:
    """Return the offered tasks that are preferred, or all offered tasks of an agent without any of them.

    >>> among_these(np.array([[True, True], [False, True]]), np.array([True, False]))
    array([[ True, False],
           [False,  True]])
    """
    both = offered & preferred
    return np.where(both.any(axis=1, keepdims=True), both, offered)


def balance_of(bank: TaskBank) -> dict[str, float]:
    """Return the share of the bank's tasks that each group has: the usual aim of a balance.

    >>> from examiner.irt import ItemParameters
    >>> items = ItemParameters.of(["t", "u", "v", "w"], 1.0, 0.0)
    >>> balance_of(TaskBank.of(items, groups=["maze", "maze", "maze", "ball"]))
    {'ball': 0.25, 'maze': 0.75}
    """
    groups = _groups(bank)
    return {name: groups.count(name) / len(groups) for name in sorted(set(groups))}


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
    furthest = member[behind.argmax(axis=1)] & np.isfinite(behind.max(axis=1))[:, None]
    return among_these(offered, furthest)


def _between(bank: TaskBank, table: Floats, abilities: Floats) -> Floats:
    """Values [abilities, tasks] of a table [nodes, tasks], along straight lines between nodes."""
    nodes = bank.nodes
    left = np.clip(np.searchsorted(nodes, abilities, side="right") - 1, 0, nodes.size - 2)
    share = np.clip((abilities - nodes[left]) / (nodes[left + 1] - nodes[left]), 0.0, 1.0)
    return np.asarray(table[left] + share[:, None] * (table[left + 1] - table[left]))
