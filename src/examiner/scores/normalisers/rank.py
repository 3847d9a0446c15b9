"""The share of the other agents that a score beats: robust to any scale."""

from __future__ import annotations

from examiner.scores.comparable import LearntScale, TaskScores
from examiner.scores.standing import learn_standing, others_beaten
from examiner.validation import Floats


def learn(scores: TaskScores) -> LearntScale:
    """Keep every agent's mean on each task."""
    return learn_standing(scores, "rank")


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    r"""Count the other agents whose mean on the task is beaten, ties half, as a share.

    .. math:: x' = \frac{1}{|B|} \sum_{b \in B} [\bar{x}_{bt} < x] + \tfrac12 [\bar{x}_{bt} = x],
              \quad B = \{b \ne a : b \text{ was observed on } t\}

    With one trial a cell this is (rank − 1) / (n − 1) with mean ranks for ties: 1.0 is the best
    agent of the task, 0.0 the worst. A newcomer is compared with all agents learnt from, one of them
    with the others.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[10.0], [20.0], [10.0]]), "rank").measure()
    array([0.25, 1.  , 0.25])
    """
    worse, alike, better = others_beaten(scale, scores, scores.values)
    return (worse + alike / 2) / (worse + alike + better)
