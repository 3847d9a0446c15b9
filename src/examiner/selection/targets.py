"""What a small set should predict: the aggregate of the full benchmark for each agent."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats, known_name
from examiner.scores.cells import ratio

Target = Literal["mean", "median", "iqm", "rank-points"]


def check_target(target: str) -> Target:
    """Return the target's own name, or list those there are.

    >>> check_target("rank_points")
    'rank-points'
    """
    return known_name("target", target, get_args(Target))  # type: ignore[return-value]


def aggregate(values: Floats, target: Target) -> Floats:
    """Aggregate each row over the tasks observed, shape [agents]; "rank-points" averages points.

    The interquartile mean cuts a quarter of the observed tasks, rounded down, at each end.

    >>> aggregate(np.array([[1.0, 2.0, 3.0, np.nan], [0.0, 1.0, 2.0, 9.0]]), "iqm")
    array([2. , 1.5])
    """
    if target == "median":
        return np.nanmedian(values, axis=1)
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
