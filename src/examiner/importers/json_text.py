"""JSON that hides nothing: a key written twice, or half an object, is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from examiner.importers.text import has_merge_marker, refuse_merge_markers
from examiner.wording import InputError, shorten


class _RepeatedKeyError(ValueError):
    pass


def parse_json(data: bytes, path: Path, line: int | None = None) -> Any:  # Any: whatever JSON holds
    """Return what a JSON text holds; every error names the file, and the line where one is known.

    >>> parse_json(b'{"a": 1, "a": 2}', Path("x.json"))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: 'x.json' has the key 'a' twice in one object; one of the two \
values would be lost. Give it one.
    """
    where = shorten(path, 200) + (f", line {line}," if line is not None else "")
    try:
        return json.loads(data, object_pairs_hook=_without_repeats)
    except _RepeatedKeyError as problem:
        raise InputError(
            f"{where} has the key {shorten(problem)} twice in one object; one of the two values would "
            f"be lost. Give it one."
        ) from None
    except RecursionError:
        raise InputError(
            f"{where} is nested too deeply to be results. Give plain records."
        ) from None
    except ValueError as problem:
        if line is None:
            refuse_merge_markers(data, path)
        elif has_merge_marker(data):
            raise InputError(
                f"{where} is a mark of an unresolved git merge ({shorten(data.decode(errors='replace'))}): "
                f"what stands on both sides would count twice. Resolve the merge first."
            ) from None
        raise InputError(_broken(path, problem, data, line)) from None


def json_lines(data: bytes, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""Give each line's number and object; blank lines are passed over.

    >>> list(json_lines(b'{"a": 1}\n\n{"a": 2}', Path("x.jsonl")))
    [(1, {'a': 1}), (3, {'a': 2})]
    """
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        record = parse_json(line, path, number)
        if not isinstance(record, dict):
            raise InputError(
                f"Cannot read {shorten(path, 200)}: line {number} is not a JSON object. "
                f'Give one object a line, such as {{"agent": …, "task": …, "score": …}}.'
            )
        yield number, record


def _broken(path: Path, problem: ValueError, data: bytes, line: int | None) -> str:
    begins = shorten(data[:60].decode(errors="replace"))
    if line is not None:
        return (
            f"Cannot read {shorten(path, 200)}: line {line} is not a whole JSON object ({begins}). "
            f"Correct or remove the line."
        )
    place = f" at line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
    return (
        f"Cannot read {shorten(path, 200)}: the JSON is broken{place}. It may be cut off: write "
        f"the file again."
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)
    return record
