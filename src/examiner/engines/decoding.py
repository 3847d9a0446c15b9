"""Rows of Parquet shards as numbers of agents and tasks, successes and trials, in pieces on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.engines.shard_columns import COUNTS, Columns
from examiner.engines.shard_places import Shard
from examiner.messages import InputError, shorten
from examiner.results import PROBLEMS

MOST_TRIALS = 65_535
Counts = NDArray[np.integer]


class Names:
    """Names and their numbers by first appearance, over all batches.

    >>> names = Names()
    >>> names.codes(pl.Series(["b", "a", "b"])), names.codes(pl.Series(["a", "c"]))
    (array([0, 1, 0], dtype=int32), array([1, 2], dtype=int32))
    >>> names.all()
    ['b', 'a', 'c']
    """

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._kind = pl.Categorical(self._categories)
        self._kept: pl.Series | None = None  # polars forgets categories that no column has

    def codes(self, column: pl.Series) -> NDArray[np.int32]:
        """Return the numbers of names."""
        kind = column.dtype
        if isinstance(kind, pl.Enum):  # each name once
            codes = column.to_physical().to_numpy()
            present = np.flatnonzero(np.bincount(codes, minlength=len(kind.categories)))
            numbers = np.zeros(len(kind.categories), dtype=np.int32)
            numbers[present] = self.codes(kind.categories.gather(present))
            return np.asarray(numbers[codes])
        self._kept = column.cast(pl.String).cast(self._kind)
        return self._kept.to_physical().to_numpy().astype(np.int32)

    def all(self) -> list[str]:
        """Return the names in the order of their numbers."""
        return self._categories.to_series().to_list()


class DecodedPiece(NamedTuple):
    """Rows of a batch that are on disk, and the agents among them, from the first to the last."""

    path: Path
    first: int
    last: int


class Rows:
    """Rows of all shards, in pieces, with sums of successes and trials of each task."""

    def __init__(self, folder: Path) -> None:
        self.agents, self.tasks = Names(), Names()
        self.pieces: list[DecodedPiece] = []
        self.rows = 0
        self._folder, self._won, self._tried = folder, np.zeros(0), np.zeros(0)

    def add(
        self, agent: NDArray[np.int32], task: NDArray[np.int32], won: Counts, tried: Counts
    ) -> None:
        """Write rows that were observed."""
        observed = tried > 0
        if not observed.all():
            agent, task = agent[observed], task[observed]
            won, tried = won[observed], tried[observed]
        if not len(agent):
            return
        self.rows += len(agent)
        columns = {"agent": agent, "task": task, "won": won, "tried": tried}
        path = self._folder / f"piece-{len(self.pieces):06}.arrow"
        pl.DataFrame(columns).write_ipc(path)
        self.pieces.append(DecodedPiece(path, int(agent.min()), int(agent.max())))
        self._won, self._tried = (
            _longer(total, np.bincount(task, part).astype(np.float64))
            for total, part in ((self._won, won), (self._tried, tried))
        )

    def task_sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return successes and trials of each task."""
        none = np.zeros(len(self.tasks.all()))
        return _longer(self._won, none), _longer(self._tried, none)

    def of_agents(self, first: int, stop: int) -> Iterator[pl.DataFrame]:
        """Yield the rows of agents from one to another, piece by piece."""
        for piece in self.pieces:
            if piece.last >= first and piece.first < stop:
                rows = pl.read_ipc(piece.path)
                if piece.first < first or piece.last >= stop:
                    rows = rows.filter(pl.col("agent").is_between(first, stop, closed="left"))
                yield rows


def decode(shard: Shard, columns: Columns, success: float | None, into: Rows) -> None:
    """Read a shard once, and add its rows."""
    for batch in _batches(shard, columns):
        _check_named(batch, columns, shard)
        agent = into.agents.codes(batch[columns.agent])
        if columns.tasks:
            task = into.tasks.codes(pl.Series(columns.tasks))
            won, tried = _wide(batch.drop(columns.agent), success, shard)
            into.add(
                np.repeat(agent, len(task)), np.tile(task, len(agent)), won.ravel(), tried.ravel()
            )
        else:
            into.add(
                agent, into.tasks.codes(batch["task"]), *_counted(batch, columns, success, shard)
            )


