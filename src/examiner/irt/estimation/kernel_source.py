"""Any likelihood by its kernel: guessing and slipping, trials that share an interaction, scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.kernel import Kernel
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import kernel_for, listed_statistics
from examiner.irt.estimation.score_kernels import Normal
from examiner.irt.estimation.tables import (
    Table,
    added_in_double,
    agents_together,
    counts_of,
    is_listed,
)
from examiner.irt.estimation.usable_responses import (
    agent_totals,
    biserial_start,
    centres,
    continuous_start,
    suitable_kind,
    task_totals,
    unbounded_start,
)
from examiner.irt.estimation.windows import Windows
from examiner.irt.items import Floats, ItemParameters, Response, curves
from examiner.irt.model import Unknowns
from examiner.irt.posterior import Quadrature
from examiner.results import ResponseMatrix

_SPACING, _WIDER = 0.6, 1.2
"""Closer than for exponential families: posteriors under guessing are less like Gaussians. Of many cells,
where sums have seven digits, nodes may lie further apart: at 1000 × 500, 10,000 × 21 and 3000 × 100
log-likelihoods stay the same within 0.01, and slopes within 0.0007; 1.3 is three times as far off."""
_BLOCK = 128
_SMALL = 200_000
"""Up to this many cells are kept as float64, more as float32."""


class KernelPart(NamedTuple):
    """What some agents of many are told of all, and where their posteriors were last."""

    kernel: Kernel
    kind: type[np.floating]
    windows: Windows


def kernel_kind(cells: ResponseMatrix | int) -> type[np.floating]:
    """Return double precision for few cells, single for many."""
    return suitable_kind(cells, _SMALL)


def kernel_pace(kind: type[np.floating]) -> Pace:
    """Return how finely to integrate and when to stop."""
    exact = kind is np.float64
    return Pace(
        _SPACING if exact else _WIDER,
        reach=np.inf,  # blocks look only at the nodes they need
        relaid=(3, 8, 20, 50, 120),
        fresh=0,
        tolerance=1e-5 if exact else 1e-4,
        noise=1e-11 if exact else 1e-8,
    )


def standing_windows(matrix: ResponseMatrix) -> Windows:
    """Return agents in blocks of like mean result."""
    if matrix.observed_cells is not None and matrix.is_counts:
        won, tried = agent_totals(matrix)
        return Windows(won / np.maximum(tried, 1), agents_together(matrix, _BLOCK))
    values = matrix.to_numpy()
    seen = ~np.isnan(values)
    standing = np.where(seen, values, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    return Windows(standing, _BLOCK)


def _statistics(
    kernel: Kernel, matrix: ResponseMatrix, order: NDArray[np.intp], kind: type[np.floating]
) -> tuple[Table, ...]:
    """The statistics of all agents in some order, one row of those that are the same for all."""
    listed = listed_statistics(kernel, matrix, order, kind)
    if listed is not None:
        return listed
    return tuple(
        data[0].copy() if (data == data[0]).all() else data[order].astype(kind)
        for data in kernel.statistics(matrix)
    )


class KernelSource:
    """The statistics T_c of a kernel, with agents in blocks that look only at the nodes they need.

    A statistic that is the same for all agents (trials, where all were given as many) is kept as one
    row: it adds the same to every agent's log-likelihood and costs no product. Where more is known of
    agents than the population they are of, `anchor` [agents, nodes] has their log densities at the nodes of
    the one quadrature that is then used.
    """

    def __init__(
        self,
        matrix: ResponseMatrix,
        response: Response,
        whole: KernelPart | None = None,
        anchor: Floats | None = None,
    ) -> None:
        self.agents, self.tasks, self.response = matrix.agents, matrix.tasks, response
        self.centre = centres(matrix) if response == "normal" else None
        self._matrix = matrix
        if whole is None:
            kernel = kernel_for(response, matrix) if self.centre is None else Normal(self.centre)
            whole = KernelPart(kernel, kernel_kind(matrix), standing_windows(matrix))
        self._kernel, kind, self._windows = whole
        self._anchor = None if anchor is None else anchor[self._windows.order]
        self.trials = (
            task_totals(matrix)[1] / len(matrix.agents)
            if matrix.is_counts
            else matrix.observed.mean(axis=0)
        )
        self.pace = kernel_pace(kind)
        self._data = _statistics(self._kernel, matrix, self._windows.order, kind)
        self._constant = float(self._kernel.constant(matrix).sum())

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether the response is the one it was made for: any curve will do."""
        return unknowns.response == self.response

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from correlations of results with the total or mean result."""
        if self.response == "beta":
            return continuous_start(self._matrix)
        if self.response == "normal":
            return unbounded_start(self._matrix)[:2]
        won = counts_of(self._matrix, 0, slice(None), np.float64)
        return biserial_start(won, *task_totals(self._matrix), shared_slope=shared_slope)

    def first_precision(self) -> Floats | None:
        """Return precisions to begin with where scores have units, [tasks]."""
        if self.response != "normal":
            return None
        return unbounded_start(self._matrix)[2]

    def expected(self, items: ItemParameters, rule: Quadrature) -> KernelStatistics:
        """Return S_c = T_cᵀ W and the abilities, from one product for each c and block."""
        return self.summed(items, rule).where_agents_are()

    def summed(self, items: ItemParameters, rule: Quadrature) -> KernelStatistics:
        """Return the same at all nodes, which adds up with that of other agents."""
        base = rule.log_weights.copy() if self._anchor is None else np.zeros(len(rule))
        varied = []
        shape = curves(items, rule.nodes)
        terms = self._kernel.terms(shape, items.precision)
        for data, term in zip(self._data, terms, strict=True):
            if data.ndim == 1:
                base += data @ term
            else:
                varied.append((data, np.ascontiguousarray(term, dtype=data.dtype)))
        sums = [np.zeros((len(items), len(rule)), dtype=data.dtype) for data, _ in varied]
        mass = np.zeros(len(rule))

        def joint(rows: slice, window: slice) -> Floats:
            density = np.repeat(base[None, window], rows.stop - rows.start, axis=0)
            if self._anchor is not None:
                density += self._anchor[rows, window]
            for data, term in varied:
                some, table = data[rows], term[:, window]
                density += added_in_double(some, table) if is_listed(some) else some @ table
            return density

        def use(rows: slice, window: slice, weights: Floats) -> None:
            mass[window] += weights.sum(axis=0)
            for total, (data, _) in zip(sums, varied, strict=True):
                total[:, window] += data[rows].T @ weights.astype(data.dtype)

        found = self._windows.sweep(rule, joint, use)
        summed = (part.astype(np.float64, copy=False) for part in sums)
        every = tuple(
            next(summed) if is_listed(data) or data.ndim == 2 else np.multiply.outer(data, mass)
            for data in self._data
        )
        return KernelStatistics(
            found.log_likelihood + self._constant,
            found.ability,
            found.variance,
            self._kernel,
            rule.nodes,
            every,
            shape,
            mass,
        )
