"""One task of each group: the largest group first, its most central task first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.information.clusters import MOST_TASKS, distances
from examiner.selection.constraints import Array
from examiner.selection.evidence import Evidence
from examiner.selection.greedy import grow
from examiner.selection.task_set import TaskSet
from examiner.wording import InputError


def check_distances(tasks: int) -> None:
    """Refuse more tasks than distances between them fit into memory."""
    if tasks > MOST_TASKS:
        raise InputError(
            f"The distances between {tasks:,} tasks would not fit into memory. Choose by regression, "
            f"spread or fisher, or leave out tasks (at most {MOST_TASKS:,})."
        )


def likeness(values: Array) -> Array:
    """Distance 1 − r between columns, shape [tasks, tasks]; 1 where a column is constant."""
    check_distances(values.shape[1])
    centred = values - values.mean(axis=0)
    deviation = np.sqrt((centred**2).mean(axis=0))
    flat = deviation <= 1e-12 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    scaled = np.where(flat, 0.0, centred / np.where(flat, 1.0, deviation))
    return distances(np.where(flat[:, None] | flat, np.nan, scaled.T @ scaled / len(values)))


def one_of_each_group(
    evidence: Evidence, size: int, label: NDArray[np.int64], distance: Array, method: str
) -> TaskSet:
    """Take a task of every group, largest groups first, then second tasks where groups are large.

    Further tasks go to the group with most tasks for each one chosen (Sainte-Laguë's divisors). Within
    a group the task comes first whose mean distance to the rest of the group is least. `gain` is the
    number of tasks each chosen one stands for.
    """
    groups = int(label.max()) + 1
    count = np.bincount(label, minlength=groups).astype(np.float64)
    same = label[:, None] == label
    apart = np.where(same, distance, 0.0).sum(axis=1) / np.maximum(count[label] - 1, 1)
    central = 1.0 / (1.0 + apart)

    def gains(chosen: list[int]) -> Array:
        held = np.bincount(label[chosen], minlength=groups)
        turn = count / (2 * held + 1) / len(label) + (held == 0)
        gained: Array = turn[label] + 1e-6 * central
        return gained

    found = grow(evidence, size, gains, method=method, unit="tasks it stands for")
    held = np.bincount(label[list(found.columns)], minlength=groups)
    own = label[list(found.columns)]
    return replace(found, gain=count[own] / held[own])
