"""Rows and columns of a table that sum up the others (`Average`, `Total`): found, and excluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.messages import listed, shorten
from examiner.results import Results

_NAMES = {
    "mean": ("average", "avg", "mean", "overall", "ave", "aggregate", "all"),
    "sum": ("total", "sum", "overall", "aggregate", "all"),
    "median": ("median", "med"),
}
"""What people call a summary of the others, and which summary it may be; compared in lower case."""
_STATISTICS = ("mean", "sum", "median")
_LEVEL = 0.05  # agreement that chance gives more often is none
_LEVEL_WITHOUT_NAME = (
    1e-6  # an agent of the user's own is lost by mistake in one of a million tables
)
_MOST_DECIMALS = 15
_MOST_SUMMED = 1e290  # sums of larger numbers may overflow
_FLOAT_ROUNDING = 1e-12  # of the values: what adding them up in another order changes
_SLACK = 1 + 1e-9  # a number that lies halfway between two printed ones is rounded to either


class Derived(NamedTuple):
    """An agent or a task that is a statistic of the others."""

    name: str
    statistic: str


@dataclass(frozen=True, slots=True)
class CellMeans:
    """The mean of each observed cell, in lists: which line it is in, which column, and its value."""

    line: NDArray[np.int64]
    column: NDArray[np.int64]
    value: NDArray[np.float64]

    def of(self, keep: NDArray[np.bool_]) -> CellMeans:
        """Return some of the cells."""
        return CellMeans(self.line[keep], self.column[keep], self.value[keep])

    @property
    def turned(self) -> CellMeans:
        """The same cells with lines as columns."""
        return CellMeans(self.column, self.line, self.value)


def without_aggregates(results: Results) -> Results:
    """Exclude agents and tasks that are the mean, sum or median of the others, and say so.

    One with a name such as `Average` is excluded where its values agree with the statistic as far as
    they are printed; under any other name also only if a single one does, by a mean or a sum, and more
    closely than chance would explain. A name without agreement stays, and is said.

    >>> values = [[10.0, 25.0, 17.5], [40.0, 31.0, 35.5], [11.0, 70.0, 40.5]]
    >>> found = without_aggregates(Results.from_numpy(values, tasks=["pong", "venture", "Average"]))
    >>> found.tasks, found.notes
    (('pong', 'venture'), ("The task 'Average' is the mean of the others and is excluded.",))
    """
    cells = _cells(results)
    if cells is None:
        return results
    named = [_named(names) for names in (results.agents, results.tasks)]
    # What sums up the lines is no line while columns are looked at, and the other way round.
    plain = cells.of(~np.isin(cells.line, named[0]))
    tasks = _derived(plain, results.tasks)
    chosen = [results.tasks.index(task.name) for task in tasks]
    agents = _derived(cells.of(~np.isin(cells.column, chosen)).turned, results.agents)
    notes = [*_notes("agent", results.agents, agents), *_notes("task", results.tasks, tasks)]
    if agents or tasks:
        rows = ~np.isin(results.agent_codes, [results.agents.index(agent.name) for agent in agents])
        rows &= ~np.isin(results.task_codes, chosen)
        results = results.where(rows)
    return results.with_notes(*notes)


def _cells(results: Results) -> CellMeans | None:
    """The cells of a table in which there may be an aggregate; None where there can be none."""
    named = _named(results.agents) or _named(results.tasks)
    # Where all is 0 or 1, nothing but a name tells a mean from a task.
    if len(results.measures) > 1 or (not named and results.is_binary()):
        return None
    values = results.measure()
    seen = ~np.isnan(values)
    if np.abs(values[seen]).max(initial=0.0) > _MOST_SUMMED:
        return None
    cell = results.agent_codes[seen].astype(np.int64) * len(results.tasks)
    cell += results.task_codes[seen]
    table = pl.DataFrame({"cell": cell, "value": values[seen]})
    if len(table) > table["cell"].n_unique():
        table = table.group_by("cell").agg(pl.col("value").mean()).sort("cell")
    cells = table["cell"].to_numpy()
    return CellMeans(*np.divmod(cells, len(results.tasks)), table["value"].to_numpy())


def _named(names: Sequence[str]) -> list[int]:
    words = {word for known in _NAMES.values() for word in known}
    return [place for place, name in enumerate(names) if _word(name) in words]


def _word(name: str) -> str:
    return name.strip(" .*:()").casefold()


def _derived(cells: CellMeans, names: Sequence[str]) -> list[Derived]:
    """The columns that are a statistic of the others, by name and values, or else by values alone."""
    called = _named(names)
    others = cells.of(~np.isin(cells.column, called))
    found = []
    for place in called:
        own = cells.of(cells.column == place)
        statistics = [name for name in _STATISTICS if _word(names[place]) in _NAMES[name]]
        agreeing = next((name for name in statistics if _agrees(own, others, name)), None)
        if agreeing:
            found.append(Derived(names[place], agreeing))
    return found or _unnamed(others, names)


def _unnamed(cells: CellMeans, names: Sequence[str]) -> list[Derived]:
    """The one column that is the mean or the sum of the others, whatever it is called."""
    lines = int(cells.line.max(initial=-1)) + 1
    count = np.bincount(cells.line, minlength=lines)[cells.line] - 1
    if (
        not len(cells.line) or count.min() < 2
    ):  # of two equal columns, each is the mean of the other
        return []
    total = np.bincount(cells.line, cells.value, lines)[cells.line] - cells.value
    most, least = np.full(lines, -np.inf), np.full(lines, np.inf)
    np.maximum.at(most, cells.line, cells.value)
    np.minimum.at(least, cells.line, cells.value)
    spread = (most - least)[cells.line]
    own, of_others = _roundings(cells, len(names))
    level = _LEVEL_WITHOUT_NAME / (2 * len(np.unique(cells.column)))
    rounding = _FLOAT_ROUNDING * np.abs(cells.value).sum()
    found: dict[int, str] = {}
    for statistic, expected, many in (("mean", total / count, 1), ("sum", total, count)):
        for tolerance in (own, own + of_others * many):
            close = np.abs(cells.value - expected) <= tolerance * _SLACK + rounding
            share = np.divide(2 * tolerance, spread, out=np.ones(len(spread)), where=spread > 0)
            chance = np.bincount(cells.column, np.log(share.clip(max=1)), len(names))
            apart = np.bincount(cells.column, ~close, len(names))
            present = np.bincount(cells.column, minlength=len(names)) > 0
            hits = np.flatnonzero(present & (apart == 0) & (chance <= np.log(level)))
            found |= dict.fromkeys(hits.tolist(), statistic)
    return [Derived(names[at], found[at]) for at in found] if len(found) == 1 else []


def _roundings(cells: CellMeans, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each cell, half a unit of the last decimal of its column, and of all other columns."""
    decimals = np.zeros(columns, dtype=np.int64)
    left = np.arange(len(cells.value))
    for number in range(_MOST_DECIMALS + 1):
        np.maximum.at(decimals, cells.column[left], number)
        left = left[np.round(cells.value[left], number) != cells.value[left]]
        if not len(left):
            break
    second, first = np.sort(decimals)[-2:]
    others = np.where((decimals == first) & (second < first), second, first)
    halves = 0.5 * 10.0 ** -np.stack([decimals, others]).astype(np.float64)
    return halves[0, cells.column], halves[1, cells.column]


