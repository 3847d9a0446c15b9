"""The M-step of any likelihood by its kernel: Newton steps for every task, then for each shared number."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from examiner.irt.estimation.em import Ahead, Expected
from examiner.irt.estimation.heights import Heights, heights, with_abilities
from examiner.irt.estimation.kernel import Kernel, Slopes
from examiner.irt.estimation.kernels import curve_derivatives
from examiner.irt.estimation.score_kernels import by_cuts
from examiner.irt.estimation.task_steps import CERTAIN, MOST_STEP, Rows, climbed
from examiner.irt.estimation.together import newton_ahead
from examiner.irt.items import Curves, Floats, curves
from examiner.irt.model import CUTS, Parameter, Point, Unknowns

_NOBODY = 1e-13
"""Of an agent at a node, which the M-step passes over: grids reach farther than agents do."""
_HALVINGS = 12
_SETTLING = 0.1
"""While tasks still move farther than this, most of them, what they have in common says little."""


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

    def where_agents_are(self) -> Self:
        """Return the same without the nodes that no agent is near."""
        alive = np.flatnonzero(self.mass > _NOBODY)
        here = slice(int(alive[0]), int(alive[-1]) + 1)
        return replace(
            self,
            nodes=self.nodes[here],
            sums=tuple(part[:, here] for part in self.sums),
            shape=self.shape.at(here),
            mass=self.mass[here],
        )

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

        _, start = self._begun(unknowns, at)
        return at._replace(own=climbed(unknowns, at.own.T, start, heights_of).T)

    def _begun(self, unknowns: Unknowns, at: Point) -> tuple[Slopes, Heights]:
        """Slopes and heights under the parameters of the E-step."""
        if not self._first:
            items = unknowns.items(at)
            slopes = self.kernel.slopes(self.sums, self.shape, items.precision)
            found = heights(unknowns.own, slopes, items, self.shape, self.nodes)
            self._first.append((slopes, found))
        return self._first[0]

    def ahead(self, unknowns: Unknowns, at: Point, raised: Point, moved: Point) -> Ahead | None:
        """Return where Newton would go, from the slopes under the parameters of the E-step.

        Where tasks guess: they tell little of the weak, so that abilities follow the tasks far. Where they
        slip too, single tasks have more than one peak, and mixing finds the way as well.
        """
        if "guessing" not in unknowns.own or "slip" in unknowns.own:
            return None
        items, own = unknowns.items(at), unknowns.own
        slopes, here = self._begun(unknowns, at)
        means, tightness = unknowns.pulls()
        gradient = here.gradient - (at.own.T - means) * tightness
        gain = 0.5 * float((gradient * (raised.own - at.own).T).sum())
        move = (moved.own - at.own).T
        if np.median(np.abs(move)) > _SETTLING:
            return Ahead(moved, gain)
        shared, told = with_abilities(own, slopes, items, self.shape, self.nodes)
        left_open = 1.0 / (self.mass + told)
        lacking = newton_ahead(move, here, tightness, shared, left_open)
        low, high = np.array([unknowns.bounds_of(name) for name in own]).T
        table = moved.own.T
        lacking[(table <= low) | (table >= high)] = 0.0
        return Ahead(moved._replace(own=np.clip(table + lacking, low, high).T), gain)

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information on each slope, with what the task's other parameters take off."""
        curvature = self._begun(unknowns, at)[1].information
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
            return at._replace(shared=shared)

        start = float(at.shared[row])
        here = self._along(unknowns, at, name)
        slope = here.slope - tightness * (start - mean)
        step = slope / max(abs(here.bend + tightness), 1e-8)
        step = float(np.clip(step, -MOST_STEP, MOST_STEP))
        before = here.value - 0.5 * tightness * (start - mean) ** 2
        for _ in range(_HALVINGS if abs(step) > CERTAIN else 0):
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
