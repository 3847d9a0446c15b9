"""The covariance of everything that is estimated of tasks: a block for each task, and what all share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.information import Freedom, Information
from examiner.irt.errors.low_rank import JointCovariance, leading_covariances, spread_columns
from examiner.irt.estimates import DIRECTIONS
from examiner.irt.items import Floats
from examiner.irt.model import Parameter
from examiner.irt.parameter_covariance import ParameterCovariance

WHOLE = "observed information (Louis), all parameters together"
HELD = "observed information (Louis), with tasks in which the likelihood is not peaked held fixed"
_FLAT = 1e-8
_NOTHING_KNOWN = 1e-6
"""Information on a logit or a slope below which its error would be above 1000."""


class Covariances(NamedTuple):
    """What is known of the errors of tasks, on the scale on which they are estimated.

    `blocks` [tasks, n, n] are the covariances of the parameters of each task, own parameters first: 0 of
    those that do not move, and NaN where they are not known.
    """

    blocks: Floats
    freedom: Freedom
    method: str
    parameters: ParameterCovariance

    def log_scale_variance(self, slope: Floats) -> float:
        """Return the variance of the logarithm of the slopes' common scale; 0 where it is not free."""
        relative, scale, freedom = self.freedom.relative, self.freedom.scale, self.freedom
        if relative is None or scale is None or "slope" not in freedom.names:
            return 0.0
        if "slope" in freedom.shared:
            return float(self.between("slope", "slope")[0]) / float(slope[0]) ** 2
        moves, deviation = relative.scale_given(slope, scale)
        return float(self.parameters.slope_variances(moves[None])[0]) + deviation**2

    def between(self, first: Parameter, second: Parameter) -> Floats:
        """Covariances of two parameters, one a task; 0 where one of them is not free."""
        names = self.freedom.names
        if first not in names or second not in names:
            return np.zeros(len(self.blocks))
        return np.asarray(self.blocks[:, names.index(first), names.index(second)])


def covariances(information: Information, *, unit_slopes: bool = False) -> Covariances:
    """Return the covariance of all parameters, from the inverse of the observed information.

    With `unit_slopes` the shared slope is the standard deviation of the population.
    """
    freedom = information.freedom
    if information.together:
        joint = _from_inverse(information.whole(), freedom)
    else:
        joint = leading_covariances(information)
    tasks, width = freedom.fixed.shape
    stuck = np.pad(freedom.fixed, ((0, 0), (0, freedom.together)))
    blocks = np.where(stuck[:, :, None] | stuck[:, None, :], 0.0, joint.blocks)
    directions = joint.directions
    directions[: tasks * width][freedom.fixed.ravel()] = 0.0
    along = directions[: tasks * width].reshape(tasks, width, -1)
    alone = np.nan_to_num(blocks[:, :width, :width]) - np.einsum("tin,tjn->tij", along, along)
    parameters = ParameterCovariance(
        freedom.own,
        freedom.shared,
        alone.reshape(tasks, -1),
        directions,
        unit_slopes=unit_slopes,
        populations=freedom.populations,
    )
    return Covariances(blocks, freedom, joint.method, parameters)


def _from_inverse(information: Floats, freedom: Freedom) -> JointCovariance:
    """The covariance from the inverse of the whole information."""
    inverse, method = _inverse(information, freedom)
    cut, places = freedom.fixed.size, np.arange(freedom.fixed.size).reshape(freedom.fixed.shape)
    shared = np.broadcast_to(np.arange(cut, freedom.count), (len(places), freedom.together))
    chosen = np.concatenate([places, shared], axis=1)
    blocks = inverse[chosen[:, :, None], chosen[:, None, :]]
    covariance, fixed = inverse, np.flatnonzero(freedom.fixed)
    if fixed.size or np.isnan(inverse[0]).any():
        covariance = np.nan_to_num(inverse, copy=True, nan=0.0)
        covariance[fixed], covariance[:, fixed] = 0.0, 0.0
    directions = []
    for column in range(cut, freedom.count):
        direction = covariance[column] / np.sqrt(max(float(covariance[column, column]), 1e-300))
        directions.append(direction[:, None])
        covariance = covariance - np.multiply.outer(direction, direction)
    of_tasks = _between_tasks(covariance[:cut, :cut], places)
    directions.append(np.pad(of_tasks, ((0, freedom.together), (0, 0))))
    return JointCovariance(blocks, np.concatenate(directions, axis=1, dtype=np.float64), method)


