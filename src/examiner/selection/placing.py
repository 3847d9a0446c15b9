"""Placing a new agent: what the few chosen tasks say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import InputError, listed, shorten
from examiner.results import Results
from examiner.results.atari import matched
from examiner.selection.intervals import Predicted
from examiner.selection.prediction import UNEXPECTED
from examiner.selection.selection import Selection
from examiner.selection.targets import aggregate, check_target
from examiner.validation import Floats


class SetPlacement(NamedTuple):
    """What the few tasks say of one agent: predicted aggregate, its interval, ranks, and surprises."""

    agent: str
    value: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    among: int  # itself and the other agents it is ranked with
    unexpected: tuple[tuple[str, float], ...]  # task, and by how many deviations
    missing: tuple[str, ...]
    beyond: bool  # it lies beyond all agents the prediction was learnt from
    tasks: Mapping[str, float]  # every task predicted, in comparable units
    observed: bool = False  # it met every task: its value is no prediction


def place(results: Results, selection: Selection) -> tuple[SetPlacement, ...]:
    """Predict the full benchmark of agents from their raw results on the chosen tasks.

    >>> from examiner.selection import select
    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> results = Results.from_numpy(scores / 20)
    >>> chosen = select(results, 2, "regression", rng=0)
    >>> 0.1 < place(results.where(results.agent_codes == 3), chosen)[0].value < 0.3
    True
    """
    if not isinstance(selection, Selection):
        raise InputError(
            "The selection is not given second. Give the new results first: `place(results, selection)`."
        )
    if selection.recipe.lexicographic:
        raise InputError(
            f"These tasks were chosen by the order of {', '.join(selection.recipe.lexicographic)} among "
            f"agents, which a new agent has only beside them. Judge methods on all agents together instead."
        )
    predictor, ready = selection.predictor, selection.recipe.ready(results)
    known = selection.recipe.values(ready)
    values = _aligned(known, ready, selection)
    whole = _on(predictor.all_tasks, known, ready)
    predicted = _within(predictor.aggregate(values, selection.level), *selection.ends)
    surprise = predictor.surprise(values)
    tasks = predictor.each_task(values)
    placed = []
    for row, agent in enumerate(ready.agents):
        value, low, high = (float(part[row]) for part in predicted[:3])
        met_all = bool(np.isfinite(whole[row]).all()) and selection.knows_total
        if met_all:
            goal, total = check_target(selection.target), selection.recipe.total
            value = low = high = float(aggregate(whole[row][None], goal, total)[0])
        placed.append(
            SetPlacement(
                agent,
                value,
                low,
                high,
                *predictor.rank(agent, low, high),
                _unexpected(selection.tasks, surprise[row]),
                tuple(np.array(selection.tasks)[np.isnan(values[row])].tolist()),
                bool(predicted.beyond[row]) and not met_all,
                dict(zip(predictor.all_tasks, tasks[row].tolist(), strict=True)),
                met_all,
            )
        )
    return tuple(placed)


def _within(found: Predicted, least: float, most: float) -> Predicted:
    """Predictions and intervals within what the aggregate can be."""
    return found._replace(
        **{name: np.clip(getattr(found, name), least, most) for name in ("value", "low", "high")}
    )


def _on(tasks: Sequence[str], known: Floats, ready: Results) -> Floats:
    """Comparable values on these tasks, [agents, tasks]; NaN where one was not run."""
    values = np.full((len(ready.agents), len(tasks)), np.nan)
    for index, column in enumerate(matched(tasks, ready.tasks)):
        if column is not None:
            values[:, index] = known[:, column]
    return values


def _aligned(known: Floats, ready: Results, selection: Selection) -> Floats:
    """Comparable values on the chosen tasks, [agents, chosen tasks]."""
    if all(column is None for column in matched(selection.tasks, ready.tasks)):
        raise InputError(
            f"None of the chosen tasks is in the results: {listed(selection.tasks)}. Run at least one of "
            f"them."
        )
    values = _on(selection.tasks, known, ready)
    _check_shares(values, ready, selection)
    idle = np.flatnonzero(np.isnan(values).all(axis=1)).tolist()
    if idle:
        raise InputError(
            f"{listed([ready.agents[row] for row in idle], limit=5)} has no result on any of the "
            f"chosen tasks: {listed(selection.tasks)}. Run at least one of them, or leave the agent out "
            '(`results.dropping("agent:NAME")`).'
        )
    return values


def _check_shares(values: Floats, ready: Results, selection: Selection) -> None:
    least, most = selection.ends
    for row, column in np.argwhere((values < least) | (values > most))[:1].tolist():
        agent, task = shorten(ready.agents[row]), shorten(selection.tasks[column])
        raise InputError(
            f"{agent} has {values[row, column]:g} on {task}. These tasks were chosen on successes: give "
            f"shares between {least:g} and {most:g}."
        )


def _unexpected(tasks: tuple[str, ...], surprise: Floats) -> tuple[tuple[str, float], ...]:
    return tuple(
        (task, float(by))
        for task, by in zip(tasks, surprise, strict=True)
        if np.isfinite(by) and abs(by) > UNEXPECTED
    )
