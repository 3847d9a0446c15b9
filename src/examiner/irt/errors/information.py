"""The observed information of the marginal likelihood, from sums over blocks of agents.

.. math:: I = \\sum_j \\mathrm{E}_j[-H_j(\\theta)] - \\sum_j \\mathrm{Cov}_j[s_j(\\theta)]

with s and H the gradient and the second derivatives of log f(x_j | θ) by the parameters, and expectations
over agent j's posterior (Louis 1982, J. R. Statist. Soc. B 44, eq. 3.2'). It holds for any parameters, not
at the optimum only. The first term is a block for each task; the second is that of `scores`.

In matrices the parameters of tasks come first, task by task, next those that all tasks share, and last the
populations of editions. Passes over agents have those of tasks name by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.editions import Editions
from examiner.irt.errors.complete_tables import complete_missing_information
from examiner.irt.errors.scores import ScoreJob, missing_information, missing_times
from examiner.irt.estimation.heights import curve_derivatives, expected_gradient
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.plain import PlainStatistics
from examiner.irt.estimation.sources import ResponseSource
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.model import Model, Parameter, Unknowns, moved
from examiner.irt.posterior import Quadrature
from examiner.irt.priors import Priors, SlopeScale

MOST_TOGETHER = 4000
"""Parameters whose covariances are all had; of more, leading directions stand in for those between
tasks."""
_SMALL = 200_000
"""Up to this many cells products are in double precision; errors need few digits."""


@dataclass(frozen=True, slots=True)
class Freedom(Unknowns):
    """What is free at estimates.

    `fixed` is [tasks, own]: estimates at an end of their range (guessing at 0, an infinite precision),
    which do not move.
    """

    fixed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))

    @classmethod
    def at(
        cls,
        items: ItemParameters,
        model: Model,
        priors: Priors | None,
        scale: SlopeScale | None = None,
        editions: Editions | None = None,
    ) -> Freedom:
        """Return what is free under a model at these estimates."""
        unknowns = Unknowns.of(model, items.response, items.tasks, priors)
        # a chance of guessing or slipping this small is at the end of its range
        stuck = {"guessing": items.guessing <= 6e-5, "slip": items.ceiling >= 1 - 6e-5}
        if items.precision is not None and items.response != "normal":
            # from this precision on the beta-binomial is the binomial
            stuck["precision"] = items.precision >= 1.5e5
        if items.cuts is not None:
            # farther out there was no score, and nothing depends on a cut
            stuck |= {"zero_cut": items.cuts[:, 0] < -12.0, "cut_gap": items.cuts[:, 1] > 12.0}
        nowhere = np.zeros(len(items), dtype=np.bool_)
        return cls(
            items.tasks,
            items.response,
            unknowns.own,
            tuple(name for name in unknowns.shared if not stuck.get(name, nowhere).all()),
            priors,
            unknowns.spread if scale is None else scale.spread,
            unknowns.scale_of(items) if scale is None else scale,
            items.slope,
            unknowns.held,
            editions=editions,
            fixed=np.stack([stuck.get(name, nowhere) for name in unknowns.own], axis=1),
        )

    @property
    def together(self) -> int:
        """How many numbers concern all tasks: the shared ones, then those of populations."""
        return len(self.shared) + self.populations

    @property
    def order(self) -> NDArray[np.intp]:
        """Where each parameter is where those of tasks are name by name, [size]."""
        order = np.arange(self.count)
        by_name = order[: self.fixed.size].reshape(len(self.own), -1)
        order[: self.fixed.size] = by_name.T.ravel()
        return order

    def moving_along(self, slope: Floats) -> Floats | None:
        """Return the curvature lost because the scale of slopes moves along, as a row [size], or None.

        It is that of `RelativeSlopes.coupling`: to be taken off like missing information.
        """
        if self.relative is None or self.scale is None or "slope" not in self.own:
            return None
        row = np.zeros(self.count)
        slopes = slice(self.own.index("slope"), self.fixed.size, len(self.own))
        row[slopes] = self.relative.coupling(slope, self.scale)
        return row


class CompleteInformation(NamedTuple):
    """Σ_j E_j[−H] and the priors' curvature: own blocks, their coupling to shared ones, and these.

    Shapes [tasks, own, own], [tasks, own, shared] and [shared, shared].
    """

    own: Floats
    coupling: Floats
    shared: Floats


class Information:
    """Complete and missing information of all parameters."""

    def __init__(
        self,
        source: ResponseSource,
        items: ItemParameters,
        rule: Quadrature,
        freedom: Freedom,
        populations: Floats,
        mean_moves: float | None = None,
    ) -> None:
        self.freedom, self._source, self._items = freedom, source, items
        self._populations = populations
        statistics = source.expected(items, rule)
        self._moments = statistics.moments
        if isinstance(statistics, PlainStatistics):
            bends = statistics.derivatives()
            parts = {("slope", "slope"): bends.slopes, ("intercept", "intercept"): bends.intercepts}
            names = freedom.names
            bend = np.array([[parts.get((a, b), bends.both) for b in names] for a in names])
            self._bend = bend.transpose(2, 0, 1)
        else:
            assert isinstance(statistics, KernelStatistics)
            self._bend = _curvatures(statistics, items, freedom.names)
        self.together = freedom.count <= MOST_TOGETHER
        self.job = ScoreJob(
            source.pass_at(items, rule),
            freedom.own,
            freedom.shared,
            freedom.fixed.T,
            np.float64 if source.whole.cells <= _SMALL else np.float32,
            len(source.agents),
            np.concatenate(
                [
                    np.diagonal(self.complete.own, axis1=1, axis2=2).T.ravel(),
                    np.diagonal(self.complete.shared),
                ]
            ),
            mean_moves,
            freedom.editions,
            populations,
        )

    @cached_property
    def complete(self) -> CompleteInformation:
        """Σ_j E_j[−H] and the priors' curvature."""
        freedom, width = self.freedom, len(self.freedom.own)
        mine, coupling = self._bend[:, :width, :width].copy(), self._bend[:, :width, width:].copy()
        _, tightness = freedom.pulls()
        shared_tightness = np.array([float(freedom.pull(name)[1]) for name in freedom.shared])
        relative, scale = freedom.relative, freedom.scale
        if relative is not None and scale is not None and "slope" in freedom.own:
            bend = relative.curvature(self._items.slope, scale)
            tightness[:, freedom.own.index("slope")] = bend / (scale.common * scale.spread) ** 2
        elif relative is not None and scale is not None and "slope" in freedom.shared:
            place = freedom.shared.index("slope")
            shared_tightness[place] = relative.shared_curvature(scale.common)
        diagonal, stuck = np.arange(width), freedom.fixed
        mine[:, diagonal, diagonal] += tightness
        mine[stuck[:, :, None] | stuck[:, None, :]] = 0.0
        mine[:, diagonal, diagonal] += stuck
        coupling[stuck] = 0.0
        shared = self._bend[:, width:, width:].sum(axis=0) + np.diag(shared_tightness)
        if freedom.editions is None:
            return CompleteInformation(mine, coupling, shared)
        coupling = np.pad(coupling, ((0, 0), (0, 0), (0, freedom.populations)))
        count = len(freedom.shared)
        whole = np.pad(shared, (0, freedom.populations))
        whole[count:, count:] = freedom.editions.information(self._populations, *self._moments)
        return self._with_expected_intercepts(CompleteInformation(mine, coupling, whole))

    def _with_expected_intercepts(self, complete: CompleteInformation) -> CompleteInformation:
        """Add the curvature of priors of intercepts, d + a c with c the mean of those that took a task.

        That of d alone is there. The zero of an edition moves its tasks and agents alike, of which such a
        prior says nothing.
        """
        freedom, names = self.freedom, self.freedom.own
        editions = freedom.editions
        if editions is None or freedom.priors is None or "intercept" not in names:
            return complete
        tightness = float(np.mean(freedom.pull("intercept")[1]))
        mine, coupling, shared = complete
        centres, slope = editions.centres(self._populations), self._items.slope
        away = np.zeros(mine.shape[:2])
        away[:, names.index("intercept")] = 1.0
        by_mean = np.zeros((len(slope), shared.shape[0]))
        by_mean[:, len(freedom.shared) :: 2] = slope[:, None] * editions.takers[:, 1:]
        if "slope" in names:
            away[:, names.index("slope")] = centres
        if "slope" in freedom.shared:
            by_mean[:, freedom.shared.index("slope")] = centres
        own = mine + tightness * away[:, :, None] * away[:, None, :]
        own[:, names.index("intercept"), names.index("intercept")] -= tightness
        return CompleteInformation(
            own,
            coupling + tightness * away[:, :, None] * by_mean[:, None, :],
            shared + tightness * by_mean.T @ by_mean,
        )

    def whole(self) -> Floats:
        """Return the whole observed information, [size, size]; fixed parameters have a 1 and zeros."""
        source, freedom, complete = self._source, self.freedom, self.complete
        total: Floats
        two = freedom.own == ("slope", "intercept") and not freedom.together
        if source.plain and source.whole.alike and two:
            total = complete_missing_information(source, self.job.at, self.job.kind)
        else:
            (total,), _ = source.total(missing_information, self.job)
        total = total.take(freedom.order, axis=0).take(freedom.order, axis=1)
        along = freedom.moving_along(self._items.slope)
        if along is not None:
            total += np.multiply.outer(along, along)
        np.negative(total, out=total)
        tasks, width, count = complete.coupling.shape
        cut, places = tasks * width, np.arange(tasks * width).reshape(tasks, width)
        total[places[:, :, None], places[:, None, :]] += complete.own
        joint = complete.coupling.reshape(cut, count)
        total[:cut, cut:] += joint
        total[cut:, :cut] += joint.T
        total[cut:, cut:] += complete.shared
        stuck = np.flatnonzero(freedom.fixed)
        if stuck.size:
            total[stuck], total[:, stuck] = 0.0, 0.0
            total[stuck, stuck] = 1.0
        return total

    def missing_times(self, columns: Floats) -> tuple[Floats, Floats]:
        """Return the missing information times columns [size, n], and of each task alone [tasks, own, own].

        Both with what a free scale takes off.
        """
        order, by_name = self.freedom.order, np.empty(columns.shape)
        by_name[order] = columns
        (product, alone), _ = self._source.total(missing_times, (self.job, by_name))
        product, blocks = product[order], alone.transpose(2, 0, 1)
        along = self.freedom.moving_along(self._items.slope)
        if along is None:
            return product, blocks
        of_task = along[: self.freedom.fixed.size].reshape(self.freedom.fixed.shape)
        blocks = blocks + of_task[:, :, None] * of_task[:, None, :]
        return product + np.multiply.outer(along, along @ columns), blocks


def _curvatures(
    statistics: KernelStatistics, items: ItemParameters, names: tuple[Parameter, ...]
) -> Floats:
    """E[−H] of each task [tasks, names, names], by central differences of the expected gradient."""
    kernel, nodes = statistics.kernel, statistics.nodes

    def gradient(at: ItemParameters) -> Floats:
        shape = curves(at, nodes)
        slopes = kernel.slopes(statistics.sums, shape, at.precision)
        return expected_gradient(names, curve_derivatives(names, at, shape, nodes), slopes)

    step = 1e-4  # so long that rounding and truncation err alike
    bend = np.empty((len(items), len(names), len(names)))
    for column, name in enumerate(names):
        ahead, behind = (gradient(moved(items, name, side * step)) for side in (1, -1))
        bend[:, :, column] = (behind - ahead) / (2 * step)
    return np.asarray(0.5 * (bend + bend.transpose(0, 2, 1)))
