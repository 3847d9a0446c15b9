"""Records: frozen values to plain JSON values and back, checked by the shapes their types declare.

A record's shape is its annotations: nested dataclasses and named tuples, `Literal`, enumerations,
tuples, mappings, optional parts, and arrays. `Annotated` adds what a type cannot say: `Bounds` of a
number or of the length of text and lists; `Axes`, which names the lengths of lists and arrays (the same
name has the same length throughout one record); and `Wanted`, what to give instead, in words.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
from collections.abc import Callable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from examiner.messages import InputError, listed, shorten, unknown_name
from examiner.validation.values import read_only

T = TypeVar("T")
_LARGEST_WHOLE = 2**63 - 1  # what databases and arrays hold
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


class Axes(NamedTuple):
    """The names of the lengths of an array, or of one list.

    >>> Axes("agents", "tasks").second
    'tasks'
    """

    first: str
    second: str | None = None


class Wanted(NamedTuple):
    """What to give instead of what is wrong here, in words.

    >>> Wanted('a list such as [0, 1], or "all"').words
    'a list such as [0, 1], or "all"'
    """

    words: str


class Bounds(NamedTuple):
    """The least and the most a number, or the length of text or of a list, may be; `words` say so.

    Of an array, they bound every finite number.

    >>> Bounds(1, words="a whole number of at least 1").least
    1
    """

    least: float = -math.inf
    most: float = math.inf
    words: str = ""


class ShapeError(InputError):
    """A part of a record has not the shape declared; `path` names it, `wanted` says what it should be.

    >>> raise ShapeError("agents[0].entry", "is missing", "text")
    Traceback (most recent call last):
    ...
    examiner.validation.records.ShapeError: agents[0].entry is missing. Give text.

    `what` names the whole record, where the sentence would not say which one it is.
    """

    def __init__(self, path: str, found: str, wanted: str, what: str = "") -> None:
        whole = f"The {what or 'record'}"
        name = f"{whole}'s {path}" if what and path else path or whole
        super().__init__(f"{name} {found}. Give {wanted}.")
        self.path, self.found, self.wanted = path, found, wanted


def to_record(value: object) -> Any:  # Any: JSON values
    """Return a value as plain JSON values that keep every bit; NaN is None, infinities are "inf", "-inf".

    >>> to_record(Bounds(0.5, math.nan))
    {'least': 0.5, 'most': None, 'words': ''}
    """
    if hasattr(type(value), "to_record"):
        return value.to_record()  # type: ignore[attr-defined]
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (np.ndarray, np.generic)):
        return to_record(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): to_record(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return to_record(value._asdict())
    if isinstance(value, (list, tuple)):
        return [to_record(part) for part in value]
    if callable(value):
        name = getattr(value, "__name__", "function")
        raise InputError(
            f"A function of your own ({name}) cannot be stored. Use one that has a name in its table."
        )
    if dataclasses.is_dataclass(value):
        parts = (field.name for field in dataclasses.fields(value) if _is_stored(field))
        return {name: to_record(getattr(value, name)) for name in parts}
    return value


def from_record(kind: type[T], stored: object, *, strict: bool = False, what: str = "") -> T:
    """Return the value that `to_record` made a record of, or refuse it by the path of what is wrong.

    Keys that the type does not know are passed over, or refused where that is `strict`. `what` names the
    record in the sentence: "The plan's seeds is …".

    >>> from_record(Bounds, {"least": 1, "words": "at least 1"})
    Bounds(least=1.0, most=inf, words='at least 1')
    >>> from_record(Bounds, {"least": "low"})
    Traceback (most recent call last):
    ...
    examiner.validation.records.ShapeError: least is 'low'. Give a number.
    """
    try:
        return cast(T, _Reader(strict, what, {})(kind, stored, ""))
    except RecursionError:
        raise ShapeError("", "is nested too deeply", "plain values", what) from None
    except ShapeError as problem:
        if not what:
            raise
        raise ShapeError(problem.path, problem.found, problem.wanted, what) from None


def settle(value: object, what: str) -> None:
    """Check the parts of a dataclass that was just made, for its `__post_init__`, and give them their type.

    Lists become tuples and whole numbers floats where that is declared, as in a record that is read.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Share:
    ...     of: Annotated[float, Bounds(0, 1, "a share between 0 and 1")]
    ...     def __post_init__(self):
    ...         settle(self, "share")
    >>> Share(1)
    Share(of=1.0)
    >>> Share(2)
    Traceback (most recent call last):
    ...
    examiner.validation.records.ShapeError: The share's of is '2'. Give a share between 0 and 1.
    """
    reader, kind = _Reader(True, what, {}), cast(Any, type(value))
    for name, part in _shape(kind).items():
        try:
            settled = reader(part.kind, getattr(value, name), name)
        except ShapeError as problem:
            raise ShapeError(problem.path, problem.found, problem.wanted, what) from None
        object.__setattr__(value, name, settled)


def _is_stored(field: dataclasses.Field[Any]) -> bool:  # Any: a field of any type
    return field.init and not field.name.startswith("_") and field.metadata.get("stored", True)


@dataclasses.dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one record; `lengths` are those of the axes named so far."""

    strict: bool
    what: str
    lengths: dict[str, tuple[int, str]]

    def __call__(self, kind: Any, stored: object, path: str) -> Any:  # Any: a type, and its value
        if kind in _WORDS:
            return _plain(kind, stored, path)
        origin, parts = get_origin(kind), get_args(kind)
        # From numpy 2.5 on, an NDArray is an alias that has to be asked what it stands for.
        origin = get_origin(getattr(origin, "__value__", None)) or origin
        if origin is Annotated:
            return self._annotated(kind, stored, path)
        if origin is Literal:
            return self._chosen(stored, parts, path)
        if origin in (Union, types.UnionType):
            return self._either(parts, stored, path)
        if origin is np.ndarray:
            return _array(stored, path)
        if origin in (tuple, list):
            return self._sequence(origin, parts, stored, path)
        if origin is not None and issubclass(origin, Mapping):
            table = _table(stored, path)
            return {name: self(parts[1], value, f"{path}.{name}") for name, value in table.items()}
        if origin is not None and issubclass(origin, Callable):  # type: ignore[arg-type]
            raise _wrong(path, stored, "a name")
        if kind is Any or (isinstance(kind, type) and isinstance(stored, kind)):
            return stored
        if hasattr(kind, "from_record"):
            try:
                return kind.from_record(stored)
            except ShapeError as problem:
                join = "." if problem.path and not problem.path.startswith("[") else ""
                place = f"{path}{join}{problem.path}"
                raise ShapeError(place, problem.found, problem.wanted) from None
        if issubclass(kind, enum.Enum):
            return kind[self._chosen(stored, tuple(kind.__members__), path)]
        return self._fields(kind, _table(stored, path), path)

    def _annotated(self, kind: Any, stored: object, path: str) -> Any:  # Any: a type, and its value
        inner = get_args(kind)[0]
        wanted = _wanted(kind, "another value")
        try:
            value = self(inner, stored, path)
        except ShapeError as problem:
            # What a bare type says of itself is less than what is said here.
            described = any(isinstance(bound, Wanted) for bound in kind.__metadata__)
            if problem.path == path and (described or problem.wanted == _WORDS.get(inner)):
                raise ShapeError(path, problem.found, wanted) from None
            raise
        for bound in kind.__metadata__ if value is not None else ():
            if isinstance(bound, Bounds) and isinstance(value, np.ndarray):
                if (np.isfinite(value) & ~((bound.least <= value) & (value <= bound.most))).any():
                    raise ShapeError(path, "has a number out of range", bound.words)
            elif isinstance(bound, Bounds):
                size = len(value) if isinstance(value, (str, list, tuple)) else value
                if not bound.least <= size <= bound.most:
                    raise _wrong(path, stored, wanted)
            if isinstance(bound, Axes):
                names = [name for name in bound if name]
                if isinstance(value, np.ndarray) and not len(value) and len(names) == 2:
                    value = np.empty((0, self.lengths.get(names[1], (0, ""))[0]))
                sizes = value.shape if isinstance(value, np.ndarray) else (len(value),)
                if len(sizes) != len(names):
                    raise ShapeError(path, f"is nested {len(sizes)} deep", " of ".join(names))
                for name, size in zip(names, sizes, strict=True):
                    self._measure(name, size, path)
        return value

    def _measure(self, name: str, size: int, path: str) -> None:
        size_before, path_before = self.lengths.setdefault(name, (size, path))
        if size_before != size:
            raise ShapeError(
                path, f"has {size:,} entries", f"{size_before:,}, as many as {path_before}"
            )

    # Any: a literal
    def _chosen(self, stored: object, known: tuple[object, ...], path: str) -> Any:
        if any(stored == word and type(stored) is type(word) for word in known):
            return stored
        if isinstance(stored, str):
            raise ShapeError(path, f"is {shorten(stored)}", f"one of {listed(known, limit=40)}")
        raise _wrong(path, stored, f"one of {listed(known, limit=40)}")

    def _either(self, kinds: tuple[Any, ...], stored: object, path: str) -> Any:  # Any: types
        if stored is None and types.NoneType in kinds:
            return None
        problems: list[ShapeError] = []
        for kind in kinds:
            if kind is not types.NoneType:
                try:
                    return self(kind, stored, path)
                except ShapeError as problem:
                    problems.append(problem)
        # The alternative that was understood furthest is the one that was meant.
        deepest = max(problems, key=lambda problem: len(problem.path))
        if deepest.path != path:
            raise deepest
        wanted = " or ".join(dict.fromkeys(problem.wanted for problem in problems))
        raise ShapeError(path, deepest.found, wanted)

    def _sequence(
        self, origin: type, kinds: tuple[Any, ...], stored: object, path: str
    ) -> tuple[Any, ...] | list[Any]:  # Any: types, and their values
        if not isinstance(stored, (list, tuple)):
            raise _wrong(path, stored, "a list")
        endless = origin is list or kinds[-1] is Ellipsis
        if not endless and len(stored) != len(kinds):
            raise _wrong(path, stored, f"a list of {len(kinds)}")
        parts = kinds[:1] * len(stored) if endless else kinds
        is_plain = _plainness(kinds[0]) if endless else _never
        values = [
            value if is_plain(value) else self(kind, value, f"{path}[{index}]")
            for index, (kind, value) in enumerate(zip(parts, stored, strict=True))
        ]
        return values if origin is list else tuple(values)

    def _fields(self, kind: Any, table: Mapping[str, Any], path: str) -> Any:  # Any: a record type
        shape = _shape(kind)
        if self.strict:
            for name in table:
                if name not in shape:
                    whole = path or (f"the {self.what}" if self.what else "")
                    of = f" of {whole}" if whole else ""
                    raise unknown_name(f"key{of}", name, tuple(shape))
        given = {}
        for name, (part, needed, is_plain) in shape.items():
            if name in table and is_plain(table[name]):
                given[name] = table[name]
            elif name in table:
                given[name] = self(part, table[name], f"{path}.{name}".lstrip("."))
            elif needed:
                raise ShapeError(f"{path}.{name}".lstrip("."), "is missing", _wanted(part))
        return kind(**given)


