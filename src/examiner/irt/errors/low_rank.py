r"""Covariances of very many parameters: the directions all tasks share, then each task by itself.

With E[−H] = L Lᵀ (blocks, so L is cheap) and M = L⁻¹ C L⁻ᵀ for the missing information C, the
covariance is L⁻ᵀ (I − M)⁻¹ L⁻¹. M has a few large eigenvalues λ (to shift or stretch ability moves
every task together) with vectors U, and for the rest is small outside the blocks of tasks:

.. math:: (I - M)^{-1} \approx I + U \frac{\lambda}{1 - \lambda} U^T + \mathrm{blocks}(R + R^2),
          \quad R = M - U \lambda U^T

U is found by subspace iteration from a fixed start (Halko, Martinsson & Tropp 2011, alg. 4.4).
"""

from __future__ import annotations

import numpy as np

from examiner.irt.errors.observed_information import Louis, reached
from examiner.irt.items import Floats

_DIRECTIONS = 32
_ROUNDS = 2
_ENOUGH = 1e-4
_LEVELS = 12


def leading_covariances(parts: Louis) -> tuple[Floats, str]:
    """Return covariance blocks [tasks, n, n], own parameters first, and how they were had."""
    factor = _Factor(parts)
    size = parts.freedom.count
    count = min(_DIRECTIONS, size)
    basis = np.linalg.qr(_start(size, count))[0]
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(_times(parts, factor, basis))[0]
    own_blocks = np.zeros_like(parts.complete.own)
    image = _times(parts, factor, basis, own_blocks)
    values, turn = np.linalg.eigh(0.5 * (basis.T @ image + image.T @ basis))
    values = np.clip(values, 0.0, 1.0 - 1e-9)
    vectors = basis @ turn
    blocks = factor.assemble(vectors, values, own_blocks)
    return blocks, (
        f"observed information (Louis): {count} directions shared by all tasks, the rest task by task"
    )


def _start(size: int, count: int) -> Floats:
    """Columns that no symmetry of the tasks hides from: cosines of incommensurate frequencies."""
    row = np.arange(1, size + 1)[:, None]
    return np.asarray(np.cos(row * np.sqrt(2.0 + np.arange(count)) * (1.0 + np.arange(count))))


class _Factor:
    """L with E[−H] = L Lᵀ: a block for each task, and a last row for what is shared."""

    def __init__(self, parts: Louis) -> None:
        own, coupling, shared = parts.complete
        self.tasks, self.own = parts.freedom.fixed.shape
        self.inverse = np.linalg.inv(np.linalg.cholesky(own))
        self.below = np.einsum("tij,tjs->tsi", self.inverse, coupling)  # B_i = (L_i⁻¹ coupling)ᵀ
        rest = shared - np.einsum("tsi,tri->sr", self.below, self.below)
        self.last = np.linalg.inv(np.linalg.cholesky(rest)) if rest.size else rest

    def whiten(self, scores: Floats) -> Floats:
        """Rows c become (L⁻¹ c)ᵀ."""
        cut = self.tasks * self.own
        mine = scores[:, :cut].reshape(-1, self.tasks, self.own)
        mine = np.einsum("tij,atj->ati", self.inverse, mine)
        rest = scores[:, cut:] - np.einsum("tsi,ati->as", self.below, mine)
        return np.concatenate([mine.reshape(-1, cut), rest @ self.last.T], axis=1)

    def unwhiten(self, columns: Floats) -> tuple[Floats, Floats]:
        """Columns y become L⁻ᵀ y: own part [tasks, own, n], shared part [shared, n]."""
        cut = self.tasks * self.own
        rest = self.last.T @ columns[cut:]
        mine = columns[:cut].reshape(self.tasks, self.own, -1)
        mine = mine - np.einsum("tsi,sn->tin", self.below, rest)
        return np.einsum("tji,tjn->tin", self.inverse, mine), rest

    def assemble(self, vectors: Floats, values: Floats, own_blocks: Floats) -> Floats:
        cut, own = self.tasks * self.own, self.own
        mine, rest = self.unwhiten(vectors * np.sqrt(values / (1.0 - values)))
        shared = rest.shape[0]
        found = np.empty((self.tasks, own + shared, own + shared))
        leading = (vectors[:cut] * np.sqrt(values)).reshape(self.tasks, own, -1)
        left = own_blocks - np.einsum("tin,tjn->tij", leading, leading)
        middle = np.eye(own) + left + left @ left
        alone = self.last.T  # L⁻ᵀ's last columns: shared part, and what it does to each task
        bend = -np.einsum("tji,tsj,sn->tin", self.inverse, self.below, alone)
        found[:, :own, :own] = (
            np.einsum("tki,tkl,tlj->tij", self.inverse, middle, self.inverse)
            + np.einsum("tin,tjn->tij", bend, bend)
            + np.einsum("tin,tjn->tij", mine, mine)
        )
        found[:, :own, own:] = np.einsum("tin,sn->tis", bend, alone) + np.einsum(
            "tin,sn->tis", mine, rest
        )
        found[:, own:, :own] = found[:, :own, own:].transpose(0, 2, 1)
        found[:, own:, own:] = alone @ alone.T + rest @ rest.T
        return found


def _times(parts: Louis, factor: _Factor, basis: Floats, blocks: Floats | None = None) -> Floats:
    """M · basis; the blocks of M [tasks, own, own] are added to `blocks`, where they are asked for."""
    total = np.zeros_like(basis)
    tasks, own = parts.freedom.fixed.shape

    def add(level: Floats) -> float:
        white = factor.whiten(level)
        np.add(total, white.T @ (white @ basis), out=total)
        if blocks is not None:
            mine = white[:, : tasks * own].reshape(-1, tasks, own)
            np.add(blocks, np.einsum("ati,atj->tij", mine, mine), out=blocks)
        return float((white**2).sum(axis=0).max(initial=0.0))

    for some in reached(parts):
        some.over_levels(add, enough=_ENOUGH, most=_LEVELS)
    return total
