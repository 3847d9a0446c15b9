"""What a small set should predict: the aggregate of the full benchmark for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats, known_name
from examiner.scores.cells import codes_of, ratio
from examiner.wording import InputError

Target = Literal["mean", "median", "iqm", "macro-mean", "mean-rank", "rank-points"]
RANKED: dict[str, str] = {"mean-rank": "rank", "rank-points": "points"}
"""Targets that average standings among agents on each task, and the normaliser that gives them."""


def check_target(target: str) -> Target:
    """Return the target's own name, or list those there are.

    >>> check_target("rank_points")
    'rank-points'
    """
    return known_name("target", target, get_args(Target))  # type: ignore[return-value]


def weights_of(target: Target, tasks: int, groups: Sequence[str] | None) -> Floats | None:
    """Return how much each task counts, [tasks], summing to 1; None where that depends on the values.

    >>> weights_of("macro-mean", 3, ["easy", "easy", "hard"])
    array([0.25, 0.25, 0.5 ])
    """
    if target in ("median", "iqm"):
        return None
    if target == "macro-mean":
        member = _members(groups)
        return np.asarray(member @ (1.0 / member.sum(axis=0)) / member.shape[1])
    return np.full(tasks, 1.0 / tasks)


def aggregate(values: Floats, target: Target, groups: Sequence[str] | None = None) -> Floats:
    """Aggregate each row over the tasks observed, shape [agents]; standings are averaged.

    The interquartile mean cuts a quarter of the observed tasks, rounded down, at each end. The macro-mean
    is the mean over groups of their means.

    >>> aggregate(np.array([[1.0, 2.0, 3.0, np.nan], [0.0, 1.0, 2.0, 9.0]]), "iqm")
    array([2. , 1.5])
    >>> aggregate(np.array([[1.0, 2.0, 6.0]]), "macro-mean", ["easy", "easy", "hard"])
    array([3.75])
    """
    if target == "median":
        return np.nanmedian(values, axis=1)
    if target == "macro-mean":
        member, seen = _members(groups), np.isfinite(values)
        each = ratio(np.where(seen, values, 0.0) @ member, seen @ member)
        return np.asarray(np.nanmean(each, axis=1))
    if target != "iqm":
        seen = np.isfinite(values)
        return ratio(np.where(seen, values, 0.0).sum(axis=1), seen.sum(axis=1))
    ordered = np.sort(values, axis=1)  # NaN last
    count = np.isfinite(values).sum(axis=1)
    cut = count // 4
    column = np.arange(values.shape[1])
    inside = (column >= cut[:, None]) & (column < (count - cut)[:, None])
    return np.asarray(np.where(inside, ordered, 0.0).sum(axis=1) / np.maximum(count - 2 * cut, 1))


def remainder(values: Floats, sets: NDArray[np.intp]) -> Floats:
    """Mean of the tasks outside each set, shape [sets, agents]: the aggregate contains its parts.

    >>> remainder(np.array([[1.0, 2.0, 6.0]]), np.array([[0], [2]]))
    array([[4. ],
           [1.5]])
    """
    seen = np.isfinite(values)
    known = np.where(seen, values, 0.0)
    inside = known[:, sets].sum(axis=2)
    count = seen.sum(axis=1)[:, None] - seen[:, sets].sum(axis=2)
    total = known.sum(axis=1)[:, None] - inside
    return ratio(total, count).T


def _members(groups: Sequence[str] | None) -> Floats:
    """1 where a task is of a group, [tasks, groups]."""
    if groups is None:
        raise InputError(
            "The macro-mean averages groups of tasks, and there are none. Give a classification "
            "(`--typology NAME|FILE`) or a table of tasks with the column 'group' (`--tasks FILE`)."
        )
    code = codes_of(groups)
    return np.asarray(code[:, None] == np.arange(int(code.max()) + 1), dtype=np.float64)
