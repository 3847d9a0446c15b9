r"""Covariances of very many parameters: the directions all tasks share, then each task by itself.

With E[−H] = L Lᵀ (blocks, so L is cheap) and M = L⁻¹ C L⁻ᵀ for the missing information C, the
covariance is L⁻ᵀ (I − M)⁻¹ L⁻¹. M has a few large eigenvalues λ (to shift or stretch ability moves
every task together) with vectors U, and for the rest is small outside the blocks of tasks:

.. math:: (I - M)^{-1} \approx I + U \frac{\lambda}{1 - \lambda} U^T + \mathrm{blocks}((I - R)^{-1} - I),
          \quad R = M - U \lambda U^T

U is found by subspace iteration from a fixed start (Halko, Martinsson & Tropp 2011, alg. 4.4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.errors.information import Information
from examiner.irt.estimates import DIRECTIONS
from examiner.irt.items import Floats
from examiner.messages import counted

_LOST = 0.9
"""Share of the information on a parameter, lost by its task alone, above which the task is kept apart."""
_FLAT = 0.01
"""What is left of it below which the likelihood has no peak to speak of."""


class JointCovariance(NamedTuple):
    """The covariance Σ of all parameters, those of tasks first, then those that all tasks share.

    `blocks` [tasks, n, n] are those of the parameters of one task, shared ones last; NaN where they are
    not known. F = `directions` [size, directions] are what parameters of different tasks have in common:
    outside the blocks Σ is near to F Fᵀ. Of a shared parameter all covariances are in F.
    """

    blocks: Floats
    directions: Floats
    method: str


def spread_columns(size: int, count: int) -> Floats:
    """Return columns that no symmetry of the tasks hides from: cosines of incommensurate frequencies."""
    row = np.arange(1, size + 1)[:, None]
    return np.asarray(np.cos(row * np.sqrt(2.0 + np.arange(count)) * (1.0 + np.arange(count))))


def leading_covariances(information: Information) -> JointCovariance:
    """Return the covariance of all parameters by its blocks and leading directions.

    A task whose responses leave nearly none of the information on a parameter (its slope diverges) has an
    eigenvalue near 1 of its own. A few such tasks would fill all directions, so that they are kept apart:
    the directions are those of the others, and their errors come from their own information alone. Where
    that has no peak they are NaN.
    """
    factor, size = _Factor(information), information.freedom.count
    count = min(DIRECTIONS, size)
    spread, free = spread_columns(size, count + 32), np.ones((size, 1))

    def times(basis: Floats) -> tuple[Floats, Floats]:
        """M · basis, with M = L⁻¹ C L⁻ᵀ, without the tasks that are kept apart, and C of each task."""
        product, alone = information.missing_times(factor.unwhiten(basis * free))
        return factor.whiten(product) * free, alone

    basis, alone = times(np.linalg.qr(spread[:, :count])[0])
    own_blocks = factor.inverse @ alone @ factor.inverse.transpose(0, 2, 1)
    lost = np.linalg.eigvalsh(own_blocks)[:, -1]
    apart = lost > _LOST
    free[: factor.cut] = np.repeat(~apart, factor.own)[:, None]
    for _ in range(2 if apart.any() else 1):
        basis, _ = times(np.linalg.qr(basis * free)[0])
    basis = np.linalg.qr(basis)[0]
    # 32 random signs show to a quarter how much other tasks add to what a task misses
    probes = np.sign(spread[:, count:]) * free
    both, _ = times(np.concatenate([basis, probes], axis=1))
    image, echo = np.split(both, [count], axis=1)
    values, turn = np.linalg.eigh(0.5 * (basis.T @ image + image.T @ basis))
    values = np.clip(values, 0.0, 1.0 - 1e-9)
    vectors = basis @ turn
    echo -= vectors @ (values[:, None] * (vectors.T @ probes))  # R times the probes
    left = factor.left(vectors, values, own_blocks, echo)
    blocks = factor.assemble(vectors, values, left)
    blocks[lost > 1.0 - _FLAT] = np.nan
    directions = factor.directions(vectors * np.sqrt(values / (1.0 - values)))
    method = f"observed information (Louis): {count} directions shared by all tasks, the rest task by task"
    if apart.any():
        method += f"; {counted(int(apart.sum()), 'task')} that nearly diverge kept apart"
    return JointCovariance(blocks, directions, method)


class _Factor:
    """L with E[−H] = L Lᵀ: a block for each task, and a last row for what is shared."""

    def __init__(self, information: Information) -> None:
        blocks, coupling, shared = information.complete
        self.tasks, self.own = information.freedom.fixed.shape
        self.cut = self.tasks * self.own
        self.inverse = np.linalg.inv(np.linalg.cholesky(blocks))
        self.below = np.einsum("tij,tjs->tsi", self.inverse, coupling)  # B_i = (L_i⁻¹ coupling)ᵀ
        last = shared - np.einsum("tsi,tri->sr", self.below, self.below)
        self.last = np.linalg.inv(np.linalg.cholesky(last)) if last.size else last

    def _split(self, columns: Floats) -> tuple[Floats, Floats]:
        """Those of tasks, [tasks, own, n], and the shared ones."""
        return columns[: self.cut].reshape(self.tasks, self.own, -1), columns[self.cut :]

    def _joined(self, of_tasks: Floats, shared: Floats) -> Floats:
        return np.concatenate([of_tasks.reshape(self.cut, -1), shared])

    def whiten(self, columns: Floats) -> Floats:
        """L⁻¹ c of columns c [size, n]."""
        mine, shared = self._split(columns)
        mine = self.inverse @ mine
        last = shared - np.einsum("tsi,tin->sn", self.below, mine)
        return self._joined(mine, self.last @ last)

    def unwhiten(self, columns: Floats) -> Floats:
        """L⁻ᵀ y of columns y [size, n]."""
        mine, shared = self._split(columns)
        last = self.last.T @ shared
        mine = mine - np.einsum("tsi,sn->tin", self.below, last)
        return self._joined(self.inverse.swapaxes(1, 2) @ mine, last)

    def directions(self, shared: Floats) -> Floats:
        """Directions of L⁻ᵀ (I + W Wᵀ) L⁻¹, W = `shared` [size, n]: those of shared parameters first.

        That of a parameter e is Σ e / √Σ_ee; W is then turned so that none of its other directions has e.
        """
        directions = []
        for column in range(self.cut, len(shared)):
            white = self.whiten(np.eye(len(shared), 1, -column))[:, 0]
            along = white @ shared
            direction = self.unwhiten((white + shared @ along)[:, None])
            directions.append(direction / np.sqrt(direction[column]))
            shared = shared - shared @ np.multiply.outer(along, along) / max(
                float(along @ along), 1e-300
            )
        return np.concatenate([*directions, self.unwhiten(shared)], axis=1)

    def left(self, vectors: Floats, values: Floats, own_blocks: Floats, echo: Floats) -> Floats:
        """(I − R)⁻¹ − I of each task, of which R_tt and what other tasks add to it is inverted.

        By its Schur complement, what others add begins with Σ_j R_tj R_jt, j ≠ t, and goes on about as a
        geometric series. Probes z of independent signs have E[(Rz)_t (Rz)_tᵀ] = Σ_j R_tj R_jt over all j.
        """
        leading, _ = self._split(vectors * np.sqrt(values))
        alone = own_blocks - leading @ leading.swapaxes(1, 2)
        heard, _ = self._split(echo)
        square = heard @ heard.swapaxes(1, 2) / echo.shape[1]
        ratio = float(np.trace(square.sum(axis=0)) / max(np.trace(alone.sum(axis=0)), 1e-300))
        roots, axes = np.linalg.eigh(square - alone @ alone.swapaxes(1, 2))
        further = np.clip(roots, 0.0, None) / (1.0 - min(max(ratio, 0.0), 0.5))
        most = 0.5 * (1.0 + np.linalg.eigvalsh(alone)[:, -1:])  # estimates of these are noisy
        alone = alone + np.einsum("tik,tk,tjk->tij", axes, further, axes)
        roots, axes = np.linalg.eigh(0.5 * (alone + alone.swapaxes(1, 2)))
        raised = 1.0 / (1.0 - np.clip(np.minimum(roots, most), None, 1.0 - _FLAT)) - 1.0
        return np.asarray(np.einsum("tik,tk,tjk->tij", axes, raised, axes))

    def assemble(self, vectors: Floats, values: Floats, left: Floats) -> Floats:
        """Return the covariances of each task and of what is shared, [tasks, n, n]."""
        width, count = self.own, len(self.last)
        mine, last = self._split(self.unwhiten(vectors * np.sqrt(values / (1.0 - values))))
        # L⁻ᵀ's last columns: shared part, and what it does to each task
        bend, alone = self._split(self.unwhiten(np.eye(len(vectors), count, -self.cut)))
        blocks = np.empty((self.tasks, width + count, width + count))
        blocks[:, :width, :width] = (
            self.inverse.swapaxes(1, 2) @ (np.eye(width) + left) @ self.inverse
            + bend @ bend.swapaxes(1, 2)
            + mine @ mine.swapaxes(1, 2)
        )
        blocks[:, :width, width:] = bend @ alone.T + mine @ last.T
        blocks[:, width:, :width] = blocks[:, :width, width:].transpose(0, 2, 1)
        blocks[:, width:, width:] = alone @ alone.T + last @ last.T
        return blocks
