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

from examiner.irt.estimation.em import Expected, Pace
from examiner.irt.estimation.kernels import log_choices
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.estimation.usable_responses import column_sums
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Point, Priors, Unknowns
from examiner.irt.posterior import Windows
from examiner.results import ResponseMatrix

_SPACING = 0.8
"""Sums over a Gaussian then err by 8e-14 (see `Quadrature.for_items`)."""
_SHORT = 100
"""Tests of so many tasks can afford nodes closer by far."""
_SMALL = 200_000
"""Up to this many cells are kept as float64, more as float32."""
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
        found, priors = self._derivatives(), unknowns.priors
        if priors is not None:
            prior = priors.intercept
            found.by_intercept[:] -= (at.own[-1] - prior.mean) / prior.sd**2
            found.intercepts[:] += 1 / prior.sd**2
        if "slope" in unknowns.shared:
            return _raised_together(found, at, priors)
        if priors is not None:
            found.by_slope[:] -= (at.own[0] - priors.slope.mean) / priors.slope.sd**2
            found.slopes[:] += 1 / priors.slope.sd**2
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


def _raised_together(found: _Derivatives, at: Point, priors: Priors | None) -> Point:
    """One step of the slope that all tasks share, and the steps of their intercepts that follow."""
    intercepts = np.maximum(found.intercepts, 1e-8)
    gradient = float((found.by_slope - found.both / intercepts * found.by_intercept).sum())
    curvature = float((found.slopes - found.both**2 / intercepts).sum())
    if priors is not None:  # one slope, so one prior
        gradient -= (float(at.shared[0]) - priors.slope.mean) / priors.slope.sd**2
        curvature += 1 / priors.slope.sd**2
    step = float(np.clip(gradient / max(curvature, 1e-8), -_MOST_SLOPE_STEP, _MOST_SLOPE_STEP))
    rest = (found.by_intercept - found.both * step) / intercepts
    return Point(
        at.own + np.clip(rest, -_MOST_INTERCEPT_STEP, _MOST_INTERCEPT_STEP), at.shared + step
    )


class CountSource:
    """Names, counts and a start: what sources of successes share, with `won` in their own order."""

    response: Response = "binomial"

    def __init__(self, matrix: ResponseMatrix, won: NDArray[np.floating]) -> None:
        self.agents, self.tasks = matrix.agents, matrix.tasks
        self.won = won
        self.total_won = column_sums(matrix.successes)
        self.constant = float(log_choices(matrix).sum())
        self._tried = column_sums(matrix.trials)
        self.trials = self._tried / len(self.agents)
        exact = won.dtype == np.float64
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

    def won_times(self, per_agent: Floats) -> Floats:
        """Successes times a number per agent, in the order of `won`: one number per task."""
        return np.asarray(per_agent.astype(self.won.dtype) @ self.won, dtype=np.float64)


class PatternedSource(CountSource):
    """Agents were given different trials: some cells are missing, or trials vary.

    Agents are sorted by success and taken in blocks, and each block looks only at the nodes where
    its posteriors live: A and the mass cost two matrix products over those few nodes.
    """

    def __init__(self, matrix: ResponseMatrix) -> None:
        kind = suitable_kind(matrix, _SMALL)
        won, tried = matrix.successes, matrix.trials
        self._windows = Windows((won.sum(axis=1) + 1.0) / (tried.sum(axis=1) + 2.0), _BLOCK)
        super().__init__(matrix, won[self._windows.order].astype(kind))
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
        return ExponentialStatistics(
            float(found.log_marginal + intercept @ self.total_won) + self.constant,
            found.mean,
            found.variance,
            nodes,
            mass,
            np.ones(slope.size),
            rising,
            self.total_won,
            self.won_times(found.mean[self._windows.order]),
        )


def suitable_kind(matrix: ResponseMatrix, most: int) -> type[np.floating]:
    """Return double precision up to so many cells, single beyond."""
    cells = len(matrix.agents) * len(matrix.tasks)
    return np.float64 if cells <= most else np.float32


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


def biserial_start(
    won: NDArray[np.floating], total_won: Floats, total_tried: Floats, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Return slopes and intercepts from shares and from correlations with the total score.

    `won` [agents, tasks] are successes, the totals [tasks] those of a task and its trials. A task's
    correlation with the standardised total, divided by the height of the normal curve at its share, is
    about the biserial r; a = 1.702 r / √(1 − r²) in logits. Shares are smoothed.
    """
    kind = won.dtype
    share = (total_won + 0.5) / (total_tried + 1.0)
    logit = np.log(share / (1 - share))
    total = np.asarray(won @ np.ones(len(total_won), dtype=kind), dtype=np.float64)
    ability = (total - total.mean()) / max(float(total.std()), 1e-12)
    # Logistic and normal quantiles differ by 1.702; the normal height at the quantile is closed-form.
    height = np.exp(-0.5 * (logit / 1.702) ** 2) / np.sqrt(2 * np.pi)
    covariance = np.asarray(ability.astype(kind) @ won, dtype=np.float64) / total_tried
    r = np.clip(covariance / height, -0.9, 0.9)
    stretch = 1 / np.sqrt(1 - r**2)
    slope = np.clip(1.702 * r * stretch, -4.0, 4.0)
    if shared_slope:
        slope = np.full(slope.size, max(0.1, float(np.median(slope))))
    return slope, logit * stretch
