"""Sets of tasks that are most informative together: greedy, improved by swaps, and the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, number, scalar, setting, words
from examiner.information.channels import MAX_BITS, Channels
from examiner.information.gain import LEAST_GAIN, Bits, bits_with, cumulative_bits, table_bits
from examiner.information.pairs import PairLikelihood
from examiner.messages import InputError, counted
from examiner.results import Results, results_in_content_order
from examiner.scores import Progress
from examiner.validation import Floats, check_known

Search = Literal["greedy", "swap", "optimum"]

SCREENING_ROWS = 64
SCREENED = 64


class SetBits(Bits):
    """Chosen tasks in the order in which each adds most to those above it."""

    bits: Floats = number(
        "Information of this task and those above it together", unit="bits", title="bits so far"
    )
    tied_with: tuple[tuple[str, ...], ...] | None = words(
        "Tasks that would have added the same bits", default=None
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InformativeSet(Answer):
    """Tasks that together are most informative; `columns` are their columns in the results."""

    kind = "best_set"

    tasks: SetBits
    columns: tuple[int, ...]
    bits: float = field(metadata=scalar("Information of the set", "bits"))
    max_bits: float = field(metadata=scalar(MAX_BITS, "bits"))
    search: Search = field(metadata=setting())

    @property
    def headline(self) -> str:
        """How much of the information that identifies an agent the set gives."""
        verb = "gives" if len(self.tasks) == 1 else "together give"
        return (
            f"{counted(len(self.tasks), 'task')} {verb} {self.bits:.3g} of the {self.max_bits:.3g} bits "
            f"that identify an agent."
        )


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
    if search == "optimum":
        choices = greedy_choices(pairs, size, _optimum(pairs, size, progress))
    else:
        choices = greedy_choices(pairs, size, progress=progress)
    columns = [tied[0] for tied in choices]
    if search == "swap":
        choices = greedy_choices(pairs, size, _swapped(pairs, columns, progress))
        columns = [tied[0] for tied in choices]
    names = [[channels.tasks[column] for column in tied] for tied in choices]
    bits = cumulative_bits(pairs, columns)
    table = SetBits(
        task=[tied[0] for tied in names],
        bits=bits,
        tied_with=[tied[1:] for tied in names] if search == "greedy" else None,
    )
    chosen = tuple(given.index(task) for task in table.task)
    return InformativeSet(table, chosen, float(bits[-1]), channels.max_bits, search)


def check_size(size: int, tasks: int) -> None:
    """Refuse a set that is empty or larger than the number of usable tasks."""
    if not 1 <= size <= tasks:
        raise InputError(
            f"Cannot choose {size} of {counted(tasks, 'task')} with information about agents. "
            f"Choose a size between 1 and {tasks}."
        )


def greedy_choices(
    pairs: PairLikelihood,
    size: int,
    among: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
) -> list[list[int]]:
    """Return columns in the order in which each adds most to those before it, with those tied with it.

    >>> results = Results.from_numpy([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [8.0, 9.0]]])
    >>> greedy_choices(PairLikelihood(Channels.of(results)), 2)
    [[1], [0]]
    """
    pairs.keep()
    base = np.zeros((pairs.shape[0],) * 2)
    left = pairs.usable.copy()
    if among is not None:
        left[np.setdiff1d(np.arange(len(left)), among)] = False
    choices: list[list[int]] = []
    alone: Floats | None = None
    for step in range(size):
        if progress:
            progress("choosing tasks", step, size)
        large = is_large(*pairs.shape)
        bits = _screened(pairs, base, left) if large else bits_with(pairs, base if step else None)
        alone = bits if alone is None else alone
        choices.append(_tied(bits, left, alone))
        best = choices[-1][0]
        left[best] = False
        base += pairs.table([best])
    return choices


def is_large(agents: int, tasks: int) -> bool:
    """Whether a table is so large that tasks are screened by some agents before all are used.

    >>> is_large(100, 400), is_large(5000, 20_000)
    (False, True)
    """
    # Beyond this many agents² × tasks, tasks are screened by some agents before all agents are used
    return agents**2 * tasks > 50_000_000


def _screened(pairs: PairLikelihood, base: Floats, left: NDArray[np.bool_]) -> Floats:
    """Return bits with the best tasks by some agents' rows, computed with all agents; −1 for other tasks.

    Rows are those of agents taken evenly, and each compares with all other agents: their mean
    entropy estimates that of all rows, with the same error for all tasks.
    """
    agents, tasks = pairs.shape
    rows = np.linspace(0, agents - 1, min(SCREENING_ROWS, agents)).astype(np.intp)
    offered = np.flatnonzero(left)
    entropy = np.rint(pairs.entropies(base, offered, rows)[0] / LEAST_GAIN)
    near = np.sort(offered[np.argsort(entropy, kind="stable")[:SCREENED]])
    bits = np.full(tasks, -1.0)
    bits[near] = bits_with(pairs, base, near)
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
    sets, most_sets = comb(len(tasks), size), 200_000
    if sets > most_sets:
        raise InputError(
            f"There are {sets:,} sets of {size} among {len(tasks)} tasks, more than the {most_sets:,} "
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
