"""Every agent was given the same trials: an E-step whose cost does not grow with the number of nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.exponential import (
    CountSource,
    ExponentialStatistics,
    softplus_and_sigmoid,
    suitable_kind,
)
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.posterior import posterior_weights
from examiner.results import ResponseMatrix

_REACH_IN_SDS = 8.0
"""How far around an agent's mode its posterior is looked at, in posterior standard deviations."""
_SMALL = 2_000_000
"""Up to this many cells are kept as float64, more as float32."""
_GENTLE = 4.0
"""Slopes up to 4 in size have curves smooth enough for few Chebyshev nodes."""
_CHEBYSHEV_ERROR = 1e-8


class _Places(NamedTuple):
    """Where curves are evaluated: at the nodes, or at Chebyshev nodes, and `spread` to the nodes."""

    rule: Quadrature
    at: Floats
    spread: Floats | None
    smooth_below: float


class CompleteSource(CountSource):
    """Successes of agents that were all given the same trials of each task.

    A and the posterior mass in trials are then the same function of ability for every agent, and an
    E-step is two products of the data with a vector.
    """

    def __init__(self, matrix: ResponseMatrix) -> None:
        super().__init__(matrix, matrix.successes.astype(suitable_kind(matrix, _SMALL)))
        self._trials = matrix.trials[0].astype(np.float64)
        self._single = bool((self._trials == 1).all())
        self._places: _Places | None = None

    def expected(self, items: ItemParameters, rule: Quadrature) -> ExponentialStatistics:
        """Return the statistics of one E-step from two products of the data with a vector."""
        slope, intercept, kind = items.slope, items.intercept, self.won.dtype
        _, at, spread, _ = self._prepared(rule, float(np.abs(slope).max()))
        eta = np.multiply.outer(slope.astype(kind), at.astype(kind))
        eta += intercept.astype(kind)[:, None]
        plus, rising = softplus_and_sigmoid(eta)
        rate = np.asarray((self._trials * slope).astype(kind) @ rising, dtype=np.float64)
        if not self._single:
            plus *= self._trials.astype(kind)[:, None]
        total = plus.sum(axis=0, dtype=np.float64)  # summed over many tasks, float32 would not do
        if spread is not None:
            total, rate = spread @ total, spread @ rate
        score = np.asarray(self.won @ slope.astype(kind), dtype=np.float64)
        found = _posteriors(score, total, rate, rule)
        return ExponentialStatistics(
            float(found.log_marginal + intercept @ self.total_won) + self.constant,
            found.mean,
            found.variance,
            at,
            found.mass if spread is None else found.mass @ spread,
            self._trials,
            rising,
            self.total_won,
            self.won_times(found.mean),
        )

    def _prepared(self, rule: Quadrature, steepest: float) -> _Places:
        kept = self._places
        if kept is not None and kept.rule is rule and kept.smooth_below >= steepest:
            return kept
        self._places = _Places(rule, rule.nodes, None, np.inf)
        steepest *= 1.1
        reach = float(max(-rule.nodes[0], rule.nodes[-1]))
        count = _chebyshev_count(steepest, reach)
        if steepest <= _GENTLE and count < len(rule) and rule.spacing is not None:
            self._places = _Places(rule, *_chebyshev(rule.nodes, reach, count), steepest)
        return self._places


class _Posteriors(NamedTuple):
    """Σ log marginal likelihood, mean and variance of every agent, and the mass at every node."""

    log_marginal: float
    mean: Floats
    variance: Floats
    mass: Floats


def _posteriors(score: Floats, total: Floats, rate: Floats, rule: Quadrature) -> _Posteriors:
    nodes, base = rule.nodes, rule.log_weights - total
    half = int(np.ceil(_REACH_IN_SDS / rule.spacing)) if rule.spacing else nodes.size
    width = 2 * half + 1
    if nodes.size <= 2 * width:
        joint = np.multiply.outer(score, nodes)
        joint += base
        log_marginal, weights = posterior_weights(joint)
        mean = weights @ nodes
        second = weights @ nodes**2
        return _Posteriors(float(log_marginal.sum()), mean, second - mean**2, weights.sum(axis=0))
    # The mode of s θ − A(θ) − θ²/2 is where A'(θ) + θ, which only rises, reaches s.
    centre = np.searchsorted(rate + nodes, score)
    first = np.clip(centre - half, 0, nodes.size - width)
    window = first[:, None] + np.arange(width)
    around = nodes[window]
    joint = score[:, None] * around
    joint += base[window]
    log_marginal, weights = posterior_weights(joint)
    mean = (weights * around).sum(axis=1)
    around -= mean[:, None]
    around *= around
    variance = (weights * around).sum(axis=1)
    mass = np.bincount(window.ravel(), weights.ravel(), minlength=nodes.size).astype(np.float64)
    return _Posteriors(float(log_marginal.sum()), mean, variance, mass)


def _chebyshev_count(steepest: float, reach: float) -> int:
    """How many Chebyshev nodes give log(1 + exp η) to the error allowed.

    Its singularities at η = ±iπ are y = π / (a · reach) above the interval when that is scaled to
    ±1; the error falls like ρ⁻ⁿ with ρ = y + √(1 + y²) (Trefethen 2013, theorem 8.2).
    """
    height = np.pi / max(steepest * reach, 1e-9)
    return int(np.ceil(-np.log(_CHEBYSHEV_ERROR) / np.log(height + np.sqrt(1 + height**2))))


def _chebyshev(nodes: Floats, reach: float, count: int) -> tuple[Floats, Floats]:
    """Chebyshev nodes on ±reach, and the matrix that spreads values at them to the nodes."""
    k = np.arange(count)
    angle = np.pi * (k + 0.5) / count
    at = reach * np.cos(angle)
    barycentric = np.where(k % 2 == 0, 1.0, -1.0) * np.sin(angle)
    gap = nodes[:, None] - at
    exact = gap == 0
    gap[exact] = 1.0
    spread = barycentric / gap
    spread /= spread.sum(axis=1, keepdims=True)
    hit = exact.any(axis=1)
    spread[hit] = exact[hit]
    return at, spread
