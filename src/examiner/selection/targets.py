"""What a small set should predict: the aggregate of the full benchmark for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError
from examiner.scores import Total, ratio
from examiner.validation import Floats, known_name

Target = Literal["mean", "median", "iqm", "macro-mean", "mean-rank", "rank-points"]
RANKED: dict[str, str] = {"mean-rank": "rank", "rank-points": "points"}
"""Targets that average standings among agents on each task, and the normaliser that gives them."""


def check_target(target: str) -> Target:
    """Return the target's own name, or list those there are.

    >>> check_target("rank_points")
    'rank-points'
    """
    return known_name("target", target, get_args(Target))  # type: ignore[return-value]


def total_for(
    target: Target, given: Total | None, tasks: Sequence[str], groups: Sequence[str] | None
) -> Total | None:
    """Return how tasks make the target: as given, by groups for a macro-mean; None for a plain one.

    >>> total_for("macro-mean", None, ["t", "u", "v"], ["easy", "easy", "hard"]).shares
    array([0.25, 0.25, 0.5 ])
    """
    if given is not None and not given.plain and target in ("median", "iqm"):
        raise InputError(
            f"The target {target!r} knows no levels or weights: a total is a mean. Predict the 'mean', or "
            f"leave levels and weights out."
        )
    if target != "macro-mean":
        return None if given is None else given.on(tasks)
    if given is not None and given.by:
        return replace(given.on(tasks), average="macro")
    if groups is None:
        raise InputError(
            "The macro-mean averages groups of tasks, and there are none. Name a column that groups them "
            '(`by="subtask"`), or give a classification or a table of tasks with '
            "the column 'group'."
        )
    return Total(tuple(tasks), ("group",), (tuple(groups),), "macro")


def weights_of(target: Target, tasks: int, total: Total | None) -> Floats | None:
    """Return how much each task counts, [tasks], summing to 1; None where that depends on the values.

    >>> weights_of("mean", 2, None)
    array([0.5, 0.5])
    """
    if target in ("median", "iqm"):
        return None
    return np.full(tasks, 1.0 / tasks) if total is None else total.shares


def aggregate(values: Floats, target: Target, total: Total | None = None) -> Floats:
    """Aggregate each row over the tasks observed, shape [agents]; standings are averaged.

    The interquartile mean cuts a quarter of the observed tasks, rounded down, at each end. Means are those
    of the `total`.

    >>> aggregate(np.array([[1.0, 2.0, 3.0, np.nan], [0.0, 1.0, 2.0, 9.0]]), "iqm")
    array([2. , 1.5])
    """
    if target == "median":
        return np.nanmedian(values, axis=1)
    if target != "iqm":
        if total is not None:
            return total.mean(values)
        is_observed = np.isfinite(values)
        return ratio(np.where(is_observed, values, 0.0).sum(axis=1), is_observed.sum(axis=1))
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
    is_observed = np.isfinite(values)
    values_known = np.where(is_observed, values, 0.0)
    inside = values_known[:, sets].sum(axis=2)
    count = is_observed.sum(axis=1)[:, None] - is_observed[:, sets].sum(axis=2)
    total = values_known.sum(axis=1)[:, None] - inside
    return ratio(total, count).T
