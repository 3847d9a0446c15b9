"""Studentised intervals: the bootstrap's error, tails of Student's t, and a correction for skewness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.scores.aggregate import Aggregate
from examiner.scores.estimate import score_ends, wilson
from examiner.scores.nest import scaled
from examiner.scores.uncertainty.bootstrap import Bootstrap, Resampling
from examiner.scores.uncertainty.influence import by_deletion, task_strata
from examiner.scores.uncertainty.resampling import Unit
from examiner.scores.uncertainty.strata import Strata
from examiner.validation import Floats

_ROUNDING = 1e-9
"""Errors smaller than this beside what they are errors of are none."""
_FLAT = 1e-9
"""Below this skewness the correction is a straight line to rounding."""
_OF_SHARES = ("mean", "optimality_gap")
"""Of zeros and ones these are a share, or what it lacks to 1."""


class Shape(NamedTuple):
    """Degrees of freedom of an estimate's squared error, and the skewness of the estimate."""

    degrees: float
    skewness: float


def studentised_bounds(
    bootstrap: Bootstrap,
    aggregates: Sequence[Aggregate],
    value: Floats,
    replicates: Floats,
    *,
    shares: bool = False,
) -> Floats:
    r"""Return both ends of intervals around the estimates, shape [2, agents, aggregates].

    .. math:: \hat\theta - s\, g^{-1}(\pm t_\nu), \qquad
              g(x) = x + \frac{\gamma}{3} x^2 + \frac{\gamma^2}{27} x^3 + \frac{\gamma}{6}

    with s the standard deviation of the replicates, ν Satterthwaite's degrees of freedom and γ the
    skewness of the estimate, both from what each run adds to it (`shape_of`). The ends lie on both sides
    of the estimate, as those of percentiles need not: these carry the bias of a resample once more. Where
    an aggregate is not smooth (a median), its bias is not of lower order than its error: the interval
    is widened to hold that around the estimate less the replicates' bias.

    Means of zeros and ones (`shares`) have intervals of Wilson's kind with the same error and tails: few
    that are nearly all won are so skewed that g has no way back, and 18 of 20 reached down to 0.33.

    References: Hall (1992), "On the removal of skewness by transformation", eq. 2.5, whose γ/√n is the
    skewness of a mean; the same expansion holds for stratified samples, since the covariance of the
    estimate and its squared error is again the estimate's third cumulant. Satterthwaite (1946).
    """
    from scipy.special import stdtrit  # slow to import

    ends = np.full((2, *value.shape), np.nan)
    for row, strata in enumerate(bootstrap.scores.strata):
        if not len(strata.tasks):
            continue
        for column, aggregate in enumerate(aggregates):
            drawn, point = replicates[row, column], value[row, column]
            drawn = drawn[~np.isnan(drawn)]
            if len(drawn) < 2 or np.isnan(point):
                continue
            drawn, exponent = scaled(drawn)
            error = float(np.ldexp(drawn.std(ddof=1), exponent))
            a_share = shares and aggregate.name in _OF_SHARES
            if error <= _ROUNDING * max(abs(point), float(np.abs(strata.scores).max())):
                ends[:, row, column] = _unchanged(point, strata, bootstrap.how, a_share=a_share)
                continue
            shape = shape_of(aggregate, strata, bootstrap.how.unit, error)
            tail = float(stdtrit(shape.degrees, 0.5 + bootstrap.how.level / 2))
            if a_share:
                worth = point * (1 - point) / error**2
                ends[:, row, column] = score_ends(point, worth, tail)
                continue
            reach = error * _skewed(np.array([tail, -tail]), shape.skewness)
            shift = 0.0 if aggregate.smooth else float(np.ldexp(drawn.mean(), exponent)) - point
            ends[0, row, column] = point - reach[0] - max(shift, 0.0)
            ends[1, row, column] = point - reach[1] - min(shift, 0.0)
    return ends


