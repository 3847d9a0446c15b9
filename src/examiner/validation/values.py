"""Checks of what users give: names, numbers, arrays, and the source of randomness."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.messages import InputError, shorten, unknown_name

Floats: TypeAlias = NDArray[np.float64]
"""Numbers of any shape, NaN for what was not observed: the docstring of a name says its shape."""


def check_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple after refusing empty and repeated ones, and invalid Unicode.

    >>> check_names(["a", "b", "a"], "agent")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The agent name 'a' appears twice. Give every agent its own name.
    """
    earlier: set[str] = set()
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
        if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(
                f"The {what} name {shorten(name)} is not valid Unicode (a lone surrogate). "
                f"Correct it where it was decoded."
            )
        if name in earlier:
            raise InputError(
                f"The {what} name {shorten(name)} appears twice. Give every {what} its own name."
            )
        earlier.add(name)
    return tuple(names)


def check_known(kind: str, name: object, known: Collection[str]) -> None:
    """Refuse a name that is not in a table, and list those that are.

    >>> check_known("unit", "games", ["runs", "tasks"])
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown unit 'games'. Known: 'runs', 'tasks'.
    """
    if name not in known:
        raise unknown_name(kind, name, known)


def known_name(kind: str, name: object, known: Collection[str]) -> str:
    """Return a name as its table spells it, ignoring case and hyphens; refuse unknown names.

    >>> known_name("normaliser", "Min_Max", ["human", "min-max"])
    'min-max'
    """
    spelled = {entry.replace("_", "-"): entry for entry in known}
    spelling = spelled.get(str(name).lower().replace("_", "-"))
    if spelling is None:
        raise unknown_name(kind, name, known)
    return spelling


def check_numbers(
    settings: Any,  # a dataclass whose fields are settings
    *,
    least: Mapping[str, float] = MappingProxyType({}),
    most: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Check the fields of a dataclass that are numbers, for its `__post_init__`.

    A field whose default is an integer must be an integer, by default of at least 1; any other number must
    be at least 0. A wrong setting should not fail hours later.

    >>> from dataclasses import make_dataclass
    >>> agent = make_dataclass("Agent", [("depth", int, 10)])(depth=2.5)
    >>> check_numbers(agent)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The setting depth is 2.5. Give a whole number of at least 1.
    """
    for field in fields(settings):
        number = isinstance(field.default, int | float) and not isinstance(field.default, bool)
        if field.init and number:
            whole = isinstance(field.default, int)
            check_number(
                field.name,
                getattr(settings, field.name),
                whole=whole,
                least=least.get(field.name, int(whole)),
                most=most.get(field.name, math.inf),
            )


def check_number(
    name: str, value: object, *, whole: bool = False, least: float = 0, most: float = math.inf
) -> None:
    """Refuse a setting that is not a number, not an integer if one is needed, or out of range.

    >>> check_number("budget", 500, whole=True, least=1)
    >>> check_number("max_nodes", 1e7, whole=True, least=1)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The setting max_nodes is 10000000.0. Give a whole number of at \
least 1.
    """
    kinds: tuple[type, ...] = (int,) if whole else (int, float)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not least <= value <= most or math.isinf(value):  # type: ignore[operator, arg-type]
        wanted = f"a {'whole ' if whole else ''}number of at least {least}"
        upper = "" if math.isinf(most) else f" and at most {most:.12g}"
        raise InputError(f"The setting {name} is {value!r}. Give {wanted}{upper}.")


def real_numbers(values: ArrayLike, what: str) -> Floats:
    """Return an array of real numbers, None as NaN; refuse text, complex numbers and ragged rows.

    >>> real_numbers([[1, None]], "array")
    array([[ 1., nan]])
    >>> real_numbers([[1, 2], [3]], "array of 'dqn'")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The array of 'dqn' has rows of different lengths, or other things than \
numbers. Give rows of one length, NaN where nothing was observed.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"The {what} has rows of different lengths, or other things than numbers. Give rows of one "
            f"length, NaN where nothing was observed."
        ) from None
    kinds = {"c": "complex numbers", "U": "text", "S": "text"}
    raise InputError(
        f"The {what} holds {kinds.get(array.dtype.kind, array.dtype)}. Give real numbers."
    )


def check_finite(values: Floats, what: str) -> None:
    """Refuse infinities; NaN is allowed and means "not observed".

    >>> check_finite(np.array([1.0, np.inf]), "measure 'score'")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The measure 'score' is inf at position 2. Infinite values cannot \
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


def is_binary(values: NDArray[np.floating | np.integer]) -> bool:
    """Tell whether every value is 0, 1 or NaN.

    >>> is_binary(np.array([0.0, 1.0, np.nan])), is_binary(np.array([0.0, 0.5]))
    (True, False)
    """
    return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


def smallest_unsigned(largest: int) -> type[np.unsignedinteger]:
    """Return the smallest unsigned integer type that holds the largest value.

    >>> smallest_unsigned(300).__name__
    'uint16'
    """
    kind: type[np.unsignedinteger] = np.min_scalar_type(largest).type
    return kind


def read_only(*arrays: NDArray[np.generic]) -> None:
    """Freeze arrays in place.

    >>> values = np.zeros(2)
    >>> read_only(values)
    >>> values.flags.writeable
    False
    """
    for array in arrays:
        array.flags.writeable = False


Randomness: TypeAlias = np.random.Generator | int


def generator(rng: Randomness) -> np.random.Generator:
    """Return the generator given, or a new one from a whole number.

    >>> int(generator(0).integers(10)) == int(np.random.default_rng(0).integers(10))
    True
    >>> generator(-1)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The seed is '-1'. Give a whole number of at least 0, or a numpy Generator.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InputError(
            f"The seed is {shorten(rng)}. Give a whole number of at least 0, or a numpy Generator."
        )
    return np.random.default_rng(int(rng))


def seed_of(rng: Randomness) -> int:
    """Return the integer given, or one drawn from the generator: a seed that can be recorded.

    >>> seed_of(3), seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    (3, True)
    """
    drawn = generator(rng)
    return int(drawn.integers(2**32)) if rng is drawn else int(rng)  # type: ignore[arg-type]


def names_of(package: str) -> Callable[[], list[str]]:
    """Return the `__dir__` of a package: the names of its public API, without its modules.

    >>> "values" in names_of("examiner.validation")(), "generator" in names_of("examiner.validation")()
    (False, True)
    """

    def names() -> list[str]:
        return [
            name
            for name, value in vars(sys.modules[package]).items()
            if not (
                name.startswith("_") or name == "TYPE_CHECKING" or isinstance(value, ModuleType)
            )
        ]

    return names


LARGEST_SQUARED = 1e150
"""Squares of larger numbers are beyond float64."""


def check_squares(scores: Floats) -> None:
    """Refuse scores [..., tasks] whose squares overflow or underflow; NaN is not observed.

    >>> check_squares(np.array([1.0, np.nan, -1e300]))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: There are scores beyond 1e+150, whose squares overflow. Give ...
    """
    largest = np.nanmax(np.abs(scores), axis=0, initial=0.0)
    if np.max(largest, initial=0.0) > LARGEST_SQUARED:
        raise InputError(
            f"There are scores beyond {LARGEST_SQUARED:g}, whose squares overflow. Give them in larger "
            f"units."
        )
    if np.any((largest > 0) & (largest < 1 / LARGEST_SQUARED)):
        raise InputError(
            f"On some task all scores are closer to 0 than {1 / LARGEST_SQUARED:g}, and their squares "
            f"underflow. Give them in smaller units."
        )
