"""Tasks that disagree: with the other tasks about the agents, or with themselves about score and win."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.information.decomposition import standard_scores
from examiner.information.observations import oriented_means, task_signs
from examiner.information.task_scale import task_scaled
from examiner.messages import counted, listed
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.cells import group_means, ratio
from examiner.scores.common_rows import column_blocks
from examiner.scores.likeness import correlate_pairs
from examiner.scores.significance import LEVEL, benjamini_hochberg
from examiner.validation import Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpposedTasks:
    """How each task's ranking of agents goes with the rest; arrays of shape [tasks].

    `correlation` is that of the task with the mean of all others; `chance` how often agents without any
    order would give one as negative (one-sided t test), NaN where there is none.
    """

    tasks: tuple[str, ...]
    correlation: Floats
    chance: Floats

    @property
    def opposed(self) -> tuple[str, ...]:
        """The tasks that clearly rank agents the other way round, the most opposed first.

        At 5 % after Benjamini–Hochberg over all tasks: of many, some are opposed by chance.
        """
        return _significant(self.tasks, self.correlation, self.chance)

    def __repr__(self) -> str:
        named = listed(self.opposed) or "none"
        return f"OpposedTasks: of {counted(len(self.tasks), 'task')} against the rest: {named}"

    def _repr_html_(self) -> str:
        columns = {"task": self.tasks, "correlation": self.correlation, "chance": self.chance}
        return html_columns(repr(self), columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeceptiveTasks:
    """How score and win go together on each task; arrays of shape [tasks].

    `correlation` is across agents, `chance` as of `OpposedTasks`; `trial_gap` the score of won trials less
    that of lost ones, in standard deviations, NaN where all trials were won or all lost.
    """

    tasks: tuple[str, ...]
    score: str
    win: str
    correlation: Floats
    chance: Floats
    trial_gap: Floats

    @property
    def deceptive(self) -> tuple[str, ...]:
        """The tasks on which agents that win more score significantly less, the worst first.

        At 5 % after Benjamini–Hochberg over all tasks.
        """
        return _significant(self.tasks, self.correlation, self.chance)

    def __repr__(self) -> str:
        named = listed(self.deceptive) or "none"
        return f"DeceptiveTasks: {self.score} against {self.win} on: {named}"

    def _repr_html_(self) -> str:
        columns = {"task": self.tasks, "correlation": self.correlation, "trial gap": self.trial_gap}
        return html_columns(repr(self), columns)


def opposed(results: Results, measure: str | None = None) -> OpposedTasks:
    """Tell which tasks rank the agents against the rest (papers/004, section IV).

    >>> scores = np.array([[1.0, 2.0, 3.0, 5.0], [2.0, 4.0, 4.0, 2.0], [3.0, 5.0, 8.0, 1.0]])
    >>> opposed(Results.from_numpy(scores)).correlation.round(1)
    array([ 0.9,  0.7,  1. , -0.9])
    """
    scores = standard_scores(oriented_means(results, measure))
    whole, met = np.nansum(scores, axis=1), np.isfinite(scores).sum(axis=1)
    correlation = np.empty(scores.shape[1])
    count = np.empty(scores.shape[1], dtype=np.int64)
    for block in column_blocks(scores.shape):
        own = scores[:, block]
        held, seen = np.nan_to_num(own), np.isfinite(own)
        rest = ratio(whole[:, None] - held, met[:, None] - seen)
        correlation[block], count[block] = correlate_pairs(own, rest)
    return OpposedTasks(results.tasks, correlation, _chance(correlation, count))


def deceptive(
    results: Results, score: str | None = None, win: str | None = None
) -> DeceptiveTasks | None:
    """Tell on which tasks a higher score goes with fewer wins; None without both measures.

    Without names, the win is the first measure made of zeros and ones, the score the first other one.

    >>> table = {"agent": list("aabbcc"), "task": ["t"] * 6, "trial": [0, 1] * 3, "run": [0] * 6,
    ...          "score": [9, 8, 5, 4, 1, 2], "win": [0, 0, 0, 1, 1, 1]}
    >>> deceptive(Results.from_dict(table)).correlation.round(2)
    array([-1.])
    """
    shares = [name for name in results.measures if results.is_binary(name)]
    others = [name for name in results.measures if name not in shares]
    win = results.measure_name(win) if win else next(iter(shares), None)
    score = results.measure_name(score) if score else next(iter(others), None)
    if win is None or score is None:
        return None
    correlation, count = correlate_pairs(
        oriented_means(results, score), oriented_means(results, win)
    )
    gap = _trial_gap(results, score, win)
    chance = _chance(correlation, count)
    return DeceptiveTasks(results.tasks, score, win, correlation, chance, gap)


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


def _chance(correlation: Floats, count: NDArray[np.int64]) -> Floats:
    from scipy.special import stdtr  # slow to import

    freedom = np.maximum(count - 2, 1).astype(np.float64)
    spread = np.sqrt(np.maximum(1 - correlation**2, 1e-300))
    chance: Floats = stdtr(freedom, correlation * np.sqrt(freedom) / spread)
    return np.where(np.isnan(correlation), np.nan, chance)


def _significant(tasks: tuple[str, ...], correlation: Floats, chance: Floats) -> tuple[str, ...]:
    """Tasks whose correlation is significantly negative, at 5 % after Benjamini–Hochberg over all tasks."""
    known = np.isfinite(chance)
    adjusted = np.ones(len(tasks))
    adjusted[known] = benjamini_hochberg(chance[known])
    columns = np.flatnonzero(adjusted <= LEVEL)
    order = np.argsort(correlation[columns], kind="stable")
    return tuple(tasks[column] for column in columns[order])