def _unchanged(
    point: float, strata: Strata, how: Resampling, *, a_share: bool
) -> tuple[float, float]:
    """Both ends where no resample changes the estimate: itself, or Wilson's of tasks won or lost.

    All of them, or those of each group, are then alike. Tasks that count unevenly are worth fewer, and
    of groups that differ the error is that of half a task more that goes the other way (Jeffreys).
    """
    lost_or_won = bool((np.minimum(strata.means, np.abs(1 - strata.means)) <= _ROUNDING).all())
    if not (a_share and lost_or_won and how.unit != "runs" and len(strata.tasks) > 1):
        return point, point
    worth = 1.0 / float((strata.shares**2).sum())
    if min(point, 1 - point) > _ROUNDING:
        stratum = task_strata(strata)
        sizes, counts = np.bincount(stratum), np.bincount(stratum, weights=strata.shares)
        other = 0.5 / (sizes + 1)
        worth = point * (1 - point) / float((counts**2 * other * (1 - other) / sizes).sum())
    return wilson(point * worth, worth, how.level)


def shape_of(aggregate: Aggregate, strata: Strata, unit: Unit, error: float) -> Shape:
    r"""Return degrees of freedom and skewness of an aggregate over the runs, or tasks, of an agent.

    .. math:: \nu = \frac{(\sum_t v_t)^2}{\sum_t v_t^2 / (n_t - 1)}, \qquad
              \gamma = \frac{\sum_t k_t / n_t^2}{(\sum_t v_t)^{3/2}}

    with v the squared error of a task's part and k the unbiased third moment of what its runs add; a
    task with fewer than three runs has none. Over tasks the strata are their groups, or one of all of
    them.

    >>> from examiner.scores.aggregate import AGGREGATES
    >>> runs = Strata("a", np.array([0, 1]), np.array([3, 3]), np.array([[0.0, 1, 2], [5, 7, 9]]))
    >>> shape = shape_of(AGGREGATES["mean"], runs, "runs", 0.5)
    >>> round(shape.degrees, 2), shape.skewness
    (2.94, 0.0)
    """
    if unit != "runs" and not aggregate.smooth:  # signs of tasks around their median
        return Shape(float(max(len(strata.tasks) - 1, 1)), 0.0)
    added, sizes = _added(aggregate, strata, unit, error)
    present = np.arange(added.shape[1]) < sizes[:, None]
    means = np.where(present, added, 0.0).sum(axis=1) / sizes
    off, exponent = scaled(np.where(present, added - means[:, None], 0.0))
    several = sizes > 1
    squares = np.where(several, (off**2).sum(axis=1) / np.maximum(sizes - 1, 1) / sizes, 0.0)
    total = float(squares.sum())
    if total <= (_ROUNDING * np.ldexp(error, -exponent)) ** 2:
        # only to higher order does anything vary: be careful
        return Shape(float(sizes[several].min() - 1) if several.any() else 1.0, 0.0)
    degrees = total**2 / float((squares[several] ** 2 / (sizes[several] - 1)).sum())
    third = (off**3).sum(axis=1) / np.maximum((sizes - 1) * (sizes - 2), 1) / sizes
    return Shape(degrees, float(third[sizes > 2].sum()) / total**1.5)


def _added(
    aggregate: Aggregate, strata: Strata, unit: Unit, error: float
) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """What each run adds [tasks, most], or each task [groups, most], and the sizes of these strata."""
    if aggregate.contributions is None:
        each = by_deletion(strata, aggregate.statistic, "runs")
        added = np.zeros(strata.scores.shape)
        added[strata.present] = each
    else:
        added = aggregate.contributions(strata, error)
    if unit == "runs":
        return added, strata.runs
    whole = np.where(strata.present, added, 0.0).sum(axis=1) / strata.runs
    if aggregate.contributions is None:
        whole = by_deletion(strata, aggregate.statistic, "tasks") / len(strata.tasks)
    elif strata.nest is not None:  # a task that counts more than others of its group draws its mean
        within = strata.nest.within
        whole = whole - strata.shares * within.group_means(strata.means[:, None])[within.group, 0]
    stratum = task_strata(strata)
    sizes = np.bincount(stratum)
    order = np.argsort(stratum, kind="stable")
    most = int(sizes.max())
    padded = np.zeros((len(sizes), most))
    padded[np.arange(most) < sizes[:, None]] = (whole * sizes[stratum])[order]
    return padded, sizes


def _skewed(quantile: Floats, skewness: float) -> Floats:
    """The inverse of Hall's transformation, which rises everywhere."""
    if abs(skewness) < _FLAT:
        return quantile
    third = skewness / 3
    return np.asarray((np.cbrt(1 + 3 * third * (quantile - skewness / 6)) - 1) / third)
