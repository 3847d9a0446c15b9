"""Functions compiled to machine code by numba, which comes only with an extra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from examiner.arena.environments.contract import extra_package

Function = Callable[..., Any]  # numba infers what compiled functions take and give


def compiled(function: Function) -> Function:
    """Return the function compiled when first called, and kept compiled on disk where that is possible.

    No rounding is traded for speed: equal inputs give equal bits, which resuming a run relies on.

    >>> @compiled
    ... def doubled(number):
    ...     return 2 * number
    >>> doubled(21)
    42
    """
    numba = extra_package("numba", "This agent's inner loops are compiled by numba")
    try:
        made: Function = numba.njit(cache=True)(function)
    except RuntimeError:  # no folder for compiled code can be written, or the function has no file
        made = numba.njit(function)
    return made
