"""The M-step of any likelihood by its kernel: Newton steps for every task, then for each shared number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.kernel import Kernel
from examiner.irt.estimation.kernels import curve_derivatives, expected_gradient
from examiner.irt.items import Curves, Floats, curves
from examiner.irt.model import Point, Unknowns

_DIFFERENCE = 1e-4
"""Step of the differences of gradients: truncation and rounding both stay below 1e-7 of a curvature."""
_MOST_STEP = 1.0
_CERTAIN = 0.02
"""Steps this short cannot overshoot a parabola, and are taken without looking."""
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class KernelStatistics(Expected):
    """What an E-step tells the M-step of any kernel: the sums S_c [tasks, nodes] at the nodes.

    `shape` are the curves under the parameters of the E-step, with which the M-step begins.
    """

    kernel: Kernel
    nodes: Floats
    sums: tuple[Floats, ...]
    shape: Curves

    def raised(self, unknowns: Unknowns, at: Point) -> Point:
        """Return the parameters after one step for every task, and then one for each shared number."""
        at = self._own_raised(unknowns, at)
        for row in range(len(unknowns.shared)):
            at = self._shared_raised(unknowns, at, row)
        return at

    def _own_raised(self, unknowns: Unknowns, at: Point) -> Point:
        """One step of Newton or of Fisher scoring for every task, shortened where it would go down."""
        width = len(unknowns.own)
        means, tightness = unknowns.pulls()
        low, high = np.array([unknowns.bounds_of(name) for name in unknowns.own]).T
        table = at.own.T
        here, curvature = self._curved(unknowns, at)
        gradient = here.gradient[:, :width] - (table - means) * tightness
        here = here._replace(value=here.value - _penalty(table, means, tightness))
        curvature[:, np.arange(width), np.arange(width)] += tightness
        held = ((table <= low) & (gradient < 0)) | ((table >= high) & (gradient > 0))
        ridged = not {"guessing", "slip"}.isdisjoint(unknowns.own)
        step = _ascent(*_free(gradient, curvature, held), ridged=ridged)
        falling = np.flatnonzero(np.abs(step).max(axis=1) > _CERTAIN)
        for _ in range(_HALVINGS if falling.size else 0):
            better = np.clip(table[falling] + step[falling], low, high)
            value = self._values(unknowns, Point(better.T, at.shared), falling)
            value -= _penalty(better, means[falling], tightness[falling])
            before = here.value[falling]
            falling = falling[~(value >= before - 1e-12 * (1 + np.abs(before)))]
            if not falling.size:
                break
            step[falling] *= 0.3
        else:
            step[falling] = 0.0
        return Point(np.clip(table + step, low, high).T, at.shared)

    def _curved(self, unknowns: Unknowns, at: Point) -> tuple[_Height, Floats]:
        """Heights at a point, and how they bend by the parameters of tasks [tasks, own, own]."""
        width, table = len(unknowns.own), at.own.T
        here = self._height(unknowns, at, self.shape)
        if here.information is not None:
            return here, here.information
        curvature = np.empty((table.shape[0], width, width))
        for column in range(width):
            shift = np.zeros(width)
            shift[column] = _DIFFERENCE
            ahead = self._height(unknowns, Point((table + shift).T, at.shared))
            curvature[:, :, column] = (here.gradient - ahead.gradient)[:, :width] / _DIFFERENCE
        return here, curvature

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what the task's other parameters take off."""
        _, curvature = self._curved(unknowns, at)
        row = unknowns.own.index("slope")
        others = [column for column in range(len(unknowns.own)) if column != row]
        _, tightness = unknowns.pulls()
        rest = curvature[:, others][:, :, others] + 1e-9 * np.eye(len(others))
        rest[:, np.arange(len(others)), np.arange(len(others))] += tightness[:, others]
        both = curvature[:, others, row]
        taken = np.einsum("ti,ti->t", both, np.linalg.solve(rest, both[:, :, None])[:, :, 0])
        return np.asarray(np.maximum(curvature[:, row, row] - taken, 0.0))

    def _shared_raised(self, unknowns: Unknowns, at: Point, row: int) -> Point:
        """One Newton step for a number that all tasks share."""
        column, name = len(unknowns.own) + row, unknowns.shared[row]
        mean, tightness = (float(part) for part in unknowns.pull(name))

        def moved(value: float) -> Point:
            shared = at.shared.copy()
            shared[row] = value
            return Point(at.own, shared)

        def slope_at(value: float) -> float:
            return float(self._height(unknowns, moved(value)).gradient[:, column].sum())

        start = float(at.shared[row])
        here = self._height(unknowns, at)
        slope = float(here.gradient[:, column].sum()) - tightness * (start - mean)
        bend = here.bends.get(name)
        if bend is None:
            ahead, behind = slope_at(start + _DIFFERENCE), slope_at(start - _DIFFERENCE)
            bend = (behind - ahead) / (2 * _DIFFERENCE)
        step = slope / max(abs(bend + tightness), 1e-8)
        step = float(np.clip(step, -_MOST_STEP, _MOST_STEP))
        tasks = np.arange(len(unknowns.tasks))
        before = float(here.value.sum()) - 0.5 * tightness * (start - mean) ** 2
        for _ in range(_HALVINGS if abs(step) > _CERTAIN else 0):
            after = float(self._values(unknowns, moved(start + step), tasks).sum())
            if after - 0.5 * tightness * (start + step - mean) ** 2 >= before:
                break
            step *= 0.3
        else:
            step = step if abs(step) <= _CERTAIN else 0.0
        return moved(float(np.clip(start + step, *unknowns.bounds_of(name))))

    def _height(self, unknowns: Unknowns, at: Point, known: Curves | None = None) -> _Height:
        items = unknowns.items(at)
        shape = curves(items, self.nodes) if known is None else known
        slopes = self.kernel.slopes(self.sums, shape, items.precision)
        by = curve_derivatives(unknowns.names, items, shape, self.nodes)
        information = None
        bends: dict[str, float] = {}
        if slopes.information is not None and "precision" not in unknowns.own:
            information = _curvature([by[name] for name in unknowns.own], slopes.information)
            curved = (name for name in unknowns.shared if name != "precision")
            bends = {name: float((slopes.information * by[name] ** 2).sum()) for name in curved}
        if slopes.bend is not None:
            bends["precision"] = float(slopes.bend.sum())
        bends |= {name: float(by_cut.bend.sum()) for name, by_cut in slopes.by_cuts.items()}
        gradient = expected_gradient(unknowns.names, by, slopes)
        return _Height(slopes.value.sum(axis=1), gradient, information, bends)

    def _values(self, unknowns: Unknowns, at: Point, tasks: NDArray[np.intp]) -> Floats:
        """The expected log-likelihood of some tasks."""
        items = unknowns.items(at, tuple(unknowns.tasks[task] for task in tasks))
        terms = self.kernel.terms(curves(items, self.nodes), items.precision)
        chosen = slice(None) if tasks.size == len(unknowns.tasks) else tasks
        return np.asarray(
            sum(
                np.einsum("tq,tq->t", part[chosen], term)
                for part, term in zip(self.sums, terms, strict=True)
            )
        )


