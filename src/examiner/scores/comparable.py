"""What a normaliser is given and what it gives back: the contract of `normalisers/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results.scale import Anchor, ScaleArrays, Scales
from examiner.wording import InputError, counted, listed


@dataclass(frozen=True, slots=True)
class TaskScores:
    """Scores of one measure, row by row, with what is known about their tasks.

    `values`, `agent_codes` and `task_codes` have shape [rows]; `agent_means` has shape
    [agents, tasks] and NaN where nothing was observed.
    """

    values: NDArray[np.float64]
    agent_codes: NDArray[np.integer]
    task_codes: NDArray[np.integer]
    agent_means: NDArray[np.float64]
    tasks: tuple[str, ...]
    task_names: tuple[str, ...]
    measure: str
    scales: Scales

    @property
    def sign(self) -> NDArray[np.float64]:
        """+1 for tasks where higher is better, −1 where lower is; shape [tasks]."""
        return self.scales.aligned(self.task_names, self.measure).sign

    def anchored(self, what: str, needs: Sequence[Anchor]) -> tuple[ScaleArrays, tuple[str, ...]]:
        """Return the scales of the tasks that `what` needs, and a note that names those without.

        >>> from examiner.results import TaskScale
        >>> nothing = np.empty(0)
        >>> scores = TaskScores(nothing, nothing.astype(int), nothing.astype(int), nothing, ("t", "u"),
        ...                     ("t", "u"), "score", Scales([TaskScale("t", random=1.0)]))
        >>> scores.anchored("the normaliser 'random-only'", ["random"])[1]
        ("1 of 2 tasks have no random score and are left out of the normaliser 'random-only': 'u'.",)
        """
        scales = self.scales.aligned(self.task_names, self.measure, needs=needs)
        known = np.ones(len(self.tasks), dtype=bool)
        for anchor in needs:
            known &= ~np.isnan(getattr(scales, anchor))
        if known.all():
            return scales, ()
        missing = [task for task, found in zip(self.tasks, known, strict=True) if not found]
        scores = " and ".join(needs)
        if not known.any():
            raise InputError(
                f"{what[0].upper()}{what[1:]} needs the {scores} score of each task, and none of "
                f"{counted(len(self.tasks), 'task')} has one for the measure {self.measure!r}. Attach "
                f"scales (`--scales atari-human-random`, `results.with_scales(…)`), or choose what "
                f"needs none: the normalisers 'rank', 'z-score' and 'min-max', a number as success."
            )
        return scales, (
            f"{len(missing)} of {len(self.tasks)} tasks have no {scores} score and are left out of "
            f"{what}: {listed(missing)}.",
        )

    def needs_several_agents(self, method: str) -> None:
        """Refuse to compare one agent with itself.

        >>> nothing = np.empty(0)
        >>> TaskScores(nothing, nothing.astype(int), nothing.astype(int), np.ones((1, 1)), ("t",),
        ...            ("t",), "score", Scales()).needs_several_agents("rank")
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: The normaliser 'rank' compares agents with each other, and \
there is only 1. Add agents, or choose one with scales ('human', 'random-only').
        """
        if len(self.agent_means) < 2:
            raise InputError(
                f"The normaliser {method!r} compares agents with each other, and there is only "
                f"{len(self.agent_means)}. Add agents, or choose one with scales ('human', 'random-only')."
            )

    def constant_tasks(self, method: str) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        """Return which tasks gave all agents the same score, and a note that names them.

        >>> nothing = np.empty(0)
        >>> TaskScores(nothing, nothing.astype(int), nothing.astype(int), np.array([[1, 2], [1, 3.0]]),
        ...            ("t", "u"), ("t", "u"), "score", Scales()).constant_tasks("z-score")[0]
        array([ True, False])
        """
        low, high = column_range(self.agent_means)
        constant = ~(high > low)  # NaN, an unobserved task, counts as constant too
        if not constant.any():
            return constant, ()
        names = [task for task, flat in zip(self.tasks, constant, strict=True) if flat]
        return constant, (
            f"{counted(len(names), 'task')} on which no two observed agents differ cannot be scaled "
            f"by {method!r} and are left out: {listed(names)}.",
        )


class Normalised(NamedTuple):
    """Comparable scores, shape [rows]: what 1.0 (or the range) means, and what a reader should know."""

    values: NDArray[np.float64]
    unit: str
    notes: tuple[str, ...] = ()


Normaliser = Callable[[TaskScores], Normalised | NDArray[np.float64]]


def column_range(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest observed value of each column; NaN where there is none.

    >>> column_range(np.array([[1.0, np.nan], [3.0, np.nan]]))
    (array([ 1., nan]), array([ 3., nan]))
    """
    return np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)


def column_size(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest absolute value of each column, 1 where there is none but zero.

    Divided by it, columns can be squared and summed without overflow, whatever their unit.

    >>> column_size(np.array([[1.0, 0.0], [-3.0, np.nan]]))
    array([3., 1.])
    """
    low, high = column_range(values)
    size = np.fmax(np.abs(low), np.abs(high))
    return np.where(size > 0, size, 1.0)
