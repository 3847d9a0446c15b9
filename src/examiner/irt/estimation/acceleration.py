"""Anderson acceleration of a fixed point, guarded by an objective that must not fall."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from examiner.irt.items import Floats

Step = Callable[[Floats], tuple[float, Floats]]
"""From a point: its objective, and the next point of the plain iteration."""


class Arrival(NamedTuple):
    """Where an iteration ended: the point, its objective, the iterations, and whether it settled."""

    point: Floats
    objective: float
    iterations: int
    settled: bool


def fixed_point(
    step: Step,
    start: Floats,
    *,
    tolerance: float,
    objective_tolerance: float,
    most: int,
    memory: int = 5,
    furthest: float = 3.0,
    plain: int = 2,
    bounds: tuple[Floats | float, Floats | float] = (-np.inf, np.inf),
) -> Arrival:
    """Iterate x ← g(x) until x no longer moves, mixing the last few steps (Walker and Ni 2011).

    Each accelerated point is kept only while the objective does not fall: otherwise the plain
    point before it is taken up again and the memory cleared. It ends when no coordinate moves by
    more than `tolerance`, or the objective has gained less than `objective_tolerance` of its size
    in each of four iterations. Coordinates are kept within `bounds`.
    """
    points: list[Floats] = []
    moves: list[Floats] = []
    point, best = start, -np.inf
    fallback = start
    accelerated = False
    quiet = 0
    for iteration in range(1, most + 1):
        objective, following = step(point)
        slack = max(1e-10, 10 * objective_tolerance) * (1.0 + abs(best))
        if accelerated and not objective >= best - slack:
            point, accelerated = fallback, False
            points, moves = [], []
            continue
        gain = objective - best
        best = objective
        following = np.clip(following, *bounds)
        move = following - point
        if np.abs(move).max() < tolerance:
            return Arrival(following, objective, iteration, True)
        quiet = quiet + 1 if gain < objective_tolerance * abs(objective) else 0
        if quiet >= 4:
            return Arrival(following, objective, iteration, True)
        fallback, accelerated = following, False
        if iteration > plain:
            points.append(point)
            moves.append(move)
            if len(points) > memory + 1:
                del points[0], moves[0]
            mixed = _mixed(points, moves)
            if mixed is not None and np.abs(mixed - point).max() < furthest:
                following = np.clip(mixed, *bounds)
                accelerated = True
        point = following
    return Arrival(point, best, most, False)


def _mixed(points: list[Floats], moves: list[Floats]) -> Floats | None:
    """The point whose move, by the secants seen, would be smallest."""
    if len(points) < 2:
        return None
    differences = np.diff(np.stack(moves), axis=0)
    gram = differences @ differences.T
    gram[np.diag_indices_from(gram)] *= 1 + 1e-10
    try:
        share = np.linalg.solve(gram, differences @ moves[-1])
    except np.linalg.LinAlgError:
        return None
    ahead = np.diff(np.stack(points), axis=0) + differences
    mixed = points[-1] + moves[-1] - share @ ahead
    return mixed if np.isfinite(mixed).all() else None
