"""Scores between the worst agent (0.0) and the best (1.0) of each task."""

from __future__ import annotations

import numpy as np

from examiner.scores.comparable import LearntScale, TaskScores, column_range, column_size
from examiner.validation import Floats


def learn(scores: TaskScores) -> LearntScale:
    """Keep the worst and the best agent's mean on each task, in units of the largest score."""
    scores.needs_several_agents("min-max")
    constant, notes = scores.constant_tasks("min-max")
    size = column_size(scores.agent_means)
    low, high = column_range(scores.agent_means / size)
    worst, best = np.where(constant, np.nan, np.where(scores.sign > 0, (low, high), (high, low)))
    return scores.scale(size, worst, best, notes=notes)


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    r"""Place scores between the worst and the best agent's mean on each task.

    .. math:: x' = \frac{x - \min_a \bar{x}_{at}}{\max_a \bar{x}_{at} - \min_a \bar{x}_{at}}

    Single trials can lie outside [0, 1]; agents' means cannot.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[10.0], [20.0], [15.0]]), "min-max").measure()
    array([0. , 1. , 0.5])
    """
    size, worst, best = scale.marks[:, scores.task_codes]
    return np.asarray((scores.values / size - worst) / (best - worst))
