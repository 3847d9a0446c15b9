"""Parquet files: those examiner wrote come back whole, any other as a tidy or wide table."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from examiner.importers.cells import with_given
from examiner.importers.files import SourceFile, check_size, check_unpacked
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.row_filters import rows_kept
from examiner.importers.table_columns import TableColumns, TableOptions
from examiner.importers.tables import is_left_out, table_reading
from examiner.messages import InputError
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


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read a Parquet file, with everything stored beside the table where examiner wrote it.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> from examiner.results import Results
    >>> path = Path(tempfile.mkdtemp()) / "scores.parquet"
    >>> Results.from_numpy([[1.0]]).save(path) == path
    True
    >>> read(open_source(path), TableOptions()).results.provenance.format
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


def _frame(source: Path | bytes, file: SourceFile, options: TableOptions) -> pl.DataFrame:
    try:
        scan = pl.scan_parquet(source, glob=False)
        if options.sample is not None:
            scan = options.sample.of(scan, file, options)
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


def _text_names(schema: pl.Schema, file: SourceFile, options: TableOptions) -> list[str]:
    """The columns of text that name the agents and tasks of a tidy table."""
    try:
        columns = TableColumns.of(list(schema), options, file.names)
    except InputError:
        return []  # what is wrong with the header is said where the table is understood
    names = (columns.column_of("agent"), columns.column_of("task"))
    return [name for name in names if name and schema[name] == pl.String]
