"""Checkpoints of learners as bytes: named arrays and a few words of JSON, no pickles."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.wording import InputError

_WORDS = "words"


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
    examiner.wording.InputError: This is no checkpoint of the agent 'brute'. Play the job from \
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
