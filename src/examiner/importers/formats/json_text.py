"""JSON: a list or lines of records, a result or a curve each, or one object of scores; and YAML."""

from __future__ import annotations

import functools
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from examiner.importers.documents import json_lines, parse_json, refuse_deep_lines
from examiner.importers.files import SourceFile
from examiner.importers.objects import levels_reading, no_results, object_reading
from examiner.importers.options import ReadOptions
from examiner.importers.paths import is_settings
from examiner.importers.readings import Reading
from examiner.importers.records import table_of
from examiner.importers.tables import table_reading
from examiner.importers.text import beginning, refuse_merge_markers, text_of
from examiner.messages import InputError, first_line, shorten
from examiner.results import PROBLEMS

_START = re.compile(rb"\s*\[\s*\{")
_NOTHING = re.compile(rb"\s*(?:\[\s*\]|null)\s*")
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)


def recognises(file: SourceFile) -> bool:
    """The file begins with a list of objects, or holds an empty list or null.

    >>> recognises(SourceFile(Path("x"), None, b'[{"task": "pong", "method": "dqn", "xs": [0]}]'))
    True
    """
    head = beginning(file)
    return _START.match(head) is not None or (file.whole and _NOTHING.fullmatch(head) is not None)


def read(file: SourceFile, options: ReadOptions, kind: str = "json") -> Reading:
    """Read records; lists in a record are columns of its own: `xs` is time, `ys` the score.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "curves.json"
    >>> _ = path.write_text('[{"task": "t", "method": "a", "seed": 0, "xs": [0, 5, 10], "ys": [1, 2, 4]}]')
    >>> results = read(open_source(path), ReadOptions()).results
    >>> results.column("steps"), results.measure(), results.provenance.training
    ([0, 5, 10], array([1., 2., 4.]), True)
    """
    text = text_of(file)
    content = parse_json(text.data, file.path)
    if content is None or content == []:
        raise no_results(content, file)
    if isinstance(content, dict):
        return object_reading(content, file, options, text.notes, kind)
    if options.axes:
        return levels_reading(content, file, options, text.notes, kind)
    if not isinstance(content, list):
        raise InputError(f"{shorten(file.path, 200)} is not a list of records. Check the file.")
    for position, record in enumerate(content, start=1):
        if not isinstance(record, dict):
            raise InputError(
                f"Entry {position} of {shorten(file.path, 200)} is {shorten(record)}, and no record of "
                f"names and values. Correct or remove it."
            )
    try:
        frame = pl.DataFrame(content, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, OverflowError, TypeError):
        frame = table_of(content)  # what is a list in one record is none in another
    return table_reading(frame, file, options, kind, text.notes)


# -------------------------------------------------------------------- YAML


def recognises_yaml(file: SourceFile) -> bool:
    """A file called YAML that holds no settings.

    >>> recognises_yaml(SourceFile(Path("scores.yml"), None, b"- a: 1"))
    True
    """
    return file.suffix in (".yaml", ".yml") and not is_settings(file.path)


def read_yaml(file: SourceFile, options: ReadOptions) -> Reading:
    """Read records, or objects of scores; needs `pyyaml`.

    >>> text = b"- {agent: dqn, task: pong, score: 18.5}"
    >>> read_yaml(SourceFile(Path("x.yml"), None, text, whole=True), ReadOptions()).results.measure()
    array([18.5])
    """
    data = text_of(file).data
    refuse_merge_markers(data, file.path)
    content = json.dumps(_parsed_yaml(data, file.path), default=str).encode()
    plain = replace(file, compression=None, head=content, whole=True)
    return read(plain, options, "yaml")


def _parsed_yaml(data: bytes, path: Path) -> Any:  # Any: whatever YAML holds
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]  # optional
    except ImportError:
        raise InputError(
            f"{shorten(path, 200)} is YAML, and reading it needs the package `pyyaml`. Run "
            f"`pip install pyyaml`."
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc,name-defined,unused-ignore]
        """Loads plain values; a key twice would lose one, and aliases can unpack to anything."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise InputError(f"{shorten(path, 200)} has aliases (`*name`). Write them out.")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            twice = next((key for key in keys if keys.count(key) > 1), None)
            if twice is not None:
                raise InputError(
                    f"{shorten(path, 200)} has the key {shorten(twice)} twice in one object; one of the "
                    f"two values would be lost. Give it one."
                )
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(data, Loader)  # a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"Cannot read {shorten(path, 200)}: the YAML is broken ({first_line(problem)}). Correct it."
        ) from None


# -------------------------------------------------------------------- lines


def recognises_lines(file: SourceFile) -> bool:
    """The first thing in the file is an object.

    >>> recognises_lines(SourceFile(Path("x"), None, b'  {"agent": "dqn"}'))
    True
    """
    return beginning(file).lstrip().startswith(b"{")


def read_lines(file: SourceFile, options: ReadOptions) -> Reading:
    r"""Read JSON lines, tidy or wide.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.ndjson"
    >>> _ = path.write_text('{"agent": "a", "task": "pong", "score": 21}\n')
    >>> read_lines(open_source(path), ReadOptions()).results.measure()
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
            frame = _in_order(pl.read_ndjson(text.data, infer_schema_length=None), text.data)
            _refuse_repeated_keys(text.data, frame, file.path)
        except PROBLEMS:
            frame = _frame_line_by_line(text.data, file.path)
    line_of = functools.partial(_line_of, text.data)
    return table_reading(frame, file, options, "ndjson", text.notes, line_of)


def _single_object(data: bytes, file: SourceFile) -> dict[str, Any] | None:  # Any: JSON values
    """The object that a whole file is, unless that is one record on one line."""
    end = data.find(b"\n")
    several = end >= 0 and re.compile(rb"\S").search(data, end) is not None
    if not several and file.suffix in (".ndjson", ".jsonl"):
        return None
    # A record on each line, or none that is whole: told by its line.
    if (several and _is_object(data[:end])) or not _is_object(data):
        return None
    content: dict[str, Any] = parse_json(data, file.path)  # refuses a repeated key
    return content


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def _alike_throughout(data: bytes) -> pl.DataFrame | None:
    """The table, where every line has just the keys of the first ones, once; else None.

    Parsing with known columns is four times as fast as finding them. It would pass over other keys:
    but where there are as many colons as cells and no cell is empty, there are none.
    """
    try:
        # Hundreds of records, from which the kinds of columns are found.
        kinds = pl.read_ndjson(data[: data.rfind(b"\n", 0, 65_536) + 1], infer_schema_length=None)
        if any(kind.is_nested() or kind == pl.Null for kind in kinds.dtypes):
            return None
        frame = pl.scan_ndjson(data, schema=kinds.schema).collect()
    except PROBLEMS:
        return None
    whole = not any(series.null_count() for series in frame)
    alike = whole and data.count(b":") == frame.height * frame.width
    return _in_order(frame, data) if alike else None


def _in_order(frame: pl.DataFrame, data: bytes) -> pl.DataFrame:
    """The columns as their first line has them, then others by name: polars mixes more than 32."""
    first = json.loads(data.lstrip().partition(b"\n")[0])
    return frame.select(*first, *sorted(set(frame.columns) - set(first)))


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
    return table_of([record for _, record in json_lines(data.split(b"\n"), path)])


def _line_of(data: bytes, row: int) -> int | None:
    filled = (number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip())
    return next(itertools.islice(filled, row, None), None)
