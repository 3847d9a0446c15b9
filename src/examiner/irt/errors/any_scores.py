"""The scores of agents under any model, level by level over their posteriors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.freedom import CompleteInformation
from examiner.irt.errors.observed_information import (
    ROUGHLY_ENOUGH,
    SMALL,
    Louis,
    information_matrix,
    orthonormal,
    reached,
)
from examiner.irt.estimation.usable_responses import suitable_kind
from examiner.irt.items import Floats

FEW_LEVELS = 12
"""How many levels there are at most for leading directions and single tasks."""


class LouisScores:
    """Scores of any model, level by level."""

    def __init__(self, parts: Louis) -> None:
        self.parts, self.freedom = parts, parts.freedom

    @property
    def complete(self) -> CompleteInformation:
        """Σ_j E_j[−H] and the priors' curvature."""
        return self.parts.complete

    def information(self) -> Floats:
        """Return the whole observed information, [size, size]."""
        return information_matrix(self.parts)

    def times(self, columns: Floats) -> Floats:
        """Return the missing information times columns [size, n], with what a free scale takes off."""
        total = np.zeros_like(columns)
        self._over(lambda level: np.add(total, level.T @ (level @ columns), out=total))
        return total

    def missing_blocks(self) -> Floats:
        """Return the missing information of each task by itself, [tasks, own, own]."""
        tasks, own = self.freedom.fixed.shape
        total = np.zeros((tasks, own, own))

        def add(level: Floats) -> None:
            mine = level[:, : tasks * own].reshape(-1, tasks, own)
            np.add(total, np.einsum("ati,atj->tij", mine, mine), out=total)

        self._over(add)
        return total

    def _over(self, add: Callable[[Floats], object]) -> None:
        """Hand every level to `add`, and what the scale's freedom takes off as one more."""
        tasks, own = self.freedom.fixed.shape
        diagonal = np.diagonal(self.complete.own, axis1=1, axis2=2).reshape(tasks * own)
        scale = np.concatenate([diagonal, np.diagonal(self.complete.shared)])

        def share(level: Floats) -> float:
            add(level)
            return float(((level**2).sum(axis=0) / np.maximum(scale, 1e-12)).max(initial=0.0))

        for some in reached(self.parts):
            some.over_levels(share, enough=ROUGHLY_ENOUGH, most=FEW_LEVELS)
        along = self.freedom.moving_along(self.parts.items.slope)
        if along is not None:
            add(along[None, :])

    def moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats]]:
        """Yield rows of agents, their posterior means and deviations, and how far means move with tasks.

        That is the deviation times the first coefficient of the scores in polynomials orthonormal
        under the posterior, of which the first is (θ − mean) / deviation.
        """
        for some in reached(self.parts):
            nodes = some.parts.rule.nodes
            first = next(
                orthonormal(nodes, some.weights), np.zeros_like(some.weights)
            )  # of one node
            mean = some.weights @ nodes
            deviation = np.sqrt((some.weights * (nodes - mean[:, None]) ** 2).sum(axis=1))
            moves = deviation[:, None] * some.moments(some.weights * first)
            moves = moves.astype(suitable_kind(self.parts.matrix, SMALL), copy=False)
            yield self.parts.order[some.block.rows], mean, deviation, moves
