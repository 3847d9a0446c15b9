"""Sets of tasks that tell most together: greedy, improved by swaps, and the best of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels
from examiner.information.confusion import Array, PairLikelihood, Spread
from examiner.information.gain import bits_with, table_bits
from examiner.wording import InputError, counted, unknown_name

Search = Literal["greedy", "swap", "optimum"]
Progress = Callable[[str, int, int], None]

MOST_SETS = 200_000
LEAST_GAIN = 1e-12
"""Bits less than this apart are rounding: ties go to the task that was read first."""


@dataclass(frozen=True, slots=True, eq=False)
class InformativeSet:
    """Tasks in the order chosen, and the bits that they tell up to each; `places` are positions."""

    tasks: tuple[str, ...]
    places: tuple[int, ...]
    cumulative_bits: NDArray[np.float64]
    max_bits: float
    search: Search

    @property
    def bits(self) -> float:
        """Return the bits of the whole set."""
        return float(self.cumulative_bits[-1])


def best_set(
    channels: Channels,
    size: int,
    search: Search = "greedy",
    *,
    spread: Spread = "sum",
    exact: bool = False,
    progress: Progress | None = None,
) -> InformativeSet:
    """Choose the tasks that together tell most about which agent is playing.

    "greedy" adds the task that tells most beside those already chosen (papers/004, section V-C); "swap"
    then exchanges tasks while that helps, and is never worse; "optimum" tries every set, for small
    problems. `exact` is that of `information_gain`.

    >>> from examiner.information.channels import channels
    >>> from examiner.results import Results
    >>> base = np.array([[0.0, 0.0, 5.0], [5.0, 5.0, 4.6], [9.0, 9.1, 0.0]])
    >>> results = Results.from_numpy(base[:, :, None] + [-1.0, 0.0, 1.0], tasks="tuv")
    >>> chosen = best_set(channels(results), 2)
    >>> chosen.tasks, chosen.cumulative_bits.round(2)
    (('u', 't'), array([1.1 , 1.49]))
    """
    if search not in get_args(Search):
        raise unknown_name("search", search, get_args(Search))
    usable = channels.usable
    check_size(size, int(usable.sum()))
    pairs = PairLikelihood(channels, spread)
    if search == "optimum":
        places = _optimum(pairs, usable, size, exact, progress)
    else:
        places = greedy_places(pairs, usable, size, exact=exact, progress=progress)
    if search == "swap":
        places = _swapped(pairs, usable, places, exact, progress)
    if search != "greedy":
        within = np.zeros(len(usable), dtype=bool)
        within[places] = True
        places = greedy_places(pairs, within, size, exact=exact)
    bits = np.array([table_bits(table, exact=exact) for table in _growing(pairs, places)])
    names = tuple(channels.tasks[place] for place in places)
    return InformativeSet(names, tuple(places), bits, channels.max_bits, search)


def check_size(size: int, tasks: int) -> None:
    """Refuse a set that is empty or larger than the tasks that tell anything."""
    if not 1 <= size <= tasks:
        raise InputError(
            f"Cannot choose {size} of {counted(tasks, 'task')} that can tell agents apart. "
            f"Choose a size between 1 and {tasks}."
        )


def greedy_places(
    pairs: PairLikelihood,
    usable: NDArray[np.bool_],
    size: int,
    *,
    exact: bool = False,
    progress: Progress | None = None,
) -> list[int]:
    """Return positions in the order in which each adds most to those before it.

    >>> from examiner.information.channels import channels
    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [8.0, 9.0]]])
    >>> greedy_places(PairLikelihood(channels(results)), np.array([True, True]), 2)
    [1, 0]
    """
    base = np.zeros((pairs.shape[0],) * 2)
    left = usable.copy()
    chosen: list[int] = []
    for step in range(size):
        if progress:
            progress("choosing tasks", step, size)
        best = _best(bits_with(pairs, base, exact=exact), left)
        chosen.append(best)
        left[best] = False
        base += pairs.table([best])
    return chosen


def _best(bits: Array, among: NDArray[np.bool_]) -> int:
    offered = np.where(among, bits, -1.0)
    return int(np.flatnonzero(offered >= offered.max() - LEAST_GAIN)[0])


def _swapped(
    pairs: PairLikelihood,
    usable: NDArray[np.bool_],
    places: list[int],
    exact: bool,
    progress: Progress | None,
) -> list[int]:
    """Exchange one task at a time for the best other one, until no exchange helps."""
    chosen = list(places)
    current = table_bits(pairs.table(chosen), exact=exact)
    unchanged = 0
    step = 0
    while unchanged < len(chosen):
        place = step % len(chosen)
        if progress:
            progress("swapping tasks", unchanged, len(chosen))
        rest = [task for task in chosen if task != chosen[place]]
        offered = usable.copy()
        offered[rest] = False
        bits = bits_with(pairs, pairs.table(rest), exact=exact)
        best = _best(bits, offered)
        step, unchanged = step + 1, unchanged + 1
        if bits[best] > current + LEAST_GAIN:
            chosen[place], current, unchanged = best, float(bits[best]), 0
    return chosen


def _optimum(
    pairs: PairLikelihood,
    usable: NDArray[np.bool_],
    size: int,
    exact: bool,
    progress: Progress | None,
) -> list[int]:
    tasks = np.flatnonzero(usable).tolist()
    sets = comb(len(tasks), size)
    if sets > MOST_SETS:
        raise InputError(
            f"There are {sets:,} sets of {size} among {len(tasks)} tasks, more than {MOST_SETS:,}: "
            f"too many to try. Use 'swap', or choose fewer tasks."
        )
    best, most, done, total = tasks[:size], -1.0, 0, comb(len(tasks), size - 1)
    for head in _heads(tasks, size - 1):
        done += 1
        if progress and done % 64 == 0:
            progress("trying sets", done, total)
        later = np.zeros_like(usable)
        later[[task for task in tasks if not head or task > head[-1]]] = True
        if not later.any():
            continue
        bits = bits_with(pairs, pairs.table(head), exact=exact)
        last = _best(bits, later)
        if bits[last] > most + LEAST_GAIN:
            best, most = [*head, last], float(bits[last])
    return best


def _heads(tasks: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    from itertools import combinations

    return combinations(tasks, size)


def _growing(pairs: PairLikelihood, places: Sequence[int]) -> Iterator[Array]:
    table = np.zeros((pairs.shape[0],) * 2)
    for place in places:
        table = table + pairs.table([place])
        yield table
