"""The scores of agents where few cells were observed: only these have any, and no others are looked at.

The gradient s_j of an agent by the parameters of a task that it did not meet is 0. So the coefficients
E_j[s_j π_l] of `observed_information` are had cell by cell, for all levels l in one product an agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.any_scores import FEW_LEVELS, LouisScores
from examiner.irt.errors.observed_information import ROUGHLY_ENOUGH, Louis, orthonormal
from examiner.irt.estimation.kernels import BetaBinomial, Binomial, kernel_for
from examiner.irt.items import Floats
from examiner.irt.posterior import posterior_blocks
from examiner.results import ObservedCells

_NEGLIGIBLE = 1e-16
_NUMBERS = 4_000_000
"""Numbers of a block's cells at the nodes, by all parameters: some tens of megabytes."""
_LAID_OUT = 8_000_000
"""Numbers of a block of agents by all parameters, where abilities want them laid out."""


class AbilityLevels(NamedTuple):
    """c_jl of some agents, and their posteriors' means and standard deviations [agents].

    By own parameters they are in cells [observed, own, levels], by shared ones [agents, shared, levels].
    """

    rows: slice
    cells: ObservedCells
    own: Floats
    shared: Floats
    mean: Floats
    deviation: Floats


class ListedScores(LouisScores):
    """Scores of any model of successes, where observed cells alone are held."""

    def times(self, columns: Floats) -> Floats:
        """Return the missing information times columns [size, n], with what a free scale takes off."""
        from scipy.sparse import csr_array  # slow to import

        tasks, own = self.freedom.fixed.shape
        mine, rest = columns[: tasks * own], columns[tasks * own :]
        total = np.zeros_like(columns)
        for found in self._levels(FEW_LEVELS):
            place = found.cells.columns[:, None] * np.int64(own) + np.arange(own)
            for level in range(found.own.shape[2]):
                parts = found.own[:, :, level].ravel(), place.ravel(), found.cells.starts * own
                table = csr_array(parts, shape=(found.cells.shape[0], tasks * own))
                seen = table @ mine + found.shared[:, :, level] @ rest
                total[: tasks * own] += table.T @ seen
                total[tasks * own :] += found.shared[:, :, level].T @ seen
        along = self.freedom.moving_along(self.parts.items.slope)
        if along is not None:
            total += np.multiply.outer(along, along @ columns)
        return total

    def missing_blocks(self) -> Floats:
        """Return the missing information of each task by itself, [tasks, own, own]."""
        tasks, own = self.freedom.fixed.shape
        total = np.zeros((tasks, own, own))
        for found in self._levels(FEW_LEVELS):
            for first in range(own):
                for second in range(own):
                    both = np.einsum("nl,nl->n", found.own[:, first], found.own[:, second])
                    total[:, first, second] += found.cells.task_sums(both)
        along = self.freedom.moving_along(self.parts.items.slope)
        if along is not None:
            alone = along[: tasks * own].reshape(tasks, own)
            total += alone[:, :, None] * alone[:, None, :]
        return total

    def moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats]]:
        """Yield rows of agents, their posterior means and deviations, and how far means move with tasks."""
        tasks, own = self.freedom.fixed.shape
        step = max(1, _LAID_OUT // self.freedom.count)
        for found in self._levels(1):
            for first in range(0, found.cells.shape[0], step):
                agents = range(first, min(first + step, found.cells.shape[0]))
                some = found.cells.take(agents, None)
                inside = slice(int(found.cells.starts[first]), int(found.cells.starts[agents.stop]))
                here = slice(agents.start, agents.stop)
                laid = np.zeros((len(agents), self.freedom.count), dtype=found.own.dtype)
                laid[:, : tasks * own].reshape(len(agents), tasks, own)[some.rows, some.columns] = (
                    found.own[inside, :, 0]
                )
                laid[:, tasks * own :] = found.shared[here, :, 0]
                laid *= found.deviation[here, None]
                rows = self.parts.order[found.rows][here]
                yield rows, found.mean[here], found.deviation[here], laid

    def _levels(self, most: int) -> Iterator[AbilityLevels]:
        """Yield c_jl of all agents in blocks, up to the level whose share of the information is small."""
        parts, own = self.parts, len(self.freedom.own)
        cells = parts.matrix.observed_cells
        assert cells is not None
        kernel = kernel_for(parts.items.response, parts.matrix, parts.items)
        assert isinstance(kernel, Binomial | BetaBinomial)
        kind = parts.derivatives[0].dtype
        each = len(parts.rule) * len(self.freedom.names) * len(cells) / cells.shape[0]
        blocks = posterior_blocks(
            parts.matrix, parts.items, parts.rule, most=max(1, int(_NUMBERS / each)), listed=True
        )
        diagonal = np.diagonal(self.complete.own, axis1=1, axis2=2)
        for block, _, weights in blocks:
            alive = np.flatnonzero(weights.max(axis=0) > _NEGLIGIBLE)
            window = slice(int(alive[0]), int(alive[-1]) + 1)
            nodes, near = parts.rule.nodes[window], np.ascontiguousarray(weights[:, window])
            here = cells.take(range(block.rows.start, block.rows.stop), None)
            slopes = np.zeros((len(here), len(self.freedom.names), nodes.size), dtype=kind)
            for data, by in zip(kernel.of_counts(*here.parts), parts.derivatives, strict=True):
                some = np.flatnonzero(data)
                at = by[:, here.columns[some], window].transpose(1, 0, 2)
                slopes[some] += data[some, None, None].astype(kind) * at
            mean = near @ nodes
            deviation = np.sqrt((near * (nodes - mean[:, None]) ** 2).sum(axis=1))
            levels = [
                near * polynomial for polynomial in islice(orthonormal(nodes, near), most)
            ] or [np.zeros_like(near)]
            found = _at_levels(here, slopes, np.stack(levels, axis=2).astype(kind))
            count = _enough(here, found[:, :own], diagonal)
            shared = np.zeros((here.shape[0], found.shape[1] - own, count))
            np.add.at(shared, here.rows, found[:, own:, :count])
            yield AbilityLevels(block.rows, here, found[:, :own, :count], shared, mean, deviation)


def scores_of(parts: Louis) -> LouisScores:
    """Return the scores of agents, cell by cell where observed cells alone are held."""
    listed = parts.matrix.observed_cells is not None and parts.matrix.is_counts
    return ListedScores(parts) if listed else LouisScores(parts)


def _at_levels(cells: ObservedCells, slopes: Floats, levels: Floats) -> Floats:
    """Σ_q v_jql s_n(θ_q) of every cell n of agent j and level l: [observed, parameters, levels]."""
    found = np.empty((*slopes.shape[:2], levels.shape[2]), dtype=slopes.dtype)
    starts = cells.starts.tolist()
    for agent in range(cells.shape[0]):
        mine = slice(starts[agent], starts[agent + 1])
        np.matmul(slopes[mine], levels[agent], out=found[mine])
    return found


def _enough(cells: ObservedCells, own: Floats, diagonal: Floats) -> int:
    """How many levels there are until one's share of the information of every task is small."""
    for level in range(own.shape[2]):
        squares = (cells.task_sums(own[:, name, level] ** 2) for name in range(own.shape[1]))
        shares = (each / np.maximum(diagonal[:, name], 1e-12) for name, each in enumerate(squares))
        if max(float(share.max(initial=0.0)) for share in shares) < ROUGHLY_ENOUGH:
            return level + 1
    return int(own.shape[2])
