"""One decoding pass: results from Parquet into the cells of agents × tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.engines.cell_file import CellFile, Few, check_trials
from examiner.engines.name_numbers import Names
from examiner.engines.shard_columns import COUNTS, Columns
from examiner.engines.shard_places import Shard
from examiner.messages import InputError, shorten
from examiner.results import PROBLEMS

_MOST_ROWS = 1 << 20
_MOST_WIDE_BYTES = 1 << 25


class PackedTable(NamedTuple):
    """Cells, and the names of their rows and columns so far."""

    cells: CellFile
    agents: Names
    tasks: Names


class _Counts(NamedTuple):
    """Successes and trials of rows, or of agents × tasks; no trial where nothing was observed."""

    won: Few
    tried: Few


def decode(shard: Shard, columns: Columns, success: float | None, into: PackedTable) -> None:
    """Read a shard once into the cells of a table."""
    before = len(into.agents), len(into.tasks)
    if columns.tasks:
        into.tasks.codes(pl.Series(columns.tasks))
    for batch in _batches(shard, columns):
        _check_named(batch, columns, shard)
        known = len(into.agents)
        agent = into.agents.codes(batch.drop_in_place(columns.agent))
        if columns.tasks:
            _add_agents(into, agent, known, _wide(batch, success, shard))
        else:
            task = into.tasks.codes(batch["task"])
            counts = _counted(batch, columns, success, shard)
            _add_results(into, agent, known, task, counts)
    for what, names, known in (("agent", into.agents, before[0]), ("task", into.tasks, before[1])):
        if names.has_empty(known):
            raise InputError(
                f"The shard {shorten(shard, 200)} has an empty {what} name. Give every {what} a name."
            )


def _batches(shard: Shard, columns: Columns) -> Iterator[pl.DataFrame]:
    lazy, names = shard.scanned(), [columns.agent, *columns.tasks]
    if not columns.tasks:
        names += ["task", *(COUNTS if columns.counts else [str(columns.measure)])]
    rows = _MOST_ROWS
    if columns.tasks:
        rows = max(1, min(rows, _MOST_WIDE_BYTES // (8 * len(columns.tasks))))
    if not columns.tasks:
        lazy = lazy.select(names)
    try:
        for batch in lazy.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming"):
            yield batch if batch.columns == names else batch.select(names)
    except (*PROBLEMS, OSError) as problem:
        raise shard.unreadable(problem) from None


def _check_named(batch: pl.DataFrame, columns: Columns, shard: Shard) -> None:
    for name in (columns.agent,) if columns.tasks else ("agent", "task"):
        if batch[name].null_count():
            raise InputError(
                f"The shard {shorten(shard, 200)} has a row without a name in its column {name!r}. "
                f"Name it, or leave it out."
            )


def _add_agents(table: PackedTable, agent: NDArray[np.int32], known: int, counts: _Counts) -> None:
    """Add one row of all tasks for each agent."""
    table.cells.fit(len(table.agents), len(table.tasks))
    if agent[0] >= known and (np.diff(agent) == 1).all():
        table.cells.put(int(agent[0]), *counts)
        return
    line, column = np.nonzero(counts.tried)
    if len(line):
        cells = agent[line].astype(np.int64) * table.cells.width + column
        table.cells.add(cells, counts.won[line, column], counts.tried[line, column])


def _add_results(
    table: PackedTable,
    agent: NDArray[np.int32],
    known: int,
    task: NDArray[np.int32],
    counts: _Counts,
) -> None:
    """Add results in rows, of which those of one agent with all tasks in order go in as they are."""
    file = table.cells
    file.fit(len(table.agents), max(len(table.tasks), 1))
    if not len(agent):
        return
    edges = [0, 0]
    width = len(table.tasks)
    if counts.tried.all():
        edges = _complete(agent, known, task, width)
    first, last = edges
    if first < last:
        file.put(int(agent[first]), *(part[first:last].reshape(-1, width) for part in counts))
    for rows in (slice(0, first), slice(last, len(agent))):
        won, tried = counts.won[rows], counts.tried[rows]
        cells = agent[rows].astype(np.int64) * file.width
        cells += task[rows]
        if not tried.all():
            seen = tried > 0
            cells, won, tried = cells[seen], won[seen], tried[seen]
        if len(cells):
            file.add(cells, won, tried)


def _complete(
    agent: NDArray[np.int32], known: int, task: NDArray[np.int32], tasks: int
) -> list[int]:
    """From which row to which new agents follow each other, each with all tasks in order.

    >>> agent, task = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 1, 0, 1, 0])
    >>> _complete(agent, 1, task, 2)
    [1, 5]
    """
    first = int(np.argmax(task == 0))
    last = first + (len(task) - first) // tasks * tasks
    blocks = task[first:last].reshape(-1, tasks)
    ours = agent[first:last].reshape(-1, tasks)
    whole = (
        len(blocks) > 0
        and ours[0, 0] >= known
        and bool((blocks == np.arange(tasks, dtype=task.dtype)).all())
        and bool((ours == ours[0, 0] + np.arange(len(ours), dtype=agent.dtype)[:, None]).all())
        and int(agent[:first].max(initial=-1)) < ours[0, 0]
        and not (agent[last:] <= ours[-1, -1]).any()
    )
    return [first, last] if whole else [0, 0]


def _wide(batch: pl.DataFrame, success: float | None, shard: Shard) -> _Counts:
    """Counts of a batch of agents × tasks."""
    kinds = set(batch.dtypes)
    plain = len(kinds) == 1 and not any(kind.is_decimal() for kind in kinds)
    if not plain or any(batch.null_count().row(0)):
        batch = batch.cast(pl.Float64)
    return _judged(batch.to_numpy(order="c"), success, shard, "columns of tasks")


def _counted(batch: pl.DataFrame, columns: Columns, success: float | None, shard: Shard) -> _Counts:
    """Counts of a batch of results in rows."""
    if not columns.counts:
        values = batch[str(columns.measure)]
        if values.null_count() or values.dtype.is_decimal():
            values = values.cast(pl.Float64)
        return _judged(values.to_numpy(), success, shard, str(columns.measure))
    seen = batch["successes"].is_not_null() & batch["trials"].is_not_null()
    if not seen.all():  # what lacks a count was not observed
        batch = batch.with_columns(pl.when(seen).then(pl.col(COUNTS)).otherwise(0))
    won, tried = (_whole_numbers(batch[name], shard) for name in COUNTS)
    if (won > tried).any() or (won.dtype.kind == "i" and (won < 0).any()):
        raise InputError(
            f"The shard {shorten(shard, 200)} counts successes that are below 0 or above their trials. "
            f"Correct it."
        )
    check_trials(int(tried.max(initial=0)))
    return _Counts(won.astype(np.uint8, copy=False), tried.astype(np.uint8, copy=False))


def _whole_numbers(column: pl.Series, shard: Shard) -> NDArray[np.integer]:
    if column.dtype.is_integer():
        return column.to_numpy()
    values = column.cast(pl.Float64)
    wrong = values.filter(~values.is_finite() | (values != values.floor()))
    if len(wrong):
        raise InputError(
            f"The shard {shorten(shard, 200)} holds {wrong[0]:g} in its {column.name}, where a whole "
            f"number belongs. Correct it."
        )
    return values.cast(pl.Int64).to_numpy()


def _judged(values: NDArray[np.number], success: float | None, shard: Shard, what: str) -> _Counts:
    """One trial of each value, a success from `success` on; none where it is NaN."""
    if success is not None:
        if np.isinf(values).any():
            raise InputError(
                f"The shard {shorten(shard, 200)} holds an infinite value in its {shorten(what)}. Correct "
                f"it, or leave it empty."
            )
        won, seen = values >= success, values == values
        return _Counts(won.view(np.uint8), seen.view(np.uint8))
    won = values == 1
    seen = won | (values == 0)
    if not seen.all():
        other = values[~seen]
        wrong = other[other == other]
        if len(wrong):
            raise InputError(
                f"The shard {shorten(shard, 200)} holds {float(wrong[0]):g} in its {shorten(what)}, which "
                f"is no success or failure. Say what a success is (`--success 1.0`, `success=1.0`)."
            )
    return _Counts(won.view(np.uint8), seen.view(np.uint8))
