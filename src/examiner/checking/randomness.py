"""Randomness as an argument: a generator, or the whole number one is made from."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from examiner.wording import InputError, shorten

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
