r"""Newton steps for all tasks at once: each task by itself, and what all of them lack together.

Each step is within bounds, with priors, and never goes down. One step of EM falls short, since abilities
follow the tasks: EM steps as though abilities stayed, δ = B⁻¹ ∇ with B the complete information, a block
for each task. The step of Newton is (B − U Uᵀ)⁻¹ ∇ with U Uᵀ the missing information, Σ_j Cov_j[s_j].
Posteriors are narrow, so that Cov_j is about v (∂s/∂θ)(∂s/∂θ)ᵀ with v the posterior variance, and −∂s/∂θ
about the information that parameters share with ability at the agent's node. By Woodbury's identity,
Newton's step is

.. math:: \delta + B^{-1} U (1 - U^\top B^{-1} U)^{-1} U^\top \delta

References: Louis (1982); Jamshidian & Jennrich (1997), on quasi-Newton steps around EM.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.heights import Heights
from examiner.irt.items import Floats
from examiner.irt.model import Unknowns

Rows = NDArray[np.intp]
"""Which tasks, by their rows."""

MOST_STEP = 1.0
CERTAIN = 0.02
"""Steps this short cannot overshoot a parabola, and are taken without looking."""


def climbed(
    unknowns: Unknowns,
    start: Floats,
    here: Heights,
    heights_of: Callable[[Rows, Floats], Heights],
) -> Floats:
    """Return the parameters of tasks [tasks, own] after a Newton step, or a few along a ridge.

    A long step is looked at where it leads; where it would go down it is shortened. Where tasks guess or
    slip the next one begins there, for tasks that still go far: so a ridge to follow, along which guessing
    and difficulty trade, costs the others nothing.
    """
    pulls, table = _Pulls.of(unknowns), start.copy()
    going: Rows = np.arange(table.shape[0])
    here = pulls.added(table, here)
    step = pulls.ascent(table, here)
    refused = np.zeros(going.size, dtype=np.bool_)
    # shortened twelve times, a step is 1e-6 of what it was
    for count in range(12):
        worth = unknowns.own_weights(table[going].T).T
        far = refused | (np.abs(worth * step).max(axis=1) > CERTAIN)
        near = going[~far]
        table[near] = pulls.within(table[near] + step[~far])
        going, step, before = going[far], step[far], here.value[far]
        if not going.size:
            break
        remaining = pulls.take(going)
        ahead = remaining.within(table[going] + step)
        here = remaining.added(ahead, heights_of(going, ahead))
        refused = ~(here.value >= before - 1e-12 * (1 + np.abs(before)))
        table[going[~refused]] = ahead[~refused]
        here.value[refused] = before[refused]
        onwards = (
            remaining.ascent(ahead, here) if pulls.ridged and count == 0 else np.zeros_like(step)
        )
        step = np.where(refused[:, None], 0.3 * step, onwards)
    return table


class _Pulls(NamedTuple):
    """Means and curvatures of the priors of tasks [tasks, own], and the bounds of parameters [own]."""

    means: Floats
    tightness: Floats
    low: Floats
    high: Floats
    ridged: bool

    @classmethod
    def of(cls, unknowns: Unknowns) -> _Pulls:
        low, high = np.array([unknowns.bounds_of(name) for name in unknowns.own]).T
        ridged = not {"guessing", "slip"}.isdisjoint(unknowns.own)
        return cls(*unknowns.pulls(), low, high, ridged)

    def take(self, tasks: Rows) -> _Pulls:
        return self._replace(means=self.means[tasks], tightness=self.tightness[tasks])

    def within(self, table: Floats) -> Floats:
        return np.clip(table, self.low, self.high)

    def added(self, table: Floats, found: Heights) -> Heights:
        """Heights with the log-priors."""
        away = table - self.means
        return found._replace(
            value=found.value - 0.5 * (away**2 * self.tightness).sum(axis=1),
            gradient=found.gradient - away * self.tightness,
            curvature=with_diagonal(found.curvature, self.tightness),
        )

    def ascent(self, table: Floats, here: Heights) -> Floats:
        """Steps that climb; parameters at a bound that want beyond it stay, and others step without them.

        References: Bertsekas (1982), for projected Newton steps.
        """
        gradient, curvature = here.gradient, here.curvature
        blocked = ((table <= self.low) & (gradient < 0)) | ((table >= self.high) & (gradient > 0))
        if blocked.any():
            curvature = np.where(blocked[:, :, None] | blocked[:, None, :], 0.0, curvature)
            curvature = with_diagonal(curvature, blocked)
            gradient = np.where(blocked, 0.0, gradient)
        step, peaked = _solved(curvature, gradient)
        short = peaked & ((step**2).sum(axis=1) <= MOST_STEP**2)
        if not short.all():
            step[~short] = _along_axes(gradient[~short], curvature[~short], ridged=self.ridged)
        return step


def with_diagonal(matrices: Floats, added: Floats | NDArray[np.bool_]) -> Floats:
    """Return matrices [tasks, n, n] with something added to their diagonals [tasks, n].

    >>> with_diagonal(np.zeros((1, 2, 2)), np.array([[1.0, 2.0]]))[0]
    array([[1., 0.],
           [0., 2.]])
    """
    places, total = np.arange(matrices.shape[1]), matrices.copy()
    total[:, places, places] += added
    return total


def _solved(curvature: Floats, gradient: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Solutions of many small equations by elimination, and where all pivots are well above 0.

    Curvatures are [tasks, n, n], and right sides [tasks, n] or several of them, [tasks, n, sides].
    """
    left, right = curvature.transpose(1, 2, 0).copy(), np.moveaxis(gradient, 0, -1).copy()
    size = right.shape[0]
    peaked = np.ones(right.shape[-1], dtype=np.bool_)
    for row in range(size):
        # smaller pivots are no peak: other parameters carry all the information
        peaked &= left[row, row] > 1e-5 * curvature[:, row, row]
        pivot = np.where(peaked, left[row, row], 1.0)
        for below in range(row + 1, size):
            share = left[below, row] / pivot
            left[below, row + 1 :] -= share * left[row, row + 1 :]
            right[below] -= share * right[row]
    for row in reversed(range(size)):
        for after in range(row + 1, size):
            right[row] -= left[row, after] * right[after]
        right[row] /= np.where(peaked, left[row, row], 1.0)
    return np.moveaxis(right, -1, 0), peaked


