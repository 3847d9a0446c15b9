"""Many ridge regressions at once: one for each set of tasks, with closed-form leave-one-out errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.validation import Floats

SHRINKAGE = np.logspace(-3.0, 1.5, 10)
"""Penalties tried, in units of the tasks' mean variance: from hardly any to nearly the mean alone."""
BLOCK_CELLS = 1 << 20


class Design(NamedTuple):
    """Agents' values about the tasks' means, in one unit for all tasks: their mean deviation.

    One unit, since the aggregate averages comparable values: a task with hardly any spread is
    hardly informative, and is not scaled up to the size of the others.
    """

    centre: Floats  # [tasks]
    unit: float
    values: Floats  # [agents, tasks]

    @classmethod
    def of(cls, values: Floats) -> Design:
        """Centre values [agents, tasks] without gaps."""
        centre = values.mean(axis=0)
        scaled = values - centre
        variance = float(np.einsum("at,at->t", scaled, scaled).mean()) / len(values)
        unit = float(np.sqrt(variance)) if variance > 0 else 1.0
        scaled /= unit
        return cls(centre, unit, scaled)


class RidgeFits(NamedTuple):
    """One regression a set, on centred values: ŷ = mean + Σ β z."""

    mean: Floats  # [sets]
    beta: Floats  # [sets, size]
    shrinkage: Floats  # [sets]
    left_out: Floats  # [sets, agents]: residual of each agent, predicted from all others

    def predict(self, new: Floats) -> Floats:
        """Predict agents from their scaled values [agents, sets, size]; shape [sets, agents]."""
        return np.asarray(np.einsum("abk,bk->ba", new, self.beta) + self.mean[:, None])


def ridge_fits(design: Floats, target: Floats, sets: NDArray[np.intp]) -> RidgeFits:
    r"""Regress the target on each set of tasks, the penalty chosen by leave-one-out error.

    .. math:: \hat\beta = (Z^\top Z + n \lambda I)^{-1} Z^\top y, \qquad
              y_i - \hat y_{-i} = \frac{y_i - \hat y_i}{1 - h_{ii}}

    `design` [agents, tasks] is centred, `target` is [agents], or [sets, agents] where each set has its
    own, and `sets` [sets, size] holds positions. One eigendecomposition a set serves all penalties.

    >>> z = np.array([[-1.0], [0.0], [1.0]])
    >>> fits = ridge_fits(z, np.array([0.0, 2.0, 4.0]), np.array([[0]]))
    >>> fits.mean, fits.beta.round(2)
    (array([2.]), array([[2.]]))
    """
    return ridge_fits_of(design, [target], sets)[0]


def ridge_fits_of(
    design: Floats, targets: Sequence[Floats], sets: NDArray[np.intp]
) -> list[RidgeFits]:
    """Regress several targets on each set as `ridge_fits` does; they share the decompositions."""
    step = max(1, BLOCK_CELLS // (len(design) * len(SHRINKAGE)))
    fits: list[list[RidgeFits]] = [[] for _ in targets]
    for start in range(0, len(sets), step):
        block = slice(start, start + step)
        decomposed = _Decomposed.of(design, sets[block])
        for parts, target in zip(fits, targets, strict=True):
            parts.append(decomposed.fit(target if target.ndim == 1 else target[block]))
    return [
        parts[0]
        if len(parts) == 1
        else RidgeFits(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))
        for parts in fits
    ]


class TargetFits(NamedTuple):
    """Regressions of many targets on one set: ŷ = mean + Σ β z, and their leave-one-out errors."""

    mean: Floats  # [targets]
    beta: Floats  # [targets, size]
    error: Floats  # [targets]: root mean square of each agent predicted from all others


def fits_of_targets(z: Floats, targets: Floats) -> TargetFits:
    """Regress many targets [agents, targets] on the same tasks z [agents, size], as `ridge_fits` would.

    One decomposition serves all, in blocks of targets.

    >>> z = np.array([[-1.0], [0.0], [1.0]])
    >>> fits_of_targets(z, np.array([[0.0], [2.0], [4.0]])).beta.round(2)
    array([[2.]])
    """
    agents = len(z)
    eigen, rotation = np.linalg.eigh(z.T @ z)
    turned = z @ rotation
    weight = 1.0 / (np.maximum(eigen, 0.0) + agents * SHRINKAGE[:, None])  # [penalties, size]
    free = np.maximum(1.0 - weight @ (turned**2).T - 1.0 / agents, 1e-9)  # [penalties, agents]
    parts = []
    step = max(1, BLOCK_CELLS // agents)
    for start in range(0, targets.shape[1], step):
        part = targets[:, start : start + step].T
        mean = part.mean(axis=1)
        y = part - mean[:, None]
        along = y @ turned  # [targets, size]
        square = np.empty((len(SHRINKAGE), len(y)))
        for index, penalised in enumerate(weight):
            off = (y - (along * penalised) @ turned.T) / free[index]
            square[index] = np.einsum("ta,ta->t", off, off)
        best = square.argmin(axis=0)
        beta = (weight[best] * along) @ rotation.T
        parts.append((mean, beta, np.sqrt(square.min(axis=0) / agents)))
    return TargetFits(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))


