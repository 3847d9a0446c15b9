"""Versions of the task parameters that the fit leaves possible, each as likely as the others.

A fit knows its parameters up to an error. Errors of different tasks share one part: the agents of the
calibration had some mean m and spread s that the fit calls 0 and 1, so that θ = m + s θ'. It is added to
the error of the ability (`scale_variance`), since no number of tasks makes it smaller. What is left is each
task's own. An examination that picks the steepest of many tasks picks those whose slope came out too
large; so each task is first drawn towards the others, by as much as its error is larger than their spread
(`likely_parameters`), and then its parameters are spread by the error that is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from examiner.adaptive.answers import Floats
from examiner.irt import IRTFit, ItemParameters, TaskErrors

Uncertainty = Literal["all", "tasks", "none"]
"""Which errors of the fit are counted: those of its scale and of its tasks, of its tasks, or none."""

_UNKNOWN = (1.0, 3.0)
"""Errors of a slope and an intercept whose own cannot be had: the deviations of the default priors."""
_OWN_AT_LEAST = 0.05
"""Of its variance a task keeps at least this share: what all share can be estimated too large."""
_FEWEST_TASKS = 10
"""Fewer tasks say too little of how tasks spread to be drawn towards each other."""
_ROUNDS = 100
_LEAST_SPREAD = 0.3
"""Slopes are taken to spread by at least this share of their mean: few agents show it badly."""
_FITTED_MEAN_SHARE = 0.15
"""Share of the fit's own mean slope in that of all tasks: see `_population`."""
_DIMENSIONS = 5


class ScaleVariance(NamedTuple):
    """Variance of the scale's zero, and of its unit: Var(m) and Var(s) of θ = m + s θ'."""

    zero: float
    unit: float


CERTAIN = ScaleVariance(0.0, 0.0)
"""A scale that is taken as exact."""


def scale_variance(fit: IRTFit) -> ScaleVariance:
    """Return Var(m) = σ² / N and Var(s) = 1 / (2N), N the agents that were calibrated on."""
    agents = max(len(fit.abilities.agents), 1)
    return ScaleVariance(fit.population_sd**2 / agents, 1.0 / (2 * agents))


@dataclass(frozen=True, slots=True, eq=False)
class LikelyParameters:
    """Where each task's parameters lie: slope and intercept as a normal each, [tasks, 2] and [tasks, 2, 2].

    Guessing, ceiling and the logarithm of precision have an error of their own.
    """

    items: ItemParameters
    mean: Floats
    covariance: Floats
    guessing: Floats
    ceiling: Floats
    log_precision: Floats

    @property
    def centre(self) -> ItemParameters:
        """The means."""
        return self._moved(self.mean, np.zeros(_DIMENSIONS))

    def versions(self, count: int) -> tuple[ItemParameters, ...]:
        """Return equally likely sets of parameters.

        The same evenly spread points serve every task: the likelihood of answers is a product over
        tasks, each averaged over its own parameters alone, so that points of two tasks never meet.
        """
        root = np.linalg.cholesky(self.covariance + 1e-12 * np.eye(2))
        return tuple(
            self._moved(self.mean + root @ point[:2], point) for point in spread_points(count)
        )

    def _moved(self, pairs: Floats, point: Floats) -> ItemParameters:
        items = self.items
        guessing = np.clip(items.guessing + self.guessing * point[2], 0.0, 0.9)
        ceiling = np.clip(items.ceiling + self.ceiling * point[3], guessing + 0.05, 1.0)
        factor = np.exp(self.log_precision * point[4])
        return ItemParameters.of(
            items.tasks,
            pairs[:, 0],
            pairs[:, 1],
            guessing=guessing,
            ceiling=ceiling,
            precision=None if items.precision is None else items.precision * factor,
            response=items.response,
        )


