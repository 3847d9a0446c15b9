"""Tasks that disagree: with the other tasks about the agents, or in their score with their win."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, flag, name, number
from examiner.information.factors import oriented_means, standard_scores, task_signs
from examiner.information.observations import task_scaled
from examiner.messages import InputError, counted, listed
from examiner.results import Results, reads_results
from examiner.scores import (
    LEVEL,
    benjamini_hochberg,
    column_blocks,
    correlate_pairs,
    group_means,
    ratio,
)
from examiner.validation import Floats


class TaskOpposition(Table):
    """Tasks, those that disagree most with the others first."""

    task: tuple[str, ...] = name("Task")
    correlation: Floats = number("Correlation with the mean of all other tasks, over agents")
    p_value: Floats = number("One-sided p-value of a negative correlation (t test)")
    opposed: NDArray[np.bool_] = flag(
        "Significantly negative (5 %, Benjamini–Hochberg over all tasks)"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpposedTasks(Answer):
    """How each task's ranking of agents correlates with that of the other tasks."""

    kind = "opposed"

    tasks: TaskOpposition

    @property
    def opposed(self) -> tuple[str, ...]:
        """The tasks that rank agents significantly against the others, the most opposed first."""
        return _flagged(self.tasks, "opposed")

    @property
    def headline(self) -> str:
        """How many tasks rank agents against the others."""
        return _headline("rank", "agents against the others", self.opposed, len(self.tasks))