def _between_tasks(covariance: Floats, places: NDArray[np.intp]) -> Floats:
    """The principal factors F of correlations between tasks, [size, directions].

    `places` [tasks, own] are those of the parameters of each task.

    Covariances inside a block are left to the block itself, so that each round replaces them by
    what the factors of the last round explain (Harman 1976, section 8.2). Of few parameters all
    directions are kept.
    """
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    inverse = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
    between = covariance * inverse[:, None]
    between *= inverse
    size = len(scale)
    if size <= DIRECTIONS:
        values, vectors = np.linalg.eigh(between)
        return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
    row, column = places[:, :, None], places[:, None, :]
    between[row, column] = 0.0
    start = spread_columns(size, min(2 * DIRECTIONS, size))
    basis = np.linalg.qr(start.astype(between.dtype))[0]
    for _ in range(12):  # the directions that matter have settled then
        image = between @ basis
        values, turn = np.linalg.eigh(basis.T @ image)
        values, turn = values[::-1][:DIRECTIONS], turn[:, ::-1][:, :DIRECTIONS]
        factors = (basis @ turn) * np.sqrt(np.maximum(values, 0.0))
        of_tasks = factors[places]
        between[row, column] = of_tasks @ of_tasks.swapaxes(1, 2)
        basis = np.linalg.qr(image)[0]
    return np.asarray(scale[:, None] * factors)


def _inverse(information: Floats, freedom: Freedom) -> tuple[Floats, str]:
    """The inverse, with NaN for tasks in which the likelihood is not peaked.

    A slope that runs to infinity leaves a flat direction (or one bent upwards by rounding). The
    tasks that point along such directions are held fixed, and the others judged without them.
    """
    diagonal = np.diagonal(information).astype(np.float64)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    both = np.multiply.outer(scale, scale).astype(information.dtype)
    scaled = information * both
    if diagonal.min() >= _NOTHING_KNOWN and (result := _peaked_inverse(scaled)) is not None:
        return result * both, WHOLE
    scaled = scaled.astype(np.float64)
    tasks, width = freedom.fixed.shape
    places = np.arange(tasks * width).reshape(tasks, width)
    task_of = np.append(np.repeat(np.arange(tasks), width), tasks + np.arange(freedom.together))
    inverse = np.full_like(scaled, np.nan)
    # tasks that are flat among their own parameters are so in every matrix that holds them
    alone = np.linalg.eigvalsh(scaled[places[:, :, None], places[:, None, :]])
    flat_alone = np.flatnonzero((alone < _FLAT).any(axis=1))
    gone = np.concatenate([task_of[diagonal < _NOTHING_KNOWN], flat_alone])
    kept: NDArray[np.intp] = np.flatnonzero(~np.isin(task_of, gone))
    while kept.size:
        part = scaled[np.ix_(kept, kept)]
        result = _peaked_inverse(part)
        if result is not None:
            inverse[np.ix_(kept, kept)] = result
            break
        values, vectors = np.linalg.eigh(part)
        flat = values < _FLAT
        along = (vectors[:, flat] ** 2).sum(axis=1)
        gone = task_of[kept[along >= 0.25 * along.max()]]
        kept = kept[~np.isin(task_of[kept], gone)]
    method = WHOLE if kept.size == scale.size else HELD
    return inverse * scale[:, None] * scale, method


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