class WithOneMore(NamedTuple):
    """Mean absolute leave-one-out errors of a set alone, and together with each other task."""

    alone: float
    errors: Floats  # [tasks]: NaN for those in the set


def with_one_more(design: Floats, target: Floats, chosen: Sequence[int]) -> WithOneMore:
    r"""Add every task in turn to a set, as `ridge_fits` would with each of those sets, but sooner.

    With H the hat matrix of the set under the penalty nλ, and v = z − Hz what it leaves of a task's
    column z, the set together with the task has

    .. math:: H' = H + \frac{v v^\top}{z^\top v + n \lambda}

    so that one decomposition and a few matrix products serve all tasks. `design` [agents, tasks] is
    centred and `target` is [agents].

    >>> z = np.array([[-1.0, 1.0], [0.0, -2.0], [1.0, 1.0]])
    >>> bool(np.isnan(with_one_more(z, np.array([0.0, 2.0, 4.0]), [0]).errors[0]))
    True
    """
    agents, tasks = design.shape
    y = target - target.mean()
    z = design[:, list(chosen)]
    eigen, rotation = np.linalg.eigh(z.T @ z)
    turned = z @ rotation  # [agents, size]
    weight = 1.0 / (np.maximum(eigen, 0.0) + agents * SHRINKAGE[:, None])  # [penalties, size]
    left = y - (weight * (y @ turned)) @ turned.T  # [penalties, agents]
    free = 1.0 - 1.0 / agents - weight @ (turned**2).T
    alone = _least_error((left / np.maximum(free, 1e-9))[:, None])[0]
    errors = np.empty(tasks)
    # agents · tasks that stay in the processor's cache
    step = max(1, 1 << 14 // (agents * len(SHRINKAGE)))
    for start in range(0, tasks, step):
        columns = np.ascontiguousarray(design[:, start : start + step].T)  # [tasks, agents]
        errors[start : start + step] = _least_error(
            _left_out_with(columns, y, turned, weight, left, free)
        )
    errors[list(chosen)] = np.nan
    return WithOneMore(float(alone), errors)


def _left_out_with(
    columns: Floats, y: Floats, turned: Floats, weight: Floats, left: Floats, free: Floats
) -> Floats:
    """Leave-one-out residuals [penalties, tasks, agents] with one more column each."""
    news = columns - ((columns @ turned) * weight[:, None]) @ turned.T
    size = (news * columns).sum(axis=2) + len(y) * SHRINKAGE[:, None]  # [penalties, tasks]
    residual = left[:, None] - news * ((news @ y) / size)[:, :, None]
    np.multiply(news, news, out=news)
    news /= size[:, :, None]
    np.maximum(np.subtract(free[:, None], news, out=news), 1e-9, out=news)
    residual /= news
    return np.asarray(residual)


def _least_error(residuals: Floats) -> Floats:
    """Mean absolute residual [sets] under the penalty with the least square: [penalties, sets, agents]."""
    best = np.einsum("psa,psa->ps", residuals, residuals).argmin(axis=0)
    least: Floats = np.abs(residuals[best, np.arange(len(best))]).mean(axis=1)
    return least


class _Decomposed(NamedTuple):
    """The columns of each set along the eigenvectors of their products, and what penalties make of them."""

    turned: Floats  # [sets, agents, size]
    rotation: Floats  # [sets, size, size]
    weight: Floats  # [sets, penalties, size]
    free: Floats  # [sets, penalties, agents]: one less the leverage

    @classmethod
    def of(cls, design: Floats, sets: NDArray[np.intp]) -> _Decomposed:
        agents = len(design)
        z = design[:, sets].transpose(1, 0, 2)
        if sets.shape[1] <= agents:
            eigen, rotation = np.linalg.eigh(z.transpose(0, 2, 1) @ z)
            turned = z @ rotation
        else:  # the products of agents are the smaller matrix, and have the same eigenvalues
            eigen, left = np.linalg.eigh(z @ z.transpose(0, 2, 1))
            length = np.sqrt(np.maximum(eigen, 1e-300))[:, None]
            turned, rotation = left * length, z.transpose(0, 2, 1) @ left / length
        weight = 1.0 / (np.maximum(eigen, 0.0)[:, None, :] + agents * SHRINKAGE[:, None])
        leverage = weight @ turned.transpose(0, 2, 1) ** 2 + 1.0 / agents
        return cls(turned, rotation, weight, np.maximum(1.0 - leverage, 1e-9))

    def fit(self, target: Floats) -> RidgeFits:
        sets, agents, _ = self.turned.shape
        targets = np.broadcast_to(target, (sets, agents))
        mean = targets.mean(axis=1)
        y = targets - mean[:, None]
        along = (y[:, None, :] @ self.turned)[:, 0]  # [sets, size]
        residual = y[:, None, :] - (self.weight * along[:, None, :]) @ self.turned.transpose(
            0, 2, 1
        )
        left_out = residual / self.free
        best = np.einsum("sla,sla->sl", left_out, left_out).argmin(axis=1)
        sets_range = np.arange(sets)
        beta = np.einsum("skj,sj->sk", self.rotation, self.weight[sets_range, best] * along)
        return RidgeFits(mean, beta, SHRINKAGE[best], left_out[sets_range, best])
