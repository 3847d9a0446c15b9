"""What users give, checked: names, arrays that become frozen, and the source of randomness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.wording import InputError, shorten


def check_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple after refusing empty and repeated ones.

    >>> check_names(["a", "b", "a"], "agent")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The agent name 'a' appears twice. Give every agent its own name.
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
    examiner.wording.InputError: The measure 'score' is inf at position 2. Infinite values cannot \
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


Randomness: TypeAlias = np.random.Generator | int


def generator(rng: Randomness) -> np.random.Generator:
    """Return the generator given, or a new one from a whole number.

    >>> int(generator(0).integers(10)) == int(np.random.default_rng(0).integers(10))
    True
    >>> generator(-1)
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The seed is '-1'. Give a whole number from 0 on, or a numpy Generator.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InputError(
            f"The seed is {shorten(rng)}. Give a whole number from 0 on, or a numpy Generator."
        )
    return np.random.default_rng(int(rng))
