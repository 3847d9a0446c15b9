"""Values in JSON documents: by their paths, and as they should be: an object, a list, a text, a number."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examiner.importers.files import SourceFile, open_source
from examiner.importers.text import parse_json, text_of
from examiner.messages import InputError

Record = Mapping[str, Any]  # Any: JSON values


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
