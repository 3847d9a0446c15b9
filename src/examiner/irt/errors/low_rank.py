r"""Covariances of very many parameters: the directions all tasks share, then each task by itself.

With E[−H] = L Lᵀ (blocks, so L is cheap) and M = L⁻¹ C L⁻ᵀ for the missing information C, the
covariance is L⁻ᵀ (I − M)⁻¹ L⁻¹. M has a few large eigenvalues λ (to shift or stretch ability moves
every task together) with vectors U, and for the rest is small outside the blocks of tasks:

.. math:: (I - M)^{-1} \approx I + U \frac{\lambda}{1 - \lambda} U^T + \mathrm{blocks}((I - R)^{-1} - I),
          \quad R = M - U \lambda U^T

U is found by subspace iteration from a fixed start (Halko, Martinsson & Tropp 2011, alg. 4.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.covariance import spread_columns
from examiner.irt.errors.information import Information
from examiner.irt.items import Floats
from examiner.messages import counted

_DIRECTIONS = 16
"""Zero and unit of the scale, and what tells the able and the weak from it, which fall off quickly."""
_ROUNDS = 2
_PROBES = 32
"""Random signs by which it is estimated how much other tasks add to what a task misses: to a quarter."""
_LOST = 0.9
"""Share of the information on a parameter, lost by its task alone, above which the task is kept apart."""
_FLAT = 0.01
"""What is left of it below which the likelihood has no peak to speak of."""


def leading_covariances(scores: Information) -> tuple[Floats, Leading, str]:
    """Return covariance blocks [tasks, n, n], own parameters first, the whole, and how they were had.

    A task whose responses leave nearly none of the information on a parameter (its slope diverges) has an
    eigenvalue near 1 of its own. A few such tasks would fill all directions, so that they are kept apart:
    the directions are those of the others, and their errors come from their own information alone. Where
    that has no peak they are NaN.
    """
    factor = _Factor(scores)
    size, cut = scores.freedom.count, factor.tasks * factor.own
    count = min(_DIRECTIONS, size)
    free = np.ones((size, 1))

    def times(basis: Floats) -> Floats:
        """M · basis, with M = L⁻¹ C L⁻ᵀ, without the tasks that are kept apart."""
        own, rest = factor.unwhiten(basis * free)
        columns = np.concatenate([own.reshape(-1, basis.shape[1]), rest])
        return factor.whiten(scores.times(columns).T).T * free

    basis = times(np.linalg.qr(spread_columns(size, count))[0])
    own_blocks = factor.inverse @ scores.missing_blocks() @ factor.inverse.transpose(0, 2, 1)
    lost = np.linalg.eigvalsh(own_blocks)[:, -1]
    apart = lost > _LOST
    free[:cut] = np.repeat(~apart, factor.own)[:, None]
    for _ in range(_ROUNDS - (0 if apart.any() else 1)):
        basis = times(np.linalg.qr(basis * free)[0])
    basis = np.linalg.qr(basis)[0]
    probes = np.sign(spread_columns(size, count + _PROBES)[:, count:]) * free
    image, echo = np.split(times(np.concatenate([basis, probes], axis=1)), [count], axis=1)
    values, turn = np.linalg.eigh(0.5 * (basis.T @ image + image.T @ basis))
    values = np.clip(values, 0.0, 1.0 - 1e-9)
    vectors = basis @ turn
    echo -= vectors @ (values[:, None] * (vectors.T @ probes))  # R times the probes
    left = factor.left(vectors, values, own_blocks, echo)
    blocks = factor.assemble(vectors, values, left)
    blocks[lost > 1.0 - _FLAT] = np.nan
    leading = Leading(factor, vectors, values / (1.0 - values), left)
    method = f"observed information (Louis): {count} directions shared by all tasks, the rest task by task"
    if apart.any():
        method += f"; {counted(int(apart.sum()), 'task')} that nearly diverge kept apart"
    return blocks, leading, method


class _Factor:
    """L with E[−H] = L Lᵀ: a block for each task, and a last row for what is shared."""

    def __init__(self, scores: Information) -> None:
        own, coupling, shared = scores.complete
        self.tasks, self.own = scores.freedom.fixed.shape
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

    def left(self, vectors: Floats, values: Floats, own_blocks: Floats, echo: Floats) -> Floats:
        """(I − R)⁻¹ − I of each task, of which R_tt and what other tasks add to it is inverted.

        By its Schur complement, what others add begins with Σ_j R_tj R_jt, j ≠ t, and goes on about as a
        geometric series. Probes z of independent signs have E[(Rz)_t (Rz)_tᵀ] = Σ_j R_tj R_jt over all j.
        """
        cut = self.tasks * self.own
        leading = (vectors[:cut] * np.sqrt(values)).reshape(self.tasks, self.own, -1)
        alone = own_blocks - np.einsum("tin,tjn->tij", leading, leading)
        heard = echo[:cut].reshape(self.tasks, self.own, -1)
        square = np.einsum("tin,tjn->tij", heard, heard) / echo.shape[1]
        ratio = float(np.trace(square.sum(axis=0)) / max(np.trace(alone.sum(axis=0)), 1e-300))
        roots, axes = np.linalg.eigh(square - alone @ alone.transpose(0, 2, 1))
        further = np.clip(roots, 0.0, None) / (1.0 - min(max(ratio, 0.0), 0.5))
        most = 0.5 * (1.0 + np.linalg.eigvalsh(alone)[:, -1:])  # estimates of these are noisy
        alone = alone + np.einsum("tik,tk,tjk->tij", axes, further, axes)
        roots, axes = np.linalg.eigh(0.5 * (alone + alone.transpose(0, 2, 1)))
        raised = 1.0 / (1.0 - np.clip(np.minimum(roots, most), None, 1.0 - _FLAT)) - 1.0
        return np.asarray(np.einsum("tik,tk,tjk->tij", axes, raised, axes))

    def assemble(self, vectors: Floats, values: Floats, left: Floats) -> Floats:
        own = self.own
        mine, rest = self.unwhiten(vectors * np.sqrt(values / (1.0 - values)))
        shared = rest.shape[0]
        found = np.empty((self.tasks, own + shared, own + shared))
        middle = np.eye(own) + left
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


@dataclass(frozen=True, slots=True, eq=False)
class Leading:
    """The covariance of all parameters as L⁻ᵀ (I + U diag(raised) Uᵀ + blocks) L⁻¹."""

    factor: _Factor
    vectors: Floats
    raised: Floats
    blocks: Floats

    def variances(self, rows: Floats) -> Floats:
        """Return the diagonal of R Σ Rᵀ of rows R [n, size]."""
        white, mine, along = self._whitened(rows)
        bent = np.einsum("ati,tij,atj->a", mine, self.blocks, mine)
        return np.asarray((white**2).sum(axis=1) + along**2 @ self.raised + bent)

    def drawn(self, count: int, rng: np.random.Generator) -> Floats:
        """Return draws from N(0, Σ), [count, size]."""
        factor, size = self.factor, self.vectors.shape[0]
        cut = factor.tasks * factor.own
        normal = rng.standard_normal((size, count))
        roots = np.linalg.cholesky(np.eye(factor.own) + self.blocks + 1e-9 * np.eye(factor.own))
        mine = np.einsum(
            "tij,tjn->tin", roots, normal[:cut].reshape(factor.tasks, factor.own, count)
        )
        shared = rng.standard_normal((self.raised.size, count)) * np.sqrt(self.raised)[:, None]
        white = np.concatenate([mine.reshape(cut, count), normal[cut:]]) + self.vectors @ shared
        own, rest = factor.unwhiten(white)
        return np.concatenate([own.reshape(cut, count), rest]).T

    def leading(self, block: NDArray[np.intp], count: int) -> Floats:
        """Return the directions that all tasks share, the largest first."""
        chosen = np.argsort(-self.raised)[:count]
        own, rest = self.factor.unwhiten(self.vectors[:, chosen] * np.sqrt(self.raised[chosen]))
        return np.concatenate([own.reshape(-1, chosen.size), rest])

    def without(self, column: int) -> tuple[Floats, Leading]:
        """Return Σ e / √Σ_ee of a parameter e, and directions turned so that none of them has e in it."""
        size = self.vectors.shape[0]
        one = np.zeros((1, size))
        one[0, column] = 1.0
        white, _, along = self._whitened(one)
        lifted = white[0] + self.vectors @ (along[0] * self.raised)
        own, rest = self.factor.unwhiten(lifted[:, None])
        direction = np.concatenate([own.ravel(), rest.ravel()])
        scale = np.sqrt(self.raised) * along[0]
        turn = np.eye(scale.size) - np.multiply.outer(scale, scale) / max(
            float(scale @ scale), 1e-300
        )
        turned = Leading(
            self.factor,
            (self.vectors * np.sqrt(self.raised)) @ turn,
            np.ones(scale.size),
            self.blocks,
        )
        return direction / np.sqrt(direction[column]), turned

    def _whitened(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        white = self.factor.whiten(rows)
        cut = self.factor.tasks * self.factor.own
        mine = white[:, :cut].reshape(len(rows), self.factor.tasks, self.factor.own)
        return white, mine, white @ self.vectors
