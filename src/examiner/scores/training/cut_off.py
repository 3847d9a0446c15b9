"""Runs that were cut off: they ended long before the others of their agent, and have no final score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted, shorten
from examiner.results import Results
from examiner.scores.training.episodes import Curve, Episodes, end_times
from examiner.validation import Floats

CUT_SHORT = 0.5
"""Runs that end before this share of the time of others of their task are named or excluded."""


def cut_off_runs(curve: Curve, episodes: Episodes, points: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which runs of checkpoints ended before half of the usual time of their task; shape [runs].

    What such a run had reached by then is not its final score. An agent whose runs all end early has a
    budget of its own: they count. So do runs of episodes (not in `points`), whose time depends on how well
    the agent played: excluding short ones would exclude low scores.

    >>> curve = Curve(np.repeat([0, 1, 2], 2), np.array([0.0, 9, 0, 9, 0, 3]), np.zeros(6), np.full(3, 2))
    >>> one = np.zeros(3, dtype=int)
    >>> log = Episodes(np.arange(6), curve.run, curve.time, "steps", one, one, (0, 1, 2), curve.lengths, ())
    >>> cut_off_runs(curve, log, np.full(3, True))
    array([False, False,  True])
    """
    if not episodes.is_timed or not points.any():
        return np.zeros(len(points), dtype=bool)
    ends = end_times(curve)
    observed = ~np.isnan(ends)
    usual = np.full(int(episodes.task.max()) + 1, np.nan)
    for task in np.unique(episodes.task[observed]).tolist():
        usual[task] = np.median(ends[observed & (episodes.task == task)])
    early = points & (ends < CUT_SHORT * usual[episodes.task])
    cell = episodes.agent * len(usual) + episodes.task
    reached = np.bincount(cell, weights=observed & ~early) > 0
    return np.asarray(early & reached[cell])


def cut_off_note(results: Results, episodes: Episodes, ends: Floats, cut: NDArray[np.bool_]) -> str:
    """Return a sentence with the number of runs that are excluded, and the first of them."""
    first = int(np.flatnonzero(cut)[0])
    usual = np.nanmedian(ends[episodes.task == episodes.task[first]])
    agent, task = results.agents[episodes.agent[first]], results.tasks[episodes.task[first]]
    return (
        f"{int(cut.sum()):,} of {counted(len(cut), 'run')} ended before half of the usual time of their "
        f"task and are excluded, such as run {shorten(episodes.label[first])} of {shorten(agent)} on "
        f"{shorten(task)}: it ended at {ends[first]:,.0f} of {usual:,.0f} {episodes.unit}."
    )
