"""Performance during training at report points: the mean of the last k episodes by then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.training.episodes import Curve, Floats, Places, window_means
from examiner.wording import InputError

PAPER_POINTS = (10e6, 50e6, 100e6, 200e6)
"""Frames at which papers/001 reports (section 3, last paragraph)."""
REACHED = 0.99
"""A run reached a point when it came this near: its last episode rarely ends on the very frame."""


class AtPoints(NamedTuple):
    """Means over at most `last` episodes by each point; `mean` and `episodes` are [runs, points]."""

    points: Floats
    last: int
    mean: Floats
    episodes: Places


def at_points(curve: Curve, points: Floats, last: int) -> AtPoints:
    r"""Mean of the last k episodes that ended by each point; NaN where the run ended before it.

    .. math:: \frac{1}{m} \sum_{i = n - m + 1}^{n} x_i, \quad n = |\{i : t_i \le P\}|,\ m = \min(k, n)

    References: papers/001, section 3: "the agent's average score of the last 100 episodes before
    the agent reaches 10, 50, 100, and 200 million frames".

    >>> curve = Curve(np.zeros(3, int), np.array([10.0, 20, 30]), np.array([1.0, 3, 8]), np.array([3]))
    >>> at_points(curve, np.array([25.0, 30.0, 90.0]), last=2).mean
    array([[2. , 5.5, nan]])
    """
    runs = len(curve.lengths)
    by_then = [np.bincount(curve.run[curve.time <= point], minlength=runs) for point in points]
    stop = np.column_stack(by_then)
    start = curve.start[:, None]
    first = start + np.maximum(stop - last, 0)
    means = window_means(curve.values, first.ravel(), (start + stop).ravel())
    reached = end_times(curve)[:, None] >= REACHED * points
    return AtPoints(
        points, last, np.where(reached, means.reshape(stop.shape), np.nan), np.minimum(stop, last)
    )


def end_times(curve: Curve) -> Floats:
    """Time of each run's last episode; NaN where it has none.

    >>> end_times(Curve(np.zeros(2, int), np.array([10.0, 20]), np.zeros(2), np.array([2, 0])))
    array([20., nan])
    """
    times = np.full(len(curve.lengths), np.nan)
    some = curve.lengths > 0
    times[some] = curve.time[np.cumsum(curve.lengths)[some] - 1]
    return times


def report_points(points: Sequence[float] | None, ends: NDArray[np.float64]) -> Floats:
    """Return the points given, in order; else the paper's, scaled down to what half of the runs reach.

    >>> report_points(None, np.array([4.0e7, 4.0e7, 1.0e6])).tolist()
    [2000000.0, 10000000.0, 20000000.0, 40000000.0]
    """
    if points is not None:
        chosen = np.array(sorted(set(points)), dtype=np.float64)
        if not len(chosen) or not np.isfinite(chosen).all() or chosen[0] <= 0:
            raise InputError(f"The report points are {list(points)}. Give frames above 0.")
        return chosen
    if np.isnan(ends).all():
        raise InputError("No training episode was observed. Choose another measure.")
    budget = _rounded(float(np.nanmedian(ends)))
    scaled = np.array(PAPER_POINTS) * min(budget / PAPER_POINTS[-1], 1.0)
    return np.unique(np.maximum(np.round(scaled), 1.0))


def _rounded(frames: float) -> float:
    """Two digits: to the nearest where it is reached within one per cent, else down."""
    size = 10.0 ** (np.floor(np.log10(max(frames, 1.0))) - 1)
    nearest = round(frames / size) * size
    return float(nearest if frames >= REACHED * nearest else np.floor(frames / size) * size)
