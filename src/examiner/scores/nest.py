"""Nest: how tasks make one number, by position, and the standard error of that number over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.cells import ratio
from examiner.validation import Floats, read_only


class Step(NamedTuple):
    """From parts to so many `groups`: the `group` of each part, and what it counts there; [parts] each."""

    group: NDArray[np.int64]
    weight: Floats
    groups: int = 1


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
    """A total by position: from tasks to the groups averaged first, and so on up to one number.

    `stratum` [tasks] is the group within which a task is drawn, `sampled` the one with which it is drawn as
    a whole, None where each is drawn by itself.

    >>> first, last = Step(np.array([0, 0, 1]), np.ones(3), 2), Step(np.array([0, 0]), np.ones(2))
    >>> nest = Nest((first, last), np.array([0, 0, 1]))
    >>> nest.shares, nest.average(np.array([[1.0], [0.0], [1.0]]))
    (array([0.25, 0.25, 0.5 ]), array([0.75]))
    """

    steps: tuple[Step, ...]
    stratum: NDArray[np.int64]
    sampled: NDArray[np.int64] | None = None

    @classmethod
    def flat(cls, tasks: int) -> Nest:
        """Return the plain mean over so many tasks.

        >>> Nest.flat(4).shares
        array([0.25, 0.25, 0.25, 0.25])
        """
        return _flat(tasks)

    def rows(self, tasks: NDArray[np.integer]) -> Nest:
        """Return the same of some tasks, by position and in their order; groups keep their numbers."""
        if len(tasks) == len(self.stratum):
            return self
        (group, weight, groups), *above = self.steps
        sampled = None if self.sampled is None else self.sampled[tasks]
        first = Step(group[tasks], weight[tasks], groups)
        return Nest((first, *above), self.stratum[tasks], sampled)

    @cached_property
    def shares(self) -> Floats:
        """How much each task counts in the total where all are there, [tasks]; NaN where none does."""
        there: NDArray[np.bool_] = np.ones(len(self.stratum), dtype=np.bool_)
        within = []
        for group, weight, groups in self.steps:
            counted = np.where(there, weight, 0.0)
            whole = np.bincount(group, weights=counted, minlength=groups)
            within.append(ratio(counted, whole[group]))
            there = whole > 0
        share = np.ones(1)
        for step, part in zip(reversed(self.steps), reversed(within), strict=True):
            share = share[step.group] * part
        return np.nan_to_num(share) if there.any() else share

    @cached_property
    def _in_draws(self) -> tuple[Step, ...]:
        """Steps that average draws: where groups are drawn, one counts as often as it is drawn."""
        if self.sampled is None:
            return self.steps
        return (Step(np.zeros_like(self.stratum), self.shares),)

    @cached_property
    def sampling(self) -> Sampling:
        """Groups drawn as a whole, with their factors and degrees of freedom: the same for all values."""
        _, stratum = np.unique(self.stratum, return_inverse=True)
        whole = np.bincount(stratum, weights=self.shares).astype(np.float64)
        share = self.shares / np.where(whole > 0, whole, 1.0)[stratum]
        unit = self.drawn_with
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

    @property
    def drawn_with(self) -> NDArray[np.int64]:
        """The group with which each task is drawn, itself where it is drawn alone; [tasks]."""
        return np.arange(len(self.stratum)) if self.sampled is None else self.sampled

    @property
    def worth(self) -> float:
        """How many tasks, or groups drawn as a whole, of equal weight the total is worth."""
        return 1.0 / float((np.bincount(self.drawn_with, weights=self.shares) ** 2).sum())

    def average(self, values: Floats, times: Floats | NDArray[np.integer] | None = None) -> Floats:
        """Return the total of values [tasks, columns], each task counting so many `times`; [columns]."""
        steps = self.steps if times is None else self._in_draws
        counts = np.ones((len(values), 1)) if times is None else times
        return _climbed(values, counts, steps)

    def drawn(self, values: Floats, times: Floats) -> Floats:
        """Return totals of agents' values [agents, tasks] on draws [tasks, draws]: [agents, draws].

        >>> Nest.flat(2).drawn(np.array([[1.0, 0.0]]), np.array([[2.0, 1.0], [0.0, 1.0]]))
        array([[1. , 0.5]])
        """
        (group, weight, groups), *above = self._in_draws
        members = _members(group, groups)
        sums = np.array([product(values[:, rows] * weight[rows], times[rows]) for rows in members])
        counts = np.array([product(weight[None, rows], times[rows]) for rows in members])
        return _climbed(_means(sums, counts), counts > 0, above)

    def stratum_means(self, values: Floats) -> Floats:
        """Return the mean of values [agents, tasks] on each stratum, NaN left out; [agents, strata]."""
        strata, counted = int(self.stratum.max()) + 1, np.isfinite(values) * self.steps[0].weight
        parts = (np.nan_to_num(values) * counted, counted)
        return ratio(*(_summed(part.T, self.stratum, strata) for part in parts)).T


@lru_cache(maxsize=4)  # every agent and pair of agents with the same tasks asks for the same
def _flat(tasks: int) -> Nest:
    none, once = np.zeros(tasks, dtype=np.int64), np.ones(tasks)
    read_only(none, once)
    return Nest((Step(none, once),), none)


def _climbed(
    values: Floats, counts: Floats | NDArray[np.integer] | NDArray[np.bool_], steps: Sequence[Step]
) -> Floats:
    """The total of values [parts, ...] that count so often; a group without any part is left out."""
    for group, weight, groups in steps:
        counted = weight.reshape(-1, *(1,) * (values.ndim - 1)) * counts
        sums, sizes = (_summed(part, group, groups) for part in (counted * values, counted))
        values, counts = _means(sums, sizes), sizes > 0
    return np.asarray(np.where(counts, values, np.nan)[0])


def _means(sums: Floats, counts: Floats) -> Floats:
    return np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0)


def _summed(values: Floats, group: NDArray[np.int64], groups: int) -> Floats:
    """Sum values [parts, ...] within groups; shape [groups, ...]."""
    if values.size == len(group):
        sums = np.bincount(group, weights=values.ravel(), minlength=groups)
        return sums.astype(np.float64, copy=False).reshape(groups, *values.shape[1:])
    return np.array([values[rows].sum(axis=0) for rows in _members(group, groups)])


def _members(group: NDArray[np.int64], groups: int) -> list[slice] | list[NDArray[np.intp]]:
    """The parts of each group."""
    if groups == 1:
        return [slice(None)]
    ends = np.cumsum(np.bincount(group, minlength=groups))
    return np.split(np.argsort(group, kind="stable"), ends[:-1])


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


def effective_number(values: Floats, nest: Nest, error: float) -> float:
    """Return how many independent tasks would have this error, at most those there are; NaN: unknown.

    >>> nest = replace(Nest.flat(4), sampled=np.array([0, 0, 1, 1]))
    >>> values = np.array([1.0, 1.0, 2.0, 2.0])
    >>> round(effective_number(values, nest, grouped_error(values, nest).size), 2)
    1.33
    """
    if nest.sampled is None or not error > 0:
        return float(len(values)) if nest.sampled is None else float("nan")
    alone = replace(nest, sampled=None, stratum=np.zeros_like(nest.stratum))
    return len(values) * min(1.0, (grouped_error(values, alone).size / error) ** 2)


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

    Values of few binary digits, as those of single runs are, go to BLAS, where their sums are exact; others
    are added up in one order.

    >>> product(np.array([[1.0, 0.5]]), np.array([[2.0], [4.0]]))
    array([[4.]])
    """
    whole = np.ldexp(values, 10)
    largest = float(np.abs(whole).max(initial=0.0)) * float(times.max(initial=0.0))
    if largest * values.shape[1] < 2.0**53 and bool((whole == np.rint(whole)).all()):
        return np.asarray(values @ times)
    by_task = np.asfortranarray(values)  # a third faster
    return np.asarray(np.einsum("kt,tr->kr", by_task, times))
