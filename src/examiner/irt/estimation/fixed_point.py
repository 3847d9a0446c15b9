"""A climb made of steps that each go too short: the last few are mixed until the point settles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from examiner.irt.items import Floats


class Stepped(NamedTuple):
    """From a point: its objective, and the next point of the plain iteration.

    Where more is known, also a point `ahead` of that, and the `gain` that the plain iteration will bring.
    """

    objective: float
    following: Floats
    ahead: Floats | None = None
    gain: float | None = None


Step = Callable[[Floats], Stepped]

_MEMORY = 5
"""Steps that are mixed: more of them hardly differ, and make the equations singular."""
_PLAIN = 2
"""The first steps are long and say little of those to come."""
_QUIET, _SURELY_QUIET = 4, 2
"""Iterations without a gain after which there is none: objectives are noisy, gains foretold are not. But
what a slope at its bound foretells, it will never gain."""


class Pace(NamedTuple):
    """How finely a likelihood is integrated on the way, and when its parameters count as settled."""

    spacing: float
    """Posterior standard deviations between the nodes of an automatic grid."""
    reach: float
    """Posterior standard deviations around every agent beyond which such a grid needs no nodes."""
    relaid: tuple[int, ...]
    """Iterations after which it is laid anew for the slopes found by then."""
    fresh: int
    """A grid laid more iterations than this before the end is laid once more."""
    tolerance: float
    """Parameters that move by less have settled."""
    noise: float
    """Gains of the objective below this share of its size are none."""


class Arrival(NamedTuple):
    """Where an iteration ended: the point, the iterations, and whether it settled."""

    point: Floats
    iterations: int
    settled: bool


def fixed_point(
    step: Step,
    start: Floats,
    pace: Pace,
    *,
    most: int,
    bounds: tuple[Floats, Floats],
    weigh: Callable[[Floats], Floats] = np.ones_like,
) -> Arrival:
    """Iterate x ← g(x) until x no longer moves, mixing the last few steps (Walker and Ni 2011).

    Where the step itself knows a point ahead, that is taken instead. Each accelerated point is kept only
    while the objective does not fall: otherwise the plain point before it is taken up again and the memory
    cleared. It ends when no coordinate moves by more than the tolerance, `weigh` saying how much of a move
    counts at a point, or the objective has gained no more than noise in each of four iterations.
    Coordinates are kept within `bounds`.

    References: Walker & Ni (2011), "Anderson acceleration for fixed-point iterations".

    >>> halfway = lambda x: Stepped(-float((x - 2.0) @ (x - 2.0)), 0.5 * x + 1.0)
    >>> pace = Pace(0.6, 5.0, (), 0, tolerance=1e-9, noise=0.0)
    >>> ends = np.array([-9.0]), np.array([9.0])
    >>> fixed_point(halfway, np.zeros(1), pace, most=50, bounds=ends).point.round(6)
    array([2.])
    """
    points: list[Floats] = []
    moves: list[Floats] = []
    point, best, last = start, -np.inf, -np.inf
    fallback = start
    accelerated = False
    quiet = surely_quiet = 0
    for iteration in range(1, most + 1):
        objective, following, ahead, foretold = step(point)
        slack = max(1e-10, 10 * pace.noise) * (1.0 + abs(best))
        reached = objective + (foretold or 0.0)
        if accelerated and not reached >= best - slack:
            point, accelerated = fallback, False
            points, moves = [], []
            continue
        least = pace.noise * abs(objective)
        quiet = quiet + 1 if objective - last < least else 0
        surely_quiet = surely_quiet + 1 if foretold is not None and foretold < least else 0
        best, last = reached, objective
        following = np.clip(following, *bounds)
        move = following - point
        still = np.abs(weigh(point) * move).max() < pace.tolerance
        if still or quiet >= _QUIET or surely_quiet >= _SURELY_QUIET:
            return Arrival(following, iteration, True)
        fallback, accelerated = following, ahead is not None
        if ahead is not None:
            following = np.clip(ahead, *bounds)
        elif iteration > _PLAIN:
            points.append(point)
            moves.append(move)
            if len(points) > _MEMORY + 1:
                del points[0], moves[0]
            mixed = _mixed(points, moves)
            # slopes and logits are within a few of 0: a mixed point farther off is not used
            if mixed is not None and np.abs(mixed - point).max() < 3.0:
                following = np.clip(mixed, *bounds)
                accelerated = True
        point = following
    return Arrival(point, most, False)


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
