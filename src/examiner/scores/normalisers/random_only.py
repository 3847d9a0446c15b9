"""Scores against the random player alone, without a human: equation 1 of papers/000."""

from __future__ import annotations

import numpy as np

from examiner.messages import listed
from examiner.scores.comparable import LearntScale, TaskScores
from examiner.validation import Floats

EPSILON = 1e-8
"""The discount constant ε of papers/000: no division by zero when both scores are zero."""


def learn(scores: TaskScores) -> LearntScale:
    """Keep the random score of each task, and name the tasks with negative scores in a note."""
    scales, notes = scores.anchored("the normaliser 'random-only'", ["random"])
    random = scales.random[scores.task_codes]
    negative = np.unique(scores.task_codes[(scores.values < 0) | (random < 0)])
    if len(negative):
        names = listed(scores.tasks[task] for task in negative)
        notes += (
            f"Equation 1 takes absolute values, so that negative scores come out as if they were "
            f"positive; the order of agents may be wrong on {names}.",
        )
    return scores.scale(scales.random, notes=notes)


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    r"""Compare scores with the random player's, in (−1, 1); 0.0 is random play.

    .. math:: x' = \frac{|x| - |\mathrm{random}|}{|x| + |\mathrm{random}| + \epsilon}

    The absolute values are the paper's. They mislead where scores are negative: −21 in Pong comes
    out above −20.7, though it is worse.

    References: Gomes & Souza (papers/000), eq. 1, with ε = 1e-8.

    >>> from examiner.results import Results, Scales, TaskScale
    >>> from examiner.scores import normalise
    >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [30.0]})
    >>> results = results.with_scales(Scales([TaskScale("t", random=10.0)]))
    >>> normalise(results, "random-only").measure().round(6)
    array([0.5])
    """
    # Halves, of which no sum is larger than a number can be.
    chance = np.abs(scale.marks[0, scores.task_codes]) / 2
    size = np.abs(scores.values) / 2
    share = (size - chance) / (size + chance + EPSILON / 2)
    return np.asarray(share * scale.sign[scores.task_codes])
