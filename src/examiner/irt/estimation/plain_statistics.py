"""The M-step of the 1PL and 2PL of successes: one Newton step for every task at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.arrays import Array, Place
from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.passes import CommonCurves, OwnCurves
from examiner.irt.items import Floats
from examiner.irt.model import Point, Unknowns

_MOST_SLOPE_STEP = 1.0
_MOST_INTERCEPT_STEP = 1.5


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
        return at._replace(own=at.own + step * (1.0 / np.maximum(size, 1.0)))

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what its task's intercept takes off."""
        found = self.derivatives()
        _, tightness = unknowns.pull("intercept")
        rest = np.maximum(found.intercepts + tightness, 1e-8)
        return np.asarray(np.maximum(found.slopes - found.both**2 / rest, 0.0))

    def derivatives(self) -> Derivatives:
        """Return gradients and curvatures of every task, from sums over the nodes."""
        nodes = self.curves.nodes
        powers = self.place.xp.stack([nodes**0, nodes, nodes**2], 1)
        first, bend = map(self.place.numpy, self.curves.sums(self.mass, powers))
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
    steps = np.clip(rest, -_MOST_INTERCEPT_STEP, _MOST_INTERCEPT_STEP)
    return at._replace(own=at.own + steps, shared=at.shared + step)
