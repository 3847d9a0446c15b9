"""The covariance of everything that is estimated of tasks, whole or by its leading directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.freedom import Freedom
from examiner.irt.errors.information import Information
from examiner.irt.items import Floats
from examiner.irt.model import Parameter

WHOLE = "observed information (Louis), all parameters together"
HELD = "observed information (Louis), with tasks in which the likelihood is not peaked held fixed"
_FLAT = 1e-8
_ROUNDS = 12
_NOTHING_KNOWN = 1e-6
"""Information on a logit or a slope below which its error would be above 1000."""


class JointCovariance(Protocol):
    """The covariance Σ of all parameters at once [size, size]: those of tasks first, then the shared."""

    def variances(self, rows: Floats) -> Floats:
        """Return the variances of sums of parameters: the diagonal of R Σ Rᵀ for rows R [n, size]."""
        ...

    def drawn(self, count: int, rng: np.random.Generator) -> Floats:
        """Return draws from N(0, Σ), [count, size]."""
        ...

    def leading(self, block: NDArray[np.intp], count: int) -> Floats:
        """Return F [size, count], F Fᵀ near to Σ outside the blocks of parameters that share a number."""
        ...

    def without(self, column: int) -> tuple[Floats, JointCovariance]:
        """Return the direction f of one parameter, f fᵀ all that it shares, and what is left of Σ."""
        ...


@dataclass(frozen=True, slots=True)
class FullCovariance:
    """Every covariance; those of parameters that are held fixed are 0."""

    covariance: Floats

    def variances(self, rows: Floats) -> Floats:
        """Return the diagonal of R Σ Rᵀ."""
        covariance = self.covariance.astype(rows.dtype, copy=False)
        return np.asarray(np.einsum("ij,ij->i", rows @ covariance, rows), dtype=np.float64)

    def drawn(self, count: int, rng: np.random.Generator) -> Floats:
        """Return draws from N(0, Σ)."""
        values, vectors = np.linalg.eigh(self.covariance)
        normal = rng.standard_normal((count, values.size))
        return np.asarray((normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

    def leading(self, block: NDArray[np.intp], count: int) -> Floats:
        """Return the principal factors of the correlations between blocks.

        Covariances inside a block are left to the block itself, so that each round replaces them by
        what the factors of the last round explain (Harman 1976, section 8.2). Of few parameters all
        directions are kept.
        """
        scale = np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0).astype(np.float64))
        inverse = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
        between = self.covariance * inverse[:, None] * inverse
        size = len(scale)
        if size <= count:
            values, vectors = np.linalg.eigh(between)
            return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
        row, column = np.nonzero(block[:, None] == block)
        between[row, column] = 0.0
        basis = np.linalg.qr(spread_columns(size, min(2 * count, size)))[0]
        for _ in range(_ROUNDS):
            basis = np.linalg.qr(between @ basis)[0]
            values, turn = np.linalg.eigh(basis.T @ between @ basis)
            values, turn = values[::-1][:count], turn[:, ::-1][:, :count]
            factors = (basis @ turn) * np.sqrt(np.maximum(values, 0.0))
            between[row, column] = np.einsum("ij,ij->i", factors[row], factors[column])
        return np.asarray(scale[:, None] * factors)

    def without(self, column: int) -> tuple[Floats, FullCovariance]:
        """Return Σ e / √Σ_ee of a parameter e, and Σ less its square; nothing where e does not vary."""
        variance = float(self.covariance[column, column])
        if variance <= 0:
            return np.zeros(len(self.covariance)), self
        direction = self.covariance[column] / np.sqrt(variance)
        return direction, FullCovariance(self.covariance - np.multiply.outer(direction, direction))


def spread_columns(size: int, count: int) -> Floats:
    """Columns that no symmetry of the tasks hides from: cosines of incommensurate frequencies."""
    row = np.arange(1, size + 1)[:, None]
    return np.asarray(np.cos(row * np.sqrt(2.0 + np.arange(count)) * (1.0 + np.arange(count))))


class Covariances(NamedTuple):
    """Covariance blocks of the parameters of each task [tasks, n, n], own parameters first.

    `together` is the covariance of all tasks at once, on the scale on which they are estimated.
    """

    blocks: Floats
    freedom: Freedom
    method: str
    together: JointCovariance

    @property
    def blocks_of_tasks(self) -> NDArray[np.intp]:
        """Which task each parameter belongs to [size]; shared ones have a number each."""
        tasks, own = self.freedom.fixed.shape
        shared = tasks + np.arange(self.freedom.together)
        return np.concatenate([np.repeat(np.arange(tasks), own), shared])

    def log_scale_variance(self, slope: Floats) -> float:
        """Return the variance of the logarithm of the slopes' common scale; 0 where it is not free."""
        relative, scale, freedom = self.freedom.relative, self.freedom.scale, self.freedom
        if relative is None or scale is None or "slope" not in freedom.names:
            return 0.0
        if "slope" in freedom.shared:
            return float(self.between("slope", "slope")[0]) / float(slope[0]) ** 2
        moves, deviation = relative.scale_given(slope, scale)
        row = np.zeros((1, freedom.count))
        row[0, freedom.columns("slope")] = moves
        return float(self.together.variances(row)[0]) + deviation**2

    def between(self, first: Parameter, second: Parameter) -> Floats:
        """Covariances of two parameters, one a task; 0 where one of them is not free."""
        row, column = self.freedom.position(first), self.freedom.position(second)
        if row < 0 or column < 0:
            return np.zeros(self.blocks.shape[0])
        return np.asarray(self.blocks[:, row, column])


