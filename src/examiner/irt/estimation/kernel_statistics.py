"""The M-step of any likelihood by its kernel: Newton steps for every task, then for each shared number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.kernel import Kernel, Slopes
from examiner.irt.estimation.kernels import curve_derivatives, expected_gradient
from examiner.irt.estimation.score_kernels import by_cuts
from examiner.irt.items import Curves, Floats, curves
from examiner.irt.model import CUTS, Parameter, Point, Unknowns

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
        here = self._height(unknowns, at)
        curvature = here.curvature
        gradient = here.gradient - (table - means) * tightness
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

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what the task's other parameters take off."""
        curvature = self._height(unknowns, at).curvature
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
        name = unknowns.shared[row]
        mean, tightness = (float(part) for part in unknowns.pull(name))

        def moved(value: float) -> Point:
            shared = at.shared.copy()
            shared[row] = value
            return Point(at.own, shared)

        start = float(at.shared[row])
        here = self._along(unknowns, at, name)
        slope = here.slope - tightness * (start - mean)
        step = slope / max(abs(here.bend + tightness), 1e-8)
        step = float(np.clip(step, -_MOST_STEP, _MOST_STEP))
        before = here.value - 0.5 * tightness * (start - mean) ** 2
        for _ in range(_HALVINGS if abs(step) > _CERTAIN else 0):
            after = self._along(unknowns, moved(start + step), name).value
            if after - 0.5 * tightness * (start + step - mean) ** 2 >= before:
                break
            step *= 0.3
        else:
            step = step if abs(step) <= _CERTAIN else 0.0
        return moved(float(np.clip(start + step, *unknowns.bounds_of(name))))

    def _along(self, unknowns: Unknowns, at: Point, name: Parameter) -> _Along:
        """Heights along one shared number; of the cuts what they move, which is told without the rest."""
        items = unknowns.items(at)
        shape = curves(items, self.nodes)
        if name in CUTS:
            ends = by_cuts(self.sums, shape)
            return _Along.of(ends.value, ends.by[name].gradient, ends.by[name].bend)
        slopes = self.kernel.slopes(self.sums, shape, items.precision)
        if name == "precision":
            assert slopes.by_log_precision is not None and slopes.bend is not None
            return _Along.of(slopes.value, slopes.by_log_precision, slopes.bend)
        by = curve_derivatives((name,), items, shape, self.nodes)[name]
        return _Along.of(slopes.value, slopes.by_success * by, slopes.information * by**2)

    def _height(self, unknowns: Unknowns, at: Point) -> _Height:
        """Heights by the parameters of tasks, at the point of the E-step."""
        items, own = unknowns.items(at), unknowns.own
        slopes = self.kernel.slopes(self.sums, self.shape, items.precision)
        by = curve_derivatives(own, items, self.shape, self.nodes)
        gradient = expected_gradient(own, by, slopes)
        return _Height(slopes.value.sum(axis=1), gradient, _curvature(own, by, slopes))

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
    """Each task's expected log-likelihood, its derivatives, and how it bends, [tasks, own, own]."""

    value: Floats
    gradient: Floats
    curvature: Floats


class _Along(NamedTuple):
    """The expected log-likelihood along one number, up to a constant: value, slope and bend."""

    value: float
    slope: float
    bend: float

    @classmethod
    def of(cls, *parts: Floats) -> _Along:
        return cls(*(float(part.sum()) for part in parts))


def _curvature(own: Sequence[Parameter], by: Mapping[Parameter, Floats], slopes: Slopes) -> Floats:
    """How the parameters of tasks bend, [tasks, own, own]: Σ_q I ∇P ∇Pᵀ, and the like by log ν."""
    found = np.empty((slopes.value.shape[0], len(own), len(own)))
    moving = [column for column, name in enumerate(own) if name != "precision"]
    for row in moving:
        weighted = slopes.information * by[own[row]]
        for column in moving[: moving.index(row) + 1]:
            bent = np.einsum("tq,tq->t", weighted, by[own[column]])
            found[:, row, column] = found[:, column, row] = bent
    if "precision" in own:
        assert slopes.bend is not None and slopes.cross is not None
        row = own.index("precision")
        found[:, row, row] = slopes.bend.sum(axis=1)
        for column in moving:
            bent = np.einsum("tq,tq->t", slopes.cross, by[own[column]])
            found[:, row, column] = found[:, column, row] = bent
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
