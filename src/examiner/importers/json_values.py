"""Values of JSON as they should be: an object, a list, a text, a number, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def number(value: object) -> float | None:
    """Return a score as a finite number, None where it is none.

    >>> number(True), number("0.5"), number([1, 2]), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if not isinstance(value, bool | int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None


def as_mapping(value: object) -> Mapping[str, Any]:  # Any: JSON values
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


def first_text(record: Mapping[str, Any], *names: str) -> str | None:  # Any: JSON values
    """Return the first of these fields that holds text.

    >>> first_text({"model": "", "name": "gpt2"}, "model", "name")
    'gpt2'
    """
    return next(
        (record[name] for name in names if isinstance(record.get(name), str) and record[name]), None
    )
