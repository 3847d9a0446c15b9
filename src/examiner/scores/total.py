"""Total: how the results of tasks make one number, through levels between task and total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
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
from examiner.scores.cells import codes_of, ratio
from examiner.validation import Axes, Bounds, Floats, check_known, read_only

_MOST_EXACT = 2.0**53
"""Whole numbers up to here are exact, and so are their sums, in whatever order they are taken."""


class Step(NamedTuple):
    """From groups to those above them: `parent` [groups] is the group above, `weight` what each counts."""

    parent: NDArray[np.int64]
    weight: Floats


class Sampling(NamedTuple):
    """What the error of a total needs to know of its groups, whatever the values (`grouped_error`)."""

    stratum: NDArray[np.int64]  # of each task, [tasks]
    share: Floats  # what a task counts in its stratum, [tasks]
    whole: Floats  # what a stratum counts in the total, [strata]
    unit: NDArray[np.int64]  # the group with which each task is drawn, [tasks]
    above: NDArray[np.int64]  # the stratum of each group, [groups]
    factor: Floats  # a of each group, [groups]
    several: NDArray[np.bool_]  # whether a stratum has several groups, [strata]
    degrees: Floats  # ν of each stratum that has several groups


@dataclass(frozen=True, eq=False)
class Nest:
    """A total by position: the weight and group of each task, [tasks], and the climb from groups to it.

    `group` is what is averaged first, `stratum` within what tasks are drawn; without a climb there is one
    group, and its mean is the total. `sampled` is the group with which each task is drawn as a whole, None
    where each is drawn by itself.

    >>> nest = Nest(np.ones(3), np.array([0, 0, 1]), np.array([0, 0, 1]),
    ...             (Step(np.array([0, 0]), np.ones(2)),))
    >>> nest.shares, nest.average(np.array([[1.0], [0.0], [1.0]]))
    (array([0.25, 0.25, 0.5 ]), array([0.75]))
    """

    weight: Floats
    group: NDArray[np.int64]
    stratum: NDArray[np.int64]
    climb: tuple[Step, ...] = ()
    sampled: NDArray[np.int64] | None = None

    @classmethod
    def flat(cls, tasks: int) -> Nest:
        """Return the plain mean over so many tasks.

        >>> Nest.flat(4).shares
        array([0.25, 0.25, 0.25, 0.25])
        """
        return _flat(tasks)

    @cached_property
    def within(self) -> Nest:
        """The same tasks with their strata as groups."""
        return replace(self, group=self.stratum, climb=())

    def rows(self, tasks: NDArray[np.integer]) -> Nest:
        """Return the same of some tasks, by position and in their order; groups keep their numbers."""
        if len(tasks) == len(self.weight):
            return self
        sampled = None if self.sampled is None else self.sampled[tasks]
        return Nest(self.weight[tasks], self.group[tasks], self.stratum[tasks], self.climb, sampled)

    @cached_property
    def linear(self) -> Nest:
        """The same mean by the shares of tasks: in draws, a group counts as often as it is drawn."""
        return Nest(self.shares, np.zeros(len(self.weight), dtype=np.int64), self.stratum)

    @cached_property
    def shares(self) -> Floats:
        """How much each task counts in the total where all are there, [tasks]; NaN where none does."""
        groups = self._groups
        inside = np.bincount(self.group, weights=self.weight, minlength=groups)
        share = np.ones(1)
        there = inside > 0
        for parent, weight in reversed(self._kept(there)):
            whole = np.bincount(parent, weights=weight, minlength=int(parent.max()) + 1)
            share = share[parent] * ratio(weight, whole[parent])
        each = ratio(share[self.group] * self.weight, inside[self.group])
        return np.where(np.isnan(each), 0.0, each) if there.any() else each

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many tasks each group has, [groups]."""
        return np.bincount(self.group, minlength=self._groups)

    @cached_property
    def _weights(self) -> Floats:
        """What the tasks of each group count together, [groups]."""
        return self._within_groups(self.weight)

    @cached_property
    def _groups(self) -> int:
        return len(self.climb[0].parent) if self.climb else int(self.group.max(initial=0)) + 1

    @cached_property
    def sampling(self) -> Sampling:
        """Groups drawn as a whole, with their factors and degrees of freedom: the same for all values."""
        _, stratum = np.unique(self.stratum, return_inverse=True)
        whole = np.bincount(stratum, weights=self.shares).astype(np.float64)
        share = self.shares / np.where(whole > 0, whole, 1.0)[stratum]
        unit = np.arange(len(share)) if self.sampled is None else self.sampled
        keys, unit = np.unique(stratum * (int(unit.max()) + 1) + unit, return_inverse=True)
        above = np.zeros(len(keys), dtype=np.int64)
        above[unit] = stratum

        def within(terms: Floats) -> Floats:
            return np.bincount(above, weights=terms).astype(np.float64)

        size = np.asarray(np.bincount(unit, weights=share), dtype=np.float64)
        squares = np.asarray(np.bincount(unit, weights=share**2), dtype=np.float64)
        total = within(squares)
        # what the mean takes off the variance of a sum
        cross = size * (size * total[above] - 2 * squares)
        counted = (np.bincount(above) > 1)[above] & (squares > 0)
        factor = np.zeros(len(keys))
        np.divide(squares, squares + cross, out=factor, where=counted)
        q, qs, s = (within(factor * part) for part in (squares**2, squares * size, size**2))
        spread = within(factor**2 * squares * (squares + 2 * cross))
        spread += 2 * q * s + (total * s) ** 2 + 2 * qs**2 - 4 * total * qs * s
        several = np.bincount(above, weights=counted) > 0
        degrees = total[several] ** 2 / spread[several]
        return Sampling(stratum, share, whole, unit, above, factor, several, degrees)

    def _kept(self, there: NDArray[np.bool_]) -> list[Step]:
        """The climb where groups without anything count nothing."""
        steps = []
        for parent, weight in self.climb:
            kept = np.where(there, weight, 0.0)
            steps.append(Step(parent, kept))
            there = np.bincount(parent, weights=kept) > 0
        return steps

    def average(self, means: Floats, times: Floats | NDArray[np.integer] | None = None) -> Floats:
        """Return the total of tasks' means [tasks, columns], each counting so many `times`; [columns]."""
        if times is not None and self.sampled is not None:
            return self.linear.average(means, times)
        return self._total(*self._sums(means, times))

    def group_means(self, means: Floats, times: Floats | None = None) -> Floats:
        """Return the mean of each group, [groups, columns], NaN for one without anything."""
        return ratio(*self._sums(means, times))

    def drawn(self, values: Floats, times: Floats) -> Floats:
        """Return totals of agents' values [agents, tasks] on draws [tasks, draws]: [agents, draws].

        >>> Nest.flat(2).drawn(np.array([[1.0, 0.0]]), np.array([[2.0, 1.0], [0.0, 1.0]]))
        array([[1. , 0.5]])
        """
        if self.sampled is not None:
            return self.linear.drawn(values, times)
        sums = np.empty((self._groups, len(values), times.shape[1]))
        counts = np.empty((self._groups, 1, times.shape[1]))
        for group, rows in enumerate(self._members()):
            sums[group] = product(values[:, rows] * self.weight[rows], times[rows])
            counts[group, 0] = product(self.weight[None, rows], times[rows])[0]
        return self._total(sums, np.broadcast_to(counts, sums.shape))

    def _members(self) -> list[NDArray[np.intp]]:
        order = np.argsort(self.group, kind="stable")
        ends = np.cumsum(np.bincount(self.group, minlength=self._groups))
        return np.split(order, ends[:-1])

    def _sums(
        self, means: Floats, times: Floats | NDArray[np.integer] | None
    ) -> tuple[Floats, Floats]:
        """Weighted sums of means in each group, and of the weights themselves: [groups, columns]."""
        if times is None and means.shape[1] == 1:
            whole = self._within_groups(means[:, 0] * self.weight)
            return whole[:, None], self._weights[:, None]
        counts = np.broadcast_to(self.weight[:, None], means.shape)
        if times is not None:
            counts = counts * times
        sums, total = np.zeros((2, self._groups, means.shape[1]))
        for group, rows in enumerate(self._members()):
            sums[group] = (means[rows] * counts[rows]).sum(axis=0)
            total[group] = counts[rows].sum(axis=0)
        return sums, total

    def _within_groups(self, values: Floats) -> Floats:
        sums = np.bincount(self.group, weights=values, minlength=self._groups)
        return sums.astype(np.float64, copy=False)

    def _total(self, sums: Floats, counts: Floats) -> Floats:
        """From sums in groups, on the first axis, to the total; groups without anything are left out."""
        means, there = ratio(sums, counts), counts > 0
        for parent, weight in self.climb:
            sums, counts = _climbed(means, there, parent, weight)
            means, there = ratio(sums, counts), counts > 0
        return np.asarray(means[0])


