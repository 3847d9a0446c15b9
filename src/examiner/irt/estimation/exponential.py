"""The 1PL and 2PL of successes, which are exponential families: few passes over the data an iteration.

With k successes of n trials the log-likelihood of agent j is, up to Σ log C(n, k),
log L_j(θ) = s_j θ + t_j − A_j(θ), where s = K a, t = K d and A_j(θ) = Σᵢ n_jᵢ log(1 + exp(aᵢθ + dᵢ)).
The M-step needs only Kᵀ E[θ], the column sums of K, and how much posterior mass, in trials, each task
has at each node. Where all agents were given the same trials, A and that mass are common to all: an
iteration is two products of the data with a vector, whatever the number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.kernels import log_choices
from examiner.irt.estimation.usable_responses import biserial_start, column_sums, suitable_kind
from examiner.irt.estimation.windows import Windows
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Point, Unknowns
from examiner.irt.posterior import Quadrature, moments, posterior_weights
from examiner.results import ResponseMatrix

_SPACING = 0.8
"""Sums over a Gaussian then err by 8e-14 (see `Quadrature.for_items`)."""
_SHORT = 100
"""Tests of so many tasks can afford nodes closer by far."""
_SMALL = 200_000
"""Up to this many cells are kept as float64, more as float32."""
_REACH_IN_SDS = 8.0
"""How far around an agent's mode its posterior is looked at, in posterior standard deviations."""
_SMALL_AND_COMPLETE = 2_000_000
"""The same where all agents were given the same trials: the products are fewer."""
_GENTLE = 4.0
"""Slopes up to 4 in size have curves smooth enough for few Chebyshev nodes."""
_CHEBYSHEV_ERROR = 1e-8
_BLOCK = 64
_MOST_SLOPE_STEP = 1.0
_MOST_INTERCEPT_STEP = 1.5


@dataclass(frozen=True, slots=True)
class ExponentialStatistics(Expected):
    """What an E-step tells the M-step of the 1PL and 2PL.

    `mass` is the posterior mass in trials, [tasks, nodes], or [nodes] in agents where it is common
    to all tasks and multiplied by `trials`; `rising` is σ(aθ + d) at the nodes, `won` the successes
    of each task, and `won_ability` the same weighted by the agents' abilities.
    """

    nodes: Floats
    mass: Floats
    trials: Floats
    rising: NDArray[np.floating]
    won: Floats
    won_ability: Floats

    def raised(self, unknowns: Unknowns, at: Point) -> Point:
        """Return the parameters after one Newton step for every task at once.

        With posterior mass m_q in trials at node θ_q: gradients Σ won − Σ m P and Σ won·E[θ] − Σ m θ P,
        curvatures Σ m P(1 − P) (1, θ, θ²). A slope shared by all tasks is eliminated last (Schur).
        """
        found = self._derivatives()
        mean, tightness = unknowns.pull("intercept")
        found.by_intercept[:] -= (at.own[-1] - mean) * tightness
        found.intercepts[:] += tightness
        mean, tightness = unknowns.pull("slope")
        if "slope" in unknowns.shared:
            return _raised_together(found, at, float(mean), float(tightness))
        found.by_slope[:] -= (at.own[0] - mean) * tightness
        found.slopes[:] += tightness
        determinant = np.maximum(found.intercepts * found.slopes - found.both**2, 1e-8)
        step = np.stack(
            [
                found.intercepts * found.by_slope - found.both * found.by_intercept,
                found.slopes * found.by_intercept - found.both * found.by_slope,
            ]
        )
        step /= determinant
        size = np.maximum(
            np.abs(step[0]) / _MOST_SLOPE_STEP, np.abs(step[1]) / _MOST_INTERCEPT_STEP
        )
        return Point(at.own + step * (1.0 / np.maximum(size, 1.0)), at.shared)

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what its task's intercept takes off."""
        found = self._derivatives()
        _, tightness = unknowns.pull("intercept")
        rest = np.maximum(found.intercepts + tightness, 1e-8)
        return np.asarray(np.maximum(found.slopes - found.both**2 / rest, 0.0))

    def _derivatives(self) -> _Derivatives:
        rising, nodes = self.rising, self.nodes
        kind = rising.dtype
        powers = np.stack([np.ones_like(nodes), nodes, nodes**2], axis=1)
        if self.mass.ndim == 1:
            weighted = (self.mass[:, None] * powers).astype(kind)
            first = np.asarray(rising @ weighted[:, :2], dtype=np.float64)
            bend = np.asarray((rising - rising * rising) @ weighted, dtype=np.float64)
        else:
            at = rising * self.mass
            first = np.asarray(at @ powers[:, :2].astype(kind), dtype=np.float64)
            at -= at * rising
            bend = np.asarray(at @ powers.astype(kind), dtype=np.float64)
        trials = self.trials[:, None]
        first *= trials
        bend *= trials
        return _Derivatives(
            self.won_ability - first[:, 1],
            self.won - first[:, 0],
            bend[:, 2].copy(),
            bend[:, 1],
            bend[:, 0].copy(),
        )


class _Derivatives(NamedTuple):
    """Gradients by slope and intercept, and the curvatures by slopes, both, and intercepts: [tasks]."""

    by_slope: Floats
    by_intercept: Floats
    slopes: Floats
    both: Floats
    intercepts: Floats


