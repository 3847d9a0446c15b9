"""Where agents stand on each task: how many others are worse, alike, better; by one measure or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.results import Results
from examiner.scores.cells import cell_means
from examiner.scores.comparable import LearntScale, TaskScores
from examiner.validation import Floats, check_known, natural_key


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
            here = oriented[rows]
            below = np.searchsorted(ladder, here, "left")
            met = ladder[np.minimum(below, len(ladder) - 1)] == here
            worse[rows] = upto[rows] = below
            upto[rows[met]] = np.searchsorted(
                ladder, here[met], "right"
            )  # only there are any alike
    marks = scale.own_marks(scores)
    alike = upto - worse - (marks == oriented)
    better = known[scores.task_codes] - upto - (marks > oriented)
    unseen = np.isnan(oriented)
    counts = (worse - (marks < oriented), alike, better)
    return Others(*(np.where(unseen, np.nan, count) for count in counts))


def shared_ranks(values: Floats) -> Floats:
    """Rank values from the greatest (1); equal ones share the better rank, NaN has none.

    Values alike to twelve digits are equal: sums in another order may differ in the last.

    >>> shared_ranks(np.array([2.0, 5.0, np.nan, 2.0, 1.0]))
    array([ 2.,  1., nan,  2.,  4.])
    """
    ranks = np.full(values.shape, np.nan)
    observed = np.isfinite(values)
    if not observed.any():
        return ranks
    size = float(np.abs(values[observed]).max()) or 1.0
    rounded = -np.round(values[observed] / size, 12)
    ranks[observed] = np.searchsorted(np.sort(rounded), rounded, side="left") + 1.0
    return ranks


def best_first(
    agents: Sequence[str], values: Floats, *, higher_is_better: bool = True
) -> NDArray[np.intp]:
    """Return the rows of agents from the best value on; equals by name, those without a value last.

    >>> best_first(["a10", "a2", "b", "c"], np.array([1.0, 1.0, np.nan, 3.0])).tolist()
    [3, 1, 0, 2]
    """
    ranks = shared_ranks(values if higher_is_better else -values)
    keys = [(np.inf if np.isnan(rank) else rank, natural_key(name))
            for rank, name in zip(ranks.tolist(), agents, strict=True)]  # fmt: skip
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)


def lexicographic_order(results: Results, measures: tuple[str, ...]) -> Floats:
    """Number agents on each task by several measures, the first deciding; shape [agents, tasks].

    The worst has 0 and equals share a number. A minus before a measure says that less is better. An
    agent counts where all measures were observed.

    >>> table = {"agent": ["a", "b", "c"], "task": ["t"] * 3, "win": [1, 1, 0], "ticks": [9, 5, 1]}
    >>> lexicographic_order(Results.from_dict(table, measures=["win", "ticks"]), ("win", "-ticks"))
    array([[1.],
           [2.],
           [0.]])
    """
    parts = []
    for name in measures:
        plain = name.removeprefix("-")
        check_known("measure", plain, results.measures)
        means = cell_means(results, plain)
        sign = results.scales.aligned(results.task_names, plain).sign
        parts.append(-means if name.startswith("-") else means * sign)
    agents, tasks = parts[0].shape[:2]
    order = np.full((agents, tasks), np.nan)
    for task in range(tasks):
        columns = np.stack([part[:, task] for part in parts])
        observed = np.isfinite(columns).all(axis=0)
        _, number = np.unique(columns[:, observed].T, axis=0, return_inverse=True)
        order[observed, task] = number.reshape(-1)
    if not np.isfinite(order).any():
        raise InputError(
            f"No agent has all of {counted(len(measures), 'measure')} on any task. Name fewer."
        )
    return order
