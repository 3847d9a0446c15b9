"""Placing new agents: what a few selected tasks predict of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, count, flag, name, number, words
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results, check_results, matched
from examiner.scores import value_unit
from examiner.selection.intervals import Predicted
from examiner.selection.prediction import UNEXPECTED
from examiner.selection.proof.chance import DOUBT
from examiner.selection.selection import Selection
from examiner.selection.targets import aggregate, check_target
from examiner.validation import Floats


class PredictedAgents(Table):
    """One row per placed agent, the highest predicted aggregate first."""

    agent: tuple[str, ...] = name("Agent")
    predicted: Floats = number("Aggregate over all tasks, were all of them run", unit="score")
    predicted_low: Floats = bound("predicted", "low")
    predicted_high: Floats = bound("predicted", "high")
    best_rank: NDArray[np.int64] = count("Best rank inside the interval")
    worst_rank: NDArray[np.int64] = count("Worst rank inside the interval")
    among: NDArray[np.int64] = count("Agents it is ranked with, itself included")
    observed: NDArray[np.bool_] = flag("It ran every task: the value is observed, not predicted")
    calibrated: NDArray[np.bool_] = flag(
        "The tasks were selected on this agent too: it is ranked among the others, and its interval may "
        "be too narrow",
        title="in calibration set",
    )
    beyond: NDArray[np.bool_] = flag(
        "Higher or lower than all agents of the calibration set: its interval is widened",
        title="beyond calibration set",
    )
    missing: tuple[tuple[str, ...], ...] = words("Selected tasks that the agent did not run")


class UnexpectedScores(Table):
    """Results that differ from what the other selected tasks predict."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    deviations: Floats = number(
        "Result minus the prediction from the other selected tasks", unit="standard deviations"
    )