def likely_parameters(fit: IRTFit, errors: TaskErrors) -> LikelyParameters:
    """Return what fit and errors say of each task, once it is seen as one of many.

    The fit's own prior is taken out of each task's estimate, and the spread of the tasks put in its
    place: a normal over slopes and one over intercepts, found by maximum likelihood over all tasks.
    """
    items = fit.items
    own = _own_covariance(fit, errors)
    precision = np.linalg.inv(own)
    centre = np.stack([items.slope, items.intercept], axis=1)
    weighted = np.einsum("tij,tj->ti", precision, centre)
    if len(items) >= _FEWEST_TASKS:
        known = np.isfinite(errors.slope) & np.isfinite(errors.intercept)
        prior, prior_mean = _prior(fit)
        # What the answers alone say; a task of which nothing is known says nothing.
        precision = _positive(np.asarray(precision - np.diag(prior))) * known[:, None, None]
        weighted = (weighted - prior * prior_mean) * known[:, None]
        mean, square = _population(precision, weighted, centre)
        precision = precision + np.diag(1.0 / square)
        weighted = weighted + mean / square
    covariance = np.linalg.inv(precision)
    log_precision = np.zeros(len(items))
    if items.precision is not None:
        with np.errstate(invalid="ignore"):
            log_precision = np.nan_to_num(errors.precision / items.precision, posinf=0.0)
    return LikelyParameters(
        items,
        np.einsum("tij,tj->ti", covariance, weighted),
        covariance,
        np.nan_to_num(errors.guessing),
        np.nan_to_num(errors.ceiling),
        np.minimum(log_precision, 1.5),
    )


def spread_points(count: int) -> Floats:
    """Return standard normal points [count, 5] with mean 0 and unit covariance exactly.

    They are an additive recurrence in the powers of the root of x⁶ = x + 1 (Roberts' R-sequence),
    turned normal and whitened.

    >>> points = spread_points(16)
    >>> np.allclose(points.T @ points / 16, np.eye(5)), np.allclose(points.mean(axis=0), 0)
    (True, True)
    """
    from scipy.special import ndtri

    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (_DIMENSIONS + 1))
    steps = np.arange(1, count + 1)[:, None] * root ** -np.arange(1.0, _DIMENSIONS + 1)
    points = ndtri(np.mod(0.5 + steps, 1.0))
    points -= points.mean(axis=0)
    mixed = np.linalg.cholesky(points.T @ points / count)
    return np.asarray(np.linalg.solve(mixed, points.T).T)


def _own_covariance(fit: IRTFit, errors: TaskErrors) -> Floats:
    """Each task's covariance without what it shares with all others: a² Var(s) and a² Var(m)."""
    shared = scale_variance(fit)
    square = fit.items.slope**2
    own = []
    for error, common, unknown in (
        (errors.slope, shared.unit, _UNKNOWN[0]),
        (errors.intercept, shared.zero, _UNKNOWN[1]),
    ):
        variance = np.maximum(np.nan_to_num(error, nan=unknown) ** 2, 1e-6)
        own.append((variance, np.maximum(variance - square * common, _OWN_AT_LEAST * variance)))
    (slope, own_slope), (intercept, own_intercept) = own
    together = np.nan_to_num(errors.covariance) / np.sqrt(slope * intercept)
    covariance = np.clip(together, -0.98, 0.98) * np.sqrt(own_slope * own_intercept)
    table = [[own_slope, covariance], [covariance, own_intercept]]
    return np.asarray(np.moveaxis(np.array(table), -1, 0))


def _prior(fit: IRTFit) -> tuple[Floats, Floats]:
    """Precision and mean of the priors of slopes and intercepts; none are priors that say nothing."""
    priors = fit.task_priors
    if priors is None:
        return np.zeros(2), np.zeros(2)
    mean, precision = np.array([priors.pull("slope"), priors.pull("intercept")]).T
    return precision, mean


def _positive(precision: Floats) -> Floats:
    """The nearest precisions that are not negative: an error can be as large as its prior's."""
    values, vectors = np.linalg.eigh(precision)
    kept = np.maximum(values, 1e-6)
    return np.asarray((vectors * kept[:, None, :]) @ np.swapaxes(vectors, 1, 2))


def _population(precision: Floats, weighted: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of slopes and of intercepts over tasks, by expectation–maximisation.

    A slope that came out small has a small error too, so that the likeliest mean is too small and
    abilities come out too far from 0. In simulations with 45 and 60 agents and 60 to 500 tasks by 3 to
    5 %; with a share of the fit's own mean by 0 to 3 %, and intervals that cover as before.
    """
    mean, square = np.median(centre, axis=0), centre.var(axis=0) + 1e-4
    fitted = float(centre[:, 0].mean())
    for _ in range(_ROUNDS):
        kept = np.linalg.inv(precision + np.diag(1.0 / square))
        expected = np.einsum("tij,tj->ti", kept, weighted + mean / square)
        mean = expected.mean(axis=0)
        mean[0] += _FITTED_MEAN_SHARE * (fitted - mean[0])
        spread = np.diagonal(kept, axis1=1, axis2=2) + (expected - mean) ** 2
        square = np.maximum(spread.mean(axis=0), (_LEAST_SPREAD * mean[0]) ** 2)
    return mean, square