def _raised_together(found: _Derivatives, at: Point, mean: float, tightness: float) -> Point:
    """One step of the slope that all tasks share, and the steps of their intercepts that follow."""
    intercepts = np.maximum(found.intercepts, 1e-8)
    gradient = float((found.by_slope - found.both / intercepts * found.by_intercept).sum())
    gradient -= (float(at.shared[0]) - mean) * tightness  # one slope, so one prior
    curvature = float((found.slopes - found.both**2 / intercepts).sum()) + tightness
    step = float(np.clip(gradient / max(curvature, 1e-8), -_MOST_SLOPE_STEP, _MOST_SLOPE_STEP))
    rest = (found.by_intercept - found.both * step) / intercepts
    return Point(
        at.own + np.clip(rest, -_MOST_INTERCEPT_STEP, _MOST_INTERCEPT_STEP), at.shared + step
    )


class CountSource:
    """Names, counts and a start: what sources of successes share, with `won` in an order of their own."""

    response: Response = "binomial"

    def __init__(
        self, matrix: ResponseMatrix, kind: type[np.floating], order: NDArray[np.intp] | None = None
    ) -> None:
        self.agents, self.tasks = matrix.agents, matrix.tasks
        self._order = slice(None) if order is None else order
        self.won = matrix.successes[self._order].astype(kind)
        self.total_won = column_sums(matrix.successes)
        self.constant = float(log_choices(matrix).sum())
        self._tried = column_sums(matrix.trials)
        self.trials = self._tried / len(self.agents)
        exact = kind is np.float64
        self.pace = Pace(
            _SPACING if len(self.tasks) > _SHORT else 0.4 * _SPACING,
            reach=9.0,  # what lies beyond weighs 1e-19
            relaid=(3, 10, 30, 100, 300),
            fresh=8,
            tolerance=1e-6 if exact else 5e-5,  # products in single precision stall near 1e-5
            noise=1e-12 if exact else 1e-8,
        )

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether curves run from 0 to 1 and trials of a cell are independent."""
        return set(unknowns.names) == {"slope", "intercept"}

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from shares and from correlations with the total score."""
        return biserial_start(self.won, self.total_won, self._tried, shared_slope=shared_slope)

    def statistics(
        self,
        found: Expected,
        items: ItemParameters,
        nodes: Floats,
        mass: Floats,
        rising: NDArray[np.floating],
        trials: Floats,
    ) -> ExponentialStatistics:
        """Return what the M-step is told, from the posteriors of s_j θ − A_j(θ) alone."""
        able = found.ability[self._order].astype(self.won.dtype)
        return ExponentialStatistics(
            float(found.log_likelihood + items.intercept @ self.total_won) + self.constant,
            found.ability,
            found.variance,
            nodes,
            mass,
            trials,
            rising,
            self.total_won,
            np.asarray(able @ self.won, dtype=np.float64),
        )


class PatternedSource(CountSource):
    """Agents were given different trials: some cells are missing, or trials vary.

    Agents are sorted by success and taken in blocks, and each block looks only at the nodes where
    its posteriors live: A and the mass cost two matrix products over those few nodes.
    """

    def __init__(self, matrix: ResponseMatrix) -> None:
        kind = suitable_kind(matrix, _SMALL)
        won, tried = matrix.successes, matrix.trials
        self._windows = Windows((won.sum(axis=1) + 1.0) / (tried.sum(axis=1) + 2.0), _BLOCK)
        super().__init__(matrix, kind, self._windows.order)
        self._given = tried[self._windows.order].astype(kind)

    def expected(self, items: ItemParameters, rule: Quadrature) -> ExponentialStatistics:
        """Return the statistics of one E-step from two products over each block's few nodes."""
        slope, intercept, kind, nodes = items.slope, items.intercept, self.won.dtype, rule.nodes
        eta = np.multiply.outer(slope, nodes)
        eta += intercept[:, None]
        plus, rising = softplus_and_sigmoid(eta.astype(kind, copy=False))
        score = np.asarray(self.won @ slope.astype(kind), dtype=np.float64)
        mass = np.zeros((slope.size, nodes.size), dtype=kind)

        def joint(rows: slice, window: slice) -> Floats:
            density = np.multiply.outer(score[rows], nodes[window])
            density -= self._given[rows] @ plus[:, window]
            density += rule.log_weights[window]
            return density

        def use(rows: slice, window: slice, weights: Floats) -> None:
            mass[:, window] += self._given[rows].T @ weights.astype(kind)

        found = self._windows.sweep(rule, joint, use)
        return self.statistics(found, items, nodes, mass, rising, np.ones(slope.size))


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
        super().__init__(matrix, suitable_kind(matrix, _SMALL_AND_COMPLETE))
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
        found, mass = _posteriors(score, total, rate, rule)
        mass = mass if spread is None else mass @ spread
        return self.statistics(found, items, at, mass, rising, self._trials)

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


def _posteriors(
    score: Floats, total: Floats, rate: Floats, rule: Quadrature
) -> tuple[Expected, Floats]:
    """What is known of every agent, and the mass at every node."""
    nodes, base = rule.nodes, rule.log_weights - total
    half = int(np.ceil(_REACH_IN_SDS / rule.spacing)) if rule.spacing else nodes.size
    width = 2 * half + 1
    if nodes.size <= 2 * width:
        joint = np.multiply.outer(score, nodes)
        joint += base
        log_marginal, weights = posterior_weights(joint)
        known = Expected(float(log_marginal.sum()), *moments(weights, nodes))
        return known, weights.sum(axis=0)
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
    return Expected(float(log_marginal.sum()), mean, variance), mass


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


def softplus_and_sigmoid(
    eta: NDArray[np.floating],
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """log(1 + exp η) and σ(η) from one exponential; `eta` is overwritten."""
    small = np.abs(eta)
    np.negative(small, out=small)
    np.exp(small, out=small)
    negative = eta < 0
    np.maximum(eta, 0, out=eta)
    eta += np.log1p(small)
    rising = np.where(negative, small, 1)
    small += 1
    rising /= small
    return eta, rising