class _Height(NamedTuple):
    """Each task's expected log-likelihood, derivatives and information, and bends by shared numbers."""

    value: Floats
    gradient: Floats
    information: Floats | None
    bends: dict[str, float]


def _curvature(by: Sequence[Floats], information: Floats) -> Floats:
    """Σ_q I ∇P ∇Pᵀ of the parameters of tasks, [tasks, own, own], from the information on P."""
    found = np.empty((information.shape[0], len(by), len(by)))
    for row, first in enumerate(by):
        weighted = information * first
        for column in range(row + 1):
            found[:, row, column] = np.einsum("tq,tq->t", weighted, by[column])
            found[:, column, row] = found[:, row, column]
    return found


def _penalty(table: Floats, means: Floats, tightness: Floats) -> Floats:
    """What the log-priors take off, one number a task."""
    return np.asarray(0.5 * (((table - means) ** 2) * tightness).sum(axis=1))


def _free(gradient: Floats, curvature: Floats, held: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Without parameters at a bound that want beyond it: the others step as though these were known.

    References: Bertsekas (1982), for projected Newton steps.
    """
    if not held.any():
        return gradient, curvature
    bends = np.where(held[:, :, None] | held[:, None, :], 0.0, curvature)
    each = np.arange(held.shape[1])
    bends[:, each, each] += held
    return np.where(held, 0.0, gradient), bends


def _ascent(gradient: Floats, curvature: Floats, *, ridged: bool) -> Floats:
    """Directions that climb: curvatures (minus the Hessian) are made positive, steps kept short.

    Where tasks are `ridged`, each direction by itself: the ridge along which guessing and difficulty trade
    must not shorten the steps across it.
    """
    symmetric = 0.5 * (curvature + curvature.transpose(0, 2, 1))
    roots, axes = np.linalg.eigh(symmetric)
    floor = 1e-6 * np.maximum(np.abs(roots).max(axis=1, keepdims=True), 1.0)
    along = np.einsum("tpk,tp->tk", axes, gradient) / np.maximum(np.abs(roots), floor)
    if ridged:
        along = np.clip(along, -_MOST_STEP, _MOST_STEP)
    step = np.einsum("tpk,tk->tp", axes, along)
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step / np.maximum(longest / _MOST_STEP, 1.0))
