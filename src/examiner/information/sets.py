"""Sets of tasks that are most informative together: greedy, improved by swaps, and the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar
from examiner.information.bits import SetBits
from examiner.information.channels import MAX_BITS, Channels
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import (
    LEAST_GAIN,
    bits_with,
    cumulative_bits,
    entropies_of_rows,
    table_bits,
)
from examiner.messages import InputError, counted
from examiner.results import Results, results_in_content_order
from examiner.scores import Progress
from examiner.validation import Floats, check_known

Search = Literal["greedy", "swap", "optimum"]

MOST_SETS = 200_000
MOST_PAIRS = 50_000_000
"""Beyond this many agents² × tasks, tasks are screened by some agents before all agents are used."""
SCREENING_ROWS = 64
SCREENED = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InformativeSet(Answer):
    """Tasks that together are most informative; `columns` are their columns in the results."""

    kind = "best_set"

    tasks: SetBits
    columns: tuple[int, ...]
    max_bits: float
    search: Search

    @property
    def bits(self) -> float:
        """The bits of the whole set."""
        return float(self.tasks.bits[-1])

    @property
    def headline(self) -> str:
        """How much of the information that identifies an agent the set gives."""
        verb = "gives" if len(self.tasks) == 1 else "together give"
        return (
            f"{counted(len(self.tasks), 'task')} {verb} {self.bits:.3g} of the {self.max_bits:.3g} bits "
            f"that identify an agent."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Bits of the set, and the most possible."""
        return {
            "bits": Scalar(self.bits, "Information of the set", "bits"),
            "max_bits": Scalar(self.max_bits, MAX_BITS, "bits"),
        }

    @property
    def settings(self) -> Mapping[str, str]:
        """How the set was searched for."""
        return {"search": self.search}


def best_set(
    source: Results | Channels,
    size: int,
    search: Search = "greedy",
    *,
    pairs: PairLikelihood | None = None,
    progress: Progress | None = None,
) -> InformativeSet:
    """Choose the tasks that together give most information about which agent is playing.

    "greedy" adds the task that adds most to those already chosen (papers/004, section V-C); "swap" then
    exchanges tasks while that helps, and is never worse; "optimum" tries every set, for small problems.
    Ties go to the task with most bits alone, then to the first in an order by content (of channels: to
    the first): names and the order of rows change nothing. `pairs` are those of the same channels, where
    they were computed before.

    >>> base = np.array([[0.0, 0.0, 5.0], [5.0, 5.0, 4.6], [9.0, 9.1, 0.0]])
    >>> results = Results.from_numpy(base[:, :, None] + [-1.0, 0.0, 1.0], tasks="tuv")
    >>> chosen = best_set(results, 2)
    >>> chosen.tasks.task, chosen.tasks.bits.round(2)
    (('u', 't'), array([1.1 , 1.49]))
    """
    check_known("search", search, get_args(Search))
    given = source.tasks
    if isinstance(source, Results):
        source = results_in_content_order(source)
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
    table = SetBits(
        task=[channels.tasks[column] for column in columns],
        bits=cumulative_bits(pairs, columns),
        tied_with=[[channels.tasks[column] for column in tied] for tied in ties] if ties else None,
    )
    chosen = tuple(given.index(task) for task in table.task)
    return InformativeSet(table, chosen, channels.max_bits, search)


def check_size(size: int, tasks: int) -> None:
    """Refuse a set that is empty or larger than the number of usable tasks."""
    if not 1 <= size <= tasks:
        raise InputError(
            f"Cannot choose {size} of {counted(tasks, 'task')} with information about agents. "
            f"Choose a size between 1 and {tasks}."
        )


def greedy_columns(
    pairs: PairLikelihood,
    size: int,
    among: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
) -> list[int]:
    """Return columns in the order in which each adds most to those before it, by default among all.

    >>> results = Results.from_numpy([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [8.0, 9.0]]])
    >>> greedy_columns(PairLikelihood(Channels.of(results)), 2)
    [1, 0]
    """
    return greedy_choices(pairs, size, among, progress=progress).columns


class _GreedyChoices(NamedTuple):
    """Columns in the order chosen, and for each those that would have added the same bits."""

    columns: list[int]
    ties: list[list[int]]


