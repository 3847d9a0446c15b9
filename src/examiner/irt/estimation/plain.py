"""The 1PL and 2PL of successes: curves at the nodes of a pass, and one Newton step for every task at once.

log f = s θ + t − A(θ) with s = K a and t = K d, so that products with a vector stand for those of
successes, and where all agents had the same trials, A(θ) and the posterior mass are common to all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.arrays import Array, Kind, Place, softplus_and_sigmoid, split
from examiner.irt.estimation.em import Expected
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Point, Unknowns
from examiner.irt.posterior import Quadrature


class Spread(NamedTuple):
    """Chebyshev nodes `at` which curves are evaluated, and the `matrix` that spreads them to the nodes."""

    rule: Quadrature
    at: Floats
    matrix: Floats | None
    smooth_below: float

    @classmethod
    def over(cls, rule: Quadrature, steepest: float, before: Spread | None = None) -> Spread:
        """Return few Chebyshev nodes where curves are smooth enough, else the nodes themselves.

        With 20,000 tasks and 400 agents a fit takes a fifth of the time.
        """
        if before is not None and before.rule is rule and before.smooth_below >= steepest:
            return before
        steepest *= 1.1
        reach = float(max(-rule.nodes[0], rule.nodes[-1]))
        count = _chebyshev_count(steepest, reach)
        if steepest <= 4.0 and count < len(rule) and rule.spacing is not None:
            return cls(rule, *_chebyshev(rule.nodes, reach, count), steepest)
        return cls(rule, rule.nodes, None, np.inf)


class CommonCurves:
    """A(θ) = Σ n log(1 + exp η) at the nodes, and σ(η) [tasks, places].

    For agents who all had the same `trials` n.
    """

    def __init__(self, items: ItemParameters, spread: Spread, trials: Floats, place: Place) -> None:
        self.trials, self.nodes = place.array(trials), place.array(spread.at)
        self._spread = None if spread.matrix is None else place.array(spread.matrix)
        eta = place.array(items.slope)[:, None] * self.nodes
        eta += place.array(items.intercept)[:, None]
        plus, self._rising = softplus_and_sigmoid(eta, place)
        total = self.trials @ plus
        self.total = total if self._spread is None else self._spread @ total

    def sums(self, mass: Array, powers: Array) -> tuple[Array, Array]:
        """Return Σ m P (1, θ) and Σ m P (1 − P) (1, θ, θ²) of each task, from the mass m [nodes]."""
        mass = mass if self._spread is None else mass @ self._spread
        weighted = mass[:, None] * powers
        first, bend = self._rising @ weighted[:, :2], (self._rising - self._rising**2) @ weighted
        return first * self.trials[:, None], bend * self.trials[:, None]


class OwnCurves:
    """log(1 − P) and P = σ(η) of every task at the nodes that were needed, [nodes, tasks]."""

    def __init__(self, items: ItemParameters, nodes: Floats, kind: Kind, place: Place) -> None:
        self._items, self._kind, self._place = items, kind, place
        self.nodes = place.array(nodes)
        shape = len(nodes), len(items)
        self._rising = place.array(np.zeros(shape))
        halved = (shape[0], 2, shape[1])
        self._failure = place.array(np.empty(shape if kind is np.float64 else halved, kind), kind)
        self._known = np.zeros(len(nodes), dtype=bool)

    def failure(self, window: slice) -> Array:
        """Return log(1 − P) at some nodes, or its halves."""
        place = self._place
        new = np.arange(len(self._known))[window][~self._known[window]]
        # so many nodes stay in the cache
        together = 32 if place.in_process else len(new) or 1
        for start in range(0, len(new), together):
            nodes = place.array(new[start : start + together], np.int64)
            eta = self.nodes[nodes][:, None] * place.array(self._items.slope)
            eta += place.array(self._items.intercept)
            plus, self._rising[nodes] = softplus_and_sigmoid(eta, place)
            self._failure[nodes] = split(-plus, self._kind, place)
        self._known[new] = True
        return self._failure[window]

    def sums(self, mass: Array, powers: Array) -> tuple[Array, Array]:
        """Return the same sums from the mass in trials, [nodes, tasks]."""
        there = np.flatnonzero(self._place.numpy(mass.any(1)))
        window = slice(int(there[0]), int(there[-1]) + 1)
        self.failure(window)
        rising, powers = self._rising[window], powers[window]
        weighted = rising * mass[window]
        first = weighted.T @ powers[:, :2]
        weighted -= weighted * rising
        return first, weighted.T @ powers


@dataclass(frozen=True, slots=True)
class PlainStatistics(Expected):
    """What an E-step tells the M-step of the 1PL and 2PL.

    `mass` is the posterior mass in trials [nodes, tasks], or in agents [nodes] where all agents had the
    same trials; `curves` has σ(aθ + d) there, `won` are the successes of each task, and `won_ability` the
    same weighted by the agents' abilities. Mass and curves stay where the responses are.
    """

    mass: Array
    curves: CommonCurves | OwnCurves
    place: Place
    won: Floats
    won_ability: Floats

    def raised(self, unknowns: Unknowns, at: Point) -> Point:
        """Return the parameters after one Newton step for every task at once.

        With posterior mass m_q in trials at node θ_q: gradients Σ won − Σ m P and Σ won·E[θ] − Σ m θ P,
        curvatures Σ m P(1 − P) (1, θ, θ²). A slope shared by all tasks is eliminated last (Schur).
        """
        by_slope, by_intercept, slopes, both, intercepts = self.derivatives()
        mean, tightness = unknowns.pull("intercept")
        by_intercept = by_intercept - (at.own[-1] - mean) * tightness
        intercepts = intercepts + tightness
        mean, tightness = unknowns.pull("slope")
        if "slope" in unknowns.shared:
            intercepts = np.maximum(intercepts, 1e-8)
            gradient = float((by_slope - both / intercepts * by_intercept).sum())
            gradient -= (float(at.shared[0]) - float(mean)) * float(
                tightness
            )  # one slope, one prior
            curvature = float((slopes - both**2 / intercepts).sum()) + float(tightness)
            step = float(np.clip(gradient / max(curvature, 1e-8), -1.0, 1.0))
            steps = np.clip((by_intercept - both * step) / intercepts, -1.5, 1.5)
            return at._replace(own=at.own + steps, shared=at.shared + step)
        by_slope = by_slope - (at.own[0] - mean) * tightness
        slopes = slopes + tightness
        determinant = np.maximum(intercepts * slopes - both**2, 1e-8)
        steps = np.stack(
            [
                intercepts * by_slope - both * by_intercept,
                slopes * by_intercept - both * by_slope,
            ]
        )
        steps /= determinant
        # a slope moves by 1 at most, and an intercept by 1.5
        size = np.maximum(np.abs(steps[0]), np.abs(steps[1]) / 1.5)
        return at._replace(own=at.own + steps / np.maximum(size, 1.0))

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what its task's intercept takes off."""
        derivatives = self.derivatives()
        _, tightness = unknowns.pull("intercept")
        intercepts = np.maximum(derivatives.intercepts + tightness, 1e-8)
        return np.asarray(np.maximum(derivatives.slopes - derivatives.both**2 / intercepts, 0.0))

    def derivatives(self) -> Derivatives:
        """Return gradients and curvatures of every task, from sums over the nodes."""
        nodes = self.curves.nodes
        powers = self.place.xp.stack([nodes**0, nodes, nodes**2], 1)
        first, bend = map(self.place.numpy, self.curves.sums(self.mass, powers))
        gradients = self.won_ability - first[:, 1], self.won - first[:, 0]
        return Derivatives(*gradients, bend[:, 2], bend[:, 1], bend[:, 0])


class Derivatives(NamedTuple):
    """Gradients by slope and intercept, and the curvatures by slopes, both, and intercepts: [tasks]."""

    by_slope: Floats
    by_intercept: Floats
    slopes: Floats
    both: Floats
    intercepts: Floats


def _chebyshev_count(steepest: float, reach: float) -> int:
    """How many Chebyshev nodes give log(1 + exp η) to the error allowed.

    Its singularities at η = ±iπ are y = π / (a · reach) above the interval when that is scaled to
    ±1; the error falls like ρ⁻ⁿ with ρ = y + √(1 + y²) (Trefethen 2013, theorem 8.2).
    """
    height = np.pi / max(steepest * reach, 1e-9)
    return int(np.ceil(-np.log(1e-8) / np.log(height + np.sqrt(1 + height**2))))


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
