"""Agents put in order by several measures, the first deciding."""

from __future__ import annotations

import numpy as np

from examiner.results import Results
from examiner.scores.cells import cell_means
from examiner.scores.comparable import Floats
from examiner.wording import InputError, counted, unknown_name


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
        if plain not in results.measures:
            raise unknown_name("measure", plain, results.measures)
        means = cell_means(results, plain)
        sign = results.scales.aligned(results.task_names, plain).sign
        parts.append(-means if name.startswith("-") else means * sign)
    agents, tasks = parts[0].shape[:2]
    order = np.full((agents, tasks), np.nan)
    for task in range(tasks):
        columns = np.stack([part[:, task] for part in parts])
        seen = np.isfinite(columns).all(axis=0)
        _, number = np.unique(columns[:, seen].T, axis=0, return_inverse=True)
        order[seen, task] = number.reshape(-1)
    if not np.isfinite(order).any():
        raise InputError(
            f"No agent has all of {counted(len(measures), 'measure')} on any task. Name fewer."
        )
    return order
