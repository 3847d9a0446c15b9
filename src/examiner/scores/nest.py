"""Groups of tasks by position: means within them, averaged level by level, on draws of tasks too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.cells import ratio
from examiner.validation import Floats, read_only

_MOST_EXACT = 2.0**53
"""Whole numbers up to here are exact, and so are their sums, in whatever order they are taken."""


class Step(NamedTuple):
    """From groups to those above them: `parent` [groups] is the group above, `weight` what each counts."""

    parent: NDArray[np.int64]
    weight: Floats


@dataclass(frozen=True, eq=False)
class Nest:
    """A total by position: the weight and group of each task, [tasks], and the climb from groups to it.

    `group` is what is averaged first, `stratum` within what tasks are drawn; without a climb there is one
    group, and its mean is the total.

    >>> nest = Nest(np.ones(3), np.array([0, 0, 1]), np.array([0, 0, 1]),
    ...             (Step(np.array([0, 0]), np.ones(2)),))
    >>> nest.shares, nest.average(np.array([[1.0], [0.0], [1.0]]))
    (array([0.25, 0.25, 0.5 ]), array([0.75]))
    """

    weight: Floats
    group: NDArray[np.int64]
    stratum: NDArray[np.int64]
    climb: tuple[Step, ...] = ()

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
        return Nest(self.weight[tasks], self.group[tasks], self.stratum[tasks], self.climb)

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
        sums, counts = self._sums(means, times)
        return self._total(sums, counts)

    def group_means(self, means: Floats, times: Floats | None = None) -> Floats:
        """Return the mean of each group, [groups, columns], NaN for one without anything."""
        return ratio(*self._sums(means, times))

    def drawn(self, values: Floats, times: Floats) -> Floats:
        """Return totals of agents' values [agents, tasks] on draws [tasks, draws]: [agents, draws].

        >>> Nest.flat(2).drawn(np.array([[1.0, 0.0]]), np.array([[2.0, 1.0], [0.0, 1.0]]))
        array([[1. , 0.5]])
        """
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


class ClusteredError(NamedTuple):
    """A standard error, its degrees of freedom, and over how many clusters it was taken."""

    size: float
    degrees: int
    clusters: int


def stratified_error(
    values: Floats, nest: Nest, clusters: NDArray[np.integer] | None = None
) -> ClusteredError:
    r"""Standard error of a total whose tasks come in clusters, drawn within the groups of the total.

    .. math:: \mathrm{SE}^2 = \sum_g v_g, \quad v_g = \frac{C_g}{C_g - 1}
              \sum_{c \in g} \Big(\sum_{t \in c} s_t (x_t - \bar x_g)\Big)^2

    with s what a task counts in the total; without `clusters` every task is one. Degrees of freedom are
    Satterthwaite's. A group of one cluster adds nothing, since nothing is known of others like it; NaN
    where every group has one.

    References: Cochran (1977), sections 5.4 and 9A.3; Miller (2024); Satterthwaite (1946).

    >>> stratified_error(np.array([1.0, 1.0, 2.0, 2.0]), Nest.flat(4), np.array([0, 0, 1, 1]))
    ClusteredError(size=0.5, degrees=1, clusters=2)
    """
    within = nest.within
    means = within.group_means(values[:, None])[within.group, 0]
    off, exponent = scaled(nest.shares * (values - means))
    group, sizes, sums = within.group, within.sizes, off**2
    if clusters is not None:
        most = int(clusters.max()) + 1
        keys, cluster = np.unique(group * most + clusters, return_inverse=True)
        group = keys // most
        sums = np.asarray(np.bincount(cluster, weights=off), dtype=np.float64) ** 2
        sizes = np.bincount(group)
    several = sizes > 1
    if not several.any():
        return ClusteredError(float("nan"), 0, len(group))
    spare = np.maximum(sizes - 1, 1)
    parts = np.where(several, sizes / spare * np.bincount(group, weights=sums), 0.0)
    square = float(parts.sum())
    degrees = int((sizes[several] - 1).sum())
    if 0 < square < np.inf:  # scores near the largest numbers have infinite differences
        degrees = int(square**2 / float((parts[several] ** 2 / spare[several]).sum()) + 1e-9)
    return ClusteredError(float(np.ldexp(np.sqrt(square), exponent)), degrees, len(group))


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