def _array(stored: object, path: str) -> Any:  # Any: an array of floats
    if not isinstance(stored, (list, tuple)):
        raise _wrong(path, stored, "a list of numbers")
    _check_numbers(stored, path)
    try:
        array = np.array(stored, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ShapeError(path, "is ragged or too large", "lists of equal length") from None
    read_only(array)
    return array


def _check_numbers(stored: list[Any] | tuple[Any, ...], path: str) -> None:  # Any: JSON values
    for index, value in enumerate(stored):
        if isinstance(value, (list, tuple)):
            _check_numbers(value, f"{path}[{index}]")
        else:
            _number(value, f"{path}[{index}]")


def _number(stored: object, path: str) -> float:
    if stored is None:
        return math.nan
    if isinstance(stored, str) and stored in _INFINITE:
        return _INFINITE[stored]
    if isinstance(stored, bool) or not isinstance(stored, (int, float)):
        raise _wrong(path, stored, "a number")
    try:
        return float(stored)
    except OverflowError:
        raise ShapeError(path, "has too many digits", "a number below 1e308") from None


def _plain(kind: Any, stored: object, path: str) -> object:  # Any: a type
    """A number, whole or not, text or a flag, each taken for no other."""
    if kind is float:
        return _number(stored, path)
    if not isinstance(stored, kind) or (isinstance(stored, bool) and kind is int):
        raise _wrong(path, stored, _WORDS[kind])
    if kind is int and abs(cast(int, stored)) > _LARGEST_WHOLE:
        raise _wrong(path, stored, f"a whole number up to {_LARGEST_WHOLE:,}")
    return stored


def _table(stored: object, path: str) -> Mapping[str, Any]:  # Any: JSON values
    if not isinstance(stored, Mapping):
        raise _wrong(path, stored, "a table of names and values")
    return stored


_WORDS = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}


