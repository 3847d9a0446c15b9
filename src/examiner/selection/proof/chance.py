"""Whether selected tasks predict better than random sets of the same size, agent by agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import counted
from examiner.selection.proof.sets import Guess
from examiner.validation import Floats

DOUBT = "Warning"
"""The word that a warning of a selection begins with, wherever it is repeated."""


class RandomComparison(NamedTuple):
    """Absolute errors of sets, [methods, sizes, agents], and mean ones of random sets, [sizes, agents].

    NaN is unknown. `remainder` are errors on the mean of the tasks that were not selected: a mean contains
    its parts, and even in noise a set of many tasks predicts itself.
    """

    whole: Floats
    remainder: Floats
    random: Floats
    random_remainder: Floats

    def share(self, method: int, size: int) -> float:
        """Return the error as a share of the random sets', NaN where these have none."""
        return share_of_random(self.whole[method, size], self.random[size])

    def warning(self, at: tuple[int, int], method: str, size: int) -> str | None:
        """Say that a selection is not shown to be better than random sets, or nothing.

        >>> better, even = np.array([1.0, 1.1]), np.array([3.0, 1.0])
        >>> comparison = RandomComparison(better[None, None], even[None, None], *np.full((2, 1, 2), 2.0))
        >>> comparison.warning((0, 0), "covariance", 5)
        'Warning: 5 tasks chosen by covariance are not shown to predict the tasks not chosen better than \
random sets do (100% of their error).'
        """
        for what, errors, random in (
            ("the whole", self.whole[at], self.random[at[1]]),
            ("the tasks not chosen", self.remainder[at], self.random_remainder[at[1]]),
        ):
            share = share_of_random(errors, random)
            if np.isfinite(share) and not beats_random(errors, random):
                verb = "is" if size == 1 else "are"
                return (
                    f"{DOUBT}: {counted(size, 'task')} chosen by {method} {verb} not shown to predict "
                    f"{what} better than random sets do ({share:.0%} of their error)."
                )
        return None


def share_of_random(errors: Floats, random: Floats) -> float:
    """Return the sum of errors [agents] as a share of the random sets' over the same agents.

    >>> share_of_random(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    0.5
    """
    both = np.isfinite(errors) & np.isfinite(random)
    total = float(random[both].sum())
    return float(errors[both].sum()) / total if total > 0 else float("nan")


def beats_random(errors: Floats, random: Floats) -> bool:
    """Whether errors [agents] are significantly smaller than those of random sets (5 %, one-sided).

    >>> beats_random(np.array([1.0, 2.0, 9.0]), np.array([2.0, 4.0, 3.0]))
    False
    """
    less = (random - errors)[np.isfinite(random - errors)]
    if len(less) < 2:
        return False
    return bool(less.mean() > 1.645 * less.std(ddof=1) / np.sqrt(len(less)))


def comparison_with_random(truth: Floats, guess: Guess, random: Guess) -> RandomComparison:
    """Return absolute errors of sets and, averaged over draws, of random sets; NaN without any draw."""
    remainder = np.abs(guess.remainder - guess.remainder_truth)
    drawn, drawn_remainder = np.full((2, *guess.value.shape[1:]), np.nan)
    if len(random.value):
        drawn = mean_of_draws(np.abs(random.value - truth))
        drawn_remainder = mean_of_draws(np.abs(random.remainder - random.remainder_truth))
    return RandomComparison(np.abs(guess.value - truth), remainder, drawn, drawn_remainder)


def mean_of_draws(values: Floats) -> Floats:
    """Return means over the first axis of what is known, NaN where nothing is.

    >>> mean_of_draws(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([ 2., nan])
    """
    is_known = np.isfinite(values)
    count = np.where(is_known.any(axis=0), is_known.sum(axis=0), np.nan)
    return np.asarray(np.where(is_known, values, 0.0).sum(axis=0) / count)


def pooled(folds: Sequence[RandomComparison]) -> RandomComparison:
    """Put the agents of several folds next to each other; nobody, where there are none."""
    if not folds:
        return RandomComparison(*[np.empty((0, 0, 0))] * 2, *[np.empty((0, 0))] * 2)
    return RandomComparison(*(np.concatenate(parts, axis=-1) for parts in zip(*folds, strict=True)))
