"""What a set of tasks must respect: tasks it must or must not have, groups, levels, and a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Classification, Results, matched
from examiner.scores import codes_of
from examiner.validation import Floats, check_known

Levels = Literal["free", "together", "apart"]


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a user demands of a set, in names.

    `must` and `must_not` name tasks (or games, which stand for all their levels). `at_most` bounds
    the tasks of one group. With `levels` "together" a game comes with all its levels or not at all,
    with "apart" at most one of them comes. `budget` bounds the total cost. `cost` is a column (see
    `scores.task_costs`; by default the one called "cost", where a budget is given), of all agents or of
    the one that `cost_of` names, or what each task costs;
    `groups` a classification, or the group of each task.

    >>> Constraints(levels="near")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown levels 'near'. Known: 'apart', 'free', 'together'.
    """

    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    at_most: int | None = None
    levels: Levels = "free"
    budget: float | None = None
    cost: str | Floats | None = None
    groups: Classification | Mapping[str, str] | None = None
    cost_of: str | None = None

    def __post_init__(self) -> None:
        check_known("levels", self.levels, get_args(Levels))
        if self.at_most is not None and self.at_most < 1:
            raise InputError(
                f"At most {self.at_most} tasks of a group leaves none. Allow 1 or more."
            )
        if self.budget is not None and not self.budget > 0:
            raise InputError(f"The budget is {self.budget:g}. Give a number above 0.")


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The same demands by position: arrays of shape [tasks].

    `unit` numbers what must come together (a task, or a game with all its levels); `capped` holds
    pairs of labels and how many tasks may share one. `cost` is 1 for every task where none is known.
    """

    must: tuple[int, ...]
    offered: NDArray[np.bool_]
    unit: NDArray[np.int64]
    capped: tuple[tuple[NDArray[np.int64], int], ...]
    cost: Floats
    priced: bool
    budget: float | None

    @property
    def prices(self) -> Floats:
        """What each task counts in a total: its cost, or 1 where costs are not known."""
        return self.cost if self.priced else np.ones(len(self.unit))

    @property
    def free(self) -> bool:
        """Whether any set of tasks may be chosen: there are no demands, costs or budget."""
        bound = self.must or self.capped or self.priced or self.budget is not None
        return bool(self.offered.all()) and not bound and not self.in_units

    @property
    def in_units(self) -> bool:
        """Whether some tasks come only together."""
        return bool(np.bincount(self.unit).max(initial=0) > 1)

    def members(self, task: int) -> list[int]:
        """Return the task with those that must come with it."""
        return np.flatnonzero(self.unit == self.unit[task]).tolist()

    def allowed(self, chosen: Sequence[int], size: int) -> NDArray[np.bool_]:
        """Tell which tasks may join those chosen, in a set of at most this size; shape [tasks]."""
        allowed = self.offered.copy()
        members = list(chosen)
        allowed[members] = False
        together = np.bincount(self.unit, minlength=int(self.unit.max()) + 1)[self.unit]
        allowed &= together <= size - len(members)
        for label, most in self.capped:
            count = np.bincount(label[members], minlength=int(label.max()) + 1)
            allowed &= count[label] + together <= most
        if self.budget is not None:
            left = self.budget - float(self.cost[members].sum())
            price = np.bincount(self.unit, weights=self.cost)[self.unit]
            allowed &= price <= left * (1 + 1e-12)
        return allowed


def terms_of(
    constraints: Constraints,
    tasks: Sequence[str],
    games: Sequence[str] | None = None,
    groups: Sequence[str | None] | None = None,
    cost: Floats | None = None,
) -> Terms:
    """Turn names into positions, and refuse demands that cannot be met.

    `games` gives the game of each task (for levels), `groups` its group, NaN or None if unknown.

    >>> terms = terms_of(Constraints(must=("u",), levels="apart"), ["t", "u", "v"], ["g", "h", "h"])
    >>> terms.must, terms.allowed([1], 3)
    ((1,), array([ True, False, False]))
    """
    games = tuple(tasks) if games is None else tuple(games)
    must = _columns(constraints.must, tasks, games, "must")
    banned = _columns(constraints.must_not, tasks, games, "must not")
    both = sorted(set(must) & set(banned))
    if both:
        raise InputError(
            f"{listed([tasks[column] for column in both])} must and must not be chosen. Say one of the two."
        )
    offered = np.ones(len(tasks), dtype=bool)
    offered[list(banned)] = False
    price = _prices(cost, tasks, offered, constraints.budget)
    together = constraints.levels == "together"
    unit = codes_of(games) if together else np.arange(len(tasks))
    if together:
        offered &= ~np.isin(unit, unit[~offered])  # a game without one of its levels is not whole
        must = tuple(
            dict.fromkeys(p for m in must for p in np.flatnonzero(unit == unit[m]).tolist())
        )
    capped: list[tuple[NDArray[np.int64], int]] = []
    if constraints.levels == "apart":
        capped.append((codes_of(games), 1))
    if constraints.at_most is not None:
        if groups is None or all(group is None for group in groups):
            raise InputError(
                f"At most {constraints.at_most} of a group were requested, and no task has a group. Give "
                f"a table of tasks with the column 'group', or a classification."
            )
        alone = [f"\0{column}" if group is None else group for column, group in enumerate(groups)]
        capped.append((codes_of(alone), constraints.at_most))
    terms = Terms(must, offered, unit, tuple(capped), price, cost is not None, constraints.budget)
    _check_must(terms, tasks)
    _check_choosable(terms)
    return terms


def task_groups(
    results: Results, groups: Classification | Mapping[str, str] | None
) -> list[str | None] | None:
    """Return the group of each task: from a classification, names, or the table of tasks.

    >>> task_groups(Results.from_numpy([[1.0, 2.0]], tasks=["pong", "go"]), {"pong": "ball"})
    ['ball', None]
    """
    if groups is None:
        column = results.task_attributes.aligned(results.task_names, "group")
        named = [None if value is None else str(value) for value in column]
        return None if all(label is None for label in named) else named
    if isinstance(groups, Classification):
        groups = {
            task: " · ".join(row) for task, row in zip(groups.tasks, groups.values, strict=True)
        }
    labels = [*groups.values()]
    rows = matched(results.task_names, [*groups])
    group_of_task = [
        groups.get(task, None if row is None else labels[row])
        for task, row in zip(results.tasks, rows, strict=True)
    ]
    if all(label is None for label in group_of_task):
        raise InputError(
            f"None of the tasks is in the classification, which has {listed(groups)}. Check the names."
        )
    return group_of_task


def _columns(
    names: Sequence[str], tasks: Sequence[str], games: Sequence[str], what: str
) -> tuple[int, ...]:
    columns: list[int] = []
    for name in names:
        matching = [column for column, task in enumerate(tasks) if task == name]
        matching = matching or [column for column, game in enumerate(games) if game == name]
        if not matching:
            raise InputError(
                f"The task {shorten(name)}, which {what} be chosen, is not there. There are "
                f"{listed(tasks)}."
            )
        columns += matching
    return tuple(dict.fromkeys(columns))


def _prices(
    cost: Floats | None,
    tasks: Sequence[str],
    offered: NDArray[np.bool_],
    budget: float | None,
) -> Floats:
    if cost is None:
        if budget is not None:
            raise InputError(
                f"A budget of {budget:g} was given, and no task has a cost. Give `cost=...`, or a "
                f"table of tasks with the column 'cost'."
            )
        return np.ones(len(tasks))
    wrong = offered & ~(np.isfinite(cost) & (cost > 0))
    if wrong.any():
        names = [task for task, bad in zip(tasks, wrong, strict=True) if bad]
        raise InputError(
            f"{counted(len(names), 'task')} without a cost above 0: {listed(names, limit=5)}. Give their "
            f"cost, or leave them out (`must_not=[...]`)."
        )
    return np.where(np.isfinite(cost), cost, np.inf)


def _check_must(terms: Terms, tasks: Sequence[str]) -> None:
    chosen: list[int] = []
    for column in terms.must:
        if column in chosen:
            continue
        if not terms.allowed(chosen, len(tasks))[column]:
            raise InputError(
                f"The tasks that must be chosen break another demand at {shorten(tasks[column])}: more of "
                f"a group than allowed, levels apart, or more than the budget. Loosen one of them."
            )
        chosen += terms.members(column)


def _check_choosable(terms: Terms) -> None:
    if not terms.offered.any():
        raise InputError("No task is left to choose: every one must not be. Allow some.")
    if terms.budget is None or terms.must:
        return
    if not terms.allowed((), len(terms.unit)).any():
        price = np.bincount(terms.unit, weights=terms.cost)[terms.unit][terms.offered]
        raise InputError(
            f"The budget is {terms.budget:g}, and the cheapest task costs {price.min():g}. Allow more."
        )