def _wanted(kind: Any, otherwise: str = "it") -> str:  # Any: a type
    while get_origin(kind) is Annotated:
        for annotation in kind.__metadata__:
            if isinstance(annotation, (Wanted, Bounds)) and annotation.words:
                return annotation.words
        kind = get_args(kind)[0]
    return _WORDS.get(kind, otherwise)


def _wrong(path: str, value: object, wanted: str) -> ShapeError:
    try:
        fault = "is missing" if value is None else f"is {shorten(value)}"
    except ValueError:  # whole numbers of more digits than Python puts into text
        fault = "holds a number of too many digits"
    return ShapeError(path, fault, wanted)


def _plainness(kind: Any) -> Callable[[Any], bool]:  # Any: a type, and stored values
    """Tell which stored values are read as they are: most of a long record, so that it pays to ask."""
    # Not cached: int | float and float | int are equal, but not read alike.
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        words = frozenset(part for part in parts if type(part) is str)
        return lambda value: type(value) is str and value in words
    parts = parts if origin in (Union, types.UnionType) else (kind,)
    number_at = parts.index(float) if float in parts else len(parts)
    # After a float, whole numbers become one, and the text "inf" is one.
    plain = {part for part in parts[:number_at] if part in (str, int)}
    plain |= {part for part in parts if part in (float, bool, types.NoneType)}
    if int not in plain:
        return lambda value: type(value) in plain
    plain.discard(int)
    return lambda value: (
        type(value) in plain or (type(value) is int and abs(value) <= _LARGEST_WHOLE)
    )


def _never(value: object) -> bool:
    return False


class _Part(NamedTuple):
    """A stored part of a record: its type, whether it must be there, and which values are plain."""

    kind: Any  # a type
    needed: bool
    is_plain: Callable[[Any], bool]  # Any: stored values


@functools.cache
def _shape(kind: Any) -> Mapping[str, _Part]:  # Any: a record type
    """The stored parts of a dataclass or named tuple."""
    hints = get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        needed = {
            field.name: field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
            for field in dataclasses.fields(kind)
            if _is_stored(field)
        }
    else:
        needed = {name: name not in kind._field_defaults for name in kind._fields}
    return {
        name: _Part(hints[name], must, _plainness(hints[name])) for name, must in needed.items()
    }
