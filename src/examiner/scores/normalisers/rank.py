"""The share of the other agents that a score beats: robust to any scale."""

from __future__ import annotations

import numpy as np

from examiner.scores.comparable import Normalised, TaskScores
from examiner.wording import listed


def rank(scores: TaskScores) -> Normalised:
    r"""Count the other agents whose mean on the task is beaten, ties half, as a share.

    .. math:: x' = \frac{1}{n_t - 1} \sum_{b \ne a} [\bar{x}_{bt} < x] + \tfrac12 [\bar{x}_{bt} = x]

    With one trial a cell this is (rank − 1) / (n − 1) with mean ranks for ties: 1.0 is the best
    agent of the task, 0.0 the worst. Agents not observed on a task do not count there.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[10.0], [20.0], [10.0]]), "rank").measure()
    array([0.25, 1.  , 0.25])
    """
    scores.needs_several_agents("rank")
    sign = scores.sign
    values = scores.values * sign[scores.task_codes]
    means = scores.agent_means * sign
    shares = np.full(len(values), np.nan)
    alone: list[str] = []
    order = np.argsort(scores.task_codes, kind="stable")
    ends = np.cumsum(np.bincount(scores.task_codes, minlength=len(scores.tasks)))
    for task, rows in enumerate(np.split(order, ends[:-1])):
        others = np.sort(means[~np.isnan(means[:, task]), task])
        if len(others) < 2:
            alone.append(scores.tasks[task])
            continue
        beaten = np.searchsorted(others, values[rows], "left") + np.searchsorted(
            others, values[rows], "right"
        )
        own = means[scores.agent_codes[rows], task]
        itself = 2.0 * (own < values[rows]) + (own == values[rows])
        shares[rows] = (beaten - itself) / 2 / (len(others) - 1)
    shares[np.isnan(values)] = np.nan
    notes = (f"Nobody is compared on tasks that one agent has: {listed(alone)}.",) if alone else ()
    return Normalised(shares, "share of the other agents beaten, ties half", notes)
