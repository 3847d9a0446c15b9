"""The border: the error and the warning users meet, and the checks that refuse bad tables."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class InputError(ValueError):
    """What a user gave cannot be used; the message says what, with which value, and what to do.

    >>> raise InputError("Cannot read 'scores.csv': no such file. Check the path.")
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: Cannot read 'scores.csv': no such file. Check the path.

    `row` is the table's row (from 0) the message is about, where it is about one.
    """

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class RepeatedKeyError(InputError):
    """The same key stands in two rows, `row` and `other_row`; `key` describes it."""

    def __init__(self, message: str, *, row: int, other_row: int, key: str) -> None:
        super().__init__(message, row=row)
        self.other_row = other_row
        self.key = key


class ExaminerWarning(UserWarning):
    """Something was guessed, dropped or doubtful; the same sentence is kept in the results' notes."""


def shorten(name: object, limit: int = 60) -> str:
    """Quote a name for a message, cut where it would drown the sentence.

    >>> shorten("x" * 100, limit=10)
    "'xxxxxxxxx…'"
    """
    text = str(name)
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listed(names: Iterable[object], limit: int = 8) -> str:
    """Name the first few of many, and say how many more there are.

    >>> listed(["alien", "pong", "venture"], limit=2)
    "'alien', 'pong' and 1 more"
    """
    shown = [shorten(name) for name in names]
    if len(shown) <= limit:
        return ", ".join(shown)
    return ", ".join(shown[:limit]) + f" and {len(shown) - limit} more"


def counted(count: int, noun: str) -> str:
    """Say a number with its noun.

    >>> counted(1, "run"), counted(1200, "task")
    ('1 run', '1,200 tasks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def unknown_name(kind: str, name: object, known: Collection[str]) -> InputError:
    """Build the error for a name that is not in a table: it lists those that are.

    >>> str(unknown_name("normaliser", "humn", ["human", "rank"]))
    "Unknown normaliser 'humn'. Did you mean 'human'? Known: 'human', 'rank'."
    """
    near = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return InputError(
        f"Unknown {kind} {shorten(name)}. {hint}Known: {listed(sorted(known), limit=40)}."
    )


def check_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple after refusing empty and repeated ones.

    >>> check_names(["a", "b", "a"], "agent")
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: The agent name 'a' appears twice. Give every agent its own name.
    """
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise InputError(
                f"The {what} name at position {position + 1} is {shorten(name)}, "
                f"a {type(name).__name__}. Names must be text."
            )
        if not name:
            raise InputError(
                f"The {what} name at position {position + 1} is empty. Give every {what} a name."
            )
        if name in seen:
            raise InputError(
                f"The {what} name {shorten(name)} appears twice. Give every {what} its own name."
            )
        seen.add(name)
    return tuple(names)


def check_finite(values: NDArray[np.float64], what: str) -> None:
    """Refuse infinities; NaN is allowed and means "not observed".

    >>> check_finite(np.array([1.0, np.inf]), "measure 'score'")
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: The measure 'score' is inf at position 2. Infinite values cannot \
be compared: remove them or leave them empty.
    """
    # A sum is finite unless some value is not; only then is it worth looking for which.
    with np.errstate(all="ignore"):
        suspicious = not np.isfinite(np.sum(values))
    if suspicious and np.isinf(values).any():
        position = int(np.flatnonzero(np.isinf(values.ravel()))[0])
        raise InputError(
            f"The {what} is {values.ravel()[position]} at position {position + 1}. "
            f"Infinite values cannot be compared: remove them or leave them empty."
        )


def smallest_unsigned(largest: int) -> type[np.unsignedinteger]:
    """Return the smallest unsigned integer type that holds the largest value.

    >>> smallest_unsigned(300).__name__
    'uint16'
    """
    for kind in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(kind).max:
            return kind
    return np.uint64


def read_only(array: NDArray[np.generic]) -> None:
    """Freeze an array in place.

    >>> values = np.zeros(2)
    >>> read_only(values)
    >>> values.flags.writeable
    False
    """
    array.flags.writeable = False