def greedy_choices(
    pairs: PairLikelihood,
    size: int,
    among: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
) -> _GreedyChoices:
    """Return the greedy choice, and which columns were tied with each.

    >>> results = Results.from_numpy([[[0.0, 1.0]] * 2, [[8.0, 9.0]] * 2])
    >>> greedy_choices(PairLikelihood(Channels.of(results)), 1)
    _GreedyChoices(columns=[0], ties=[[1]])
    """
    base = np.zeros((pairs.shape[0],) * 2)
    left = pairs.usable.copy()
    if among is not None:
        left[np.setdiff1d(np.arange(len(left)), among)] = False
    choices = _GreedyChoices([], [])
    alone: Floats | None = None
    for step in range(size):
        if progress:
            progress("choosing tasks", step, size)
        large = is_large(*pairs.shape)
        bits = _screened(pairs, base, left) if large else bits_with(pairs, base)
        alone = bits if alone is None else alone
        best, *others = _tied(bits, left, alone)
        choices.columns.append(best)
        choices.ties.append(others)
        left[best] = False
        base += pairs.table([best])
    return choices


def is_large(agents: int, tasks: int) -> bool:
    """Whether a table is so large that tasks are screened by some agents before all are used.

    >>> is_large(100, 400), is_large(5000, 20_000)
    (False, True)
    """
    return agents**2 * tasks > MOST_PAIRS


def _screened(pairs: PairLikelihood, base: Floats, left: NDArray[np.bool_]) -> Floats:
    """Return bits with the best tasks by some agents' rows, computed with all agents; −1 for other tasks.

    Rows are those of agents taken evenly, and each compares with all other agents: their mean
    entropy estimates that of all rows, with the same error for all tasks.
    """
    agents, tasks = pairs.shape
    rows = np.linspace(0, agents - 1, min(SCREENING_ROWS, agents)).astype(np.intp)
    offered = np.flatnonzero(left)
    entropy = np.rint(entropies_of_rows(pairs, base, rows)[offered] / LEAST_GAIN)
    near = np.sort(offered[np.argsort(entropy, kind="stable")[:SCREENED]])
    bits = np.full(tasks, -1.0)
    bits[near] = bits_with(pairs.of(near), base)
    return bits


def _tied(bits: Floats, among: NDArray[np.bool_], alone: Floats) -> list[int]:
    """Return the columns with most bits, that with most bits alone first."""
    offered = np.where(among, bits, -1.0)
    best = np.flatnonzero(offered >= offered.max() - LEAST_GAIN)
    first = alone[best] >= alone[best].max() - LEAST_GAIN
    tied: list[int] = best[np.argsort(~first, kind="stable")].tolist()
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
        others = [task for task in chosen if task != chosen[index]]
        candidates = pairs.usable.copy()
        candidates[others] = False
        bits = bits_with(pairs, pairs.table(others))
        best = _tied(bits, candidates, alone)[0]
        step, unchanged = step + 1, unchanged + 1
        if bits[best] > current + LEAST_GAIN:
            chosen[index], current, unchanged = best, float(bits[best]), 0
    return chosen


def _optimum(pairs: PairLikelihood, size: int, progress: Progress | None) -> list[int]:
    tasks: list[int] = np.flatnonzero(pairs.usable).tolist()
    alone = bits_with(pairs)
    sets = comb(len(tasks), size)
    if sets > MOST_SETS:
        raise InputError(
            f"There are {sets:,} sets of {size} among {len(tasks)} tasks, more than the {MOST_SETS:,} "
            f"that can be tried. Use 'swap', or choose fewer tasks."
        )
    best, most, total = tasks[:size], -1.0, comb(len(tasks), size - 1)
    for tried, head in enumerate(combinations(tasks, size - 1), 1):
        if progress and tried % 64 == 0:
            progress("trying sets", tried, total)
        later = np.zeros_like(pairs.usable)
        later[tasks[tasks.index(head[-1]) + 1 :] if head else tasks] = True
        if not later.any():
            continue
        bits = bits_with(pairs, pairs.table(head))
        last = _tied(bits, later, alone)[0]
        if bits[last] > most + LEAST_GAIN:
            best, most = [*head, last], float(bits[last])
    return best
