"""Intervals of estimates; standard errors of task parameters from the observed information."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.covariance import Covariances
from examiner.irt.estimates import TaskErrors, Z
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model, Parameter

_Moves = dict[Parameter, Floats]
"""How a number of each task moves with parameters, [tasks] each."""


def task_errors(items: ItemParameters, model: Model, covariances: Covariances) -> TaskErrors:
    r"""Return errors and 95 % intervals on the scale users read, of tasks estimated for abilities N(0, 1).

    Guessing, ceiling, precision and difficulty b = −d/a are carried from the scale that is estimated by
    the delta method, with ∂c/∂γ = c (1 − c), ∂c/∂ζ = −c (1 − u), ∂u/∂γ = c (1 − u), ∂u/∂ζ = −u (1 − u) and

    .. math:: \mathrm{Var}(b) = (\mathrm{Var}(d) + 2 b \mathrm{Cov}(a, d) + b^2 \mathrm{Var}(a)) / a^2

    The interval of difficulty is Fieller's (1954): all b for which d + ab is within noise of 0. Where
    slopes are 1, the error of the shared slope is that of the population's standard deviation.
    """
    sd_error = float("nan")
    if model.unit_slopes:
        column, blocks = covariances.freedom.names.index("slope"), covariances.blocks.copy()
        sd_error = float(np.sqrt(blocks[0, column, column]))
        blocks[:, column, :] = blocks[:, :, column] = 0.0
        covariances = covariances._replace(blocks=blocks)
    a, b, c, u = items.slope, items.difficulty, items.guessing, items.ceiling
    one, none = np.ones(len(items)), np.full(len(items), np.nan)
    line: _Moves = {"intercept": one}
    if items.landmark is not None:  # d + (centre − landmark) √φ is 0 at the difficulty
        line["precision"] = 0.5 * items.above_landmark

    def covariance(first: _Moves, second: _Moves) -> Floats:
        """Of two numbers of each task that move so with what is estimated."""
        return np.asarray(
            sum(
                x * y * covariances.between(name, other)
                for name, x in first.items()
                for other, y in second.items()
            )
        )

    def error(name: Parameter, moves: _Moves) -> Floats:
        """Of a number that is read from a parameter, not known where that does not move."""
        freedom = covariances.freedom
        if name not in freedom.names:
            return none
        fixed = freedom.fixed[:, freedom.own.index(name)] if name in freedom.own else False
        return np.where(fixed, np.nan, _root(covariance(moves, moves)))

    v_aa, v_am = covariance({"slope": one}, {"slope": one}), covariance({"slope": one}, line)
    v_mm = covariance(line, line)
    log_scale_variance = covariances.log_scale_variance(a)
    slope_low, slope_high = _slope_interval(a, _root(v_aa), log_scale_variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = _root((v_mm + 2 * b * v_am + b**2 * v_aa) / a**2)
    low, high = fieller(a, items.intercept + items.above_landmark, v_aa, v_am, v_mm)
    low, high = _unbounded(low, high, (slope_low <= 0) & (slope_high >= 0))
    precision = none
    if items.precision is not None:
        finite = np.where(np.isfinite(items.precision), items.precision, np.nan)
        precision = error("precision", {"precision": finite})
    return TaskErrors(
        slope=_root(v_aa),
        intercept=_root(covariances.between("intercept", "intercept")),
        covariance=covariances.between("slope", "intercept"),
        difficulty=difficulty,
        guessing=error("guessing", {"guessing": c * (1 - c), "slip": -c * (1 - u)}),
        ceiling=error("slip", {"guessing": c * (1 - u), "slip": -u * (1 - u)}),
        precision=precision,
        slope_low=slope_low,
        slope_high=slope_high,
        difficulty_low=low,
        difficulty_high=high,
        method=covariances.method,
        population_sd=sd_error,
        parameters=covariances.parameters,
        log_scale_variance=log_scale_variance,
    )


def allowing_equal_abilities(slope: Floats, errors: TaskErrors) -> TaskErrors:
    """Return the errors with intervals that hold where agents may all have the same ability.

    The common scale of slopes is then not shown to be above 0, though its estimate always is and so are
    intervals computed for its logarithm. So the interval of the scale begins at 0, and that of each slope
    contains 0; difficulties, which are in units of the scale, have no bounds.

    >>> one, none = np.ones(1), np.zeros(1)
    >>> errors = TaskErrors(0.1 * one, one, none, *(4 * [none]), 0.3 * one, 0.7 * one, -one, one, "by hand")
    >>> wide = allowing_equal_abilities(0.5 * one, errors)
    >>> wide.slope_low.round(3), wide.slope_high, wide.difficulty_high
    (array([-0.037]), array([0.7]), array([inf]))
    """
    alone = Z**2 * np.maximum(errors.slope**2 - slope**2 * errors.log_scale_variance, 0.0)
    to_zero = np.sqrt(slope**2 + alone)
    low = np.where(slope >= 0, slope - to_zero, errors.slope_low)
    high = np.where(slope >= 0, errors.slope_high, slope + to_zero)
    below, above = _unbounded(errors.difficulty_low, errors.difficulty_high, ~np.isnan(low))
    return replace(
        errors, slope_low=low, slope_high=high, difficulty_low=below, difficulty_high=above
    )


def _unbounded(low: Floats, high: Floats, places: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Intervals without ends at these places."""
    return np.where(places, -np.inf, low), np.where(places, np.inf, high)


def _slope_interval(slope: Floats, error: Floats, variance: float) -> tuple[Floats, Floats]:
    """The 95 % interval of slopes whose common scale is known up to a factor.

    A slope is e^g times another: g, the logarithm of the common scale, has a `variance` and a symmetric
    interval, and so has what is left of the slope's error. The distances of the ends from the estimate
    that both give are combined as if they were deviations (Zou and Donner 2008). Without a free scale it
    is the estimate ± z errors.
    """
    reach = Z * np.sqrt(variance)
    alone = Z**2 * np.maximum(error**2 - slope**2 * variance, 0.0)
    shorter = np.sqrt((slope * -np.expm1(-reach)) ** 2 + alone)
    longer = np.sqrt((slope * np.expm1(reach)) ** 2 + alone)
    up = slope >= 0
    return slope - np.where(up, shorter, longer), slope + np.where(up, longer, shorter)


def fieller(
    slope: Floats, intercept: Floats, v_aa: Floats, v_ad: Floats, v_dd: Floats
) -> tuple[Floats, Floats]:
    """Return the 95 % interval of b = −d/a: all b with (d + ab)² ≤ z² Var(d + ab).

    A quadratic inequality in b, (a² − z²V_aa) b² + 2 (ad − z²V_ad) b + (d² − z²V_dd) ≤ 0. Where a is
    within z of 0 its solution is no interval (a ray on each side, or every number), and the ends
    are infinite. NaN where the errors are not known.

    >>> one = np.ones(1)
    >>> fieller(2 * one, 0 * one, 0 * one, 0 * one, one / 4)[1].round(2)
    array([0.49])
    """
    square = slope**2 - Z**2 * v_aa
    middle = slope * intercept - Z**2 * v_ad
    constant = intercept**2 - Z**2 * v_dd
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(middle**2 - square * constant, 0.0))
        low, high = (-middle - root) / square, (-middle + root) / square
    unknown = np.isnan(v_aa + v_ad + v_dd)
    open_ended = square <= 0
    low = np.where(open_ended, -np.inf, low)
    high = np.where(open_ended, np.inf, high)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _root(variances: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.where(variances >= 0, variances, np.nan))
