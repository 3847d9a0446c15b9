"""The E-step of the 1PL and 2PL, which are exponential families: few passes over the data.

With k successes of n trials the log-likelihood of agent j is, up to Σ log C(n, k),
log L_j(θ) = s_j θ + t_j − A_j(θ), where s = K a, t = K d and A_j(θ) = Σᵢ n_jᵢ log(1 + exp(aᵢθ + dᵢ)).
The M-step needs only Kᵀ E[θ], the column sums of K, and how much posterior mass, in trials, each task
has at each node. Where all agents were given the same trials, A and that mass are common to all: an
iteration is two products of the data with a vector, whatever the number of nodes.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.kernels import log_choices
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.estimation.windows import BlockWindows, normalised
from examiner.irt.items import Floats
from examiner.results import ResponseMatrix

_REACH_IN_SDS = 8.0
"""How far around an agent's mode its posterior is looked at, in posterior standard deviations."""
SPACING = 0.8
_SMALL = 2_000_000
_SMALL_PATTERNED = 200_000
"""Up to this many cells are kept as float64, more as float32."""
_GENTLE = 4.0
"""Slopes up to 4 in size have curves smooth enough for few Chebyshev nodes."""
_CHEBYSHEV_ERROR = 1e-8
_BLOCK = 64


class Expected(NamedTuple):
    """What an E-step tells the M-step.

    `mass` is the posterior mass in trials, [tasks, nodes], or [nodes] in agents where it is common
    to all tasks and multiplied by `trials`; `rising` is σ(aθ + d) at the nodes. `spread` holds the
    mean and the variance of ability over agents and posteriors.
    """

    log_likelihood: float
    nodes: Floats
    mass: Floats
    trials: Floats
    rising: NDArray[np.floating]
    won: Floats
    won_ability: Floats
    ability: Floats
    variance: Floats

    @property
    def spread(self) -> tuple[float, float]:
        """Mean and variance of ability in the sample."""
        mean = float(self.ability.mean())
        return mean, float(self.variance.mean() + ((self.ability - mean) ** 2).mean())


class ResponseSource(Protocol):
    """All that a fit of the 1PL or 2PL may ask of the data: E-steps, and products for a start."""

    won: Floats
    """Successes of each task."""
    tried: Floats
    """Trials of each task."""
    agents: int

    @property
    def exact(self) -> bool:
        """Whether products are in double precision; single stalls near 1e-5."""
        ...

    def expected(self, slope: Floats, intercept: Floats, rule: Quadrature) -> Expected:
        """Return the statistics of one E-step."""
        ...

    def times(self, per_task: Floats) -> Floats:
        """Return successes times a number per task: one number per agent."""
        ...

    def transposed_times(self, per_agent: Floats) -> Floats:
        """Return successes times a number per agent: one number per task."""
        ...


def source_of(matrix: ResponseMatrix, *, fixed: bool = False) -> ResponseSource:
    """Return the E-step that suits the data; `fixed` keeps all nodes of a quadrature for everyone."""
    if same_trials(matrix):
        return CompleteSource(matrix, fixed=fixed)
    return PatternedSource(matrix, fixed=fixed)


def same_trials(matrix: ResponseMatrix) -> bool:
    """Whether every agent was given the same trials; a shared number needs no look at the cells."""
    trials = matrix.trials
    return trials.strides[0] == 0 or bool((trials == trials[0]).all())


