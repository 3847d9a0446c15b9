"""Parquet files: those examiner wrote come back whole, any other as a tidy or wide table."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.limits import check_cells
from examiner.importers.names import with_given
from examiner.importers.tables import TableColumns, TableOptions, results_from_table
from examiner.results import Provenance, Results
from examiner.results.storage import RESULTS_SCHEMA, results_from_note, stored_note
from examiner.wording import InputError, listed, shorten

_PROBLEMS = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    OSError,
    ValueError,
    TypeError,
    OverflowError,
    MemoryError,
)


def recognises(file: SourceFile) -> bool:
    """A Parquet file begins with its name.

    >>> recognises(SourceFile(Path("x"), None, b"PAR1..."))
    True
    """
    return file.head.startswith(b"PAR1")


def read(file: SourceFile, options: TableOptions) -> Results:
    """Read a Parquet file; options that were given are applied to stored results too.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.parquet"
    >>> Results.from_numpy([[1.0]]).save(path) == path
    True
    >>> read(open_source(path), TableOptions()).provenance.format
    'numpy'
    """
    options = replace(options, given=file.names)
    plain = file.compression is None and not file.whole
    source = file.path if plain else io.BytesIO(file.contents())
    frame, note = _frame_and_note(source, file.path, options)
    try:
        if note is not None and note.get("schema") == RESULTS_SCHEMA:
            results = _stored(with_given(frame, options.given), note, file.path)
            results = results.with_measures(*options.measures) if options.measures else results
            return results if options.item is None else results.with_items(*options.item)
        nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
        frame = frame.drop(nested)
        columns = TableColumns.of(frame.columns, options)
        origin = Provenance(str(file.path), f"{columns.layout} parquet")
        if nested:
            origin = origin.with_notes(f"Nested values are left out: {listed(nested)}.")
        return results_from_table(frame, options, origin)
    except InputError as problem:
        raise InputError(
            f"Cannot use {shorten(file.path, 200)}: {problem}", row=problem.row
        ) from None


def _frame_and_note(
    source: Path | io.BytesIO, path: Path, options: TableOptions
) -> tuple[pl.DataFrame, dict[str, Any] | None]:  # Any: JSON values
    try:
        note = stored_note(source)
        scan = pl.scan_parquet(source, glob=False)
        rows = int(scan.select(pl.len()).collect().item())
        check_cells(rows * len(scan.collect_schema()), path)
        if isinstance(source, io.BytesIO):
            source.seek(0)
        scan = pl.scan_parquet(source, glob=False)
        # Names are coded while other columns are still being read.
        coded = pl.col(_text_names(scan.collect_schema(), options)).cast(pl.Categorical())
        return scan.with_columns(coded).collect(), note
    except InputError as problem:
        # `stored_note` knows only the buffer of a packed file
        raise InputError(
            re.sub(r"'<_io\.BytesIO[^']*'", shorten(path, 200), str(problem))
        ) from None
    except _PROBLEMS as problem:
        first = (str(problem).splitlines() or [""])[0]
        raise InputError(
            f"Cannot read {shorten(path, 200)}: the Parquet file is damaged ({first[:200]}). "
            f"Write it again."
        ) from None


def _text_names(schema: pl.Schema, options: TableOptions) -> list[str]:
    """The columns of text that name the agents and tasks of a tidy table."""
    try:
        columns = TableColumns.of(list(schema), options)
    except InputError:
        return []  # what is wrong with the header is said where the table is understood
    return [
        name for name in (columns.agent, columns.task) if name and schema.get(name) == pl.String
    ]


def _stored(frame: pl.DataFrame, note: dict[str, Any], path: Path) -> Results:
    try:
        return results_from_note(frame, note)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"the note that examiner stored with the table is damaged ({type(problem).__name__}). "
            f"Write the file again."
        ) from None
