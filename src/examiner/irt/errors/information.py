"""The observed information of the marginal likelihood, from sums over blocks of agents.

.. math:: I = \\sum_j \\mathrm{E}_j[-H_j(\\theta)] - \\sum_j \\mathrm{Cov}_j[s_j(\\theta)]

with s and H the gradient and the second derivatives of log f(x_j | θ) by the parameters, and expectations
over agent j's posterior (Louis 1982, J. R. Statist. Soc. B 44, eq. 3.2'). It holds for any parameters, not
at the optimum only. The first term is a block for each task; the second is that of `scores`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from examiner.irt.errors.freedom import CompleteInformation, Freedom
from examiner.irt.errors.scores import (
    AlikeJob,
    ScoreJob,
    alike_sums,
    alike_times,
    missing_information,
    missing_times,
)
from examiner.irt.estimation.arrays import Array, Kind
from examiner.irt.estimation.kernel import Kernel
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import curve_derivatives, expected_gradient
from examiner.irt.estimation.plain_statistics import PlainStatistics
from examiner.irt.estimation.sources import ResponseSource
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.model import moved
from examiner.irt.posterior import Quadrature

MOST_TOGETHER = 4000
"""Parameters whose covariances are all had; of more, leading directions stand in for those between
tasks."""
_GRADIENT_STEP = 1e-4
"""Step of central differences of the expected gradient, as long as rounding and truncation err alike."""
_SMALL = 200_000
"""Up to this many cells products are in double precision; errors need few digits."""
_ENOUGH, _ROUGHLY_ENOUGH = 1e-6, 1e-4
"""Share of a parameter's information below which a level is the last: errors change by half as much. The
second is for many cells, where products have seven digits, and for leading directions."""
_FEW_LEVELS = 12
"""How many levels there are at most for leading directions and single tasks."""


class Information:
    """Complete and missing information of all parameters: those of each task first, then the shared."""

    def __init__(
        self,
        source: ResponseSource,
        items: ItemParameters,
        rule: Quadrature,
        freedom: Freedom,
        populations: Floats,
    ) -> None:
        self.freedom, self._source, self._items, self._rule = freedom, source, items, rule
        self._populations = populations
        self.kind: Kind = np.float64 if source.whole.cells <= _SMALL else np.float32
        found = self._moments = source.expected(items, rule)
        if isinstance(found, PlainStatistics):
            bends = found.derivatives()
            parts = {("slope", "slope"): bends.slopes, ("intercept", "intercept"): bends.intercepts}
            names = freedom.names
            bend = np.array([[parts.get((a, b), bends.both) for b in names] for a in names])
            self._bend = bend.transpose(2, 0, 1)
        else:
            assert isinstance(found, KernelStatistics)
            self._bend = _curvatures(found.kernel, found.sums, items, found.nodes, freedom)
        two = freedom.own == ("slope", "intercept") and not freedom.shared
        self.together = freedom.count <= MOST_TOGETHER
        self._alone: Floats | None = None
        alone = freedom.editions is None
        self._alike = source.plain and source.whole.alike and two and alone

    @cached_property
    def complete(self) -> CompleteInformation:
        """Σ_j E_j[−H] and the priors' curvature."""
        freedom, own = self.freedom, len(self.freedom.own)
        mine, coupling = self._bend[:, :own, :own].copy(), self._bend[:, :own, own:].copy()
        each = np.arange(own)
        mine[:, each, each] += freedom.tightness()
        stuck = freedom.fixed
        mine[stuck[:, :, None] | stuck[:, None, :]] = 0.0
        mine[:, each, each] += stuck
        coupling[stuck] = 0.0
        shared = self._bend[:, own:, own:].sum(axis=0) + np.diag(freedom.shared_tightness())
        if freedom.editions is not None:
            of_populations = freedom.editions.information(
                self._populations, self._moments.ability, self._moments.variance
            )
            coupling = np.pad(coupling, ((0, 0), (0, 0), (0, freedom.populations)))
            complete = CompleteInformation(mine, coupling, block_diagonal(shared, of_populations))
            return self._with_expected_intercepts(complete)
        return CompleteInformation(mine, coupling, shared)

    def _with_expected_intercepts(self, complete: CompleteInformation) -> CompleteInformation:
        """Add the curvature of priors of intercepts, d + a c with c the mean of those that took a task.

        That of d alone is there. The zero of an edition moves its tasks and agents alike, of which such a
        prior says nothing.
        """
        freedom, own = self.freedom, self.freedom.own
        editions = freedom.editions
        if editions is None or freedom.priors is None or "intercept" not in own:
            return complete
        tightness = float(np.mean(freedom.pull("intercept")[1]))
        mine, coupling, shared = (part.copy() for part in complete)
        centres, slope = editions.centres(self._populations), self._items.slope
        away = np.zeros(mine.shape[:2])
        away[:, own.index("intercept")] = 1.0
        if "slope" in own:
            away[:, own.index("slope")] = centres
        by_mean = np.zeros((len(slope), shared.shape[0]))
        by_mean[:, len(freedom.shared) :: 2] = slope[:, None] * editions.takers[:, 1:]
        if "slope" in freedom.shared:
            by_mean[:, freedom.shared.index("slope")] = centres
        mine += tightness * away[:, :, None] * away[:, None, :]
        mine[:, own.index("intercept"), own.index("intercept")] -= tightness
        coupling += tightness * away[:, :, None] * by_mean[:, None, :]
        shared += tightness * by_mean.T @ by_mean
        return CompleteInformation(mine, coupling, shared)

    @cached_property
    def job(self) -> ScoreJob:
        """What passes over the scores of agents are about."""
        freedom, complete = self.freedom, self.complete
        diagonal = np.diagonal(complete.own, axis1=1, axis2=2).T.ravel()
        return ScoreJob(
            self._source.pass_at(self._items, self._rule),
            freedom.own,
            freedom.shared,
            freedom.fixed,
            self.kind,
            len(self._source.agents),
            np.concatenate([diagonal, np.diagonal(complete.shared)]),
            _ENOUGH if self.kind is np.float64 else _ROUGHLY_ENOUGH,
            editions=freedom.editions,
            populations=self._populations,
        )

    def whole(self) -> Floats:
        """Return the whole observed information, [size, size]; fixed parameters have a 1 and zeros."""
        if self._alike:
            missing = self._alike_missing()
        else:
            (missing,), _ = self._source.total(missing_information, self.job)
        tasks, own, shared = self.complete.coupling.shape
        cut = tasks * own
        total = np.empty_like(missing)
        total[:cut, :cut] = (
            missing[:cut, :cut].reshape(own, tasks, own, tasks).transpose(1, 0, 3, 2)
        ).reshape(cut, cut)
        total[cut:, :cut] = (
            missing[cut:, :cut].reshape(shared, own, tasks).swapaxes(1, 2).reshape(shared, cut)
        )
        total[:cut, cut:], total[cut:, cut:] = total[cut:, :cut].T, missing[cut:, cut:]
        along = self.freedom.moving_along(self._items.slope)
        if along is not None:
            total += np.multiply.outer(along, along)
        np.negative(total, out=total)
        columns = np.arange(cut).reshape(tasks, own)
        total[columns[:, :, None], columns[:, None, :]] += self.complete.own
        joint = self.complete.coupling.reshape(cut, shared)
        total[:cut, cut:] += joint
        total[cut:, :cut] += joint.T
        total[cut:, cut:] += self.complete.shared
        stuck = np.flatnonzero(self.freedom.fixed.ravel())
        if stuck.size:
            total[stuck], total[:, stuck] = 0.0, 0.0
            total[stuck, stuck] = 1.0
        return total

    def times(self, columns: Floats) -> Floats:
        """Return the missing information times columns [size, n], with what a free scale takes off."""
        by_name = self._by_name(columns)
        if self._alike:
            product = self._alike_product(by_name)
        else:
            (product, self._alone), _ = self._source.total(
                missing_times, replace(self._rough_job, columns=by_name)
            )
        tasks, own = self.freedom.fixed.shape
        mine = product[: tasks * own].reshape(own, tasks, -1).swapaxes(0, 1)
        found = np.concatenate([mine.reshape(tasks * own, -1), product[tasks * own :]])
        along = self.freedom.moving_along(self._items.slope)
        return found if along is None else found + np.multiply.outer(along, along @ columns)

    def missing_blocks(self) -> Floats:
        """Return the missing information of each task by itself, [tasks, own, own]."""
        tasks, own = self.freedom.fixed.shape
        if self._alike:
            alone = self._alike_blocks()
        else:
            if self._alone is None:
                self.times(np.zeros((self.freedom.count, 1)))
            assert self._alone is not None
            alone = self._alone
        found = alone.transpose(2, 0, 1).copy()
        along = self.freedom.moving_along(self._items.slope)
        if along is not None:
            single = along[: tasks * own].reshape(tasks, own)
            found += single[:, :, None] * single[:, None, :]
        return found

    @cached_property
    def _rough_job(self) -> ScoreJob:
        return replace(self.job, enough=_ROUGHLY_ENOUGH, most=_FEW_LEVELS)

    def _by_name(self, columns: Floats) -> Floats:
        """Columns in the order task by task, in that parameter by parameter."""
        tasks, own = self.freedom.fixed.shape
        mine = columns[: tasks * own].reshape(tasks, own, -1).swapaxes(0, 1)
        return np.concatenate([mine.reshape(tasks * own, -1), columns[tasks * own :]])

    # ------------------------------------------------------------ all agents had the same trials

    @cached_property
    def _alike_parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        """h [2 tasks, nodes], M − WᵀW, KᵀB and KᵀVK or its diagonal, at the nodes that agents reach."""
        job = AlikeJob(self.job.at, self.kind, self.together)
        (squares, mass, crossed, spread), _ = self._source.total(alike_sums, job)
        there = np.flatnonzero(mass)
        near = slice(int(there[0]), int(there[-1]) + 1)
        nodes = self._rule.nodes[near]
        trials = self._source.whole.tried / len(self._source.agents)
        expected = curves(self._items, nodes).success * trials[:, None]
        h = np.concatenate([expected * nodes, expected])
        between = np.diag(mass[near]) - squares[near, near]
        return h, between, crossed[:, near], spread

    def _alike_missing(self) -> Floats:
        parts = self._alike_parts
        tasks, spread = len(self._items), parts[3]
        h, between, crossed = (np.asarray(part, self.kind) for part in parts[:3])
        missing: Array = (h @ between) @ h.T
        missing[:tasks, :tasks] += spread.astype(self.kind)
        cross = crossed @ h.T
        missing[:tasks] -= cross
        missing[:, :tasks] -= cross.T
        return np.asarray(missing)

    def _alike_product(self, columns: Floats) -> Floats:
        h, between, crossed, _ = self._alike_parts
        tasks = len(self._items)
        expected = h.T @ columns
        job = AlikeJob(self.job.at, self.kind, False, columns[:tasks])
        (seen,), _ = self._source.total(alike_times, job)
        found = h @ (between @ expected - crossed.T @ columns[:tasks])
        found[:tasks] += seen - crossed @ expected
        return np.asarray(found)

    def _alike_blocks(self) -> Floats:
        h, between, crossed, squares = self._alike_parts
        first, second = np.split(h, 2)
        spread, found = first @ between, np.empty((2, 2, len(self._items)))
        found[0, 0] = (spread * first).sum(axis=1) + squares - 2 * (crossed * first).sum(axis=1)
        found[0, 1] = found[1, 0] = ((spread - crossed) * second).sum(axis=1)
        found[1, 1] = ((second @ between) * second).sum(axis=1)
        return found


def block_diagonal(first: Floats, second: Floats) -> Floats:
    """Return two square matrices as the blocks of one."""
    found = np.zeros((len(first) + len(second),) * 2)
    found[: len(first), : len(first)], found[len(first) :, len(first) :] = first, second
    return found


def _curvatures(
    kernel: Kernel,
    sums: tuple[Floats, ...],
    items: ItemParameters,
    nodes: Floats,
    freedom: Freedom,
) -> Floats:
    """E[−H] of each task [tasks, names, names], by central differences of the expected gradient."""
    names = freedom.names

    def gradient(at: ItemParameters) -> Floats:
        shape = curves(at, nodes)
        slopes = kernel.slopes(sums, shape, at.precision)
        return expected_gradient(names, curve_derivatives(names, at, shape, nodes), slopes)

    bend = np.empty((len(items), len(names), len(names)))
    for column, name in enumerate(names):
        ahead, behind = (gradient(moved(items, name, side * _GRADIENT_STEP)) for side in (1, -1))
        bend[:, :, column] = (behind - ahead) / (2 * _GRADIENT_STEP)
    return np.asarray(0.5 * (bend + bend.transpose(0, 2, 1)))
