"""Human-normalised scores: 0.0 is random play, 1.0 is the human reference."""

from __future__ import annotations

import numpy as np

from examiner.messages import listed
from examiner.scores.comparable import LearntScale, TaskScores
from examiner.validation import Floats


def learn(scores: TaskScores) -> LearntScale:
    """Keep the random and the reference score of each task.

    A reference no better than random turns the order of agents round: such tasks are named in a note.
    """
    scales, notes = scores.anchored("the normaliser 'human'", ["random", "reference"])
    with np.errstate(over="ignore"):
        endless = np.isinf(scales.reference - scales.random)
    if endless.any():
        named = listed(task for task, wide in zip(scores.tasks, endless, strict=True) if wide)
        notes += (
            f"Random and reference score lie further apart than a number can say, and nothing is known "
            f"on their scale: {named}.",
        )
    return scores.scale(scales.random, scales.reference, notes=(*notes, *scales.flips))


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    r"""Place scores between the random player (0.0) and the reference (1.0).

    .. math:: x' = \frac{x - \mathrm{random}}{\mathrm{reference} - \mathrm{random}}

    Where lower is better, the reference lies below random and the same equation holds.

    References: Mnih et al. (2015); papers/002, section III-C (there times 100).

    >>> from examiner.results import Results, Scales, TaskScale
    >>> from examiner.scores import normalise
    >>> results = Results.from_dict({"agent": ["a"], "task": ["pong"], "score": [14.6]})
    >>> results = results.with_scales(Scales([TaskScale("pong", random=-20.7, reference=14.6)]))
    >>> normalise(results, "human").measure()
    array([1.])
    """
    random, reference = scale.marks
    with np.errstate(over="ignore"):
        gap = reference - random
        gap = np.where((gap == 0) | np.isinf(gap), np.nan, gap)
        return np.asarray((scores.values - random[scores.task_codes]) / gap[scores.task_codes])
