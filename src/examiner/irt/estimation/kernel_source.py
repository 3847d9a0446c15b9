"""The E-step of any kernel: one product of each statistic with each block's few nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.kernels import Kernel
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.estimation.windows import BlockWindows
from examiner.irt.items import Floats
from examiner.results import ResponseMatrix

_BLOCK = 128
_SMALL = 200_000
"""Up to this many cells are kept as float64, more as float32."""


class Sums(NamedTuple):
    """What an E-step tells the M-step: log-likelihood, S_c at the nodes, abilities."""

    log_likelihood: float
    sums: tuple[Floats, ...]
    ability: Floats
    variance: Floats


class GeneralSource:
    """The statistics T_c of a kernel, with agents in blocks that look only at the nodes they need.

    A statistic that is the same for all agents (trials, where all were given as many) is kept as one
    row: it adds the same to every agent's log-likelihood and costs no product.
    """

    def __init__(self, matrix: ResponseMatrix, kernel: Kernel, *, fixed: bool) -> None:
        values = matrix.to_numpy()
        standing = np.where(np.isnan(values), 0.0, values).sum(axis=1)
        standing /= np.maximum((~np.isnan(values)).sum(axis=1), 1)
        self._order = np.argsort(standing, kind="stable")
        kind = np.float64 if values.size <= _SMALL else np.float32
        self.exact = kind is np.float64
        self._data: tuple[NDArray[np.floating], ...] = tuple(
            data[0].copy() if (data == data[0]).all() else data[self._order].astype(kind)
            for data in kernel.statistics(matrix)
        )
        self._constant = float(kernel.constant(matrix).sum())
        self._agents, self._tasks = values.shape
        self._windows = BlockWindows(self._agents, _BLOCK, fixed=fixed)

    def expected(self, terms: Sequence[Floats], rule: Quadrature) -> Sums:
        """Return S_c = T_cᵀ W and the abilities, from one product for each c and block."""
        count, agents = len(rule), self._agents
        base = rule.log_weights.copy()
        varied = []
        for data, term in zip(self._data, terms, strict=True):
            if data.ndim == 1:
                base += data @ term
            else:
                varied.append((data, np.ascontiguousarray(term, dtype=data.dtype)))
        sums = [np.zeros((self._tasks, count), dtype=data.dtype) for data, _ in varied]
        mass = np.zeros(count)
        log_marginal, ability, variance = np.empty((3, agents))

        def joint(rows: slice, window: slice) -> Floats:
            density = np.repeat(base[None, window], rows.stop - rows.start, axis=0)
            for data, term in varied:
                density += data[rows] @ term[:, window]
            return density

        for rows, window, *found in self._windows.posteriors(rule, joint):
            log_marginal[rows], weights, ability[rows], variance[rows] = found
            mass[window] += weights.sum(axis=0)
            for total, (data, _) in zip(sums, varied, strict=True):
                total[:, window] += data[rows].T @ weights.astype(data.dtype)
        summed = iter(sums)
        every = tuple(
            np.multiply.outer(data, mass)
            if data.ndim == 1
            else next(summed).astype(np.float64, copy=False)
            for data in self._data
        )
        ordered = np.empty((2, agents))
        ordered[:, self._order] = ability, variance
        return Sums(float(log_marginal.sum()) + self._constant, every, ordered[0], ordered[1])
