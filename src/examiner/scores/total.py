"""Total: which levels lie between tasks and one number, what tasks count, and which are drawn together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed, shorten
from examiner.results import (
    Results,
    Scales,
    TaskScale,
    Value,
    check_results,
    matched,
    reads_results,
)
from examiner.scores.cells import codes_of
from examiner.scores.nest import Nest, Step
from examiner.validation import Axes, Bounds, Floats, check_known

Average: TypeAlias = Literal["micro", "macro"]
AVERAGES: tuple[Average, ...] = get_args(Average)
SEPARATOR = "/"
"""Stands between the levels in the name of a group: mmlu/anatomy."""

Weight: TypeAlias = Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]


@dataclass(frozen=True, slots=True)
class Total:
    r"""A mean over tasks, each group of a level counting as one ("macro") or as its tasks ("micro").

    .. math:: \text{micro} = \frac{\sum_t w_t x_t}{\sum_t w_t}, \qquad
              \text{macro} = \frac{\sum_g W_g \bar x_g}{\sum_g W_g}, \quad
              \bar x_g = \frac{\sum_{t \in g} w_t x_t}{\sum_{t \in g} w_t}

    `by` names the levels, outermost first, and `groups` [levels][tasks] the group of each task on each,
    with the levels above it: "mmlu", "mmlu/anatomy". A macro-average over several levels averages groups
    within those above them, one level after another. Weights of groups count in a micro-average too: they
    multiply those of their tasks. What was not observed is left out, and so is a group without any result.

    >>> subjects = ("anatomy", "anatomy", "law")
    >>> Total(("t", "u", "v"), ("subtask",), (subjects,), "macro").mean(np.array([[1.0, 0.0, 1.0]]))
    array([0.75])
    """

    tasks: Annotated[tuple[str, ...], Axes("tasks of the total")]
    by: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    average: Average = "micro"
    weights: Annotated[tuple[Weight, ...], Axes("tasks of the total")] | None = None
    group_weights: Mapping[str, Weight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_known("average", self.average, AVERAGES)
        sizes = {len(level) for level in self.groups} - {len(self.tasks)}
        if len(self.groups) != len(self.by) or sizes:
            raise InputError(
                "The groups of this total are not those of its tasks. Make it again with `total`."
            )
        if self.average == "macro" and not self.by:
            raise InputError(
                "A macro-average averages groups of tasks, and no level is named. Say which column names "
                'the group of each task: `by="subtask"`.'
            )

    @property
    def plain(self) -> bool:
        """Whether every task counts alike, so that this is the mean over tasks."""
        even = self.weights is None or len(set(self.weights)) < 2
        return self.average == "micro" and even and not self.group_weights

    @property
    def innermost(self) -> tuple[str, ...]:
        """The group of each task on the innermost level; all the same where there is none."""
        return self.groups[-1] if self.groups else ("all tasks",) * len(self.tasks)

    @property
    def meaning(self) -> str:
        """What the total is, in words: "mean over 12 subtasks of their means"."""
        if self.average == "micro":
            return "mean over tasks" if self.plain else "weighted mean over tasks"
        counts = [
            f"{counted(len(set(level)), name)}"
            for name, level in zip(self.by, self.groups, strict=True)
        ]
        means = " of the means over ".join(counts)
        weighted = "weighted " if self.weights is not None or self.group_weights else ""
        return f"{weighted}mean over {means} of their tasks' means"

    @property
    def shares(self) -> Floats:
        """How much each task counts where all were observed, [tasks]; sums to 1."""
        return self.nest().shares

    def on(self, tasks: Sequence[str]) -> Total:
        """Return the same total over these tasks; a task it does not know is refused.

        >>> Total(("t", "u"), ("subtask",), (("law", "law"),)).on(["u"]).groups
        (('law',),)
        """
        if tuple(tasks) == self.tasks:
            return self
        columns = matched(tasks, self.tasks)
        unknown = [task for task, at in zip(tasks, columns, strict=True) if at is None]
        if unknown:
            raise InputError(
                f"The total does not say how {listed(unknown)} counts. Make it again from these results."
            )
        rows = [at for at in columns if at is not None]
        return Total(
            tuple(tasks),
            self.by,
            tuple(tuple(level[row] for row in rows) for level in self.groups),
            self.average,
            None if self.weights is None else tuple(self.weights[row] for row in rows),
            self.group_weights,
        )

    def nest(self) -> Nest:
        """Return the same by position: which group each task is of, and what each counts.

        >>> Total(("t", "u"), ("subtask",), (("law", "art"),), "macro").nest().stratum
        array([0, 1])
        """
        weight = np.ones(len(self.tasks)) if self.weights is None else np.array(self.weights)
        none = np.zeros(len(self.tasks), dtype=np.int64)
        codes = [none, *map(codes_of, self.groups)]
        if self.average == "micro":
            for level in self.groups:
                weight = weight * [self.group_weights.get(name, 1.0) for name in level]
            return Nest((Step(none, weight),), codes[-1])
        steps, first = [], np.arange(len(self.tasks))
        for depth in range(len(self.groups), -1, -1):  # from tasks up, through one of each group
            code = codes[depth][first]
            steps.append(Step(code, weight, int(code.max()) + 1))
            if depth:
                first = first[np.unique(code, return_index=True)[1]]
                names = [self.groups[depth - 1][row] for row in first.tolist()]
                weight = np.array([self.group_weights.get(name, 1.0) for name in names])
        return Nest(tuple(steps), codes[-1])

    def mean(self, values: Floats) -> Floats:
        """Return the total of each row of values [agents, tasks], NaN left out; shape [agents].

        >>> Total(("t", "u"), weights=(3.0, 1.0)).mean(np.array([[1.0, 0.0], [np.nan, 0.5]]))
        array([0.75, 0.5 ])
        """
        return self.nest().average(np.nan_to_num(values.T), np.isfinite(values).T)

    def group_means(self, values: Floats) -> tuple[tuple[str, ...], Floats]:
        """Return the groups of the innermost level, and each row's mean on them, [agents, groups].

        >>> Total(("t", "u"), ("subtask",), (("law", "art"),)).group_means(np.array([[1.0, 0.0]]))
        (('law', 'art'), array([[1., 0.]]))
        """
        return tuple(dict.fromkeys(self.innermost)), self.nest().stratum_means(values)


@reads_results
def total(
    results: Results,
    by: str | Sequence[str] | None = None,
    average: Average | None = None,
    weights: Mapping[str, float] | str | None = None,
) -> Total:
    """Say how the tasks of results make a total: by which levels, and with which weights.

    `by` names a column that says of each task which group it is of, or several, outermost first: of the
    table of tasks, or of the results themselves. The average is "macro" where there is a level, else
    "micro". `weights` are numbers for tasks or groups, 1 for those not named, or a column of the table
    of tasks.

    >>> table = {"agent": ["a"] * 3, "task": ["t", "u", "v"], "subtask": ["art", "art", "law"]}
    >>> made = total(Results.from_dict(table | {"score": [1, 0, 1]}), by="subtask")
    >>> made.meaning, made.shares
    ("mean over 2 subtasks of their tasks' means", array([0.25, 0.25, 0.5 ]))
    """
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    check_results(results)
    levels = [task_labels(results, name) for name in names]
    paths = [
        tuple(SEPARATOR.join(parts) for parts in zip(*levels[: depth + 1], strict=True))
        for depth in range(len(levels))
    ]
    kind: Average = average or ("macro" if names else "micro")
    made = Total(results.tasks, names, tuple(paths), kind)
    if weights is None:
        return made
    if isinstance(weights, str):
        weights = _column(results, weights, "weights")
    of_tasks, of_groups = _by_name(made, weights, "weight", "a number of 0 or more")
    counts = tuple(of_tasks.get(task, 1.0) for task in made.tasks) if of_tasks else None
    weighted = replace(made, weights=counts, group_weights=of_groups)
    if not np.nansum(weighted.shares) > 0:
        raise InputError("All weights are 0, so that nothing counts. Give one above 0.")
    return weighted


@reads_results
def chance_scales(
    results: Results,
    chance: str | Mapping[str, float],
    by: str | Sequence[str] | None = None,
    measure: str | None = None,
) -> Scales:
    r"""Return scales that say what guessing gets on each task, for the normaliser "chance".

    .. math:: x' = \frac{x - \mathrm{chance}}{1 - \mathrm{chance}}

    `chance` is a share for each task, or for each group of the level `by`, or the column of the table of
    tasks that has it; every task needs one: 0 where guessing gets nothing. What is below chance stays
    negative: cut at 0, as some leaderboards do, the mean of those who guess would lie above chance.

    >>> from examiner.scores import normalise
    >>> results = Results.from_numpy([[1.0, 0.0]], tasks=["t", "u"])
    >>> scales = chance_scales(results, {"t": 0.25, "u": 0.5})
    >>> normalise(results.with_scales(scales), "chance").measure()
    array([ 1., -1.])
    """
    made = total(results, by)
    if isinstance(chance, str):
        chance = _column(results, chance, "chance levels")
    of_tasks, of_groups = _by_name(made, chance, "chance", "a share from 0 to below 1", most=1.0)
    shares = []
    for task, *inner in zip(made.tasks, *reversed(made.groups), strict=True):
        given = (
            of_tasks.get(task),
            *map(of_groups.get, inner),
        )  # its own, else the innermost group's
        shares.append(next((share for share in given if share is not None), None))
    lacking = [task for task, share in zip(made.tasks, shares, strict=True) if share is None]
    if lacking:
        groups = [f"{name!r}" for name in made.by]
        of = f" (or of each {' and '.join(groups)})" if groups else ""
        raise InputError(
            f"The chance level of {counted(len(lacking), 'task')} is not given: {listed(lacking)}. Give "
            f"one of each task{of}, 0 where guessing gets nothing."
        )
    name = results.measure_name(measure)
    values = results.measure(name)
    if np.nanmax(values, initial=0.0) > 1 or np.nanmin(values, initial=0.0) < 0:
        raise InputError(
            f"The measure {shorten(name)} leaves [0, 1], and chance levels are of shares. Give shares of "
            f"what is right, or scales with a random and a reference score (`results.with_scales(...)`)."
        )
    return Scales(
        TaskScale(task, name, random=share, reference=1.0, source="chance level")
        for task, share in dict(zip(results.task_names, shares, strict=True)).items()
    )


def task_labels(results: Results, column: str) -> tuple[str, ...]:
    """Return what a column says of each task, refused where it says nothing or several things of one.

    >>> table = {"agent": ["a", "a"], "task": ["t", "u"], "repo": ["x", "y"], "score": [1, 0]}
    >>> task_labels(Results.from_dict(table), "repo")
    ('x', 'y')
    """
    if column == "task" and results.item:
        return results.task_names
    if column in results.task_attributes.columns:
        values = results.task_attributes.aligned(results.task_names, column)
    elif column in results.attributes:
        values = _of_tasks(results, column)
    else:
        known = (*results.task_attributes.columns, *results.attributes)
        there = f"Known columns: {listed(known)}." if known else "No column says anything of tasks."
        raise InputError(
            f"No column {shorten(column)} says which group a task is of. {there} Give a table of tasks "
            f"that has it."
        )
    bare = [task for task, value in zip(results.tasks, values, strict=True) if value is None]
    if bare:
        raise InputError(
            f"{counted(len(bare), 'task')} of {len(values):,} have no {shorten(column)}: {listed(bare)}. "
            f"Give every task one, take a column that all have, or leave those out "
            f'(`results.dropping("task:NAME")`).'
        )
    return tuple(map(str, values))


def _of_tasks(results: Results, column: str) -> tuple[Value, ...]:
    """What a column of the results says of each task; it must say one thing."""
    values, tasks = results.column(column), results.task_codes.tolist()
    labels: dict[int, Value] = {}
    for task, value in zip(tasks, values, strict=True):
        if value is not None and labels.setdefault(task, value) != value:
            raise InputError(
                f"The column {shorten(column)} says {shorten(labels[task])} and {shorten(value)} of "
                f"{shorten(results.tasks[task])}. A task is of one group: name another column."
            )
    return tuple(map(labels.get, range(len(results.tasks))))


def _column(results: Results, column: str, what: str) -> dict[str, float]:
    """What a column of the table of tasks says of each task."""
    if column not in results.task_attributes.columns:
        raise InputError(
            f"No column {shorten(column)} of the table of tasks holds {what}. Known columns: "
            f"{listed(results.task_attributes.columns)}."
        )
    numbers = results.task_attributes.numbers(results.task_names, column).tolist()
    known = dict(zip(results.tasks, numbers, strict=True))
    return {task: number for task, number in known.items() if np.isfinite(number)}


def _by_name(
    made: Total, numbers: Mapping[str, float], what: str, advice: str, most: float = np.inf
) -> tuple[dict[str, float], dict[str, float]]:
    """Split numbers into those of tasks and those of groups; "anatomy" may stand for "mmlu/anatomy"."""
    tasks, paths = set(made.tasks), dict.fromkeys(path for level in made.groups for path in level)
    of_tasks, of_groups = {}, {}
    for name, value in numbers.items():
        if name in tasks:
            of_tasks[name] = float(value)
            continue
        matches = [name] if name in paths else [at for at in paths if at.endswith(SEPARATOR + name)]
        if len(matches) != 1:
            raise InputError(
                f"The {what} of {shorten(name)} is given, and "
                f"{'several groups end so' if matches else 'no task or group is called so'}: "
                f"{listed(matches or list(paths) or made.tasks)}. Use one of these names."
            )
        of_groups[matches[0]] = float(value)
    for name, value in numbers.items():
        if not 0 <= value < most:
            raise InputError(f"The {what} of {shorten(name)} is {value:g}. Give {advice}.")
    return of_tasks, of_groups


class TaskGroups(NamedTuple):
    """Groups of tasks that are drawn as a whole: the column, the group of each task, [tasks], and more.

    `stratum` [tasks] are fixed groups within which these are drawn; `why` says how they were found.
    """

    column: str
    code: NDArray[np.int64]
    stratum: NDArray[np.int64]
    why: str

    @property
    def number(self) -> int:
        """How many groups there are."""
        return int(self.code.max()) + 1


GROUP_COLUMNS = ("repository", "repo", "passage")
"""Columns of tasks that name what tasks share, where nobody names one."""
FEWEST_GROUPS = 8
"""Fewer groups of a total are fixed unless somebody asks: so few say nothing of others like them."""


def task_groups(results: Results, group: str | None, total: Total | None) -> TaskGroups | None:
    """Return the groups in which tasks are drawn: of a column, else those found; None where there are none.

    Found are the groups of a total, if there are at least eight, then levels of a task, then a column that
    names a repository or a passage. "none" takes tasks as independent, and the groups of a total as fixed.

    >>> table = {"agent": ["a"] * 3, "task": ["t", "u", "v"], "repo": ["x", "x", "y"], "score": [1, 0, 1]}
    >>> task_groups(Results.from_dict(table), None, None).code
    array([0, 0, 1])
    """
    none, tasks = np.zeros(len(results.tasks), dtype=np.int64), len(results.tasks)
    if group == "none":
        return None
    if group is not None:
        code = codes_of(task_labels(results, group))
        if tasks > 1 and not code.any():
            raise InputError(
                f"All tasks have the same {shorten(group)}, and nothing is known of others. Name a column "
                f'with several groups, or none (`group="none"`).'
            )
        fixed = none if total is None or not total.by else codes_of(total.innermost)
        return TaskGroups(group, code, fixed, "") if code.max(initial=0) + 1 < tasks else None
    if total is not None and total.by:
        outer = codes_of(total.groups[-2]) if len(total.by) > 1 else none
        found = TaskGroups(total.by[-1], codes_of(total.innermost), outer, "those of the total")
        return found if FEWEST_GROUPS <= found.number < tasks else None
    attributes = {*results.task_attributes.columns, *results.attributes}
    columns = [name for name in GROUP_COLUMNS if name in attributes]
    for column in (["task"] if results.item else []) + columns:
        try:
            code = codes_of(task_labels(results, column))
        except InputError:  # a column that does not say one thing of every task
            continue
        if 1 < code.max(initial=0) + 1 < tasks:
            why = "levels of one task" if column == "task" else "found in the table"
            return TaskGroups(column, code, none, why)
    return None
