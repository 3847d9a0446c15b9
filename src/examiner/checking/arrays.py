"""Arrays at the border: no infinities, zeros and ones told, no more bytes than needed, frozen."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.wording import InputError

Floats: TypeAlias = NDArray[np.float64]
"""Numbers of any shape, NaN for what was not observed: the docstring of a name says its shape."""


def check_finite(values: Floats, what: str) -> None:
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


def read_only(*arrays: NDArray[np.generic]) -> None:
    """Freeze arrays in place.

    >>> values = np.zeros(2)
    >>> read_only(values)
    >>> values.flags.writeable
    False
    """
    for array in arrays:
        array.flags.writeable = False
