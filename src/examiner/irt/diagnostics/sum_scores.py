"""How likely each number of tasks solved is, at an ability: the recursion of Lord and Wingersky."""

from __future__ import annotations

import numpy as np

from examiner.irt.items import Floats


def sum_score_chances(success: Floats, failure: Floats) -> Floats:
    """Return P(k tasks solved | θ) from chances [tasks, nodes]: shape [tasks + 1, nodes].

    f ← f · (1 − P) + shifted f · P, one task after the other.

    References: Lord & Wingersky (1984), eq. 2 to 4.

    >>> sum_score_chances(np.array([[0.5], [0.5]]), np.array([[0.5], [0.5]])).ravel()
    array([0.25, 0.5 , 0.25])
    """
    tasks, nodes = success.shape
    chances = np.zeros((tasks + 1, nodes))
    chances[0] = 1.0
    for task in range(tasks):
        upper = chances[: task + 1] * success[task]
        chances[: task + 1] *= failure[task]
        chances[1 : task + 2] += upper
    return chances


def without_each_task(chances: Floats, success: Floats, failure: Floats) -> Floats:
    """Return P(k of the other tasks solved | θ) for each task left out: [tasks, tasks, nodes].

    The last step of the recursion is undone, g_k = (f_k − P g_{k−1}) / (1 − P), upwards where
    P ≤ 1/2 and downwards where P > 1/2, so that rounding errors shrink on the way. This costs one
    power of the number of tasks less than the recursion again for every task.
    """
    tasks, nodes = success.shape
    up, down = np.empty((2, tasks, tasks, nodes))
    rising = success <= 0.5
    odds = np.where(rising, success / np.where(rising, failure, 1.0), 0.0)
    inverse = np.where(rising, 1.0 / np.where(rising, failure, 1.0), 0.0)
    up[:, 0] = chances[0] * inverse
    for score in range(1, tasks):
        up[:, score] = chances[score] * inverse - odds * up[:, score - 1]
    odds = np.where(rising, 0.0, failure / np.where(rising, 1.0, success))
    inverse = np.where(rising, 0.0, 1.0 / np.where(rising, 1.0, success))
    down[:, -1] = chances[-1] * inverse
    for score in range(tasks - 2, -1, -1):
        down[:, score] = chances[score + 1] * inverse - odds * down[:, score + 1]
    return np.maximum(np.where(rising[:, None, :], up, down), 0.0)
