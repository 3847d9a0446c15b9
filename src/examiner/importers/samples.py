"""The agents and tasks that are read of Parquet files larger than memory, chosen once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.table_columns import TableColumns, TableOptions
from examiner.importers.time import time_columns
from examiner.messages import InputError, counted
from examiner.results import PROBLEMS

_PER_CELL = 130
"""Bytes of a cell, or of each of its trials, in whatever is asked: `benchmarks/scale.md` has 60 to 120."""
_PROGRAM = 0.35
"""GB that Python and its libraries take before there is any data."""
_FILLED = 0.2
"""Share of cells observed from which a table is counted by its names: sparser ones are read whole."""
_SEED = 0


class NotDrawnError(InputError):
    """A file has none of the agents and tasks that were drawn, and is passed over."""


@dataclass(frozen=True, slots=True)
class DrawnNames:
    """Names of the agents and tasks that are read, and the sentence that says so.

    Of a wide table they are those of its rows and of its columns.
    """

    agents: frozenset[str]
    tasks: frozenset[str]
    note: str

    def of(self, scan: pl.LazyFrame, file: SourceFile, options: TableOptions) -> pl.LazyFrame:
        """Return their rows of a file, and of a wide table their columns; refuse a file with none."""
        columns = _columns(scan, file, options)
        named = (("agent", columns.agent, self.agents), ("task", columns.task, self.tasks))
        for key, name, kept in named:
            if name is not None:
                scan = scan.filter(pl.col(name).cast(pl.String).is_in(sorted(kept)))
            elif file.names.get(key) not in {None, *kept}:
                raise NotDrawnError(f"{key} {file.names[key]!r} was not drawn.")
        if scan.head(1).collect(engine="streaming").is_empty():
            raise NotDrawnError("None of its agents and tasks were drawn.")
        return scan.drop([name for name in columns.others if name not in self.tasks])


def with_sample(
    files: Sequence[SourceFile], options: TableOptions, memory: float | None
) -> TableOptions:
    """Choose the agents and tasks that are read of Parquet files, where all need more than `memory` GB.

    By default that is half of what is free. Agents and tasks are drawn at random from their sorted names,
    always from the same seed: those of which there are more first, until there are as many of both. Logs of
    training, whose rows are reduced to one for each run, are read whole.
    """
    if memory is None:
        from examiner.workers import available_gigabytes  # loaded for Parquet files alone

        memory = 0.5 * available_gigabytes()
    plain = [file for file in files if file.compression is None and file.path.is_file()]
    most_cells = max(memory - _PROGRAM, 0.0) * 1e9 / _PER_CELL
    try:
        scans = [(pl.scan_parquet(file.path, glob=False), file) for file in plain]
        rows = sum(_rows(scan, file, options) for scan, file in scans)
        logs = any(time_columns(list(scan.collect_schema())) for scan, _ in scans)
        if logs or rows <= most_cells * _FILLED:
            return options
        agents, tasks = (sorted(names) for names in _names(scans, options))
    except (*PROBLEMS, OSError, InputError):
        return options  # reading says what is wrong with a file
    fewer, more = sorted((len(agents), len(tasks)))
    if gigabytes_of(fewer, more, rows) <= memory:
        return options
    cells = most_cells / max(rows / (fewer * more), 1.0)
    most = int(max(cells / fewer if cells > fewer**2 else np.sqrt(cells), 2.0))
    rng = np.random.default_rng(_SEED)
    kept = [_drawn(names, most, rng) for names in (agents, tasks)]
    words = ("row", "column") if _columns(*scans[0], options).others else ("agent", "task")
    of_all = [counted(len(names), what) for names, what in zip((agents, tasks), words, strict=True)]
    drawn = " and ".join(
        f"{len(part):,} of {every}"
        for part, names, every in zip(kept, (agents, tasks), of_all, strict=True)
        if len(part) < len(names)
    )
    note = (
        f"{counted(rows, 'result')} of {' × '.join(of_all)} would not fit in {memory:.2g} GB of memory: "
        f"{drawn} were drawn at random (seed {_SEED}), and nothing else is read. A fit from shards takes "
        f"all of them; to use all elsewhere, allow more memory (`memory`, `--memory`)."
    )
    return replace(options, sample=DrawnNames(frozenset(kept[0]), frozenset(kept[1]), note))


def gigabytes_of(agents: int, tasks: int, rows: int) -> float:
    """Return how much memory a table needs that is read whole, whatever is asked of it.

    >>> round(gigabytes_of(1000, 500, 500_000), 3)
    0.415
    """
    return _PROGRAM + 1e-9 * _PER_CELL * max(agents * tasks, rows)


class _Columns(NamedTuple):
    """The columns of a file that name agents and tasks, where it has them; the others of a wide table."""

    agent: str | None
    task: str | None
    others: tuple[str, ...] = ()


def _columns(scan: pl.LazyFrame, file: SourceFile, options: TableOptions) -> _Columns:
    columns = TableColumns.of(list(scan.collect_schema()), options, file.names)
    if columns.layout == "wide":
        return _Columns(columns.names[0], None, columns.as_numbers)
    return _Columns(columns.column_of("agent"), columns.column_of("task"))


def _rows(scan: pl.LazyFrame, file: SourceFile, options: TableOptions) -> int:
    rows = int(scan.select(pl.len()).collect().item())
    return rows * max(len(_columns(scan, file, options).others), 1)


def _names(
    scans: Sequence[tuple[pl.LazyFrame, SourceFile]], options: TableOptions
) -> tuple[set[str], set[str]]:
    """All names of agents and of tasks, in files or in their paths."""
    agents, tasks = set[str](), set[str]()
    for scan, file in scans:
        columns = _columns(scan, file, options)
        tasks.update(columns.others)
        for key, name, names in (("agent", columns.agent, agents), ("task", columns.task, tasks)):
            if name is not None:
                each = scan.select(pl.col(name).cast(pl.String).drop_nulls().unique())
                names.update(each.collect(engine="streaming").to_series().to_list())
            elif key in file.names:
                names.add(file.names[key])
    return agents, tasks


def _drawn(names: Sequence[str], most: int, rng: np.random.Generator) -> Sequence[str]:
    if len(names) <= most:
        return names
    return [names[number] for number in rng.choice(len(names), most, replace=False)]
