"""NDJSON (JSON lines): one record a line, each an object of column: value."""

from __future__ import annotations

import functools
import itertools
import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.json_tables import table_of
from examiner.importers.nesting import refuse_deep_lines
from examiner.importers.objects import object_reading
from examiner.importers.readings import Reading
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import table_reading
from examiner.importers.text import beginning, json_lines, parse_json, text_of
from examiner.results import PROBLEMS

_LINES = (".ndjson", ".jsonl")
_FILLED = re.compile(rb"\S")
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
_HEAD_BYTES = 65_536  # hundreds of records, from which the kinds of columns are found


def recognises(file: SourceFile) -> bool:
    """The first thing in the file is an object.

    >>> recognises(SourceFile(Path("x"), None, b'  {"agent": "dqn"}'))
    True
    """
    return beginning(file).lstrip().startswith(b"{")


def read(file: SourceFile, options: TableOptions) -> Reading:
    r"""Read JSON lines, tidy or wide.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.ndjson"
    >>> _ = path.write_text('{"agent": "a", "task": "pong", "score": 21}\n')
    >>> read(open_source(path), TableOptions()).results.measure()
    array([21.])
    """
    text = text_of(file)
    refuse_deep_lines(text.data, file.path)
    content = _single_object(text.data, file)
    if content is not None:
        return object_reading(content, file, options, text.notes)
    if _LONE_SURROGATE.search(text.data) is None:
        frame = _alike_throughout(text.data)
    else:  # polars would read it as a NUL character
        frame = _frame_line_by_line(text.data, file.path)
    if frame is None:
        try:
            # All rows are looked at: a key that appears late would be lost without a word.
            frame = pl.read_ndjson(text.data, infer_schema_length=None)
            _refuse_repeated_keys(text.data, frame, file.path)
        except PROBLEMS:
            frame = _frame_line_by_line(text.data, file.path)
    line_of = functools.partial(_line_of, text.data)
    return table_reading(frame, file, options, "ndjson", text.notes, line_of)


def _single_object(data: bytes, file: SourceFile) -> dict[str, Any] | None:  # Any: JSON values
    """The object that a whole file is, unless that is one record on one line."""
    end = data.find(b"\n")
    several = end >= 0 and _FILLED.search(data, end) is not None
    first = _object_in(data[:end] if several else data)
    content = _object_in(data) if several and first is None else first
    if content is None or (several and first is not None):
        return None  # a record on each line, or none that is whole: told by its line
    if not several and file.suffix in _LINES:
        return None
    whole: dict[str, Any] = parse_json(data, file.path)  # refuses a repeated key
    return whole


def _object_in(data: bytes) -> dict[str, Any] | None:  # Any: JSON values
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _alike_throughout(data: bytes) -> pl.DataFrame | None:
    """The table, where every line has just the keys of the first ones, once; else None.

    Parsing with known columns is four times as fast as finding them. It would pass over other keys:
    but where there are as many colons as cells and no cell is empty, there are none.
    """
    try:
        kinds = pl.read_ndjson(
            data[: data.rfind(b"\n", 0, _HEAD_BYTES) + 1], infer_schema_length=None
        )
        if any(kind.is_nested() or kind == pl.Null for kind in kinds.dtypes):
            return None
        frame = pl.scan_ndjson(data, schema=kinds.schema).collect()
    except PROBLEMS:
        return None
    whole = not any(series.null_count() for series in frame)
    return frame if whole and data.count(b":") == frame.height * frame.width else None


def _refuse_repeated_keys(data: bytes, frame: pl.DataFrame, path: Path) -> None:
    """Refuse an object with one key twice, of which only one value would be read.

    Where a line has as many keys as values that were read, no key stands twice in it. All other lines,
    and those whose keys cannot be counted so (with nulls, or escapes), are parsed for themselves.
    """
    lines = [line for line in enumerate(data.split(b"\n"), start=1) if line[1].strip()]
    texts = pl.Series([line for _, line in lines]).cast(pl.String)
    values = frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    if len(values) != len(texts):
        values = pl.repeat(-1, len(texts), eager=True)
    suspicious = texts.str.count_matches(r'"\s*:') != values
    for mark in ("null", "\\"):
        suspicious |= texts.str.contains(mark, literal=True)
    for place in suspicious.arg_true():
        number, line = lines[place]
        parse_json(line, path, number)


def _frame_line_by_line(data: bytes, path: Path) -> pl.DataFrame:
    """Parse each line by itself: slower, but it takes NaN and can say which line is wrong."""
    return table_of([record for _, record in json_lines(data, path)])


def _line_of(data: bytes, row: int) -> int | None:
    filled = (number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip())
    return next(itertools.islice(filled, row, None), None)
