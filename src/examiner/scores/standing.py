"""Where a score stands among the agents of each task: how many others are worse, alike, better."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.comparable import Floats, LearntScale, TaskScores
from examiner.wording import listed


class Others(NamedTuple):
    """How many other agents are worse, alike and better, for each row; NaN where there are none."""

    worse: Floats
    alike: Floats
    better: Floats


def learn_standing(scores: TaskScores, method: str) -> LearntScale:
    """Keep every agent's mean on each task, higher being better; tasks that one agent has are named.

    >>> learn_standing(TaskScores.of_cells(np.array([[1.0], [3.0]]), ["a", "b"], ["t"]), "rank").marks
    array([[1.],
           [3.]])
    """
    scores.needs_several_agents(method)
    marks = scores.agent_means * scores.sign
    lonely = np.isfinite(marks).sum(axis=0) < 2
    alone = [task for task, bare in zip(scores.tasks, lonely, strict=True) if bare]
    notes = [f"Nobody is compared on tasks that one agent has: {listed(alone)}."] if alone else []
    marks = np.where(lonely, np.nan, marks)
    return scores.scale(*marks, notes=notes, agents=scores.agents)


def others_beaten(scale: LearntScale, scores: TaskScores, values: Floats) -> Others:
    """Count the agents of a scale, each row's own agent left out, whose mean is below, at or above a value.

    >>> scale = learn_standing(TaskScores.of_cells(np.array([[1.0], [3.0]]), ["a", "b"], ["t"]), "rank")
    >>> new = TaskScores.of_cells(np.array([[2.0], [3.0]]), ["c", "b"], ["t"])
    >>> others_beaten(scale, new, new.values).worse
    array([1., 1.])
    """
    oriented = values * scale.sign[scores.task_codes]
    worse, upto = np.full((2, len(values)), np.nan)
    order = np.argsort(scores.task_codes, kind="stable")
    ends = np.cumsum(np.bincount(scores.task_codes, minlength=len(scores.tasks)))
    known = np.isfinite(scale.marks).sum(axis=0)
    ladders = np.sort(scale.marks, axis=0)  # what was not observed comes last
    for task, rows in enumerate(np.split(order, ends[:-1])):
        ladder = ladders[: known[task], task]
        if len(ladder):
            worse[rows] = np.searchsorted(ladder, oriented[rows], "left")
            upto[rows] = np.searchsorted(ladder, oriented[rows], "right")
    own = scale.own_marks(scores)
    alike = upto - worse - (own == oriented)
    better = known[scores.task_codes] - upto - (own > oriented)
    unseen = np.isnan(oriented)
    counts = (worse - (own < oriented), alike, better)
    return Others(*(np.where(unseen, np.nan, count) for count in counts))
