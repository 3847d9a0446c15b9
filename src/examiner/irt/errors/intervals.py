"""Intervals of estimates; standard errors of task parameters from the observed information."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.covariance import Covariances
from examiner.irt.estimates import TaskErrors, Z
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model


def told(
    items: ItemParameters, model: Model, found: Covariances, population_sd: float = 1.0
) -> TaskErrors:
    r"""Return errors and 95 % intervals on the scale users read, of tasks estimated for abilities N(0, 1).

    Guessing, ceiling and precision are carried from the scale they are estimated on, and difficulty
    b = −d/a from slope and intercept, by the delta method:

    .. math:: \mathrm{Var}(b) = (\mathrm{Var}(d) + 2 b \mathrm{Cov}(a, d) + b^2 \mathrm{Var}(a)) / a^2

    The interval of difficulty is Fieller's (1954): all b for which d + ab is within noise of 0.
    """
    if model.unit_slopes:
        return _unit_slopes(items, found)
    if population_sd != 1.0:
        found = _on_scale(found, population_sd)
    return errors_from(items, found)


def _on_scale(found: Covariances, population_sd: float) -> Covariances:
    """Slopes per unit of ability from slopes per standard deviation of the population."""
    column = found.freedom.position("slope")
    factor = np.ones(found.blocks.shape[1])
    if column >= 0:
        factor[column] = 1.0 / population_sd
    return found._replace(blocks=found.blocks * factor[:, None] * factor)


def _unit_slopes(items: ItemParameters, found: Covariances) -> TaskErrors:
    """Slopes of 1 have no error; the shared slope was the population's standard deviation."""
    column = found.freedom.position("slope")
    deviation = np.sqrt(found.blocks[0, column, column])
    blocks = found.blocks.copy()
    blocks[:, column, :] = 0.0
    blocks[:, :, column] = 0.0
    return errors_from(items, found._replace(blocks=blocks), float(deviation))


def errors_from(
    items: ItemParameters, found: Covariances, population_sd: float = float("nan")
) -> TaskErrors:
    """Return errors and intervals on the scale users read, from covariances on the other."""
    a, d = items.slope, items.intercept
    v_aa = found.between("slope", "slope")
    v_dd = found.between("intercept", "intercept")
    v_ad = found.between("slope", "intercept")
    slope = _root(v_aa)
    log_scale_variance = found.log_scale_variance(a)
    slope_low, slope_high = _slope_interval(a, slope, log_scale_variance)
    at_landmark, v_am, v_mm = d, v_ad, v_dd
    if items.landmark is not None:  # d + (centre − landmark) √φ is 0 at the difficulty
        apart = items.above_landmark
        at_landmark = d + apart
        v_ap, v_dp = (found.between(name, "precision") for name in ("slope", "intercept"))
        v_am = v_ad + 0.5 * apart * v_ap
        v_mm = v_dd + apart * v_dp + 0.25 * apart**2 * found.between("precision", "precision")
    b = items.difficulty
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = _root((v_mm + 2 * b * v_am + b**2 * v_aa) / a**2)
    low, high = fieller(a, at_landmark, v_aa, v_am, v_mm)
    low, high = _unbounded(low, high, (slope_low <= 0) & (slope_high >= 0))
    guessing, ceiling = _ends(items, found)
    precision = np.full(len(items), np.nan)
    if items.precision is not None:
        known = np.isfinite(items.precision) & ("precision" in found.freedom.names)
        error = _root(found.between("precision", "precision"))
        precision[known] = items.precision[known] * error[known]
    return TaskErrors(
        slope=slope,
        intercept=_root(v_dd),
        covariance=v_ad,
        difficulty=difficulty,
        guessing=guessing,
        ceiling=ceiling,
        precision=precision,
        slope_low=slope_low,
        slope_high=slope_high,
        difficulty_low=low,
        difficulty_high=high,
        method=found.method,
        population_sd=population_sd,
        log_scale_variance=log_scale_variance,
    )


def allowing_equal_abilities(slope: Floats, errors: TaskErrors) -> TaskErrors:
    """Return the errors with intervals that hold where agents may all have the same ability.

    The common scale of slopes is then not shown to be above 0, though its estimate always is and so are
    intervals computed for its logarithm. So the interval of the scale begins at 0, and that of each slope
    contains 0; difficulties, which are told in units of the scale, have no bounds.

    >>> one, none = np.ones(1), np.zeros(1)
    >>> errors = TaskErrors(0.1 * one, one, none, *(4 * [none]), 0.3 * one, 0.7 * one, -one, one, "by hand")
    >>> wide = allowing_equal_abilities(0.5 * one, errors)
    >>> wide.slope_low.round(3), wide.slope_high, wide.difficulty_high
    (array([-0.037]), array([0.7]), array([inf]))
    """
    own = Z**2 * np.maximum(errors.slope**2 - slope**2 * errors.log_scale_variance, 0.0)
    to_zero = np.sqrt(slope**2 + own)
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
    rest = Z**2 * np.maximum(error**2 - slope**2 * variance, 0.0)
    shorter = np.sqrt((slope * -np.expm1(-reach)) ** 2 + rest)
    longer = np.sqrt((slope * np.expm1(reach)) ** 2 + rest)
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
    rest = intercept**2 - Z**2 * v_dd
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(middle**2 - square * rest, 0.0))
        low, high = (-middle - root) / square, (-middle + root) / square
    unknown = np.isnan(v_aa + v_ad + v_dd)
    open_ended = square <= 0
    low = np.where(open_ended, -np.inf, low)
    high = np.where(open_ended, np.inf, high)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _ends(items: ItemParameters, found: Covariances) -> tuple[Floats, Floats]:
    """Errors of guessing c and ceiling u from those of γ and ζ; NaN where they are not free.

    ∂c/∂γ = c (1 − c), ∂c/∂ζ = −c (1 − u), ∂u/∂γ = c (1 − u), ∂u/∂ζ = −u (1 − u).
    """
    c, u = items.guessing, items.ceiling
    names = found.freedom.names
    v_gg, v_gs = found.between("guessing", "guessing"), found.between("guessing", "slip")
    v_ss = found.between("slip", "slip")
    if "guessing" in names and "slip" in names:  # one of them at its end leaves the other's error
        v_gg, v_ss, v_gs = (np.nan_to_num(part) for part in (v_gg, v_ss, v_gs))
    by_c, by_u = (c * (1 - c), -c * (1 - u)), (c * (1 - u), -u * (1 - u))
    guessing, ceiling = (
        _root(x**2 * v_gg + 2 * x * y * v_gs + y**2 * v_ss) for x, y in (by_c, by_u)
    )
    nothing = np.full(len(items), np.nan)
    return (
        np.where(c > 0, guessing, np.nan) if "guessing" in names else nothing,
        np.where(u < 1, ceiling, np.nan) if "slip" in names else nothing,
    )


def _root(variances: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.where(variances >= 0, variances, np.nan))