def check_names(rows: Rows, shards: Sequence[Shard]) -> None:
    """Refuse an empty name of an agent or a task."""
    for what, names in (("agent", rows.agents), ("task", rows.tasks)):
        if "" in names.all():
            raise InputError(
                f"The shards from {shorten(shards[0], 200)} on have an empty {what} name. Give every "
                f"{what} a name."
            )


def _longer(total: NDArray[np.float64], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of two vectors, of which one may be shorter."""
    whole = np.zeros(max(len(total), len(part)))
    whole[: len(total)] += total
    whole[: len(part)] += part
    return whole


def _batches(shard: Shard, columns: Columns) -> Iterator[pl.DataFrame]:
    lazy, names = shard.scanned(), [columns.agent, *columns.tasks]
    rows = 1 << 20
    if columns.tasks:
        rows = max(1, min(rows, (1 << 25) // (8 * len(columns.tasks))))
    else:
        names += ["task", *(COUNTS if columns.counts else [str(columns.measure)])]
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


def _wide(batch: pl.DataFrame, success: float | None, shard: Shard) -> tuple[Counts, Counts]:
    """Counts of a batch of agents × tasks."""
    kinds = set(batch.dtypes)
    plain = len(kinds) == 1 and not any(kind.is_decimal() for kind in kinds)
    if not plain or any(batch.null_count().row(0)):
        batch = batch.cast(pl.Float64)
    return _judged(batch.to_numpy(order="c"), success, shard, "columns of tasks")


def _counted(
    batch: pl.DataFrame, columns: Columns, success: float | None, shard: Shard
) -> tuple[Counts, Counts]:
    """Counts of a batch of results in rows."""
    if not columns.counts:
        values = batch[str(columns.measure)]
        if values.null_count() or values.dtype.is_decimal():
            values = values.cast(pl.Float64)
        return _judged(values.to_numpy(), success, shard, str(columns.measure))
    observed = batch["successes"].is_not_null() & batch["trials"].is_not_null()
    if not observed.all():  # what lacks a count was not observed
        batch = batch.with_columns(pl.when(observed).then(pl.col(COUNTS)).otherwise(0))
    won, tried = (_whole_numbers(batch[name], shard) for name in COUNTS)
    if (won > tried).any() or (won.dtype.kind == "i" and (won < 0).any()):
        raise InputError(
            f"The shard {shorten(shard, 200)} counts successes that are below 0 or above their trials. "
            f"Correct it."
        )
    check_trials(int(tried.max(initial=0)))
    return won.astype(np.uint16), tried.astype(np.uint16)


def check_trials(trials: int) -> None:
    """Refuse more trials of a cell than are counted."""
    if trials > MOST_TRIALS:
        raise InputError(
            f"A cell has {trials:,} trials, and at most {MOST_TRIALS:,} are taken from shards. Reduce "
            f"runs beforehand, or fit in memory."
        )


def _whole_numbers(column: pl.Series, shard: Shard) -> Counts:
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


def _judged(
    values: NDArray[np.number], success: float | None, shard: Shard, what: str
) -> tuple[Counts, Counts]:
    """One trial of each value, a success from `success` on; none where it is NaN."""
    if success is not None:
        if np.isinf(values).any():
            raise InputError(
                f"The shard {shorten(shard, 200)} holds an infinite value in its {shorten(what)}. Correct "
                f"it, or leave it empty."
            )
        won, observed = values >= success, values == values
        return won.view(np.uint8), observed.view(np.uint8)
    won = values == 1
    observed = won | (values == 0)
    if not observed.all():
        other = values[~observed]
        wrong = other[other == other]
        if len(wrong):
            raise InputError(
                f"The shard {shorten(shard, 200)} holds {float(wrong[0]):g} in its {shorten(what)}, which "
                f"is no success or failure. Say what a success is (`--success 1.0`, `success=1.0`)."
            )
    return won.view(np.uint8), observed.view(np.uint8)