class TaskDeception(Table):
    """Tasks, those whose score disagrees most with the win first."""

    task: tuple[str, ...] = name("Task")
    correlation: Floats = number("Correlation of score and win over agents")
    p_value: Floats = number("One-sided p-value of a negative correlation (t test)")
    trial_gap: Floats = number(
        "Score of won trials less that of lost trials", unit="standard deviations"
    )
    deceptive: NDArray[np.bool_] = flag(
        "Significantly negative (5 %, Benjamini–Hochberg over all tasks)"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeceptiveTasks(Answer):
    """How score and win correlate on each task."""

    kind = "deceptive"

    tasks: TaskDeception
    score: str
    win: str

    @property
    def deceptive(self) -> tuple[str, ...]:
        """The tasks on which agents that win more score significantly less, the worst first."""
        return _flagged(self.tasks, "deceptive")

    @property
    def headline(self) -> str:
        """On how many tasks agents that win more score less."""
        about = "agents lower the more they win"
        return _headline("score", about, self.deceptive, len(self.tasks))

    @property
    def settings(self) -> Mapping[str, str]:
        """The two measures."""
        return {"score": self.score, "win": self.win}


@reads_results
def opposed(results: Results, measure: str | None = None) -> OpposedTasks:
    """Return which tasks rank the agents against the others (papers/004, section IV).

    >>> scores = np.array([[1.0, 2.0, 3.0, 5.0], [2.0, 4.0, 4.0, 2.0], [3.0, 5.0, 8.0, 1.0]])
    >>> opposed(Results.from_numpy(scores)).tasks.correlation.round(1)
    array([-0.9,  0.7,  0.9,  1. ])
    """
    scores = standard_scores(oriented_means(results, measure))
    whole, observed = np.nansum(scores, axis=1), np.isfinite(scores).sum(axis=1)
    correlation = np.empty(scores.shape[1])
    count = np.empty(scores.shape[1], dtype=np.int64)
    for block in column_blocks(scores.shape):
        task = scores[:, block]
        others = ratio(whole[:, None] - np.nan_to_num(task), observed[:, None] - np.isfinite(task))
        correlation[block], count[block] = correlate_pairs(task, others)
    p_values = _p_values(correlation, count)
    table = TaskOpposition(
        task=results.tasks,
        correlation=correlation,
        p_value=p_values,
        opposed=_significant(p_values),
    )
    return OpposedTasks(table.sorted_by("correlation"))


@reads_results
def deceptive(results: Results, score: str | None = None, win: str | None = None) -> DeceptiveTasks:
    """Return on which tasks a higher score correlates with fewer wins.

    Without names, the win is the first measure of zeros and ones, the score the first other one.

    >>> table = {"agent": list("aabbcc"), "task": ["t"] * 6, "trial": [0, 1] * 3, "run": [0] * 6,
    ...          "score": [9, 8, 5, 4, 1, 2], "win": [0, 0, 0, 1, 1, 1]}
    >>> deceptive(Results.from_dict(table)).tasks.correlation.round(2)
    array([-1.])
    """
    win = results.measure_name(win) if win else win_of(results)
    others = [measure for measure in results.measures if not results.is_binary(measure)]
    score = results.measure_name(score) if score else next(iter(others), None)
    if win is None or score is None:
        raise InputError(
            f"Deceptive tasks need a score and a win (a measure of zeros and ones); the measures are "
            f"{listed(results.measures)}. Name them as `score` and `win`."
        )
    correlation, count = correlate_pairs(
        oriented_means(results, score), oriented_means(results, win)
    )
    p_values = _p_values(correlation, count)
    table = TaskDeception(
        task=results.tasks,
        correlation=correlation,
        p_value=p_values,
        trial_gap=_trial_gap(results, score, win),
        deceptive=_significant(p_values),
    )
    return DeceptiveTasks(table.sorted_by("correlation"), score, win)


def win_of(results: Results) -> str | None:
    """Return the first measure of zeros and ones where there is another measure, else None.

    >>> win_of(Results.from_numpy([[0.0, 1.0]]))
    """
    wins = [measure for measure in results.measures if results.is_binary(measure)]
    return wins[0] if 0 < len(wins) < len(results.measures) else None


def _trial_gap(results: Results, score: str, win: str) -> Floats:
    tasks = results.task_codes.astype(np.int64)
    n_tasks = len(results.tasks)
    scores = task_scaled(results.measure(score), tasks, n_tasks) * task_signs(results, score)[tasks]
    wins = results.measure(win)
    both = np.isfinite(scores) & np.isfinite(wins)
    scores, won, tasks = scores[both], wins[both] > 0.5, tasks[both]

    def mean(values: Floats, rows: NDArray[np.bool_]) -> Floats:
        return group_means(values[rows], tasks[rows], n_tasks)

    every = np.ones(len(scores), dtype=bool)
    spread = np.sqrt(mean((scores - mean(scores, every)[tasks]) ** 2, every))
    return ratio(mean(scores, won) - mean(scores, ~won), spread)


def _p_values(correlation: Floats, count: NDArray[np.int64]) -> Floats:
    """Return one-sided p-values of negative correlations (t test)."""
    from scipy.special import stdtr  # slow to import

    freedom = np.maximum(count - 2, 1).astype(np.float64)
    spread = np.sqrt(np.maximum(1 - correlation**2, 1e-300))
    p_values: Floats = stdtr(freedom, correlation * np.sqrt(freedom) / spread)
    return np.where(np.isnan(correlation), np.nan, p_values)


def _significant(p_values: Floats) -> NDArray[np.bool_]:
    """Return which p-values are significant at 5 % after Benjamini–Hochberg; NaN is not."""
    finite = np.isfinite(p_values)
    adjusted = np.ones(len(p_values))
    adjusted[finite] = benjamini_hochberg(p_values[finite])
    return adjusted <= LEVEL


def _flagged(table: Table, column: str) -> tuple[str, ...]:
    return tuple(row.task for row in table if row[column])


def _headline(verb: str, about: str, names: tuple[str, ...], tasks: int) -> str:
    if not names:
        return f"None of {counted(tasks, 'task')} {verb}s {about} significantly."
    verb = f"{verb}s" if len(names) == 1 else verb
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return (
        f"{len(names):,} of {counted(tasks, 'task')} {verb} {about}: {', '.join(names[:5])}{more}."
    )