@lru_cache(maxsize=4)  # every agent and pair of agents with the same tasks asks for the same
def _flat(tasks: int) -> Nest:
    none, once = np.zeros(tasks, dtype=np.int64), np.ones(tasks)
    read_only(none, once)
    return Nest(once, none, none)


def _climbed(
    means: Floats, there: NDArray[np.bool_], parent: NDArray[np.int64], weight: Floats
) -> tuple[Floats, Floats]:
    """Sums of the means of groups [groups, ...] in those above, and of what they count."""
    above = int(parent.max()) + 1
    if means.size == len(parent):
        column = np.where(there, means, 0.0).ravel()
        shape = (above, *means.shape[1:])
        sums = np.bincount(parent, weights=weight * column, minlength=above)
        counts = np.bincount(parent, weights=weight * there.ravel(), minlength=above)
        return sums.reshape(shape), counts.reshape(shape)
    sums, counts = np.zeros((2, above, *means.shape[1:]))
    for group, (up, share) in enumerate(zip(parent.tolist(), weight.tolist(), strict=True)):
        sums[up] += np.where(there[group], share * means[group], 0.0)
        counts[up] += share * there[group]
    return sums, counts


class GroupedError(NamedTuple):
    """A standard error, its degrees of freedom, and over how many groups it was taken."""

    size: float
    degrees: float
    groups: int


