"""NDJSON (JSON lines): one record a line, each an object of column: value."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.tables import TableColumns, TableOptions, results_from_table
from examiner.results import InputError, Provenance, Results
from examiner.results.checks import shorten


def recognises(file: SourceFile) -> bool:
    """The first thing in the file is an object.

    >>> recognises(SourceFile(Path("x"), None, b'  {"agent": "dqn"}'))
    True
    """
    return file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def read(file: SourceFile, options: TableOptions) -> Results:
    r"""Read JSON lines, tidy or wide.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.ndjson"
    >>> _ = path.write_text('{"agent": "a", "task": "pong", "score": 21}\n')
    >>> read(open_source(path), TableOptions()).measure()
    array([21.])
    """
    data = file.contents().removeprefix(b"\xef\xbb\xbf")
    try:
        # All rows are looked at: a key that appears late would be lost without a word.
        frame = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        frame = _frame_line_by_line(data, file.path)
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    frame = frame.drop(nested)
    try:
        columns = TableColumns.of(frame.columns, options)
        origin = Provenance(str(file.path), f"{columns.layout} ndjson")
        if nested:
            origin = origin.with_notes(f"Nested values are left out: {', '.join(nested)}.")
        return results_from_table(frame, options, origin)
    except InputError as problem:
        where = shorten(file.path, 200)
        if problem.row is not None:
            where += f", line {_line_of(problem.row, data)}"
        raise InputError(f"Cannot use {where}: {problem}", row=problem.row) from None


def _frame_line_by_line(data: bytes, path: Path) -> pl.DataFrame:
    """Parse each line by itself: slower, but it takes NaN and can say which line is wrong."""
    records = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(
                f"Cannot read {shorten(path, 200)}: line {number} is not a whole JSON object "
                f"({shorten(line[:60].decode(errors='replace'))}). Correct or remove the line."
            ) from None
        if not isinstance(record, dict):
            raise InputError(
                f"Cannot read {shorten(path, 200)}: line {number} is not a JSON object. "
                f'Give one object a line, such as {{"agent": …, "task": …, "score": …}}.'
            )
        records.append(record)
    try:
        return pl.DataFrame(records, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as problem:
        raise InputError(
            f"Cannot read {shorten(path, 200)}: {str(problem).splitlines()[0]}. "
            f"Give every key the same kind of value on every line."
        ) from None


def _line_of(row: int, data: bytes) -> int | None:
    filled = (number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip())
    return next((line for position, line in enumerate(filled) if position == row), None)
