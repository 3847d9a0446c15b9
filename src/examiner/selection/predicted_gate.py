"""A gate by a few selected tasks: whether the predicted score of a new agent is worse than an old one's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from examiner.messages import InputError, counted, listed, shorten
from examiner.results import check_results
from examiner.scores import Gate, check_gate, value_unit
from examiner.selection.placing import place
from examiner.selection.selection import Selection


def gate(
    results: Any,  # Any: all that `ex.read` takes
    selection: Selection,
    new: str,
    old: str,
    *,
    margin: float = 0.0,
    error_rate: float = 0.05,
) -> Gate:
    r"""Decide from results on a few selected tasks whether a new agent is worse on the whole benchmark.

    Both scores are predicted as `place` does, with intervals (l, u) that held-out agents validate; an agent
    with results on all tasks has its observed score instead. The interval of the difference is

    .. math:: d - \sqrt{(x - l_x)^2 + (u_y - y)^2}, \quad d + \sqrt{(u_x - x)^2 + (y - l_y)^2}

    of predicted scores x (new) and y (old): as if their errors were independent. Two versions of one
    agent share errors, so that fewer verdicts than `error_rate` are wrong for them.

    References: Zou & Donner (2008), "Construction of confidence limits about effect measures", for the
    interval.

    >>> from examiner.results import Results
    >>> from examiner.selection import select
    >>> scores = np.random.default_rng(0).normal(size=(30, 8)) + np.arange(30)[:, None]
    >>> results = Results.from_numpy(scores / 30)
    >>> gate(results.dropping("task:task 8"), select(results, 3), "agent 9", "agent 20").verdict
    'fail'
    """
    check_gate(new, old, margin, error_rate)
    results = check_results(results)
    for agent in (new, old):
        if agent not in results.agents:
            raise InputError(
                f"There is no agent {shorten(agent)}. There are {listed(results.agents)}."
            )
    both = results.where(np.isin(np.array(results.agents)[results.agent_codes], (new, old)))
    placed = place(both, replace(selection, level=1 - 2 * error_rate))
    first, second = placed[new], placed[old]
    if first.observed and second.observed:
        raise InputError(
            f"{shorten(new)} and {shorten(old)} have results on all {counted(placed.tasks, 'task')}, so "
            f"that nothing is predicted. Compare them without the selection: `ex.scores.gate(...)`."
        )
    difference = float(first.predicted - second.predicted)
    low = np.hypot(first.predicted - first.predicted_low, second.predicted_high - second.predicted)
    high = np.hypot(first.predicted_high - first.predicted, second.predicted - second.predicted_low)
    missing = {*first.missing, *second.missing}
    return Gate(
        new=new,
        old=old,
        difference=difference,
        low=float(difference - low),
        high=float(difference + high),
        margin=margin,
        error_rate=error_rate,
        test=f"scores on {counted(placed.tasks, 'task')} predicted from {len(placed.selected):,} of them",
        score_unit=value_unit(selection.recipe),
        tasks=len(placed.selected) - len(missing),
        notes=placed.notes,
    )