def _along_axes(gradient: Floats, curvature: Floats, *, ridged: bool) -> Floats:
    """Directions that climb: curvatures are made positive, steps kept short.

    Where tasks are `ridged`, each direction by itself: the ridge along which guessing and difficulty trade
    must not shorten the steps across it.
    """
    symmetric = 0.5 * (curvature + curvature.transpose(0, 2, 1))
    roots, axes = np.linalg.eigh(symmetric)
    floor = 1e-6 * np.maximum(np.abs(roots).max(axis=1, keepdims=True), 1.0)
    along = np.einsum("tpk,tp->tk", axes, gradient) / np.maximum(np.abs(roots), floor)
    if ridged:
        along = np.clip(along, -MOST_STEP, MOST_STEP)
    step = np.einsum("tpk,tk->tp", axes, along)
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step / np.maximum(longest / MOST_STEP, 1.0))


def lacking_to_newton(
    move: Floats,
    complete: Floats,
    information: Floats,
    by: Floats,
    rising: Floats,
    mass: Floats,
) -> Floats:
    """Return what a step of EM [tasks, own] lacks to one of Newton.

    `complete` [tasks, own, own] is the curvature at its start, and `information` that on P [tasks, nodes].
    `by` [tasks, own, nodes] are the derivatives of P by parameters, `rising` [tasks, nodes] those by
    ability, and `mass` [nodes] are agents.
    """
    tasks, width, nodes = by.shape
    shared = (information * rising)[:, None] * by
    on_ability = np.einsum("tq,tq->q", information * rising, rising)
    left_open = 1.0 / (mass + on_ability)  # posterior variance, over the number of agents
    # What a ridge hides from B is none of the others': a thousandth is added to each parameter.
    diagonal = np.diagonal(complete, axis1=1, axis2=2)
    complete = with_diagonal(complete, 1e-3 * (diagonal + 1.0))
    # Eight profiles over ability along which tasks move together. In a 3PL of 1000 × 500 they miss 0.98,
    # 0.98, 0.75, 0.3, 0.1 and less of their information.
    profiles = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, nodes), 8, increasing=True))[0]
    missing = (shared * np.sqrt(left_open)) @ profiles
    answered, _ = _solved(complete, missing)
    flat, flat_answered = (part.reshape(tasks * width, -1) for part in (missing, answered))
    shares, axes = np.linalg.eigh(flat.T @ flat_answered)
    # longer steps of a task say little of others
    along = axes.T @ (flat.T @ np.clip(move, -0.5, 0.5).ravel())
    # the last two are shift and stretch of the scale, which the climb takes to the end itself
    along[-2:] = 0.0
    # what U leaves out makes steps too long: less is assumed missing than the third profile misses
    along /= 1.0 - np.minimum(shares, 0.6)
    lacking = (flat_answered @ (axes @ along)).reshape(tasks, width)
    return np.asarray(np.clip(lacking, -1.0, 1.0))