def grouped_error(values: Floats, nest: Nest) -> GroupedError:
    r"""Standard error of a total over tasks that come in groups (CR2), with Bell and McCaffrey's freedom.

    .. math:: \mathrm{SE}^2 = \sum_g a_g u_g^2, \quad u_g = \sum_{t \in g} s_t (x_t - \bar x), \quad
              a_g = \frac{q_g}{q_g (1 - 2 S_g) + S_g^2 Q}, \quad
              \nu = \frac{Q^2}{\sum_{gh} a_g a_h \operatorname{Cov}(u_g, u_h)^2}

    with s what a task counts in the total, S and q the sums of s and s² in a group, and Q the sum of q. The
    factor a makes each square unbiased where tasks are independent, and ν matches the first two moments of
    the sum then; for equal tasks, each a group, this is sd(x)/√T with T − 1 degrees. A few large groups
    among many small ones leave few degrees. Groups are those of `nest.sampled`, or single tasks. Where
    others are fixed (`nest.stratum`), errors within them are added up, with Satterthwaite's degrees. A
    stratum of one group adds nothing, since nothing is known of others like it; NaN where all have one.

    References: Bell & McCaffrey (2002); Pustejovsky & Tipton (2018), for CR2; Miller (2024).

    >>> pairs = replace(Nest.flat(4), sampled=np.array([0, 0, 1, 1]))
    >>> grouped_error(np.array([1.0, 1.0, 2.0, 2.0]), pairs)
    GroupedError(size=0.5, degrees=1.0, groups=2)
    """
    groups = nest.sampling
    if not groups.several.any():
        return GroupedError(float("nan"), 0.0, len(groups.factor))
    means = np.bincount(groups.stratum, weights=groups.share * values)
    off, exponent = scaled(groups.share * (values - means[groups.stratum]))
    sums = np.bincount(groups.unit, weights=off)
    parts = groups.whole**2 * np.bincount(groups.above, weights=groups.factor * sums**2)
    square = float(parts.sum())
    freedom = float(groups.degrees.sum())
    if 0 < square < np.inf:  # scores near the largest numbers have infinite differences
        freedom = square**2 / float((parts[groups.several] ** 2 / groups.degrees).sum())
    error = float(np.ldexp(np.sqrt(square), exponent))
    return GroupedError(error, round(freedom, 9), len(groups.factor))


