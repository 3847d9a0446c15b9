"""Sets of tasks that tell most together: greedy, improved by swaps, and the best of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import bits_with, cumulative_bits, entropies_of_rows, table_bits
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.validation import Floats, check_known

Search = Literal["greedy", "swap", "optimum"]

MOST_SETS = 200_000
MOST_PAIRS = 50_000_000
"""Beyond so many agents² × tasks, tasks are screened by some agents before they are counted with all."""
SCREENING_ROWS = 64
SCREENED = 64
LEAST_GAIN = 1e-9
"""Bits less than this apart are a tie: rounding depends on the order in which agents are summed."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InformativeSet:
    """Tasks in the order chosen, and the bits that they tell up to each; `columns` are where they stand.

    `tied_with` names for each task of a greedy set the others that would have added as many bits.
    """

    tasks: tuple[str, ...]
    columns: tuple[int, ...]
    cumulative_bits: Floats
    max_bits: float
    search: Search
    tied_with: tuple[tuple[str, ...], ...] = ()

    @property
    def bits(self) -> float:
        """Return the bits of the whole set."""
        return float(self.cumulative_bits[-1])

    def __repr__(self) -> str:
        return (
            f"InformativeSet: {counted(len(self.tasks), 'task')} by {self.search}, {self.bits:.3g} of "
            f"{self.max_bits:.3g} bits"
        )

    def _repr_html_(self) -> str:
        columns = {"task": self.tasks, "bits so far": self.cumulative_bits}
        return html_columns(repr(self), columns)


def best_set(
    source: Results | Channels,
    size: int,
    search: Search = "greedy",
    *,
    pairs: PairLikelihood | None = None,
    progress: Progress | None = None,
) -> InformativeSet:
    """Choose the tasks that together tell most about which agent is playing.

    "greedy" adds the task that tells most beside those already chosen (papers/004, section V-C); "swap"
    then exchanges tasks while that helps, and is never worse; "optimum" tries every set, for small
    problems. Of tasks that add as many bits, the one with most bits alone is chosen, and of these the
    first by name: the order of rows changes nothing. `pairs` are those of the same channels, where they
    are there already.

    >>> base = np.array([[0.0, 0.0, 5.0], [5.0, 5.0, 4.6], [9.0, 9.1, 0.0]])
    >>> results = Results.from_numpy(base[:, :, None] + [-1.0, 0.0, 1.0], tasks="tuv")
    >>> chosen = best_set(results, 2)
    >>> chosen.tasks, chosen.cumulative_bits.round(2)
    (('u', 't'), array([1.1 , 1.49]))
    """
    check_known("search", search, get_args(Search))
    channels = Channels.of(source)
    pairs = PairLikelihood(channels) if pairs is None else pairs
    check_size(size, int(pairs.usable.sum()))
    ties: list[list[int]] = []
    if search == "optimum":
        columns = _optimum(pairs, size, progress)
    else:
        columns, ties = greedy_choices(pairs, size, progress=progress)
    if search == "swap":
        columns = _swapped(pairs, columns, progress)
    if search != "greedy":
        columns, ties = greedy_columns(pairs, size, columns), []
    names = tuple(channels.tasks[column] for column in columns)
    bits = cumulative_bits(pairs, columns)
    tied = tuple(tuple(channels.tasks[column] for column in others) for others in ties)
    return InformativeSet(names, tuple(columns), bits, channels.max_bits, search, tied)


def check_size(size: int, tasks: int) -> None:
    """Refuse a set that is empty or larger than the tasks that tell anything."""
    if not 1 <= size <= tasks:
        raise InputError(
            f"Cannot choose {size} of {counted(tasks, 'task')} that can tell agents apart. "
            f"Choose a size between 1 and {tasks}."
        )


def greedy_columns(
    pairs: PairLikelihood,
    size: int,
    among: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
) -> list[int]:
    """Return columns in the order in which each adds most to those before it; `among` some alone.

    >>> results = Results.from_numpy([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [8.0, 9.0]]])
    >>> greedy_columns(PairLikelihood(Channels.of(results)), 2)
    [1, 0]
    """
    return greedy_choices(pairs, size, among, progress=progress).columns


class _GreedyChoices(NamedTuple):
    """Columns in the order chosen, and for each those that would have added as many bits, by name."""

    columns: list[int]
    ties: list[list[int]]


