"""Parquet files: those examiner wrote come back whole, any other as a tidy or wide table."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import polars as pl

from examiner.importers.files import SourceFile, check_size
from examiner.importers.names import with_given
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.tables import PROBLEMS, TableColumns, TableOptions, table_reading
from examiner.results import Results
from examiner.results.storage import RESULTS_SCHEMA, results_from_note, stored_note
from examiner.wording import InputError, shorten

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
    >>> path = Path(tempfile.mkdtemp()) / "scores.parquet"
    >>> Results.from_numpy([[1.0]]).save(path) == path
    True
    >>> read(open_source(path), TableOptions()).results.provenance.format
    'numpy'
    """
    plain = file.compression is None and not file.whole
    source = file.path if plain else io.BytesIO(file.contents())
    frame, note = _frame_and_note(source, file, options)
    if note is None or note.get("schema") != RESULTS_SCHEMA:
        return table_reading(frame, file, options, "parquet")
    where = Whereabouts.of(file)
    with where.named():
        return Reading(_stored(with_given(frame, file.names), note), where)


def _frame_and_note(
    source: Path | io.BytesIO, file: SourceFile, options: TableOptions
) -> tuple[pl.DataFrame, dict[str, Any] | None]:  # Any: JSON values
    try:
        note = stored_note(source)
        scan = pl.scan_parquet(source, glob=False)
        rows = int(scan.select(pl.len()).collect().item())
        check_size(8 * rows * len(scan.collect_schema()), file.path)
        if isinstance(source, io.BytesIO):
            source.seek(0)
        scan = pl.scan_parquet(source, glob=False)
        # Names are coded while other columns are still being read.
        coded = pl.col(_text_names(scan.collect_schema(), file, options)).cast(pl.Categorical())
        return scan.with_columns(coded).collect(), note
    except InputError as problem:
        # `stored_note` knows only the buffer of a packed file
        raise InputError(
            re.sub(r"'<_io\.BytesIO[^']*'", shorten(file.path, 200), str(problem))
        ) from None
    except _DAMAGE as problem:
        first = (str(problem).splitlines() or [""])[0]
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the Parquet file is damaged ({first[:200]}). "
            f"Write it again."
        ) from None


def _text_names(schema: pl.Schema, file: SourceFile, options: TableOptions) -> list[str]:
    """The columns of text that name the agents and tasks of a tidy table."""
    try:
        columns = TableColumns.of(list(schema), options, file.names)
    except InputError:
        return []  # what is wrong with the header is said where the table is understood
    return [
        name for name in (columns.agent, columns.task) if name and schema.get(name) == pl.String
    ]


def _stored(frame: pl.DataFrame, note: dict[str, Any]) -> Results:  # Any: JSON values
    try:
        return results_from_note(frame, note)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"the note that examiner stored with the table is damaged ({type(problem).__name__}). "
            f"Write the file again."
        ) from None
