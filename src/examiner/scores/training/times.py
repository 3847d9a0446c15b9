"""Common times of runs, and the value of each run there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.scores.training.checkpoints import at_times
from examiner.scores.training.episodes import REACHED, Curve, end_times, window_means
from examiner.validation import Floats


def shared_times(curve: Curve, most: int) -> Floats | None:
    """Return the times of checkpoints where runs share them, at most so many; None where they do not.

    >>> curve = Curve(np.array([0, 0, 1, 1]), np.array([5.0, 9, 5, 9]), np.zeros(4), np.array([2, 2]))
    >>> shared_times(curve, 60)
    array([5., 9.])
    """
    times = np.unique(curve.time)
    if len(times) >= 2 * int(np.max(curve.lengths, initial=1)) + 1:
        return None
    chosen = np.unique(np.linspace(len(times) - 1, 0, min(most, len(times))).round().astype(int))
    return np.asarray(times[chosen])


def values_at(
    curve: Curve, points: Floats, checkpoints: NDArray[np.bool_], last: int | None = None
) -> Floats:
    """Return the value of each run at each time, [runs, points]: of checkpoints the last one by then.

    >>> curve = Curve(np.zeros(2, int), np.array([10.0, 20]), np.array([1.0, 3]), np.array([2]))
    >>> [values_at(curve, np.array([20.0]), np.array([kind])).item() for kind in (True, False)]
    [3.0, 2.0]
    """
    of_rows = on_grid(curve, points, last)
    if last is not None or not checkpoints.any():
        return of_rows
    return np.where(checkpoints[:, None], on_grid(at_times(curve), points, 1), of_rows)


def on_grid(curve: Curve, points: Floats, last: int | None = None) -> Floats:
    """Return the value of each run at each time, [runs, points]; NaN before its first and after its end.

    The mean since the point before, the last value where there is none; or that of the last k rows.

    >>> curve = Curve(np.zeros(3, int), np.array([10.0, 20, 30]), np.array([1.0, 3, 8]), np.array([3]))
    >>> on_grid(curve, np.array([5.0, 20.0, 30.0])), on_grid(curve, np.array([30.0]), last=3)
    (array([[nan,  2.,  8.]]), array([[4.]]))
    """
    stop, start = curve.ended_by(points), curve.start[:, None]
    if last is None:
        before = np.pad(stop[:, :-1], ((0, 0), (1, 0)))
        begin = np.where(stop > before, before, np.maximum(stop - 1, 0))
    else:
        begin = np.maximum(stop - last, 0)
    means = window_means(curve.values, (start + begin).ravel(), (start + stop).ravel())
    return np.where(
        end_times(curve)[:, None] >= REACHED * points, means.reshape(stop.shape), np.nan
    )