def greedy_choices(
    pairs: PairLikelihood,
    size: int,
    among: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
) -> _GreedyChoices:
    """Return what `greedy_columns` does, and which columns were tied with each.

    >>> results = Results.from_numpy([[[0.0, 1.0]] * 2, [[8.0, 9.0]] * 2])
    >>> greedy_choices(PairLikelihood(Channels.of(results)), 1)
    _GreedyChoices(columns=[0], ties=[[1]])
    """
    base = np.zeros((pairs.shape[0],) * 2)
    left = pairs.usable.copy()
    if among is not None:
        left[np.setdiff1d(np.arange(len(left)), among)] = False
    made = _GreedyChoices([], [])
    alone: Floats | None = None
    for step in range(size):
        if progress:
            progress("choosing tasks", step, size)
        large = is_large(*pairs.shape)
        bits = _screened(pairs, base, left) if large else bits_with(pairs, base)
        alone = bits if alone is None else alone
        best, *others = _tied(bits, left, alone, pairs.task_rank)
        made.columns.append(best)
        made.ties.append(others)
        left[best] = False
        base += pairs.table([best])
    return made


def is_large(agents: int, tasks: int) -> bool:
    """Whether a table is so large that tasks are screened by some agents before all are counted.

    >>> is_large(100, 400), is_large(5000, 20_000)
    (False, True)
    """
    return agents**2 * tasks > MOST_PAIRS


def _screened(pairs: PairLikelihood, base: Floats, left: NDArray[np.bool_]) -> Floats:
    """Bits with the tasks that tell most by some agents' rows, counted with all agents; −1 of all others.

    Rows are those of agents taken evenly by name, and each has all other agents in it: their mean entropy
    is that of all rows but for chance, which is the same for all tasks.
    """
    agents, tasks = pairs.shape
    places = np.linspace(0, agents - 1, min(SCREENING_ROWS, agents)).astype(np.intp)
    rows = pairs.agents_by_name[places]
    offered = np.flatnonzero(left)
    entropy = np.rint(entropies_of_rows(pairs, base, rows)[offered] / LEAST_GAIN)
    near = np.sort(offered[np.lexsort((pairs.task_rank[offered], entropy))[:SCREENED]])
    bits = np.full(tasks, -1.0)
    bits[near] = bits_with(pairs.of(near), base)
    return bits


def _tied(
    bits: Floats, among: NDArray[np.bool_], alone: Floats, rank: NDArray[np.intp]
) -> list[int]:
    """The columns with most bits: first that with most bits alone (of several the first by name)."""
    offered = np.where(among, bits, -1.0)
    best = np.flatnonzero(offered >= offered.max() - LEAST_GAIN)
    first = alone[best] >= alone[best].max() - LEAST_GAIN
    tied: list[int] = best[np.lexsort((rank[best], ~first))].tolist()
    return tied


def _swapped(pairs: PairLikelihood, columns: list[int], progress: Progress | None) -> list[int]:
    """Exchange one task at a time for the best other one, until no exchange helps."""
    chosen, alone = list(columns), bits_with(pairs)
    current = table_bits(pairs.table(chosen), exact=pairs.exact)
    step = unchanged = 0
    while unchanged < len(chosen):
        index = step % len(chosen)
        if progress:
            progress("swapping tasks", unchanged, len(chosen))
        rest = [task for task in chosen if task != chosen[index]]
        offered = pairs.usable.copy()
        offered[rest] = False
        bits = bits_with(pairs, pairs.table(rest))
        best = _tied(bits, offered, alone, pairs.task_rank)[0]
        step, unchanged = step + 1, unchanged + 1
        if bits[best] > current + LEAST_GAIN:
            chosen[index], current, unchanged = best, float(bits[best]), 0
    return chosen


def _optimum(pairs: PairLikelihood, size: int, progress: Progress | None) -> list[int]:
    tasks: list[int] = [
        column for column in np.argsort(pairs.task_rank).tolist() if pairs.usable[column]
    ]
    alone = bits_with(pairs)
    sets = comb(len(tasks), size)
    if sets > MOST_SETS:
        raise InputError(
            f"There are {sets:,} sets of {size} among {len(tasks)} tasks, more than {MOST_SETS:,}: "
            f"too many to try. Use 'swap', or choose fewer tasks."
        )
    best, most, total = tasks[:size], -1.0, comb(len(tasks), size - 1)
    for done, head in enumerate(combinations(tasks, size - 1), 1):
        if progress and done % 64 == 0:
            progress("trying sets", done, total)
        later = np.zeros_like(pairs.usable)
        later[tasks[tasks.index(head[-1]) + 1 :] if head else tasks] = True
        if not later.any():
            continue
        bits = bits_with(pairs, pairs.table(head))
        last = _tied(bits, later, alone, pairs.task_rank)[0]
        if bits[last] > most + LEAST_GAIN:
            best, most = [*head, last], float(bits[last])
    return best
