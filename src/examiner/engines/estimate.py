"""What a fit will cost before it is begun: seconds from a short timed probe, memory from counting."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from examiner.engines.pace import Pace, check_memory
from examiner.engines.shard_columns import check_alike
from examiner.engines.shard_places import place_of, shards_at
from examiner.messages import InputError, counted
from examiner.results.polars_errors import PROBLEMS
from examiner.validation import scheme_of

Engine = Literal["auto", "memory", "shards", "gpu", "ray"]
_PASSES = 35
"""E-steps of a fit of a large table: 2PLs of 500 × 500 to 2,000 × 4,000 take 20 to 35."""
_WINDOW = 60
"""Nodes at which a block of like agents is looked at, where cells are missing."""
_PER_ROW = 60
"""Bytes that a row of a tidy table takes while it is read and checked."""
_LONG_SECONDS = 20.0


class Size(NamedTuple):
    """How large a table is: agents, tasks, and rows of results."""

    agents: int
    tasks: int
    rows: int

    @property
    def complete(self) -> bool:
        """Whether every agent may have met every task."""
        return self.rows >= self.agents * self.tasks


class Estimate(NamedTuple):
    """About how long a fit takes by an engine, and how much memory."""

    engine: str
    seconds: float
    gigabytes: float

    def sentence(self, size: Size) -> str:
        """Say it.

        >>> Estimate("memory", 95.0, 1.5).sentence(Size(2000, 14000, 28_000_000))
        'About 2 minutes and 1.5 GB are expected for 2,000 agents × 14,000 tasks (engine memory).'
        """
        taken = lasting(self.seconds)
        table = f"{counted(size.agents, 'agent')} × {counted(size.tasks, 'task')}"
        return f"About {taken} and {self.gigabytes:.1f} GB are expected for {table} (engine {self.engine})."


def lasting(seconds: float) -> str:
    """Say about how long something lasts.

    >>> lasting(20.0), lasting(300.0)
    ('20 seconds', '5 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def size_of_shards(source: str | Path, measure: str | None = None) -> Size:
    """Return how large a table of Parquet files is, from one look at its names.

    >>> from examiner.results import ResponseMatrix
    >>> import tempfile
    >>> table = ResponseMatrix.from_array([[1, 0, np.nan], [0, 1, 1]])
    >>> size_of_shards(table.save(Path(tempfile.mkdtemp()) / "t.parquet"))
    Size(agents=2, tasks=3, rows=5)
    """
    shards = shards_at(source)
    columns = check_alike(shards, measure)
    names = [columns.agent] if columns.tasks else [columns.agent, "task"]
    found = pl.concat([shard.scanned().select(pl.col(names).cast(pl.String)) for shard in shards])
    try:
        counts = found.select(pl.col(names).n_unique(), rows=pl.len()).collect(engine="streaming")
    except (*PROBLEMS, OSError) as problem:
        raise place_of(source).unreadable(problem) from None
    agents, *tasks, rows = counts.row(0)
    if columns.tasks:
        return Size(agents, len(columns.tasks), rows * len(columns.tasks))
    return Size(agents, tasks[0], rows)


def estimate(size: Size, engine: Engine, memory: float = 2.0) -> Estimate:
    """Return what a 2PL will take by an engine: products are timed here for a moment, and scaled up.

    >>> estimate(Size(1000, 500, 500_000), "memory").gigabytes < 1.0
    True
    """
    check_memory(memory)
    cells = size.agents * size.tasks
    pace = Pace.probed()
    vector, table = pace.vector, pace.product
    each = 2 * vector if size.complete else 2 * _WINDOW * table
    seconds = _PASSES * cells * each
    floats = 4 if size.complete else 10
    tables = 0 if size.complete else 6 * 4 * size.tasks * 12 * np.sqrt(0.25 * size.tasks) / 0.8
    needed = 0.25e9 + cells * (1 + floats) + tables + size.rows * _PER_ROW
    if engine in ("shards", "ray"):
        return Estimate(engine, seconds + 2e-8 * _PASSES * cells / 10, min(needed / 1e9, memory))
    return Estimate(engine, seconds, needed / 1e9)


def available_gigabytes() -> float:
    """Return how much memory this machine has free; infinite where it does not say.

    >>> available_gigabytes() > 0
    True
    """
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024 / 1e9
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (OSError, ValueError):
        return float("inf")


def engine_for(source: str | Path, measure: str | None = None) -> tuple[Engine, str | None]:
    """Return the engine that suits Parquet files, and a sentence where the fit will take long.

    What fits in half of the free memory is fitted in memory, all else from shards; so is what lies at a
    URL, whose names are not fetched for an estimate.

    >>> engine_for("scores.csv"), engine_for("s3://board/day/")
    (('memory', None), ('shards', None))
    """
    if scheme_of(source) is not None:
        return "shards", None
    try:
        if not all(str(shard).endswith(".parquet") for shard in shards_at(source)):
            return "memory", None
        size = size_of_shards(source, measure)
    except InputError:  # what else it may be is for the importers to say
        return "memory", None
    expected = estimate(size, "memory")
    engine: Engine = "memory"
    if expected.gigabytes > 0.5 * available_gigabytes():
        engine, expected = "shards", estimate(size, "shards")
    if expected.seconds < _LONG_SECONDS and engine == "memory":
        return engine, None
    said = expected.sentence(size)
    if engine == "memory":
        said += f" From shards ({expected.gigabytes:.1f} GB would be at most 2): `--engine shards`."
    return engine, said
