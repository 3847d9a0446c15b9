"""A matched budget: every run as it was at one time, and agents that were not trained so long."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, shorten
from examiner.results import Results
from examiner.scores.training.episodes import Episodes, episodes_of
from examiner.validation import Floats


def at_budget(results: Results, budget: float) -> tuple[Results, list[str]]:
    """Return the rows of a training log up to a time, without runs that ended before it, and notes.

    A run reaches the time if its next row, one mean gap after its last, would come no earlier.

    >>> log = {"agent": ["a"] * 3 + ["b"] * 2, "task": ["t"] * 5, "run": [0] * 5, "trial": [0, 1, 2, 0, 1],
    ...     "frames": [10, 20, 30, 5, 10], "score": [1.0, 2.0, 3.0, 4.0, 5.0]}
    >>> rows, notes = at_budget(Results.from_dict(log), 25)
    >>> rows.agents, rows.measure(), notes
    (('a',), array([1., 2.]), ["No value at 25 frames for 'b' (to 10): 1 of 2 runs ended before, or were
    logged only later."])
    """
    episodes = episodes_of(results)
    if not episodes.is_timed:
        raise InputError(
            "Runs cannot be compared at one time without a column 'frames' or 'steps' that is filled in "
            'every row. Name it (`time="COLUMN"`), or choose `final`.'
        )
    ends, firsts = episodes.time[episodes.last], episodes.time[episodes.last - episodes.lengths + 1]
    gaps = (ends - firsts) / np.maximum(episodes.lengths - 1, 1)
    reached = (ends + gaps >= budget) & (firsts <= budget)
    size = f"{budget:,.15g} {episodes.unit}"
    if not reached.any():
        raise InputError(
            f"No run has a value at {size}: the longest ends at {ends.max():,.15g}, and the first rows are "
            f"at {firsts.min():,.15g}. Choose a time between them."
        )
    kept = np.zeros(len(results), dtype=bool)
    kept[episodes.rows] = reached[episodes.run] & (episodes.time <= budget)
    notes = [] if reached.all() else [_without_value(results, episodes, ends, ~reached, size)]
    return results.where(kept), notes


def _without_value(
    results: Results, episodes: Episodes, ends: Floats, short: NDArray[np.bool_], size: str
) -> str:
    """Name the agents of runs that do not reach the time, each with its latest end."""
    latest = {
        agent: ends[short & (episodes.agent == agent)].max()
        for agent in np.unique(episodes.agent[short]).tolist()
    }
    names = [f"{shorten(results.agents[agent])} (to {end:,.15g})" for agent, end in latest.items()]
    some = int(short.sum())
    return (
        f"No value at {size} for {', '.join(names[:20])}{', …' if len(names) > 20 else ''}: {some:,} of "
        f"{counted(len(short), 'run')} ended before, or were logged only later."
    )
