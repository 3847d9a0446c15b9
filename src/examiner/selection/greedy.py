"""TaskSet, and the loop that makes it: add the task that gains most, exchange tasks while that helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted
from examiner.selection.evidence import SelectionEvidence
from examiner.validation import Axes, Floats, read_only

Gains: TypeAlias = Callable[[list[int]], Floats]
"""What every task would add to those selected, shape [tasks]; −inf and NaN come last."""

TIE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class TaskSet:
    """Tasks in the order they were chosen, and what each added to those before it.

    `columns` are positions among the tasks there were, `gain` has shape [size] and `unit` says what
    it is measured in. `cost` is the total, in tasks where no cost was given. `seed` is that of what was
    random in choosing.

    >>> len(TaskSet("random", ("pong",), (3,), np.array([1.0]), "draws", 1.0))
    1
    """

    method: str
    tasks: Annotated[tuple[str, ...], Axes("chosen tasks")]
    columns: Annotated[tuple[int, ...], Axes("chosen tasks")]
    gain: Annotated[Floats, Axes("chosen tasks")]
    unit: str
    cost: float
    notes: tuple[str, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        read_only(self.gain)

    def __len__(self) -> int:
        return len(self.tasks)


def grow(
    evidence: SelectionEvidence, size: int, gains: Gains, *, method: str, unit: str
) -> TaskSet:
    """Choose tasks one after the other, those that must be there first.

    The next task is the one with the largest gain (per cost, where tasks have one); between
    equals their rank by content decides, so that names and the order of columns mean nothing. Tasks that
    come together are weighed by their mean gain. A budget ends the choice when nothing affordable is left;
    a size must be reached.

    >>> from examiner.selection.constraints import Constraints, terms_of
    >>> terms = terms_of(Constraints(must=("u",)), ["t", "u", "v"])
    >>> evidence = SelectionEvidence(("a", "b"), ("t", "u", "v"), np.eye(2, 3), terms)
    >>> grow(evidence, 2, lambda chosen: np.array([1.0, 2.0, 3.0]), method="mine", unit="points").tasks
    ('u', 'v')
    """
    terms = evidence.terms
    size = check_size(evidence, size)
    chosen: list[int] = []
    gained: list[float] = []

    def join(column: int, gain: Floats) -> None:
        """Add a task, and after it those that come with it, each with what it gains then."""
        for number, member in enumerate(terms.members(column)):
            now = gain if number == 0 else _finite(gains(chosen))
            gained.append(float(now[member]))
            chosen.append(member)

    for column in terms.must:
        if column not in chosen:
            join(column, _finite(gains(chosen)))
    while len(chosen) < size:
        allowed = terms.allowed(chosen, size)
        if not allowed.any():
            break
        gain = _finite(gains(chosen))
        best = _best(evidence, _worth(evidence, gain), allowed)
        join(best, gain)
    if len(chosen) < size and terms.budget is None and not terms.in_units:
        raise _short(len(chosen), size)
    return selection_of(evidence, chosen, np.array(gained), method=method, unit=unit)


def floating(
    evidence: SelectionEvidence, sizes: Sequence[int], gains: Gains
) -> list[tuple[int, ...]]:
    """Choose sets of several rising sizes: add the best task, exchange while that helps, and go on.

    A set of one size grows out of the exchanged set before it (floating search), so that all sizes
    together cost little more than the largest. Among very many tasks nothing is exchanged: a round of
    exchanges would evaluate all of them once for each selected one. Returns positions.

    >>> from examiner.selection.constraints import Constraints, terms_of
    >>> evidence = SelectionEvidence(("a", "b"), ("t", "u"), np.eye(2), terms_of(Constraints(), ["t", "u"]))
    >>> floating(evidence, [1, 2], lambda rest: np.array([1.0, 2.0]))
    [(1,), (1, 0)]
    """
    terms, gains = evidence.terms, _remembered(gains)
    if terms.in_units or terms.budget is not None:
        grown = [grow(evidence, size, gains, method="", unit="") for size in sizes]
        return [tuple(exchange(evidence, one.columns, gains)) for one in grown]
    check_size(evidence, min(sizes))
    largest = check_size(evidence, max(sizes))
    sets: list[tuple[int, ...]] = []
    chosen = list(terms.must)
    while True:
        if len(evidence.tasks) <= 300:
            chosen = exchange(evidence, chosen, gains)
        if len(chosen) in sizes:
            sets.append(tuple(chosen))
        if len(chosen) >= largest:
            return sets
        allowed = terms.allowed(chosen, largest)
        if not allowed.any():
            raise _short(len(chosen), largest)
        chosen = [*chosen, _best(evidence, _worth(evidence, _finite(gains(chosen))), allowed)]


def exchange(evidence: SelectionEvidence, columns: Sequence[int], gains: Gains) -> list[int]:
    """Exchange one task at a time for the best other one, until no exchange helps; never worse.

    >>> from examiner.selection.constraints import Constraints, terms_of
    >>> evidence = SelectionEvidence(("a", "b"), ("t", "u"), np.eye(2), terms_of(Constraints(), ["t", "u"]))
    >>> exchange(evidence, [0], lambda rest: np.array([1.0, 2.0]))
    [1]
    """
    terms = evidence.terms
    chosen = list(columns)
    if terms.in_units or len(chosen) <= len(terms.must):
        return chosen
    size, unchanged, step = len(chosen), 0, 0
    while unchanged < size and step < 20 * size:
        # The one just added comes last: it was the best in addition to all others.
        index = step % size
        step, unchanged = step + 1, unchanged + 1
        if chosen[index] in terms.must:
            continue
        others = chosen[:index] + chosen[index + 1 :]
        worth = _finite(gains(others))
        best = _best(evidence, worth, terms.allowed(others, size))
        present = worth[chosen[index]]
        if worth[best] > present + TIE * max(1.0, abs(float(present))):
            chosen[index], unchanged = best, 0
    return chosen


def exchanged(
    evidence: SelectionEvidence, size: int, gains: Gains, *, method: str, unit: str
) -> TaskSet:
    """Choose as `floating` does, in the order in which each task adds most; required tasks first.

    >>> from examiner.selection.constraints import Constraints, terms_of
    >>> evidence = SelectionEvidence(("a", "b"), ("t", "u"), np.eye(2), terms_of(Constraints(), ["t", "u"]))
    >>> gains = lambda chosen: np.array([1.0, 2.0])
    >>> exchanged(evidence, 2, gains, method="mine", unit="points").tasks
    ('u', 't')
    """
    left = np.zeros(len(evidence.tasks), dtype=bool)
    left[list(floating(evidence, [size], gains)[0])] = True
    ordered: list[int] = []
    gained: list[float] = []
    musts = [column for column in evidence.terms.must if left[column]]
    while left.any():
        worth = _finite(gains(ordered))
        column = musts.pop(0) if musts else _best(evidence, worth, left)
        ordered.append(column)
        gained.append(float(worth[column]))
        left[column] = False
    return selection_of(evidence, ordered, np.array(gained), method=method, unit=unit)


def selection_of(
    evidence: SelectionEvidence, columns: Sequence[int], gain: Floats, *, method: str, unit: str
) -> TaskSet:
    """Name the tasks at these positions."""
    priced = evidence.terms.priced
    return TaskSet(
        method,
        tuple(evidence.tasks[column] for column in columns),
        tuple(columns),
        np.where(np.isfinite(gain), gain, np.nan),
        unit,
        float(evidence.terms.cost[list(columns)].sum()) if priced else float(len(columns)),
    )


def check_size(evidence: SelectionEvidence, size: int) -> int:
    """Return the size after refusing one that is empty, too large, or smaller than the must-haves."""
    offered, must = int(evidence.terms.offered.sum()), len(evidence.terms.must)
    if evidence.terms.budget is not None:
        size = min(size, offered)
    if not 1 <= size <= offered:
        raise InputError(
            f"Cannot select {size} of {counted(offered, 'task')}. Choose a size between 1 and {offered}."
        )
    if size < must:
        raise InputError(
            f"{must} tasks must be chosen, and the size is {size}. Choose a size of {must} or more."
        )
    return size


def _remembered(gains: Gains) -> Gains:
    """Evaluate each set of tasks once: exchanges begin with sets that were just evaluated."""
    remembered_gains: dict[frozenset[int], Floats] = {}

    def remembered(chosen: list[int]) -> Floats:
        tasks = frozenset(chosen)
        if tasks not in remembered_gains:
            remembered_gains[tasks] = gains(chosen)
        return remembered_gains[tasks]

    return remembered


def _finite(gain: Floats) -> Floats:
    return np.where(np.isnan(gain), -np.inf, gain)


def _short(count: int, size: int) -> InputError:
    return InputError(
        f"Only {counted(count, 'task')} of {size} can be chosen: groups or levels allow no more. "
        f"Choose fewer, or loosen the demands."
    )


def _worth(evidence: SelectionEvidence, gain: Floats) -> Floats:
    """Gain per cost; a loss is not divided: expensive losses are no better than cheap ones."""
    terms = evidence.terms
    if terms.in_units:
        count = np.bincount(terms.unit)
        low = np.where(np.isfinite(gain), gain, -1e300) / count[terms.unit]
        gain = np.bincount(terms.unit, weights=low)[terms.unit].astype(np.float64)
    if not terms.priced:
        return gain
    cost = np.where(
        terms.in_units, np.bincount(terms.unit, weights=terms.cost)[terms.unit], terms.cost
    )
    return np.where(gain > 0, gain / cost, gain)


def _best(evidence: SelectionEvidence, worth: Floats, allowed: NDArray[np.bool_]) -> int:
    offered = np.where(allowed, worth, -np.inf)
    most = offered.max()
    near = TIE * max(1.0, abs(float(most))) if np.isfinite(most) else 0.0
    equal = np.flatnonzero(allowed & (offered >= most - near))
    return int(equal[0] if len(equal) == 1 else equal[np.argmin(evidence.task_rank[equal])])
