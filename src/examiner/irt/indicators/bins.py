"""Bins of tasks by difficulty, over which generality and agents' curves are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number
from examiner.irt.items import Floats, ItemParameters
from examiner.messages import InputError, counted
from examiner.validation import read_only


class BinTable(Table):
    """Bins of difficulty, the easiest first."""

    bin: tuple[str, ...] = name("Bin of difficulty")
    low: Floats = number("Lower end (excluded)", unit="logits")
    high: Floats = number("Upper end (included)", unit="logits")
    centre: Floats = number("Median difficulty of the tasks", unit="logits")
    tasks: NDArray[np.int64] = count("Tasks in the bin")


class ExcludedFromBins(Table):
    """Tasks with negative discrimination, or without a difficulty inside the bins."""

    task: tuple[str, ...] = name("Task")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DifficultyBins(Answer):
    """Bins (low, high] of difficulty, and the tasks in each.

    `members` [bins, tasks] marks the tasks; `centre` [bins] is the median difficulty of a bin's tasks,
    `edges` [bins + 1] the ends. Tasks with negative discrimination are in none (papers/002, Fig. 5),
    nor tasks whose difficulty is unknown or beyond the edges: these are `excluded`.
    """

    kind: ClassVar[str] = "bins"

    edges: Floats
    centre: Floats
    members: NDArray[np.bool_]
    excluded: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of tasks in each bin."""
        return np.asarray(self.members.sum(axis=1), dtype=np.int64)

    def __len__(self) -> int:
        """Number of bins."""
        return len(self.centre)

    @property
    def headline(self) -> str:
        """How many bins there are, and of how many tasks."""
        inside = counted(int(self.members.sum()), "task")
        start = f"{counted(len(self), 'bin')} of difficulty with {inside}"
        return f"{start}; {counted(len(self.excluded), 'task')} excluded."

    @property
    def table(self) -> BinTable:
        """The bins, the easiest first."""
        return BinTable(
            bin=tuple(f"{low:.3g} to {high:.3g}" for low, high in pairwise(self.edges)),
            low=self.edges[:-1],
            high=self.edges[1:],
            centre=self.centre,
            tasks=self.counts,
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The bins, and the tasks in none."""
        return {"bins": self.table, "excluded_tasks": ExcludedFromBins(task=self.excluded)}


def bins(
    items: ItemParameters,
    edges: Sequence[float] | int | None = None,
    *,
    fewest: int | None = None,
) -> DifficultyBins:
    """Group tasks of similar difficulty, at least `fewest` in a bin.

    Without `edges`, bins have equal size, and there are as many (at most 20) as have `fewest` tasks each,
    by default 8 as in papers/002. A number is the number of bins; a list gives the ends of bins (low,
    high], and a bin with fewer than `fewest` tasks is merged with its smaller neighbour. Tasks with
    negative discrimination are excluded: strong agents do worse on them, so that their difficulty has no
    meaning.

    References: papers/002, section II-B: "binning has to be done with at least a minimum number of
    examples per bin, to avoid undefined or very unstable variances".

    >>> items = ItemParameters.of(list("abcde"), slope=[1, 1, 1, 1, -1], difficulty=[-2, -1, 1, 2, 0])
    >>> two = bins(items, 2, fewest=2)
    >>> two.counts, two.centre, two.excluded
    (array([2, 2]), array([-1.5,  1.5]), ('e',))
    """
    smallest = (8 if edges is None else 1) if fewest is None else fewest
    if smallest < 1:
        raise InputError(f"Bins of at least {smallest} tasks are asked for. Give 1 or more.")
    difficulty = items.difficulty
    usable = np.isfinite(difficulty) & (items.slope >= 0)
    if not usable.any():
        raise InputError(
            "No task has a difficulty and a discrimination that is not negative, so that there are "
            "no bins of difficulty. Fit more agents, or tasks that discriminate positively."
        )
    if edges is None or isinstance(edges, (int, np.integer)):
        ends = _equal_ends(np.sort(difficulty[usable]), edges, smallest)
    else:
        ends = _given_ends(edges)
    low, high = ends[:-1, None], ends[1:, None]
    members = usable & (difficulty > low) & (difficulty <= high)
    if not members.any():
        raise InputError(
            f"No task's difficulty lies between {ends[0]:g} and {ends[-1]:g}. Give other edges."
        )
    ends, members = _merged(ends, members, smallest)
    centre = np.array([np.median(difficulty[inside]) for inside in members])
    for array in (ends, members, centre):
        read_only(array)
    outside = tuple(items.tasks[column] for column in np.flatnonzero(~members.any(axis=0)))
    return DifficultyBins(ends, centre, members, outside)


def _equal_ends(ordered: Floats, count: int | None, fewest: int) -> Floats:
    """Ends halfway between the last task of a bin and the first of the next."""
    most = max(1, min(20, len(ordered) // fewest))
    bins = most if count is None else count
    if not 1 <= bins <= len(ordered):
        raise InputError(
            f"{counted(bins, 'bin')} are asked for {counted(len(ordered), 'task')}. Give between 1 "
            f"and {len(ordered)}."
        )
    parts = np.array_split(ordered, bins)
    inner = [(a[-1] + b[0]) / 2 for a, b in pairwise(parts) if b[0] > a[-1]]
    return np.array([np.nextafter(ordered[0], -np.inf), *inner, ordered[-1]])


def _given_ends(edges: Sequence[float]) -> Floats:
    ends = np.asarray(edges, dtype=np.float64)
    if ends.ndim != 1 or len(ends) < 2 or np.isnan(ends).any() or not (np.diff(ends) > 0).all():
        raise InputError(
            f"The edges of the bins are {list(edges)}. Give at least two numbers in rising order."
        )
    return ends


def _merged(
    ends: Floats, members: NDArray[np.bool_], fewest: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Merge the smallest bin with its smaller neighbour until every bin has enough tasks."""
    while len(members) > 1 and members.sum(axis=1).min() < fewest:
        counts = members.sum(axis=1)
        least = int(counts.argmin())
        neighbours = [near for near in (least - 1, least + 1) if 0 <= near < len(counts)]
        low = min(least, min(neighbours, key=lambda near: int(counts[near])))
        merged = members[low] | members[low + 1]
        members = np.vstack([members[:low], merged, members[low + 2 :]])
        ends = np.delete(ends, low + 1)
    return ends, members
