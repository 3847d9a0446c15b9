"""Which tasks tell the able from others, which reward the weak, and which discriminate more than others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimates import TaskErrors
from examiner.irt.evidence import LEVEL, Evidence
from examiner.irt.items import Floats, ItemParameters
from examiner.scores import benjamini_hochberg

if TYPE_CHECKING:
    from examiner.irt.fitted import IRTFit

_MOST_JOINT = 2000
"""Tasks up to which a slope is held against the mean of all with their joint errors; beyond, alone."""


class SlopeVerdicts(NamedTuple):
    """What is told of each task's slope, [tasks], at 5 % after Benjamini–Hochberg over all tasks.

    `rising`: the able do better; `falling`: they do worse; both by how the task goes together with the
    others, which no prior pulls anywhere. `steeper` and `flatter`: it discriminates more, or less, than
    tasks do on average, by slopes and their joint errors.
    """

    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]
    steeper: NDArray[np.bool_]
    flatter: NDArray[np.bool_]


def slope_verdicts(fit: IRTFit) -> SlopeVerdicts:
    """Say of every task what its slope is shown to be; nothing without errors, or in mere chance.

    >>> from examiner.irt.ability import known as known_fit
    >>> slope_verdicts(known_fit(ItemParameters.of(["t"], [1.0], [0.0]))).rising  # no errors
    array([False])
    """
    return verdicts(fit.items, fit.errors, fit.evidence)


def verdicts(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> SlopeVerdicts:
    """Say the same of tasks, their errors and what there is to see; without `evidence`, anything."""
    none = np.zeros(len(items), dtype=np.bool_)
    rising, falling = signs(items, errors, evidence)
    alike = evidence is not None and not evidence.slopes_differ
    if errors is None or alike or np.ptp(items.slope) == 0:
        return SlopeVerdicts(rising, falling, none, none)
    ratio, error = relative_slopes(items.slope, errors)
    apart = _beyond_chance(ratio - 1.0, error)
    return SlopeVerdicts(rising, falling, apart & (ratio > 1), apart & (ratio < 1))


def signs(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which slopes are shown to rise and which to fall: quicker than all that is said of slopes.

    >>> signs(ItemParameters.of(["t"], [1.0], [0.0]), None, None)  # no errors
    (array([False]), array([False]))
    """
    none = np.zeros(len(items), dtype=np.bool_)
    if errors is None or (evidence is not None and not evidence.abilities_differ):
        return none, none
    up = items.slope > 0
    if evidence is not None and evidence.with_the_rest is not None:
        with_the_rest = np.array(evidence.with_the_rest)
        real = _beyond_chance(with_the_rest, np.ones(len(items))) & (up == (with_the_rest > 0))
    else:
        real = _beyond_chance(*relative_slopes(items.slope, errors))
    return real & up, real & ~up


def relative_slopes(slope: Floats, errors: TaskErrors) -> tuple[Floats, Floats]:
    r"""Return slopes as shares of their mean, with errors from which their common scale drops out.

    .. math:: \rho_j = a_j / \bar a, \quad
              \operatorname{Var} \rho_j \approx \operatorname{Var}(a_j - \rho_j \bar a) / \bar a^2

    >>> one, none = np.ones(2), np.zeros(2)
    >>> errors = TaskErrors(0.1 * one, one, none, *(8 * [none]), "by hand")
    >>> relative_slopes(np.array([1.0, 3.0]), errors)
    (array([0.5, 1.5]), array([0.0395..., 0.0395...]))
    """
    count, mean = len(slope), float(slope.mean())
    if mean == 0:  # without a scale there are no shares of it
        return np.ones(count), np.full(count, np.nan)
    ratio = slope / mean
    if count > _MOST_JOINT:
        return ratio, errors.slope / abs(mean)
    rows = np.eye(count) - ratio[:, None] / count
    variance = errors.slope_variances(rows)  # of one slope for all it is 0 but for digits
    error = np.sqrt(np.maximum(variance, 0.0)) / abs(mean)
    return ratio, np.where(np.isnan(errors.slope), np.nan, error)


def _beyond_chance(value: Floats, error: Floats) -> NDArray[np.bool_]:
    """Which values differ from 0, at 5 % after Benjamini–Hochberg; never where the error is not known."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.nan_to_num(2 * ndtr(-np.abs(value / error)), nan=1.0)
    return np.asarray((benjamini_hochberg(p) < LEVEL) & (error > 0))
