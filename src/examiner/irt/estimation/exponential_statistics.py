"""The M-step of the 1PL and 2PL of successes: one Newton step for every task at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.em import Expected
from examiner.irt.items import Floats
from examiner.irt.model import Point, Unknowns

_MOST_SLOPE_STEP = 1.0
_MOST_INTERCEPT_STEP = 1.5


@dataclass(frozen=True, slots=True)
class ExponentialStatistics(Expected):
    """What an E-step tells the M-step of the 1PL and 2PL.

    `mass` is the posterior mass in trials, [tasks, nodes], or [nodes] in agents where it is common
    to all tasks and multiplied by `trials`; `rising` is σ(aθ + d) at the nodes, `won` the successes
    of each task, and `won_ability` the same weighted by the agents' abilities. Where agents were given
    different trials curves are known only where these agents have mass: who adds up statistics that
    share no curves lays them at all nodes (`engines/cluster.py`).
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
        found = self.derivatives()
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

    def plus(self, other: Self) -> Self:
        """Return the sums over these agents and others, in the arrays of these."""
        self.mass[:] += other.mass
        return replace(
            self,
            log_likelihood=self.log_likelihood + other.log_likelihood,
            won=self.won + other.won,
            won_ability=self.won_ability + other.won_ability,
        )

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what its task's intercept takes off."""
        found = self.derivatives()
        _, tightness = unknowns.pull("intercept")
        rest = np.maximum(found.intercepts + tightness, 1e-8)
        return np.asarray(np.maximum(found.slopes - found.both**2 / rest, 0.0))

    def derivatives(self) -> Derivatives:
        """Return gradients and curvatures of every task, from sums over the nodes."""
        rising, mass, nodes = self.rising, self.mass, self.nodes
        kind = rising.dtype
        if mass.ndim == 2:  # most nodes are beyond all agents
            there = np.flatnonzero(mass.any(axis=0))
            some = slice(there[0], there[-1] + 1)
            rising, mass, nodes = rising[:, some], mass[:, some], nodes[some]
        powers = np.stack([np.ones_like(nodes), nodes, nodes**2], axis=1)
        if mass.ndim == 1:
            weighted = (mass[:, None] * powers).astype(kind)
            first = np.asarray(rising @ weighted[:, :2], dtype=np.float64)
            bend = np.asarray((rising - rising * rising) @ weighted, dtype=np.float64)
        else:
            at = rising * mass
            first = np.asarray(at @ powers[:, :2].astype(kind), dtype=np.float64)
            at -= at * rising
            bend = np.asarray(at @ powers.astype(kind), dtype=np.float64)
        trials = self.trials[:, None]
        first *= trials
        bend *= trials
        return Derivatives(
            self.won_ability - first[:, 1],
            self.won - first[:, 0],
            bend[:, 2].copy(),
            bend[:, 1],
            bend[:, 0].copy(),
        )


class Derivatives(NamedTuple):
    """Gradients by slope and intercept, and the curvatures by slopes, both, and intercepts: [tasks]."""

    by_slope: Floats
    by_intercept: Floats
    slopes: Floats
    both: Floats
    intercepts: Floats


def _raised_together(found: Derivatives, at: Point, mean: float, tightness: float) -> Point:
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