def scaled(values: Floats) -> tuple[Floats, int]:
    """Return values by a power of two that brings the largest near 1, so that fourth powers stay finite.

    >>> scaled(np.array([3.0, -6.0]))
    (array([ 0.375, -0.75 ]), 3)
    """
    largest = float(np.abs(values).max(initial=0.0))
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return np.ldexp(values, -exponent), exponent


def product(values: Floats, times: Floats) -> Floats:
    """Return values [rows, tasks] times [tasks, draws], the same on any number of threads.

    Whole numbers go to BLAS, where their sums are exact; others are added up in one order.

    >>> product(np.array([[1.0, 0.5]]), np.array([[2.0], [4.0]]))
    array([[4.]])
    """
    largest = float(np.abs(values).max(initial=0.0)) * float(times.max(initial=0.0))
    if largest * values.shape[1] < _MOST_EXACT and bool((values == np.rint(values)).all()):
        return np.asarray(values @ times)
    return np.asarray(np.einsum("kt,tr->kr", values, times))


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

        >>> Total(("t", "u"), ("subtask",), (("law", "art"),), "macro").nest().group
        array([0, 1])
        """
        weight = np.ones(len(self.tasks)) if self.weights is None else np.array(self.weights)
        codes = [codes_of(level) for level in self.groups]
        stratum = codes[-1] if codes else np.zeros(len(self.tasks), dtype=np.int64)
        if self.average == "micro":
            for level in self.groups:
                weight = weight * [self.group_weights.get(name, 1.0) for name in level]
            return Nest(weight, np.zeros(len(weight), dtype=np.int64), stratum, ())
        return Nest(weight, codes[-1], stratum, tuple(self._climb(codes)))

    def _climb(self, codes: Sequence[NDArray[np.int64]]) -> list[Step]:
        """From each level to the one above it, innermost first; the last step leads to the total."""
        steps = []
        above = [np.zeros(len(self.tasks), dtype=np.int64), *codes[:-1]]
        for level, own, parent in reversed(list(zip(self.groups, codes, above, strict=True))):
            first = np.unique(own, return_index=True)[1]
            counts = [self.group_weights.get(level[row], 1.0) for row in first.tolist()]
            steps.append(Step(parent[first], np.array(counts)))
        return steps

    def mean(self, values: Floats) -> Floats:
        """Return the total of each row of values [agents, tasks], NaN left out; shape [agents].

        >>> Total(("t", "u"), weights=(3.0, 1.0)).mean(np.array([[1.0, 0.0], [np.nan, 0.5]]))
        array([0.75, 0.5 ])
        """
        observed = np.isfinite(values)
        return self.nest().average(np.where(observed, values, 0.0).T, observed.T.astype(np.float64))

    def group_means(self, values: Floats) -> tuple[tuple[str, ...], Floats]:
        """Return the groups of the innermost level, and each row's mean on them, [agents, groups].

        >>> Total(("t", "u"), ("subtask",), (("law", "art"),)).group_means(np.array([[1.0, 0.0]]))
        (('law', 'art'), array([[1., 0.]]))
        """
        observed = np.isfinite(values)
        within = self.nest().within
        return tuple(dict.fromkeys(self.innermost)), within.group_means(
            np.where(observed, values, 0.0).T, observed.T.astype(np.float64)
        ).T


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
        return _weighted_by_column(results, made, weights)
    return _weighted(made, weights)


@reads_results
def chance_scales(
    results: Results,
    chance: Mapping[str, float],
    by: str | Sequence[str] | None = None,
    measure: str | None = None,
) -> Scales:
    r"""Return scales that say what guessing gets on each task, for the normaliser "chance".

    .. math:: x' = \frac{x - \mathrm{chance}}{1 - \mathrm{chance}}

    `chance` is a share for each task, or for each group of the level `by`; every task needs one: 0 where
    guessing gets nothing. What is below chance stays negative: cut at 0, as some leaderboards do, the mean
    of those who guess would lie above chance.

    >>> from examiner.scores import normalise
    >>> results = Results.from_numpy([[1.0, 0.0]], tasks=["t", "u"])
    >>> scales = chance_scales(results, {"t": 0.25, "u": 0.5})
    >>> normalise(results.with_scales(scales), "chance").measure()
    array([ 1., -1.])
    """
    made = total(results, by)
    found = _named(made, chance, "chance", most=1.0)
    lacking = [task for task, share in zip(made.tasks, found, strict=True) if share is None]
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
        for task, share in dict(zip(results.task_names, found, strict=True)).items()
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
    found: dict[int, Value] = {}
    for task, value in zip(tasks, values, strict=True):
        if value is not None and found.setdefault(task, value) != value:
            raise InputError(
                f"The column {shorten(column)} says {shorten(found[task])} and {shorten(value)} of "
                f"{shorten(results.tasks[task])}. A task is of one group: name another column."
            )
    return tuple(found.get(task) for task in range(len(results.tasks)))


def _weighted_by_column(results: Results, made: Total, column: str) -> Total:
    if column not in results.task_attributes.columns:
        raise InputError(
            f"No column {shorten(column)} of the table of tasks holds weights. Known columns: "
            f"{listed(results.task_attributes.columns)}."
        )
    numbers = results.task_attributes.numbers(results.task_names, column)
    known = {
        task: number
        for task, number in zip(made.tasks, numbers.tolist(), strict=True)
        if np.isfinite(number)
    }
    return _weighted(made, known)


def _weighted(made: Total, weights: Mapping[str, float]) -> Total:
    own = dict.fromkeys(made.tasks)
    tasks = {name: value for name, value in weights.items() if name in own}
    rest = {name: value for name, value in weights.items() if name not in own}
    groups = _by_path(made, rest, "weight")
    for name, value in weights.items():
        if not 0 <= value < np.inf:
            raise InputError(
                f"The weight of {shorten(name)} is {value:g}. Give a number of 0 or more."
            )
    each = tuple(float(tasks.get(task, 1.0)) for task in made.tasks) if tasks else None
    found = Total(made.tasks, made.by, made.groups, made.average, each, groups)
    if not np.nansum(found.shares) > 0:
        raise InputError("All weights are 0, so that nothing counts. Give one above 0.")
    return found


def _named(made: Total, numbers: Mapping[str, float], what: str, most: float) -> list[float | None]:
    """The number of each task: its own, or that of the innermost group that has one."""
    own = dict.fromkeys(made.tasks)
    groups = _by_path(made, {name: at for name, at in numbers.items() if name not in own}, what)
    for name, value in numbers.items():
        if not 0 <= value < most:
            raise InputError(
                f"The {what} of {shorten(name)} is {value:g}. Give a share from 0 to below {most:g}."
            )
    found: list[float | None] = []
    for column, task in enumerate(made.tasks):
        names = (task, *(level[column] for level in reversed(made.groups)))
        known = (numbers.get(names[0]), *(groups.get(name) for name in names[1:]))
        found.append(next((value for value in known if value is not None), None))
    return found


def _by_path(made: Total, numbers: Mapping[str, float], what: str) -> dict[str, float]:
    """Numbers of groups under their whole names; a bare name will do where one group alone has it."""
    paths = dict.fromkeys(path for level in made.groups for path in level)
    ends = Counter(path.rpartition(SEPARATOR)[2] for path in paths)
    whole = {path.rpartition(SEPARATOR)[2]: path for path in paths}
    found = {}
    for name, value in numbers.items():
        path = name if name in paths else whole.get(name) if ends[name] == 1 else None
        if path is None:
            several = ends[name] > 1
            known = [at for at in paths if at.endswith(SEPARATOR + name)] if several else paths
            raise InputError(
                f"The {what} of {shorten(name)} is given, and "
                f"{'several groups end so' if several else 'no task or group is called so'}: "
                f"{listed(known or made.tasks)}. Use one of these names."
            )
        found[path] = float(value)
    return found
