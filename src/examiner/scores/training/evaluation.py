"""Which episodes of a log were played to evaluate an agent, and not while it learnt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores.training.checkpoints import none_alone
from examiner.scores.training.episodes import Episodes

EVALUATION = "evaluation"
"""The column that tells: true or false, or the number of the evaluation and empty while learning."""


def evaluation_rows(
    results: Results, episodes: Episodes, column: str = EVALUATION
) -> NDArray[np.bool_] | None:
    """Tell for each row whether it is of an evaluation; None where nothing says so.

    Without the column, all are where no episode of a run is alone on its frame: training episodes
    end on different ones, those of an evaluation share theirs.

    >>> from examiner.scores.training.episodes import episodes_of
    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [0] * 3,
    ...     "trial": [0, 1, 2], "score": [1, 2, 3], "evaluation": [None, 0, 0]})
    >>> evaluation_rows(results, episodes_of(results))
    array([False,  True,  True])
    """
    values = results.numbers(column) if column in results.attributes else None
    if values is None or np.isnan(values).all():
        together = episodes.in_frames and none_alone(episodes.observed(np.zeros(len(results))))
        return np.ones(len(results), dtype=bool) if together else None
    seen = ~np.isnan(values)
    if not seen.all() or not np.isin(values, (0.0, 1.0)).all():
        return seen
    # Zeros and ones are flags, or the numbers of two evaluations whose episodes stand together.
    if episodes.in_frames and none_alone(episodes.observed(values)):
        return seen
    return np.asarray(values == 1)
