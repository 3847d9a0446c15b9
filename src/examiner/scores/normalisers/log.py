"""Scores on a logarithmic scale, for games whose scores range over orders of magnitude."""

from __future__ import annotations

import numpy as np

from examiner.scores.comparable import LearntScale, TaskScores
from examiner.validation import Floats


def learn(scores: TaskScores) -> LearntScale:
    """Keep nothing but which way is better."""
    return scores.scale()


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    r"""Take the signed logarithm, so that zero and negative scores keep their place.

    .. math:: x' = \operatorname{sign}(x) \log_{10}(1 + |x|)

    This tames the scale but does not anchor it: tasks remain incommensurable.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[999.0, -9.0]]), "log").measure()
    array([ 3., -1.])
    """
    values = np.sign(scores.values) * np.log10(1.0 + np.abs(scores.values))
    return np.asarray(values * scale.sign[scores.task_codes])
