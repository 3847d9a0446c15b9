"""JSON lists of records: one result a record, or a whole curve where fields of it are lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.tables import TableOptions, table_reading
from examiner.importers.text import beginning, parse_json, text_of
from examiner.importers.time import TimeColumn
from examiner.results.border import MEASURES
from examiner.wording import InputError, listed, shorten

_START = re.compile(rb"\s*\[\s*\{")
_TIME_NOTE = (
    "The lists 'xs' are read as time, in steps, and 'ys' as checkpoints of a training log. If time is in "
    "frames, say so: `--time 'xs frames'`."
)
_NAMES = {"ys": "score", "scores": "score", "returns": "score", "rewards": "score"}
"""What lists in records are called, and what they are."""


def recognises(file: SourceFile) -> bool:
    """The file begins with a list of objects.

    >>> recognises(SourceFile(Path("x"), None, b'[{"task": "pong", "method": "dqn", "xs": [0]}]'))
    True
    """
    return _START.match(beginning(file)) is not None


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read records; lists in a record are columns of its own: `xs` is time, `ys` the score.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "curves.json"
    >>> _ = path.write_text('[{"task": "t", "method": "a", "seed": 0, "xs": [0, 5, 10], "ys": [1, 2, 4]}]')
    >>> results = read(open_source(path), TableOptions()).results
    >>> results.column("steps"), results.measure(), results.provenance.training
    ([0, 5, 10], array([1., 2., 4.]), True)
    """
    text = text_of(file)
    content = parse_json(text.data, file.path)
    if not isinstance(content, list) or not content:
        raise InputError(f"{shorten(file.path, 200)} is not a list of records. Check the file.")
    for position, record in enumerate(content, start=1):
        if not isinstance(record, dict):
            raise InputError(
                f"Entry {position} of {shorten(file.path, 200)} is {shorten(record)}, and no record of "
                f"names and values. Correct or remove it."
            )
    lists = [name for name in content[0] if isinstance(content[0][name], list)]
    frame = _unfolded(content, lists, file.path) if lists else _table(content)
    notes = text.notes
    if "xs" in lists and options.time is None:
        options, notes = replace(options, time=TimeColumn("xs")), (*notes, _TIME_NOTE)
    return table_reading(frame, file, options, "json", notes)


def _unfolded(records: Sequence[Mapping[str, Any]], lists: list[str], path: Path) -> pl.DataFrame:
    """One row for each entry of the lists, the other fields repeated; points of curves are numbered."""
    parts: dict[str, list[Any]] = {name: [] for name in records[0]}
    numbers: list[int] = []
    for position, record in enumerate(records, start=1):
        lengths = {len(record[name]) for name in lists if isinstance(record.get(name), list)}
        if len(lengths) != 1 or set(record) != set(parts):
            raise InputError(
                f"Entry {position} of {shorten(path, 200)} is not like the first: it needs "
                f"{listed(parts)}, with lists of one length in {listed(lists)}. Correct or remove it."
            )
        (length,) = lengths
        for name, column in parts.items():
            column.extend(record[name] if name in lists else [record[name]] * length)
        numbers.extend(range(length))
    frame = _table(
        [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
    )
    names = {
        name: new for name, new in _NAMES.items() if name in lists and new not in frame.columns
    }
    if any(name in MEASURES for name in frame.columns):
        names = {name: new for name, new in names.items() if new != "score"}
    frame = frame.rename(names)
    return frame.with_columns(checkpoint=pl.Series(numbers)) if "xs" in lists else frame


def _table(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(records, infer_schema_length=None, strict=False)
