"""The M-step of any likelihood by its kernel: Newton steps for every task, then for each shared number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.em import Ahead, Expected
from examiner.irt.estimation.heights import Heights, Slopes, curve_derivatives, heights
from examiner.irt.estimation.kernels import Kernel
from examiner.irt.estimation.score_kernels import by_cuts
from examiner.irt.estimation.task_steps import (
    CERTAIN,
    MOST_STEP,
    Rows,
    climbed,
    lacking_to_newton,
    with_diagonal,
)
from examiner.irt.items import Curves, Floats, curves, rise
from examiner.irt.model import CUTS, Parameter, Point, Unknowns


@dataclass(frozen=True, slots=True)
class KernelStatistics(Expected):
    """What an E-step tells the M-step of any kernel: the sums S_c [tasks, nodes] at the nodes.

    `shape` are the curves under the parameters of the E-step, with which the M-step begins, and `mass` is
    how many agents are at each node.
    """

    kernel: Kernel
    nodes: Floats
    sums: tuple[Floats, ...]
    shape: Curves
    mass: Floats
    _first: list[tuple[Slopes, Heights]] = field(default_factory=list, compare=False, repr=False)
    """What the kernel says under the parameters of the E-step, once it was asked."""

    def raised(self, unknowns: Unknowns, at: Point) -> Point:
        """Return the parameters after steps for every task, and then one for each shared number."""
        at = self._own_raised(unknowns, at)
        for row in range(len(unknowns.shared)):
            at = self._shared_raised(unknowns, at, row)
        return at

    def _own_raised(self, unknowns: Unknowns, at: Point) -> Point:
        """Newton steps for every task, each for as long as it goes far."""

        def heights_of(tasks: Rows, table: Floats) -> Heights:
            return self._heights(unknowns, at._replace(own=table.T), tasks)

        _, start = self._at_start(unknowns, at)
        return at._replace(own=climbed(unknowns, at.own.T, start, heights_of).T)

    def _at_start(self, unknowns: Unknowns, at: Point) -> tuple[Slopes, Heights]:
        """Slopes and heights under the parameters of the E-step."""
        if not self._first:
            items = unknowns.items(at)
            slopes = self.kernel.slopes(self.sums, self.shape, items.precision)
            here = heights(unknowns.own, slopes, items, self.shape, self.nodes)
            self._first.append((slopes, here))
        return self._first[0]

    def _information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Information under the parameters of the E-step, [tasks, own, own]."""
        slopes = self._at_start(unknowns, at)[0]._replace(beyond=None)
        items = unknowns.items(at)
        return heights(unknowns.own, slopes, items, self.shape, self.nodes).curvature

    def ahead(self, unknowns: Unknowns, at: Point, raised: Point, moved: Point) -> Ahead | None:
        """Return where Newton would go, from the slopes under the parameters of the E-step.

        Where tasks guess: they tell little of the weak, so that abilities follow the tasks far. Where they
        slip too, single tasks have more than one peak, and mixing finds the way as well.
        """
        if "guessing" not in unknowns.own or "slip" in unknowns.own:
            return None
        items, names = unknowns.items(at), unknowns.own
        slopes, here = self._at_start(unknowns, at)
        means, tightness = unknowns.pulls()
        gradient = here.gradient - (at.own.T - means) * tightness
        gain = 0.5 * float((gradient * (raised.own - at.own).T).sum())
        move = (moved.own - at.own).T
        # while most tasks still move farther, what they have in common says little
        if np.median(np.abs(move)) > 0.1:
            return Ahead(moved, gain)
        by = curve_derivatives(names, items, self.shape, self.nodes)
        lacking = lacking_to_newton(
            move,
            with_diagonal(self._information(unknowns, at), tightness),
            slopes.information,
            np.stack([by[name] for name in names], axis=1),
            rise(items, self.shape),
            self.mass,
        )
        low, high = np.array([unknowns.bounds_of(name) for name in names]).T
        table = moved.own.T
        lacking[(table <= low) | (table >= high)] = 0.0
        return Ahead(moved._replace(own=np.clip(table + lacking, low, high).T), gain)

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what the task's other parameters take off."""
        row = unknowns.own.index("slope")
        _, tightness = unknowns.pulls()
        tightness[:, row] = 0.0
        information = self._information(unknowns, at)
        inverse = np.linalg.inv(with_diagonal(information, tightness + 1e-9))
        return np.asarray(np.maximum(1.0 / inverse[:, row, row], 0.0))

    def _shared_raised(self, unknowns: Unknowns, at: Point, row: int) -> Point:
        """One Newton step for a number that all tasks share."""
        name = unknowns.shared[row]
        mean, tightness = (float(part) for part in unknowns.pull(name))

        def moved(value: float) -> Point:
            shared = at.shared.copy()
            shared[row] = value
            return at._replace(shared=shared)

        start = float(at.shared[row])
        here = self._along(unknowns, at, name)
        slope = here.slope - tightness * (start - mean)
        step = slope / max(abs(here.bend + tightness), 1e-8)
        step = float(np.clip(step, -MOST_STEP, MOST_STEP))
        before = here.value - 0.5 * tightness * (start - mean) ** 2
        for _ in range(12 if abs(step) > CERTAIN else 0):
            after = self._along(unknowns, moved(start + step), name).value
            if after - 0.5 * tightness * (start + step - mean) ** 2 >= before:
                break
            step *= 0.3
        else:
            step = step if abs(step) <= CERTAIN else 0.0
        return moved(float(np.clip(start + step, *unknowns.bounds_of(name))))

    def _along(self, unknowns: Unknowns, at: Point, name: Parameter) -> _Derivatives:
        """Heights along one shared number; of the cuts what they move, which is told without the rest."""
        items = unknowns.items(at)
        shape = curves(items, self.nodes)
        if name in CUTS:
            ends = by_cuts(self.sums, shape)
            return _Derivatives.of(ends.value, ends.by[name].gradient, ends.by[name].bend)
        slopes = self.kernel.slopes(self.sums, shape, items.precision)
        if name == "precision":
            assert slopes.by_log_precision is not None and slopes.bend is not None
            return _Derivatives.of(slopes.value, slopes.by_log_precision, slopes.bend)
        by = curve_derivatives((name,), items, shape, self.nodes)[name]
        return _Derivatives.of(slopes.value, slopes.by_success * by, slopes.information * by**2)

    def _heights(self, unknowns: Unknowns, at: Point, tasks: Rows) -> Heights:
        """Heights of some tasks, of which the point is, by their own parameters."""
        items = unknowns.items(at, tuple(unknowns.tasks[row] for row in tasks))
        shape = curves(items, self.nodes)
        sums = tuple(part[tasks] for part in self.sums)
        slopes = self.kernel.slopes(sums, shape, items.precision)
        return heights(unknowns.own, slopes, items, shape, self.nodes)


class _Derivatives(NamedTuple):
    """The expected log-likelihood along one number, up to a constant: value, slope and bend."""

    value: float
    slope: float
    bend: float

    @classmethod
    def of(cls, *parts: Floats) -> _Derivatives:
        return cls(*(float(part.sum()) for part in parts))
