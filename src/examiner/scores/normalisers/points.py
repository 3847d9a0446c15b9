"""Points for the rank on each task, as the GVGAI competition gives them."""

from __future__ import annotations

import numpy as np

from examiner.scores.comparable import LearntScale, TaskScores
from examiner.scores.standing import learn_standing, others_beaten
from examiner.validation import Floats

POINTS = (25.0, 18.0, 15.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0, 1.0)
"""What the first ten ranks are worth; further ranks get nothing."""


def learn(scores: TaskScores) -> LearntScale:
    """Keep every agent's mean on each task."""
    return learn_standing(scores, "points")


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    """Give points for the rank of the agent's mean among the other agents'; equals share theirs.

    All trials of a cell get the points of their mean: a competition ranks agents, not trials.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[3.0], [2.0], [2.0], [1.0]]), "points").measure()
    array([25. , 16.5, 16.5, 12. ])
    """
    value = scores.agent_means[scores.agent_codes, scores.task_codes]
    _, alike, better = others_beaten(scale, scores, value)
    total = np.concatenate([[0.0], np.cumsum(POINTS)])
    compared = np.isfinite(better)
    first = np.where(compared, np.minimum(better, len(POINTS)), 0).astype(int)
    last = np.where(compared, np.minimum(better + alike + 1, len(POINTS)), 0).astype(int)
    shared = (total[last] - total[first]) / (alike + 1)
    return np.where(np.isnan(scores.values), np.nan, shared)
