"""Whether what a method chose predicts better than random sets of the same size, agent by agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import counted
from examiner.selection.proof.sets import Guess
from examiner.validation import Floats

SURE = 1.645
"""Standard errors by which errors must be smaller: one in twenty tables of noise looks better by luck."""

DOUBT = "Warning"
"""The word that a warning of a choice begins with, wherever it is told again."""


class BesideRandom(NamedTuple):
    """Absolute errors from one set, [agents], and the mean ones from random sets; NaN is not known."""

    own: Floats
    random: Floats

    @property
    def share(self) -> float:
        """The error as a share of the random sets', NaN where these have none.

        >>> BesideRandom(np.array([1.0, 2.0]), np.array([2.0, 4.0])).share
        0.5
        """
        known = np.isfinite(self.own) & np.isfinite(self.random)
        whole = float(self.random[known].sum())
        return float(self.own[known].sum()) / whole if whole > 0 else float("nan")

    @property
    def better(self) -> bool:
        """Whether errors are smaller beyond what luck does.

        >>> BesideRandom(np.array([1.0, 2.0, 9.0]), np.array([2.0, 4.0, 3.0])).better
        False
        """
        less = self.random - self.own
        less = less[np.isfinite(less)]
        if len(less) < 2:
            return False
        return bool(less.mean() > SURE * less.std(ddof=1) / np.sqrt(len(less)))


class Beside(NamedTuple):
    """Errors of many sets beside random ones: own [methods, sizes, agents], random [sizes, agents]."""

    own: Floats
    own_rest: Floats
    random: Floats
    random_rest: Floats

    def luck(self, method: int, size: int) -> Luck:
        """Return how the set of one method at one size stands."""
        return Luck(
            BesideRandom(self.own[method, size], self.random[size]),
            BesideRandom(self.own_rest[method, size], self.random_rest[size]),
        )


def beside_random(truth: Floats, guess: Guess, random: Guess) -> Beside:
    """Return absolute errors of sets and, averaged over draws, of random sets; NaN without any draw."""
    nothing = np.full(guess.value.shape[1:], np.nan)
    drawn, drawn_rest = nothing, nothing
    if len(random.value):
        drawn = np.abs(random.value - truth).mean(axis=0)
        drawn_rest = np.abs(random.rest - random.rest_truth).mean(axis=0)
    own_rest = np.abs(guess.rest - guess.rest_truth)
    return Beside(np.abs(guess.value - truth), own_rest, drawn, drawn_rest)


def pooled(folds: Sequence[Beside]) -> Beside:
    """Put the agents of several folds side by side; nobody, where there are none."""
    if not folds:
        return Beside(*[np.empty((0, 0, 0))] * 2, *[np.empty((0, 0))] * 2)
    return Beside(*(np.concatenate(parts, axis=-1) for parts in zip(*folds, strict=True)))


class Luck(NamedTuple):
    """How a set stands beside random ones in predicting the aggregate, and the tasks that were not chosen.

    A mean contains its parts: even in noise a set of many tasks tells of itself.
    """

    whole: BesideRandom
    rest: BesideRandom

    def loses(self, method: str, size: int) -> str | None:
        """Say that a method does worse than random sets, or nothing.

        >>> two = BesideRandom(np.array([3.0, 3.0]), np.array([2.0, 4.0]))
        >>> Luck(two, two).loses("clusters", 5)
        'clusters with 5 tasks does not beat random sets: its error is 100% of theirs.'
        """
        if not self.whole.share >= 1:
            return None
        return (
            f"{method} with {counted(size, 'task')} does not beat random sets: its error is "
            f"{self.whole.share:.0%} of theirs."
        )

    def warning(self, method: str, size: int) -> str | None:
        """Say that what was chosen is not shown to be better than random sets, or nothing.

        >>> two = BesideRandom(np.array([1.0, 1.1]), np.array([2.0, 2.0]))
        >>> even = BesideRandom(np.array([3.0, 1.0]), np.array([2.0, 2.0]))
        >>> Luck(two, even).warning("covariance", 5)
        'Warning: 5 tasks chosen by covariance are not shown to predict the tasks not chosen better than \
random sets do (100% of their error).'
        """
        for what, beside in (("the whole", self.whole), ("the tasks not chosen", self.rest)):
            if np.isfinite(beside.share) and not beside.better:
                are = "is" if size == 1 else "are"
                return (
                    f"{DOUBT}: {counted(size, 'task')} chosen by {method} {are} not shown to predict "
                    f"{what} better than random sets do ({beside.share:.0%} of their error)."
                )
        return None
