"""What arrays of learners need: room to grow, a form that can be stored, compiled loops over them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from examiner.arena.contract import extra_package
from examiner.messages import InputError

Function = Callable[..., Any]  # numba infers what compiled functions take and give
Number = TypeVar("Number", bound=np.generic)
_WORDS = "words"


def grown(array: NDArray[Number], rows: int, *, most: int) -> NDArray[Number]:
    """Return the array with at least so many rows, new ones zero, or itself if it is long enough.

    It becomes longer by half at least, but not longer than `most`, which bounds memory.

    >>> grown(np.ones(4), 5, most=100).tolist(), len(grown(np.ones(4), 5, most=5))
    ([1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 5)
    """
    if rows <= len(array) or len(array) >= most:
        return array
    length = min(most, max(rows, len(array) + len(array) // 2))
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def packed(arrays: Mapping[str, NDArray[Any]], words: Mapping[str, object]) -> bytes:
    """Return arrays and words (whatever JSON can hold) as the bytes of one `.npz` file.

    >>> arrays, words = unpacked(packed({"weights": np.ones(2)}, {"agent": "mine"}), agent="mine")
    >>> arrays["weights"].tolist(), words
    ([1.0, 1.0], {'agent': 'mine'})
    """
    text = json.dumps(dict(words), sort_keys=True, allow_nan=False).encode()
    everything: dict[str, Any] = {_WORDS: np.frombuffer(text, dtype=np.uint8), **arrays}
    with io.BytesIO() as file:
        np.savez(file, **everything)
        return file.getvalue()


def unpacked(data: bytes, *, agent: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what was packed, if an agent of this name packed it.

    >>> unpacked(b"?", agent="brute")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: This is no checkpoint of the agent 'brute'. Play the job from \
its beginning.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        words = json.loads(arrays.pop(_WORDS).tobytes())
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        words = {}
    if not isinstance(words, dict) or words.get("agent") != agent:
        raise InputError(
            f"This is no checkpoint of the agent {agent!r}. Play the job from its beginning."
        )
    return arrays, words


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
        compiled: Function = numba.njit(cache=True)(function)
    except RuntimeError:  # no folder for compiled code can be written, or the function has no file
        compiled = numba.njit(function)
    return compiled
