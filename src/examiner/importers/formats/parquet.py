"""Parquet files: those examiner wrote come back whole, others as tables; of too large ones a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from examiner.importers.cells import with_given
from examiner.importers.files import SourceFile, check_size, check_unpacked
from examiner.importers.options import DrawnNames, ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.row_filters import rows_kept
from examiner.importers.table_columns import TableColumns
from examiner.importers.tables import is_left_out, table_reading
from examiner.importers.vocabulary import time_columns
from examiner.messages import InputError, counted
from examiner.results import PROBLEMS, RESULTS_SCHEMA, damaged, restored, stored_note

_NUMBERS = ("run", "trial", "seed")
_MANY_ROWS = 1_000_000
_DAMAGE = (*PROBLEMS, OSError, ValueError, TypeError, OverflowError, MemoryError)


def recognises(file: SourceFile) -> bool:
    """A Parquet file begins with its name.

    >>> recognises(SourceFile(Path("x"), None, b"PAR1..."))
    True
    """
    return file.head.startswith(b"PAR1")


def read(file: SourceFile, options: ReadOptions) -> Reading:
    """Read a Parquet file, with everything stored beside the table where examiner wrote it.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> from examiner.results import Results
    >>> path = Path(tempfile.mkdtemp()) / "scores.parquet"
    >>> Results.from_numpy([[1.0]]).save(path) == path
    True
    >>> read(open_source(path), ReadOptions()).results.provenance.format
    'numpy'
    """
    plain = file.compression is None and not file.whole
    unpacked = None if plain else file.contents()
    note = stored_note(file.path, unpacked)
    frame = _frame(unpacked or file.path, file, options)
    if note is None or note.get("schema") != RESULTS_SCHEMA:
        return table_reading(frame, file, options, "parquet")
    where = Whereabouts.of(file)
    with where.named():
        options.refuse_columns("results stored by examiner")
        frame = with_given(frame, file.names)
        if options.where:
            frame = frame.filter(rows_kept(frame, options.where))
        return Reading(restored(frame, note), where)


def _frame(source: Path | bytes, file: SourceFile, options: ReadOptions) -> pl.DataFrame:
    try:
        scan = pl.scan_parquet(source, glob=False)
        if options.sample is not None:
            scan = _drawn_part(options.sample, scan, file, options)
        schema = scan.collect_schema()
        rows = int(scan.select(pl.len()).collect(engine="streaming").item())
        check_size(8 * rows * len(schema), file.path)
        # Equal cells pack to almost nothing, each alone to a bit: they are counted as a byte each.
        packed = len(source) if isinstance(source, bytes) else source.stat().st_size
        check_unpacked(rows * len(schema), packed, file.path)
        # Names are coded while other columns are still being read.
        coded = pl.col(_text_names(schema, file, options)).cast(pl.Categorical())
        small = _small_numbers(scan, schema) if rows > _MANY_ROWS else []
        engine: Literal["auto", "streaming"] = "auto" if options.sample is None else "streaming"
        return scan.with_columns(coded, *small, *_blanks(schema)).collect(engine=engine)
    except InputError:
        raise
    except _DAMAGE as problem:
        raise damaged(file.path, problem) from None


def _blanks(schema: pl.Schema) -> list[pl.Expr]:
    """In place of columns that are left out: they may unpack to anything."""
    return [
        pl.lit(None, dtype=kind).alias(name) for name, kind in schema.items() if is_left_out(kind)
    ]


def _small_numbers(scan: pl.LazyFrame, schema: pl.Schema) -> list[pl.Expr]:
    """Runs and trials in as few bytes as they need, before a long table of them is in memory."""
    whole = [name for name in _NUMBERS if name in schema and schema[name].is_integer()]
    if not whole:
        return []
    least, most = (
        scan.select(end).collect(engine="streaming").row(0)
        for end in (pl.col(whole).min(), pl.col(whole).max())
    )
    fits = zip(whole, least, most, strict=True)
    return [
        pl.col(name).cast(pl.UInt8 if high < 256 else pl.UInt32)
        for name, low, high in fits
        if low is not None and 0 <= low <= high < 2**32
    ]


def _text_names(schema: pl.Schema, file: SourceFile, options: ReadOptions) -> list[str]:
    """The columns of text that name the agents and tasks of a tidy table."""
    try:
        columns = TableColumns.of(list(schema), options, file.names)
    except InputError:
        return []  # what is wrong with the header is said where the table is understood
    names = (columns.column_of("agent"), columns.column_of("task"))
    return [name for name in names if name and schema[name] == pl.String]


# -------------------------------------------------------------------- larger than memory

_PER_CELL = 130
"""Bytes of a cell, or of each of its trials, in whatever is asked: `benchmarks/scale.md` has 60 to 120."""
_PROGRAM = 0.35
"""GB that Python and its libraries take before there is any data."""
_FILLED = 0.2
"""Share of cells observed from which a table is counted by its names: sparser ones are read whole."""
_SEED = 0


class NotDrawnError(InputError):
    """A file has none of the agents and tasks that were drawn, and is passed over."""


def _drawn_part(
    drawn: DrawnNames, scan: pl.LazyFrame, file: SourceFile, options: ReadOptions
) -> pl.LazyFrame:
    """The rows of drawn agents and tasks in a file, and of a wide table their columns; refuse none."""
    columns = _columns(scan, file, options)
    named = (("agent", columns.agent, drawn.agents), ("task", columns.task, drawn.tasks))
    for key, name, kept in named:
        if name is not None:
            scan = scan.filter(pl.col(name).cast(pl.String).is_in(sorted(kept)))
        elif file.names.get(key) not in {None, *kept}:
            raise NotDrawnError(f"{key} {file.names[key]!r} was not drawn.")
    if scan.head(1).collect(engine="streaming").is_empty():
        raise NotDrawnError("None of its agents and tasks were drawn.")
    return scan.drop([name for name in columns.others if name not in drawn.tasks])


def with_sample(
    files: Sequence[SourceFile], options: ReadOptions, memory: float | None
) -> ReadOptions:
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


def _columns(scan: pl.LazyFrame, file: SourceFile, options: ReadOptions) -> _Columns:
    columns = TableColumns.of(list(scan.collect_schema()), options, file.names)
    if columns.layout == "wide":
        return _Columns(columns.names[0], None, columns.as_numbers)
    return _Columns(columns.column_of("agent"), columns.column_of("task"))


def _rows(scan: pl.LazyFrame, file: SourceFile, options: ReadOptions) -> int:
    rows = int(scan.select(pl.len()).collect().item())
    return rows * max(len(_columns(scan, file, options).others), 1)


def _names(
    scans: Sequence[tuple[pl.LazyFrame, SourceFile]], options: ReadOptions
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