class PredictedScores(Table):
    """What is predicted of agents on the tasks they did not run."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    predicted: Floats = number("Predicted score on the task", unit="score")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SetPlacement(Answer):
    """What a few selected tasks predict of agents on all tasks: `ex.selection.place`.

    `agents` has the predicted aggregate of every agent with its interval and range of ranks,
    `unexpected` the results that do not fit, and `predictions` the tasks that were not run.
    """

    kind = "set-placement"

    agents: PredictedAgents
    unexpected: UnexpectedScores
    predictions: PredictedScores
    target: str
    selected: tuple[str, ...]
    tasks: int
    level: float
    fingerprint: str
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The predicted aggregate of the agent, or of the highest of several."""
        best = self.agents[0]
        verb = "has an observed" if best.observed else "has a predicted"
        start = f"{best.agent} {verb} {self.target} of {best.predicted:.3g}"
        level = f"{self.level:.0%}".replace("%", " %")
        if np.isinf(best.predicted_low):
            start += f" (too few agents for a {level} interval)"
        elif not best.observed:
            start += f" ({level} interval {best.predicted_low:.3g} to {best.predicted_high:.3g})"
        ranks = f"{best.best_rank:,} to {best.worst_rank:,}"
        if best.best_rank == best.worst_rank:
            ranks = f"{best.best_rank:,}"
        others = "" if len(self.agents) == 1 else f", the highest of {len(self.agents):,} agents"
        return f"{start}, rank {ranks} of {best.among:,}{others}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The agents, results that do not fit, and predictions of tasks that were not run."""
        return {
            "agents": self.agents,
            "unexpected": self.unexpected,
            "predictions": self.predictions,
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """What is predicted, and from how many tasks."""
        return {
            "target": Scalar(self.target, "Aggregate that is predicted"),
            "size": Scalar(len(self.selected), "Number of selected tasks"),
            "tasks": Scalar(self.tasks, "Number of all tasks"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The selected tasks, the level of intervals, and a hash of the results they were selected on."""
        return {
            "selected": list(self.selected),
            "level": self.level,
            "input": self.fingerprint,
        }


def place(results: Results, selection: Selection) -> SetPlacement:
    """Predict the aggregate over all tasks from agents' raw results on the selected tasks.

    Results may be anything that `ex.read` takes.

    >>> from examiner.selection import select
    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> results = Results.from_numpy(scores / 20)
    >>> chosen = select(results, 2, "regression", rng=0)
    >>> placed = place(results.where(results.agent_codes == 3), chosen)
    >>> 0.1 < placed["agent 4"].predicted < 0.3
    True
    """
    if not isinstance(selection, Selection):
        raise InputError(
            "The selection is not given second. Give the new results first: `place(results, selection)`."
        )
    if selection.recipe.lexicographic:
        raise InputError(
            f"These tasks were selected by the order of {', '.join(selection.recipe.lexicographic)} among "
            f"agents, which a new agent has only next to them. Judge methods on all agents together "
            f"instead."
        )
    results = check_results(results)
    predictor, ready = selection.predictor, selection.recipe.ready(results)
    comparable = selection.recipe.values(ready)
    values = _aligned(comparable, ready, selection)
    whole = _on(predictor.all_tasks, comparable, ready)
    complete = np.atleast_1d(np.isfinite(whole).all(axis=1)) & selection.knows_total
    predicted = _within(predictor.aggregate(values, selection.level), *selection.ends)
    ends = np.stack(predicted[:3])
    if complete.any():
        goal, total = check_target(selection.target), selection.recipe.total
        ends[:, complete] = aggregate(whole[complete], goal, total)
    order = np.argsort(-ends[0], kind="stable")
    agents = [ready.agents[row] for row in order]
    value, low, high = ends[:, order]
    ranks = np.array([predictor.rank(*ends) for ends in zip(agents, low, high, strict=True)])
    tasks = selection.chosen.tasks
    columns: dict[str, Any] = {  # Any: as the column declares
        "agent": agents,
        "predicted": value,
        "predicted_low": low,
        "predicted_high": high,
        "best_rank": ranks[:, 0],
        "worst_rank": ranks[:, 1],
        "among": ranks[:, 2],
        "observed": complete[order],
        "calibrated": np.isin(agents, predictor.agents),
        "beyond": predicted.beyond[order] & ~complete[order],
        "missing": [np.array(tasks)[row].tolist() for row in np.isnan(values[order])],
        "level": selection.level,
        "score_unit": value_unit(selection.recipe),
    }
    return SetPlacement(
        PredictedAgents(**columns),
        _unexpected(agents, tasks, predictor.surprise(values)[order]),
        _predictions(agents, selection, np.isnan(whole[order]), predictor.each_task(values)[order]),
        selection.target,
        tasks,
        len(predictor.all_tasks),
        selection.level,
        selection.fingerprint,
        (
            *results.notes,
            *(note for note in selection.notes if note.startswith(DOUBT)),
            *_beyond_note(selection, predicted.beyond & ~complete),
        ),
    )


def _beyond_note(selection: Selection, beyond: NDArray[np.bool_]) -> tuple[str, ...]:
    """Say where intervals are not shown to cover: for agents beyond those the tasks were selected on."""
    curves = selection.predictor.curves
    if not beyond.any() or (curves is not None and curves.alone):
        return ()
    return (
        f"{counted(int(beyond.sum()), 'agent')} beyond all that the tasks were selected on: the true "
        f"coverage of intervals is not known there. Tasks selected for newer agents keep it.",
    )


def _within(predicted: Predicted, least: float, most: float) -> Predicted:
    """Predictions and intervals within what the aggregate can be."""
    return predicted._replace(
        **{
            name: np.clip(getattr(predicted, name), least, most)
            for name in ("value", "low", "high")
        }
    )


def _on(tasks: Sequence[str], comparable: Floats, ready: Results) -> Floats:
    """Comparable values on these tasks, [agents, tasks]; NaN where one was not run."""
    values = np.full((len(ready.agents), len(tasks)), np.nan)
    for index, column in enumerate(matched(tasks, ready.tasks)):
        if column is not None:
            values[:, index] = comparable[:, column]
    return values


def _aligned(comparable: Floats, ready: Results, selection: Selection) -> Floats:
    """Comparable values on the selected tasks, [agents, selected tasks]."""
    if all(column is None for column in matched(selection.chosen.tasks, ready.tasks)):
        raise InputError(
            f"None of the selected tasks is in the results: {listed(selection.chosen.tasks)}. Run at least "
            f"one of them."
        )
    values = _on(selection.chosen.tasks, comparable, ready)
    _check_shares(values, ready, selection)
    idle = np.flatnonzero(np.isnan(values).all(axis=1)).tolist()
    if idle:
        raise InputError(
            f"{listed([ready.agents[row] for row in idle], limit=5)} has no result on any of the "
            f"selected tasks: {listed(selection.chosen.tasks)}. Run at least one of them, or exclude "
            "the agent "
            '(`results.dropping("agent:NAME")`).'
        )
    return values


def _check_shares(values: Floats, ready: Results, selection: Selection) -> None:
    least, most = selection.ends
    for row, column in np.argwhere((values < least) | (values > most))[:1].tolist():
        agent, task = shorten(ready.agents[row]), shorten(selection.chosen.tasks[column])
        raise InputError(
            f"{agent} has {values[row, column]:g} on {task}. These tasks were selected on successes: give "
            f"shares between {least:g} and {most:g}."
        )


def _unexpected(
    agents: Sequence[str], tasks: tuple[str, ...], surprise: Floats
) -> UnexpectedScores:
    rows = np.argwhere(np.isfinite(surprise) & (np.abs(surprise) > UNEXPECTED)).tolist()
    return UnexpectedScores(
        agent=tuple(agents[row] for row, _ in rows),
        task=tuple(tasks[column] for _, column in rows),
        deviations=np.array([surprise[row, column] for row, column in rows]),
    )


def _predictions(
    agents: Sequence[str], selection: Selection, not_run: NDArray[np.bool_], predicted: Floats
) -> PredictedScores:
    """Predictions of the tasks that agents did not run, from arrays of shape [agents, all tasks]."""
    tasks, rows = selection.predictor.all_tasks, np.argwhere(not_run)
    columns: dict[str, Any] = {  # Any: as the column declares
        "agent": [agents[row] for row in rows[:, 0]],
        "task": [tasks[column] for column in rows[:, 1]],
        "predicted": predicted[not_run],
        "score_unit": value_unit(selection.recipe),
    }
    return PredictedScores(**columns)