class CompleteSource:
    """Every agent was given the same trials of each task."""

    def __init__(self, matrix: ResponseMatrix, *, fixed: bool = False) -> None:
        self._data = matrix.successes.astype(_kind(matrix, _SMALL))
        self._fixed = fixed
        self._constant = float(log_choices(matrix).sum())
        self.agents = len(matrix.agents)
        self.trials = matrix.trials[0].astype(np.float64)
        self.tried = self.trials * self.agents
        self._single = bool((self.trials == 1).all())
        self.won = column_sums(matrix.successes)
        self._rule: Quadrature | None = None
        self._at = np.empty(0)
        self._spread: Floats | None = None
        self._smooth_below = 0.0

    @property
    def exact(self) -> bool:
        """Whether the data are kept in double precision."""
        return bool(self._data.dtype == np.float64)

    def times(self, per_task: Floats) -> Floats:
        """One number per agent."""
        return np.asarray(self._data @ per_task.astype(self._data.dtype), dtype=np.float64)

    def transposed_times(self, per_agent: Floats) -> Floats:
        """One number per task."""
        return np.asarray(per_agent.astype(self._data.dtype) @ self._data, dtype=np.float64)

    def expected(self, slope: Floats, intercept: Floats, rule: Quadrature) -> Expected:
        """Return the statistics of one E-step from two products of the data with a vector."""
        self._prepare(rule, slope)
        at, kind = self._at, self._data.dtype
        eta = np.multiply.outer(slope.astype(kind), at.astype(kind))
        eta += intercept.astype(kind)[:, None]
        plus, rising = _softplus_and_sigmoid(eta)
        rate = np.asarray((self.trials * slope).astype(kind) @ rising, dtype=np.float64)
        if not self._single:
            plus *= self.trials.astype(kind)[:, None]
        total = plus.sum(axis=0, dtype=np.float64)  # summed over many tasks, float32 would not do
        if self._spread is not None:
            total, rate = self._spread @ total, self._spread @ rate
        score = self.times(slope)
        log_marginal, ability, variance, mass = self._posteriors(score, total, rate, rule)
        if self._spread is not None:
            mass = mass @ self._spread
        return Expected(
            float(log_marginal.sum() + intercept @ self.won) + self._constant,
            at,
            mass,
            self.trials,
            rising,
            self.won,
            self.transposed_times(ability),
            ability,
            variance,
        )

    def _prepare(self, rule: Quadrature, slope: Floats) -> None:
        """Where the curves are evaluated: at the nodes, or at fewer Chebyshev nodes and spread."""
        if self._rule is rule and self._smooth_below >= np.abs(slope).max():
            return
        self._rule = rule
        self._at, self._spread, self._smooth_below = rule.nodes, None, np.inf
        steepest = 1.1 * float(np.abs(slope).max())
        reach = float(max(-rule.nodes[0], rule.nodes[-1]))
        count = _chebyshev_count(steepest, reach)
        if steepest <= _GENTLE and count < len(rule) and not self._fixed:
            self._at, self._spread = _chebyshev(rule.nodes, reach, count)
            self._smooth_below = steepest

    def _posteriors(
        self, score: Floats, total: Floats, rate: Floats, rule: Quadrature
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Log marginal likelihood, mean and variance of every agent, and the mass at every node."""
        nodes, base = rule.nodes, rule.log_weights - total
        half = int(np.ceil(_REACH_IN_SDS / rule.spacing)) if rule.spacing else nodes.size
        width = 2 * half + 1
        if self._fixed or nodes.size <= 2 * width:
            joint = np.multiply.outer(score, nodes)
            joint += base
            log_marginal, weights = normalised(joint)
            mean = weights @ nodes
            second = weights @ nodes**2
            return log_marginal, mean, second - mean**2, weights.sum(axis=0)
        # The mode of s θ − A(θ) − θ²/2 is where A'(θ) + θ, which only rises, reaches s.
        centre = np.searchsorted(rate + nodes, score)
        first = np.clip(centre - half, 0, nodes.size - width)
        window = first[:, None] + np.arange(width)
        around = nodes[window]
        joint = score[:, None] * around
        joint += base[window]
        log_marginal, weights = normalised(joint)
        mean = (weights * around).sum(axis=1)
        around -= mean[:, None]
        around *= around
        variance = (weights * around).sum(axis=1)
        mass: Floats = np.bincount(window.ravel(), weights.ravel(), minlength=nodes.size).astype(
            float
        )
        return log_marginal, mean, variance, mass


class PatternedSource:
    """Agents were given different trials: some cells are missing, or trials vary.

    Agents are sorted by success and taken in blocks, and each block looks only at the nodes where
    its posteriors live: A and the mass cost two matrix products over those few nodes.
    """

    def __init__(self, matrix: ResponseMatrix, *, fixed: bool = False) -> None:
        kind = _kind(matrix, _SMALL_PATTERNED)
        won, tried = matrix.successes, matrix.trials
        share = (won.sum(axis=1) + 1.0) / (tried.sum(axis=1) + 2.0)
        self._order = np.argsort(share, kind="stable")
        self._won = won[self._order].astype(kind)
        self._tried = tried[self._order].astype(kind)
        self._constant = float(log_choices(matrix).sum())
        self.agents = len(matrix.agents)
        self._windows = BlockWindows(self.agents, _BLOCK, fixed=fixed)
        self.won = column_sums(won)
        self.trials = np.ones(len(matrix.tasks))
        self.tried = column_sums(tried)

    @property
    def exact(self) -> bool:
        """Whether the data are kept in double precision."""
        return bool(self._won.dtype == np.float64)

    def times(self, per_task: Floats) -> Floats:
        """One number per agent."""
        answer = np.empty(self.agents)
        answer[self._order] = self._won @ per_task.astype(self._won.dtype)
        return answer

    def transposed_times(self, per_agent: Floats) -> Floats:
        """One number per task."""
        return np.asarray(
            per_agent[self._order].astype(self._won.dtype) @ self._won, dtype=np.float64
        )

    def expected(self, slope: Floats, intercept: Floats, rule: Quadrature) -> Expected:
        """Return the statistics of one E-step from two products over each block's few nodes."""
        kind = self._won.dtype
        nodes = rule.nodes
        eta = np.multiply.outer(slope, nodes)
        eta += intercept[:, None]
        plus, rising = _softplus_and_sigmoid(eta.astype(kind, copy=False))
        score = np.asarray(self._won @ slope.astype(kind), dtype=np.float64)
        mass = np.zeros((slope.size, nodes.size), dtype=kind)
        log_marginal, ability, variance = np.empty((3, self.agents))

        def joint(rows: slice, window: slice) -> Floats:
            density = np.multiply.outer(score[rows], nodes[window])
            density -= self._tried[rows] @ plus[:, window]
            density += rule.log_weights[window]
            return density

        for rows, window, *found in self._windows.posteriors(rule, joint):
            log_marginal[rows], weights, ability[rows], variance[rows] = found
            mass[:, window] += self._tried[rows].T @ weights.astype(kind)
        ordered = np.empty_like(ability), np.empty_like(variance)
        ordered[0][self._order], ordered[1][self._order] = ability, variance
        return Expected(
            float(log_marginal.sum() + intercept @ self.won) + self._constant,
            nodes,
            mass,
            self.trials,
            rising,
            self.won,
            self.transposed_times(ordered[0]),
            *ordered,
        )


def _kind(matrix: ResponseMatrix, most: int) -> type[np.floating]:
    cells = len(matrix.agents) * len(matrix.tasks)
    return np.float64 if cells <= most else np.float32


def _softplus_and_sigmoid(
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


def column_sums(counts: NDArray[np.unsignedinteger]) -> Floats:
    """Sums over agents, in blocks so short that small integers hold them."""
    if counts.strides[0] == 0:
        return np.asarray(counts.shape[0] * counts[0].astype(np.float64))
    largest = int(counts.max(initial=0))
    kind = counts.dtype
    rows = max(1, int(np.iinfo(kind).max) // max(1, largest))
    total = np.zeros(counts.shape[1])
    for first in range(0, counts.shape[0], rows):
        total += counts[first : first + rows].sum(axis=0, dtype=kind)
    return total


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
