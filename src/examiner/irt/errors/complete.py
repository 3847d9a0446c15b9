r"""The observed information of the 2PL where all agents were given the same trials, in closed form.

With k successes of n trials the scores of a task are θ (k − nP) by its slope and k − nP by its intercept.
The data stand beside θ only, which is linear, so that with h = (nθP, nP) at the nodes [2 tasks, nodes] and
posteriors W [agents, nodes], M = diag(column sums of W), B = W (θ − mean) and V the posterior variances

.. math:: \sum_j \mathrm{Cov}_j[s] = h (M - W^\top W) h^\top + K^\top V K - C - C^\top, \quad
          C = K^\top B h^\top

with K [agents, tasks] the successes, in the rows and columns of slopes. One product with the data squared,
and none of them for each node.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.freedom import CompleteInformation, Freedom
from examiner.irt.estimation.task_curves import softplus_and_sigmoid
from examiner.irt.estimation.usable_responses import same_trials, suitable_kind
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.posterior import Quadrature, posterior_weights
from examiner.results import ResponseMatrix

_SMALL = 100_000
"""Up to this many cells products are in double precision; errors need few digits."""
_NEGLIGIBLE = 1e-16
_AGENTS = 500
"""Agents whose derivatives are had at once."""


class CompleteScores:
    """Scores of all agents under their posteriors, where trials are the same for all."""

    def __init__(
        self, matrix: ResponseMatrix, items: ItemParameters, rule: Quadrature, freedom: Freedom
    ) -> None:
        self.freedom, self.slope = freedom, items.slope
        self._kind = suitable_kind(matrix, _SMALL)
        self._won = matrix.successes.astype(self._kind)
        trials = matrix.trials[0].astype(np.float64)
        kept = _alive(self._won, items, rule, trials)
        nodes, self._weights, rising = kept
        self._nodes = nodes
        self._mass = self._weights.sum(axis=0)
        self._mean = self._weights @ nodes
        away = nodes - self._mean[:, None]
        self._beside = self._weights * away
        self._variance = (self._beside * away).sum(axis=1)
        expected = rising * trials[:, None]
        self._by = (expected * nodes, expected)
        self._bend = expected * (1.0 - rising)

    @staticmethod
    def serves(matrix: ResponseMatrix, items: ItemParameters, freedom: Freedom) -> bool:
        """Whether these are successes of the same trials for all, with a slope and an intercept each."""
        plain = not items.guessing.any() and bool((items.ceiling == 1).all())
        return (
            items.response == "binomial"
            and freedom.own == ("slope", "intercept")
            and not freedom.shared
            and plain
            and same_trials(matrix)
        )

    @property
    def complete(self) -> CompleteInformation:
        """Σ_j E_j[−H] and the priors' curvature."""
        moments = self._bend @ (self._mass[:, None] * self._nodes[:, None] ** np.arange(3))
        own = np.empty((len(self.slope), 2, 2))
        own[:, 0, 0], own[:, 1, 1] = moments[:, 2], moments[:, 0]
        own[:, 0, 1] = own[:, 1, 0] = moments[:, 1]
        own[:, (0, 1), (0, 1)] += self.freedom.tightness()
        return CompleteInformation(own, np.empty((len(self.slope), 2, 0)), np.empty((0, 0)))

    def information(self) -> Floats:
        """Return the whole observed information, [size, size], of many cells in single precision."""
        tasks = len(self.slope)
        every = np.concatenate(self._by).astype(self._kind)
        between = -self._weights.T @ self._weights
        between[np.diag_indices_from(between)] += self._mass
        missing = (every @ between.astype(self._kind)) @ every.T
        weighted = self._won * np.sqrt(self._variance).astype(self._kind)[:, None]
        missing[:tasks, :tasks] += weighted.T @ weighted
        cross = self._crossed().astype(self._kind) @ every.T
        missing[:tasks] -= cross
        missing[:, :tasks] -= cross.T
        task = np.arange(tasks)
        total = np.empty((tasks, 2, tasks, 2), dtype=self._kind)
        total[:] = -missing.reshape(2, tasks, 2, tasks).transpose(1, 0, 3, 2)
        total[task, :, task, :] += self.complete.own
        found = total.reshape(2 * tasks, 2 * tasks)
        along = self.freedom.moving_along(self.slope)
        if along is not None:
            along = along.astype(self._kind)
            found -= np.multiply.outer(along, along)
        return found

    def times(self, columns: Floats) -> Floats:
        """Return the missing information times columns [size, n], with what a free scale takes off."""
        by_slope, by_intercept = columns[0::2], columns[1::2]
        expected = self._by[0].T @ by_slope + self._by[1].T @ by_intercept
        seen = np.asarray(self._won @ by_slope.astype(self._kind), dtype=np.float64)
        inner = self._mass[:, None] * expected - self._weights.T @ (self._weights @ expected)
        inner -= self._beside.T @ seen
        apart = self._variance[:, None] * seen - self._beside @ expected
        found = np.empty_like(columns)
        found[0::2] = self._by[0] @ inner + self._won.T @ apart.astype(self._kind)
        found[1::2] = self._by[1] @ inner
        along = self.freedom.moving_along(self.slope)
        return found if along is None else found + np.multiply.outer(along, along @ columns)

    def missing_blocks(self) -> Floats:
        """Return the missing information of each task by itself, [tasks, 2, 2]."""
        first, second = self._by
        between = -self._weights.T @ self._weights
        between[np.diag_indices_from(between)] += self._mass
        crossed, spread = self._crossed(), first @ between
        found = np.empty((len(self.slope), 2, 2))
        squares = np.asarray(self._variance.astype(self._kind) @ self._won**2, dtype=np.float64)
        found[:, 0, 0] = (spread * first).sum(axis=1) + squares - 2 * (crossed * first).sum(axis=1)
        found[:, 0, 1] = found[:, 1, 0] = ((spread - crossed) * second).sum(axis=1)
        found[:, 1, 1] = ((second @ between) * second).sum(axis=1)
        along = self.freedom.moving_along(self.slope)
        if along is not None:
            found[:, 0, 0] += along[0::2] ** 2
        return found

    def moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats]]:
        """Yield rows of agents, their posterior means and deviations, and how far means move with tasks.

        Cov(θ, θ (k − nP)) = kV − Σ_q B nθP, and Cov(θ, k − nP) = −Σ_q B nP.
        """
        agents, tasks = self._won.shape
        first, second = (by.astype(self._kind) for by in self._by)
        for start in range(0, agents, _AGENTS):
            rows = slice(start, min(start + _AGENTS, agents))
            beside = self._beside[rows].astype(self._kind)
            found = np.empty((rows.stop - start, tasks, 2), dtype=self._kind)
            variance = self._variance[rows].astype(self._kind)[:, None]
            np.multiply(self._won[rows], variance, out=found[:, :, 0])
            found[:, :, 0] -= beside @ first.T
            np.negative(beside @ second.T, out=found[:, :, 1])
            deviation = np.sqrt(self._variance[rows])
            yield (
                np.arange(rows.start, rows.stop),
                self._mean[rows],
                deviation,
                found.reshape(-1, 2 * tasks),
            )

    def _crossed(self) -> Floats:
        """Kᵀ B, [tasks, nodes]."""
        return np.asarray(self._won.T @ self._beside.astype(self._kind), dtype=np.float64)


def _alive(
    won: NDArray[np.floating], items: ItemParameters, rule: Quadrature, trials: Floats
) -> tuple[Floats, Floats, Floats]:
    """The nodes that any posterior reaches, the posteriors there, and σ(aθ + d)."""
    nodes = rule.nodes
    eta = np.multiply.outer(items.slope, nodes)
    eta += items.intercept[:, None]
    plus, rising = softplus_and_sigmoid(eta)
    score = np.asarray(won @ items.slope.astype(won.dtype), dtype=np.float64)
    joint = np.multiply.outer(score, nodes)
    joint += rule.log_weights - trials @ plus
    _, weights = posterior_weights(joint)
    alive = np.flatnonzero(weights.max(axis=0) > _NEGLIGIBLE)
    window = slice(int(alive[0]), int(alive[-1]) + 1)
    chosen = np.asarray(rising[:, window], dtype=np.float64)
    return nodes[window], np.ascontiguousarray(weights[:, window]), chosen