def covariances(scores: Information) -> Covariances:
    """Return the covariance of each task's parameters, shared ones included."""
    freedom = scores.freedom
    tasks, own = freedom.fixed.shape
    together: JointCovariance
    if not scores.together:
        from examiner.irt.errors.low_rank import leading_covariances

        blocks, together, method = leading_covariances(scores)
    else:
        inverse, method = _inverse(scores.whole(), freedom)
        columns = np.arange(tasks * own).reshape(tasks, own)
        rest = np.broadcast_to(np.arange(tasks * own, freedom.count), (tasks, freedom.together))
        chosen = np.concatenate([columns, rest], axis=1)
        blocks = inverse[chosen[:, :, None], chosen[:, None, :]]
        together = FullCovariance(_known(inverse, freedom))
    stuck = np.concatenate(
        [freedom.fixed, np.zeros((tasks, freedom.together), dtype=np.bool_)], axis=1
    )
    blocks = np.where(stuck[:, :, None] | stuck[:, None, :], np.nan, blocks)
    return Covariances(blocks, freedom, method, together)


def _inverse(information: Floats, freedom: Freedom) -> tuple[Floats, str]:
    """The inverse, with NaN for tasks in which the likelihood is not peaked.

    A slope that runs to infinity leaves a flat direction (or one bent upwards by rounding). The
    tasks that point along such directions are held fixed, and the others judged without them.
    """
    diagonal = np.diagonal(information).astype(np.float64)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    both = np.multiply.outer(scale, scale)
    scaled = information * both.astype(information.dtype)
    if diagonal.min() >= _NOTHING_KNOWN and (found := _peaked_inverse(scaled)) is not None:
        return found * both, WHOLE
    scaled = scaled.astype(np.float64)
    tasks, own = freedom.fixed.shape
    task_of = np.concatenate(
        [np.repeat(np.arange(tasks), own), tasks + np.arange(freedom.together)]
    )
    inverse = np.full_like(scaled, np.nan)
    gone = np.concatenate([task_of[diagonal < _NOTHING_KNOWN], _flat_alone(scaled, tasks, own)])
    kept = np.flatnonzero(~np.isin(task_of, gone))
    while kept.size:
        part = scaled[np.ix_(kept, kept)]
        found = _peaked_inverse(part)
        if found is not None:
            inverse[np.ix_(kept, kept)] = found
            break
        values, vectors = np.linalg.eigh(part)
        flat = values < _FLAT
        along = (vectors[:, flat] ** 2).sum(axis=1)
        gone = task_of[kept[along >= 0.25 * along.max()]]
        kept = kept[~np.isin(task_of[kept], gone)]
    method = WHOLE if kept.size == scale.size else HELD
    return inverse * scale[:, None] * scale, method


def _flat_alone(scaled: Floats, tasks: int, own: int) -> NDArray[np.intp]:
    """The tasks that are flat among their own parameters, and so in every matrix that holds them."""
    columns = np.arange(tasks * own).reshape(tasks, own)
    blocks = scaled[columns[:, :, None], columns[:, None, :]]
    return np.flatnonzero((np.linalg.eigvalsh(blocks) < _FLAT).any(axis=1))


def _peaked_inverse(information: Floats) -> Floats | None:
    """The inverse of a matrix with a unit diagonal, or None where it is flat in some direction."""
    from scipy.linalg import lapack

    double = information.dtype == np.float64
    potrf, potri = (lapack.dpotrf, lapack.dpotri) if double else (lapack.spotrf, lapack.spotri)
    factor, failed = potrf(information.T, lower=True)  # symmetric, and laid out as LAPACK wants it
    if failed:
        return None
    lower, failed = potri(factor, lower=True, overwrite_c=True)
    if failed or np.diagonal(lower).max() >= 1 / _FLAT:
        return None
    inverse = lower + lower.T  # above the diagonal there are zeros
    inverse[np.diag_indices_from(inverse)] *= 0.5
    return np.asarray(inverse)


def _known(inverse: Floats, freedom: Freedom) -> Floats:
    """The covariances with 0 for parameters that do not move."""
    fixed = np.flatnonzero(freedom.fixed.ravel())
    if not fixed.size and not np.isnan(inverse[0]).any():
        return inverse
    known = np.nan_to_num(inverse, copy=True, nan=0.0)
    known[fixed] = 0.0
    known[:, fixed] = 0.0
    return known
