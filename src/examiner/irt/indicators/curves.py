"""Task characteristic curves: success over ability, as fitted with its band and as it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.irt.fitted import IRTFit
from examiner.irt.indicators.agent_curves import wilson_ends
from examiner.irt.items import Floats
from examiner.irt.logistic import logits, probability, sigmoid_pair
from examiner.results import ResponseMatrix
from examiner.wording import InputError

GROUPS = 8


@dataclass(frozen=True, slots=True, eq=False)
class TaskCurves:
    """Expected result of each task over ability, [tasks, abilities]; the band is NaN without errors."""

    tasks: tuple[str, ...]
    ability: Floats
    success: Floats
    low: Floats
    high: Floats


def curves(fit: IRTFit, abilities: Floats | None = None, *, level: float = 0.95) -> TaskCurves:
    r"""Return the curve of every task, with the band that the errors of its parameters leave.

    .. math:: \operatorname{sd}(a\theta + d)^2
              = \theta^2 \operatorname{Var} a + 2\theta \operatorname{Cov}(a, d) + \operatorname{Var} d

    The band holds at each ability, not for the whole curve at once; errors of guessing and ceiling
    are left out of it.

    >>> from examiner.irt.items import ItemParameters
    >>> from examiner.irt.known import known as known_fit
    >>> fit = known_fit(ItemParameters.of(["t"], [1.0], [0.0]))
    >>> curves(fit, np.array([0.0])).success
    array([[0.5]])
    """
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise InputError(f"The level of the bands is {level}. Give a number between 0 and 1.")
    at = np.linspace(*ability_span(fit), 81) if abilities is None else abilities
    success = probability(fit.items, at)
    if fit.errors is None:
        none = np.full_like(success, np.nan)
        return TaskCurves(fit.items.tasks, at, success, none, none)
    errors = fit.errors
    variance = (
        errors.slope[:, None] ** 2 * at**2
        + 2 * errors.covariance[:, None] * at
        + errors.intercept[:, None] ** 2
    )
    reach = float(ndtri(0.5 + level / 2)) * np.sqrt(np.maximum(variance, 0.0))
    middle = logits(fit.items, at)
    c = fit.items.guessing[:, None]
    span = fit.items.ceiling[:, None] - c
    low, high = (c + span * sigmoid_pair(middle + side * reach)[0] for side in (-1.0, 1.0))
    return TaskCurves(fit.items.tasks, at, success, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class EmpiricalTaskCurves:
    """Mean result on each task in groups of agents of like ability, [tasks, groups], with intervals."""

    tasks: tuple[str, ...]
    ability: Floats
    mean: Floats
    observed: Floats
    low: Floats
    high: Floats


def empirical_curves(
    matrix: ResponseMatrix, ability: Floats, groups: int = GROUPS
) -> EmpiricalTaskCurves:
    """Average what groups of agents, from the least to the most able, did on each task.

    Groups have equally many agents; `ability` [agents] is that of the matrix's agents, and comes from
    the same responses: with few tasks the curves look steeper than they are.

    >>> matrix = ResponseMatrix.from_array([[0], [0], [1], [1]], tasks=["t"])
    >>> empirical_curves(matrix, np.array([-2.0, -1.0, 1.0, 2.0]), groups=2).mean
    array([[0., 1.]])
    """
    known = np.flatnonzero(np.isfinite(ability))
    if not len(known):
        raise InputError("No agent has an ability, so that tasks have no empirical curve.")
    order = known[np.argsort(ability[known], kind="stable")]
    parts = np.array_split(order, max(1, min(groups, len(order))))
    results = matrix.to_numpy()
    weights = np.where(matrix.observed, matrix.trials if matrix.is_counts else 1.0, 0.0)
    shape = len(matrix.tasks), len(parts)
    mean, observed = np.full(shape, np.nan), np.zeros(shape)
    for place, rows in enumerate(parts):
        observed[:, place] = weights[rows].sum(axis=0)
        total = (weights[rows] * np.nan_to_num(results[rows])).sum(axis=0)
        np.divide(total, observed[:, place], out=mean[:, place], where=observed[:, place] > 0)
    centre = np.array([ability[rows].mean() for rows in parts])
    low, high = wilson_ends(mean, observed)
    return EmpiricalTaskCurves(matrix.tasks, centre, mean, observed, low, high)


def ability_span(fit: IRTFit) -> tuple[float, float]:
    """Return abilities a little beyond those of the agents, at least ±3 population deviations."""
    known = fit.abilities.ability[np.isfinite(fit.abilities.ability)]
    reach = 3.0 * fit.population_sd
    low = float(known.min()) if len(known) else 0.0
    high = float(known.max()) if len(known) else 0.0
    return min(low - 0.5, -reach), max(high + 0.5, reach)
