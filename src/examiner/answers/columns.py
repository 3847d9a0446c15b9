"""Columns of an answer's tables: what a value is called, means and is measured in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError

Kind: TypeAlias = Literal["name", "text", "words", "number", "count", "flag"]

_ARRAYS: dict[str, type] = {"number": np.float64, "count": np.int64, "flag": np.bool_}

SCORE = "score"
"""The unit of columns in the unit of the results' scores, which a table learns when it is made."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds. A bound or a standard error says of which column it is.

    >>> Column("ability", "number", "Posterior mean of ability", unit="logits").title
    'ability'
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    title: str = ""
    of: str = ""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.name.replace("_", " "))

    def typed(self, values: Any) -> Any:  # Any: an array or a tuple, as the kind says
        """Return values as this column keeps them: read-only arrays, tuples of text.

        >>> Column("mean", "number", "Mean").typed([1, None])
        array([ 1., nan])

        Counts are whole numbers, unless some were not observed:

        >>> Column("rank", "count", "Rank").typed([1, None])
        array([ 1., nan])
        """
        if self.kind in _ARRAYS:
            array: NDArray[Any] = np.array(values)
            unobserved = self.kind == "count" and np.isnan(array.astype(np.float64)).any()
            array = array.astype(np.float64 if unobserved else _ARRAYS[self.kind])
            array.flags.writeable = False
            return array
        if self.kind == "words":
            return tuple(tuple(map(str, entry)) for entry in values)
        return tuple(map(str, values))


def name(meaning: str, *, title: str = "", default: Any = ...) -> Any:  # Any: declares a field
    """Declare names of agents or tasks; the first such columns are the key of their table.

    >>> name("Agent").column.kind
    'name'
    """
    return _declared("name", meaning, title=title, default=default)


def text(meaning: str, *, title: str = "", default: Any = ...) -> Any:  # Any: declares a field
    """Declare a few words per row.

    >>> text("How the fit ended").column.kind
    'text'
    """
    return _declared("text", meaning, title=title, default=default)


def words(meaning: str, *, title: str = "", default: Any = ...) -> Any:  # Any: declares a field
    """Declare a list of words or names per row.

    >>> words("Flags").column.kind
    'words'
    """
    return _declared("words", meaning, title=title, default=default)


def number(
    meaning: str, *, unit: str = "", title: str = "", default: Any = ...
) -> Any:  # Any: declares a field
    """Declare measured or estimated values; NaN means not observed.

    >>> number("Mean", unit="score").column.kind
    'number'
    """
    return _declared("number", meaning, unit=unit, title=title, default=default)


def count(meaning: str, *, unit: str = "", title: str = "", default: Any = ...) -> Any:
    """Declare whole numbers; NaN means not observed.

    >>> count("Tasks observed").column.kind
    'count'
    """
    return _declared("count", meaning, unit=unit, title=title, default=default)


def flag(meaning: str, *, title: str = "", default: Any = ...) -> Any:  # Any: declares a field
    """Declare values that are true or false.

    >>> flag("Tied with the best").column.kind
    'flag'
    """
    return _declared("flag", meaning, title=title, default=default)


def bound(of: str, side: Literal["low", "high"], meaning: str = "", *, default: Any = ...) -> Any:
    """Declare one end of the interval of another column, in its unit.

    >>> bound("mean", "low").column.kind
    'number'
    """
    return _declared("number", meaning, title=side, of=of, default=default)


def error(of: str, meaning: str = "", *, default: Any = ...) -> Any:  # Any: declares a field
    """Declare the standard error of another column, in its unit.

    >>> error("mean").column.kind
    'number'
    """
    meaning = meaning or f"Standard error of {of.replace('_', ' ')}"
    return _declared("number", meaning, title="±", of=of, default=default)


@dataclass(frozen=True, slots=True)
class Declared:
    """A column before it has a name; `default` is None where tables may lack it."""

    column: Column
    optional: bool


def _declared(
    kind: Kind, meaning: str, *, unit: str = "", title: str = "", of: str = "", default: Any
) -> Any:  # Any: declares a field
    if default not in (..., None):
        raise InputError(f"A column may be required or None, not {default!r} by default.")
    return Declared(Column("", kind, meaning, unit, title or " ", of), default is None)
