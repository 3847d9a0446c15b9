"""JSON as it comes: parsed with errors that name the place, and values in documents by their paths."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from examiner.importers.files import SourceFile, open_source
from examiner.importers.text import (
    LONGEST_LINE_BYTES,
    UTF8_MARK,
    is_utf16,
    refuse_merge_markers,
    text_of,
)
from examiner.messages import InputError, shorten

Record = Mapping[str, Any]  # Any: JSON values

DEEPEST_NESTING = 100
"""Levels of lists and objects: results have a few, transcripts a few dozen, and polars ends at hundreds."""
_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))


class _KeyTwiceError(ValueError):
    pass


def parse_json(data: bytes, path: Path, line: int | None = None) -> Any:  # Any: whatever JSON holds
    """Return what a JSON text holds; every error names the file, and the line where one is known.

    >>> parse_json(b'{"a": 1, "a": 2}', Path("x.json"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.json' has the key 'a' twice in one object; one of the two \
values would be lost. Give it one.
    """
    refuse_deep_nesting(data, path, line)
    where = shorten(path, 200) + (f", line {line}," if line is not None else "")
    try:
        return json.loads(data, object_pairs_hook=_without_repeats)
    except _KeyTwiceError as problem:
        raise InputError(
            f"{where} has the key {shorten(problem)} twice in one object; one of the two values would "
            f"be lost. Give it one."
        ) from None
    except ValueError as problem:
        refuse_merge_markers(data, path, line or 1)
        if line is None:
            at = f" at line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
            fault = f"the JSON is broken{at}. It may be cut off: write the file again."
        else:
            begins = shorten(data[:60].decode(errors="replace"))
            fault = (
                f"line {line} is not a whole JSON object ({begins}). Correct or remove the line."
            )
        raise InputError(f"Cannot read {shorten(path, 200)}: {fault}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [key for key, _ in pairs]
        raise _KeyTwiceError(next(key for at, key in enumerate(names) if key in names[:at]))
    return record


def refuse_deep_nesting(data: bytes, path: Path, line: int | None = None) -> None:
    """Refuse JSON whose lists and objects stand in each other too deeply, before anything parses it.

    A parser would run out of memory or stack.

    >>> refuse_deep_nesting(b"[" * 200, Path("x.json"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.json' has lists and objects nested in each other more than 100 levels
    deep, and results have a few. Give plain records.
    """
    if _is_deep(data):
        where = shorten(path, 200) + (f", line {line}," if line is not None else "")
        raise InputError(
            f"{where} has lists and objects nested in each other more than {DEEPEST_NESTING} levels deep, "
            f"and results have a few. Give plain records."
        )


def refuse_deep_lines(data: bytes, path: Path) -> None:
    """Refuse JSON lines one of which is nested too deeply, naming it."""
    if _is_deep(data):  # a line that is cut off leaves its brackets open for those that follow
        for number, line in enumerate(data.split(b"\n"), start=1):
            refuse_deep_nesting(line, path, number)


def _is_deep(data: bytes) -> bool:
    """Whether brackets outside texts are ever open too deeply; a few passes over the bytes."""
    if data.count(b"{") + data.count(b"[") <= DEEPEST_NESTING:
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Quotes and brackets are left. Two quotes next to each other can go: what is inside stays inside.
    structure = data.translate(None, _STRUCTURE).replace(b'""', b"")
    marks = np.frombuffer(structure.replace(b"{}", b"").replace(b"[]", b""), dtype=np.uint8)
    outside = np.cumsum(marks == ord('"')) % 2 == 0
    opens = ((marks == ord("{")) | (marks == ord("["))) & outside
    closes = ((marks == ord("}")) | (marks == ord("]"))) & outside
    depth = np.cumsum(opens.astype(np.int64) - closes)
    return bool(depth.max(initial=0) > DEEPEST_NESTING)


def json_lines(lines: Iterable[bytes], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the number and the object of each line that is not blank.

    >>> list(json_lines([b'{"a": 1}', b"", b'{"a": 2}'], Path("x.jsonl")))
    [(1, {'a': 1}), (3, {'a': 2})]
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            record = parse_json(line, path, number)
            if not isinstance(record, dict):
                raise InputError(
                    f"Cannot read {shorten(path, 200)}: line {number} is not a JSON object. "
                    f'Give one object a line, such as {{"agent": …, "task": …, "score": …}}.'
                )
            yield number, record


def streamed_json_lines(file: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""Give the number and the object of each line of a file, one line in memory at a time.

    >>> list(streamed_json_lines(SourceFile(Path("x.jsonl"), None, b'{"a": 1}\n', whole=True)))
    [(1, {'a': 1})]
    """
    lines = text_of(file).data.split(b"\n") if is_utf16(file) else _lines_of(file)
    return json_lines(lines, file.path)


def _lines_of(file: SourceFile) -> Iterator[bytes]:
    with file.opened() as stream:
        mark = UTF8_MARK
        while line := stream.readline(LONGEST_LINE_BYTES + 1):
            if len(line) > LONGEST_LINE_BYTES:
                raise InputError(
                    f"{shorten(file.path, 200)} has a line of more than "
                    f"{LONGEST_LINE_BYTES // 2**20:,} MiB. Check that its lines end."
                )
            yield line.removeprefix(mark)
            mark = b""


# -------------------------------------------------------------------- values


def number(value: object) -> float | None:
    """Return a score as a finite number, None where it is none.

    >>> number(True), number("0.5"), number([1, 2]), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if not isinstance(value, bool | int | float | str):
        return None
    try:
        plain = float(value)
    except (ValueError, OverflowError):
        return None
    return plain if abs(plain) < float("inf") else None


def as_mapping(value: object) -> Record:
    """Return an object as it is, and anything else as an empty one.

    >>> as_mapping({"a": 1}), as_mapping(None)
    ({'a': 1}, {})
    """
    return value if isinstance(value, dict) else {}


def as_sequence(value: object) -> Sequence[Any]:  # Any: JSON values
    """Return a list as it is, and anything else as an empty one.

    >>> as_sequence([1]), as_sequence({"a": 1})
    ([1], ())
    """
    return value if isinstance(value, list) else ()


def value_at(record: object, path: str) -> Any:  # Any: JSON values
    """Return what stands below keys that are joined by dots, None where there is nothing.

    >>> value_at({"eval": {"model": "gpt2"}}, "eval.model"), value_at({"eval": 1}, "eval.model")
    ('gpt2', None)
    """
    for key in path.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def text_at(record: object, *paths: str) -> str | None:
    """Return the first text that stands at one of these paths.

    >>> text_at({"model": "", "config": {"name": "gpt2"}}, "model", "config.name")
    'gpt2'
    """
    texts = (value_at(record, path) for path in paths)
    return next((text for text in texts if isinstance(text, str) and text), None)


def mapping_at(record: object, path: str) -> Record:
    """Return the object at a path, an empty one where there is none.

    >>> mapping_at({"a": {"b": {"c": 1}}}, "a.b"), mapping_at({}, "a")
    ({'c': 1}, {})
    """
    return as_mapping(value_at(record, path))


def document_of(file: SourceFile) -> Record:
    """Return the object that a JSON file is, an empty one where it is something else.

    >>> document_of(SourceFile(Path("x.json"), None, b'{"a": 1}', whole=True))
    {'a': 1}
    """
    return as_mapping(parse_json(text_of(file).data, file.path))


def document_beside(path: Path) -> Record:
    """Return the object of a JSON file that stands beside another, empty where it cannot be read.

    >>> document_beside(Path("missing.json"))
    {}
    """
    return _parsed(path, path.stat().st_mtime_ns) if path.is_file() else {}


@functools.lru_cache(maxsize=8)  # many files of an evaluation stand beside the same one
def _parsed(path: Path, changed_ns: int) -> Record:
    try:
        return document_of(open_source(path))
    except InputError:
        return {}