def _agrees(own: CellMeans, others: CellMeans, statistic: str, level: float = _LEVEL) -> bool:
    """Whether a column is a statistic of others in each line, more closely than chance explains.

    A value within `tolerance` of the statistic is met by chance in a share of 2 · tolerance / (range of
    the line); in all lines, in the product of these. The tolerance is half a unit of the last decimal of
    the column, and also of the others, for a printed mean may be one of numbers with more decimals.
    """
    lines = int(max(own.line.max(initial=-1), others.line.max(initial=-1))) + 1
    count = np.bincount(others.line, minlength=lines)
    shared = own.of(count[own.line] > 0)
    if not len(shared.line) or len(shared.line) < len(own.line):
        return False
    expected = _statistic(others, statistic, lines)[shared.line]
    most, least = np.full(lines, -np.inf), np.full(lines, np.inf)
    for part in (others, shared):
        np.maximum.at(most, part.line, part.value)
        np.minimum.at(least, part.line, part.value)
    spread = (most - least)[shared.line]
    off = np.abs(shared.value - expected)
    rounding = _FLOAT_ROUNDING * np.abs(others.value).sum()
    exact = 0.5 * 10.0 ** -_decimals(own.value)
    of_others = 0.5 * 10.0 ** -_decimals(others.value)
    printed = exact + of_others * (count[shared.line] if statistic == "sum" else 1)
    for tolerance in (np.full(len(off), exact), printed):
        share = np.divide(2 * tolerance, spread, out=np.ones(len(off)), where=spread > 0)
        if (off <= tolerance * _SLACK + rounding).all() and share.clip(max=1).prod() <= level:
            return True
    return False


def _statistic(cells: CellMeans, statistic: str, lines: int) -> NDArray[np.float64]:
    """The statistic of each line; NaN where it has no cell."""
    if statistic == "median":
        table = pl.DataFrame({"line": cells.line, "value": cells.value})
        medians = table.group_by("line").agg(pl.col("value").median())
        found = np.full(lines, np.nan)
        found[medians["line"].to_numpy()] = medians["value"].to_numpy()
        return found
    total: NDArray[np.float64] = np.bincount(cells.line, cells.value, lines).astype(np.float64)
    if statistic == "sum":
        return total
    return np.divide(total, np.maximum(np.bincount(cells.line, minlength=lines), 1))


def _decimals(values: NDArray[np.float64]) -> int:
    """How many decimals the values are printed with.

    >>> _decimals(np.array([0.5, 1.25, 3.0]))
    2
    """
    for decimals in range(_MOST_DECIMALS):
        rounded = np.round(values, decimals)
        if (rounded == values).all():
            return decimals
        values = values[rounded != values]
    return _MOST_DECIMALS


def _notes(kind: str, names: Sequence[str], found: Sequence[Derived]) -> list[str]:
    """What was excluded, and what has such a name and is kept."""
    notes = [
        f"The {kind} {shorten(one.name)} is the {one.statistic} of the others and is excluded."
        for one in found
    ]
    excluded = {one.name for one in found}
    others = [names[place] for place in _named(names) if names[place] not in excluded]
    if others:
        are = "is" if len(others) == 1 else "are"
        notes.append(
            f"{listed(others)} {are} read as {kind}{'' if len(others) == 1 else 's'}: the values are no "
            f"mean, sum or median of the others. To exclude {'it' if len(others) == 1 else 'them'}: "
            f"`--drop {kind}:{others[0]}`."
        )
    return notes
