"""Newton steps for all tasks at once, each within its bounds, with its priors, and never down."""

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
_MORE = 1
"""Further long steps of a task between two looks at abilities; more of them would be taken back."""
_SHORTER, _SHORTENED = 0.3, 12
_FLAT = 1e-5
"""Pivots below this share of a parameter's own curvature are no peak: others tell of it all there is."""


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
    for count in range(_SHORTENED):
        worth = unknowns.own_weights(table[going].T).T
        far = refused | (np.abs(worth * step).max(axis=1) > CERTAIN)
        near = going[~far]
        table[near] = pulls.within(table[near] + step[~far])
        going, step, before = going[far], step[far], here.value[far]
        if not going.size:
            break
        some = pulls.take(going)
        ahead = some.within(table[going] + step)
        here = some.added(ahead, heights_of(going, ahead))
        refused = ~(here.value >= before - 1e-12 * (1 + np.abs(before)))
        table[going[~refused]] = ahead[~refused]
        here.value[refused] = before[refused]
        onwards = (
            some.ascent(ahead, here) if pulls.ridged and count < _MORE else np.zeros_like(step)
        )
        step = np.where(refused[:, None], _SHORTER * step, onwards)
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

    @property
    def _each(self) -> Rows:
        return np.arange(self.low.size)

    def take(self, tasks: Rows) -> _Pulls:
        return self._replace(means=self.means[tasks], tightness=self.tightness[tasks])

    def within(self, table: Floats) -> Floats:
        return np.clip(table, self.low, self.high)

    def added(self, table: Floats, found: Heights) -> Heights:
        """Heights with the log-priors."""
        away, curvature = table - self.means, found.curvature.copy()
        curvature[:, self._each, self._each] += self.tightness
        return found._replace(
            value=found.value - 0.5 * (away**2 * self.tightness).sum(axis=1),
            gradient=found.gradient - away * self.tightness,
            curvature=curvature,
        )

    def ascent(self, table: Floats, here: Heights) -> Floats:
        """Steps that climb; parameters at a bound that want beyond it stay, and others step without them.

        References: Bertsekas (1982), for projected Newton steps.
        """
        gradient, curvature = here.gradient, here.curvature
        held = ((table <= self.low) & (gradient < 0)) | ((table >= self.high) & (gradient > 0))
        if held.any():
            curvature = np.where(held[:, :, None] | held[:, None, :], 0.0, curvature)
            curvature[:, self._each, self._each] += held
            gradient = np.where(held, 0.0, gradient)
        return _ascent(gradient, curvature, ridged=self.ridged)


def _ascent(gradient: Floats, curvature: Floats, *, ridged: bool) -> Floats:
    """Steps that climb: Newton's where they are short and the curvature (minus the Hessian) is positive."""
    step, peaked = solved(curvature, gradient)
    short = peaked & ((step**2).sum(axis=1) <= MOST_STEP**2)
    if not short.all():
        step[~short] = _along_axes(gradient[~short], curvature[~short], ridged=ridged)
    return step


def solved(curvature: Floats, gradient: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Solutions of many small equations by elimination, and where all pivots are well above 0.

    Curvatures are [tasks, n, n], and right sides [tasks, n] or several of them, [tasks, n, sides].
    """
    left, right = curvature.transpose(1, 2, 0).copy(), np.moveaxis(gradient, 0, -1).copy()
    size = right.shape[0]
    peaked = np.ones(right.shape[-1], dtype=np.bool_)
    for row in range(size):
        peaked &= left[row, row] > _FLAT * curvature[:, row, row]
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
