"""Which engine suits a table: in memory where it fits, from Parquet shards otherwise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from examiner.engines.shard_columns import check_alike
from examiner.engines.shard_places import place_of, shards_at
from examiner.importers import gigabytes_of
from examiner.messages import InputError
from examiner.results import PROBLEMS
from examiner.validation import scheme_of
from examiner.workers import available_gigabytes

Engine = Literal["auto", "memory", "shards", "gpu", "ray"]


class Size(NamedTuple):
    """How large a table is: agents, tasks, and rows of results."""

    agents: int
    tasks: int
    rows: int

    @property
    def gigabytes(self) -> float:
        """Memory that the table needs where it is read whole.

        >>> Size(1000, 500, 500_000).gigabytes < 1.0 < Size(50_000, 20_000, 10**9).gigabytes
        True
        """
        return gigabytes_of(self.agents, self.tasks, self.rows)


def size_of_shards(source: str | Path, measure: str | None = None) -> Size:
    """Return how large a table of Parquet files is, from one look at its names.

    >>> from examiner.results import ResponseMatrix
    >>> import tempfile
    >>> table = ResponseMatrix.from_array([[1, 0, float("nan")], [0, 1, 1]])
    >>> size_of_shards(table.save(Path(tempfile.mkdtemp()) / "t.parquet"))
    Size(agents=2, tasks=3, rows=5)
    """
    shards = shards_at(source)
    columns = check_alike(shards, measure)
    named = (columns.agent,) if columns.tasks else (columns.agent, "task")
    names: dict[str, set[str]] = {name: set() for name in named}
    rows = 0
    try:
        for shard in shards:  # one after the other: names of all rows at once would fill the memory
            scan = shard.scanned()
            rows += int(scan.select(pl.len()).collect().item())
            for name, every in names.items():
                unique = scan.select(pl.col(name).cast(pl.String).unique())
                every.update(unique.collect(engine="streaming").to_series().to_list())
    except (*PROBLEMS, OSError) as problem:
        raise place_of(source).unreadable(problem) from None
    agents = len(names[columns.agent])
    if columns.tasks:
        return Size(agents, len(columns.tasks), rows * len(columns.tasks))
    return Size(agents, len(names["task"]), rows)


def engine_for(
    source: str | Path, measure: str | None = None, memory: float | None = None
) -> Engine:
    """Return the engine that suits Parquet files.

    What needs at most `memory` GB, by default half of what is free, is fitted in memory, everything else
    from shards. Files at a URL are always fitted from shards: their names are not downloaded to count them.

    >>> engine_for("scores.csv"), engine_for("s3://board/day/")
    ('memory', 'shards')
    """
    if scheme_of(source) is not None:
        return "shards"
    try:
        if not all(str(shard).endswith(".parquet") for shard in shards_at(source)):
            return "memory"
        size = size_of_shards(source, measure)
    except InputError:  # the importers say what else it may be
        return "memory"
    allowed = 0.5 * available_gigabytes() if memory is None else memory
    return "memory" if size.gigabytes <= allowed else "shards"


def check_memory(memory: float) -> None:
    """Refuse what is no amount of memory, in GB.

    >>> check_memory(-1.0)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The memory is -1 GB. Give a number of GB above 0.
    """
    if not (math.isfinite(memory) and memory > 0):
        raise InputError(f"The memory is {memory:g} GB. Give a number of GB above 0.")
