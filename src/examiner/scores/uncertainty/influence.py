r"""What each run adds to an aggregate, to first order: for errors, their degrees of freedom and skewness.

An aggregate is taken as a sum over tasks of means over runs, :math:`\sum_t n_t^{-1} \sum_i y_{ti}`, plus
terms of higher order; a function here returns y, of which only differences within a task matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.scores.nest import scaled
from examiner.scores.uncertainty.resampling import Sample, Unit
from examiner.scores.uncertainty.strata import Strata
from examiner.validation import Floats

Contributions: TypeAlias = Callable[[Strata, float], Floats]
"""From an agent's runs, and the standard error of its aggregate, to what each run adds."""
MOST_WEIGHTS = 1 << 22
"""Deletions are made some at a time, so that their weights stay within some megabytes."""


def of_mean(strata: Strata, error: float) -> Floats:
    """Each score times what its task counts in the total, shape [tasks, most runs].

    >>> of_mean(Strata("a", np.array([0]), np.array([2]), np.array([[1.0, 3.0]])), 1.0)
    array([[1., 3.]])
    """
    return strata.scores * strata.shares[:, None]


def of_iqm(strata: Strata, error: float) -> Floats:
    """Scores drawn in to the quartiles, over the number of tasks and the share that is kept.

    References: Huber & Ronchetti (2009), section 3.3, for the trimmed mean.

    >>> of_iqm(Strata("a", np.array([0]), np.array([4]), np.array([[1.0, 2.0, 3.0, 99.0]])), 1.0)
    array([[4., 4., 6., 6.]])
    """
    present = strata.present
    scores, weights = strata.scores[present], np.repeat(1.0 / strata.runs, strata.runs)
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    size = len(scores)
    share = (size // 4) / size
    low = scores[order[np.searchsorted(reached, share + 1e-9)]]
    high = scores[order[np.searchsorted(reached, 1 - share - 1e-9)]]
    drawn_in: Floats = np.clip(strata.scores, low, high)
    return drawn_in / (len(strata.tasks) * (1 - 2 * share))


def of_median(strata: Strata, error: float) -> Floats:
    r"""Scores of each task times how much its mean moves the median, smoothed by both errors.

    .. math:: w_t \propto \frac{1}{s_t} \exp \frac{-(m_t - M)^2}{2 s_t^2}, \qquad s_t^2 = v_t + e^2

    where v is the squared error of a task's mean m and e that of the median M: the density of the mean
    at the median. Weights sum to one, since a shift of all tasks shifts the median by as much.

    >>> few = Strata("a", np.arange(3), np.array([2, 2, 2]), np.array([[0.0, 1], [1, 3], [90, 91]]))
    >>> of_median(few, 1.0).round(2)
    array([[0.  , 0.34],
           [0.66, 1.98],
           [0.  , 0.  ]])
    """
    spare = np.maximum(strata.runs - 1, 1)
    near_one, exponent = scaled(np.array([error]))  # weights are the same in any unit
    deviations = np.ldexp(strata.deviations, -exponent)
    squares = (deviations**2).sum(axis=1) / spare / strata.runs + near_one**2
    off = np.ldexp(strata.means - np.median(strata.means), -exponent)
    logs = -0.5 * off**2 / squares - 0.5 * np.log(squares)
    weight = np.exp(logs - logs.max())
    return np.asarray(strata.scores * (weight / weight.sum())[:, None])


def by_deletion(strata: Strata, statistic: Callable[[Sample], Floats], unit: Unit) -> Floats:
    r"""Influences from leaving out one run at a time (or task), one for each: [runs of all tasks].

    .. math:: l_{ti} = (n_t - 1)\,(\bar\theta_{t(\cdot)} - \theta_{t(i)})

    References: Davison & Hinkley (1997), section 5.3, for several samples.

    >>> from examiner.scores.aggregate import mean
    >>> by_deletion(Strata("a", np.array([0]), np.array([3]), np.array([[1.0, 2.0, 6.0]])), mean, "runs")
    array([-2., -1.,  3.])
    """
    tasks, sizes = deletions(strata, unit)
    most = max(1, MOST_WEIGHTS // max(strata.scores.size, 1))
    parts = [slice(start, start + most) for start in range(0, len(tasks), most)]
    estimates = np.concatenate([statistic(_without_one(strata, unit, part)) for part in parts])
    sums = np.bincount(tasks, weights=estimates)
    return np.asarray((sizes[tasks] - 1) * ((sums / sizes)[tasks] - estimates))


def task_strata(strata: Strata) -> NDArray[np.int64]:
    """Number the group within which each task is drawn, [tasks]; one for all where there are none.

    >>> task_strata(Strata("a", np.array([0, 1]), np.array([2, 1]), np.ones((2, 2))))
    array([0, 0])
    """
    if strata.nest is None:
        return np.zeros(len(strata.tasks), dtype=np.int64)
    return np.unique(strata.nest.stratum, return_inverse=True)[1]


def deletions(strata: Strata, unit: Unit) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the stratum each deletion belongs to, and the strata's sizes.

    >>> deletions(Strata("a", np.array([0, 1]), np.array([2, 1]), np.ones((2, 2))), "runs")
    (array([0, 0, 1]), array([2, 1]))
    """
    if unit == "tasks":
        stratum = task_strata(strata)
        return stratum, np.bincount(stratum)
    return np.repeat(np.arange(len(strata.tasks)), strata.runs), strata.runs


def _without_one(strata: Strata, unit: Unit, part: slice) -> Sample:
    """One replicate for each of some deletions; in a stratum, the runs that are left stand for all."""
    present = strata.present.astype(np.float64)
    if unit == "tasks":
        left_out = np.arange(len(strata.tasks))[part]
        times = np.ones((len(strata.tasks), len(left_out)), dtype=np.int64)
        times[left_out, np.arange(len(left_out))] = 0
        weights = present[:, :, None] * times[:, None, :]
        return Sample(strata.scores, weights, strata.runs, times, nest=strata.nest)
    task, run = (place[part] for place in np.nonzero(present))
    weights = np.repeat(present[:, :, None], len(task), axis=2)
    deletion = np.arange(len(task))
    several = strata.runs > 1  # a single run cannot be left out: it stays, and adds nothing
    scale = np.where(several, strata.runs / np.maximum(strata.runs - 1, 1), 1.0)
    weights[task, :, deletion] *= scale[task, None]
    weights[task, run, deletion] *= np.where(several, 0.0, 1.0)[task]
    return Sample(strata.scores, weights, strata.runs, nest=strata.nest)
