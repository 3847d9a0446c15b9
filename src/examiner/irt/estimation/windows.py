"""Agents of like standing look together, and only at the nodes where their posteriors live."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from examiner.irt.estimation.em import Expected
from examiner.irt.items import Floats
from examiner.irt.posterior import Quadrature, moments, posterior_weights

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""
_FORESEEN_SDS = 14.0
"""Posterior standard deviations around where a block's standing is expected: eight of the posterior itself,
and six since agents met other tasks than the average."""
_MARGIN = 2
"""Nodes beyond those where posteriors lived last, since they move on."""


class Windows:
    """Agents in blocks of like standing that look only at the nodes where their posteriors live.

    `order` sorts agents by `standing` [agents]; rows below are rows in that order. Where posteriors
    live is kept as abilities from one pass to the next, since quadratures may change in between; a
    window that cuts a posterior off is looked at again with all nodes. A quadrature that does not
    follow the tasks' information was asked for, and is kept whole.
    """

    def __init__(self, standing: Floats, size: int, trials: Floats | None = None) -> None:
        self.order = np.argsort(standing, kind="stable")
        self._size = size
        self._standing = standing[self.order]
        self._trials = None if trials is None else trials[self.order]
        self._reaches: list[tuple[float, float]] | None = None

    @property
    def begun(self) -> bool:
        """Whether it is known, or was foreseen, where posteriors live."""
        return self._reaches is not None

    def begin(self, rule: Quadrature, standing: Floats, information: Floats) -> None:
        """Foresee where posteriors live, from the standing expected at each node, which rises.

        `information` is that of one trial at each node. What is foreseen wrong is looked at with all
        nodes, which costs time and nothing else.
        """
        if self._trials is None or (np.diff(standing) <= 0).any():
            return
        reaches = []
        for start in range(0, self.order.size, self._size):
            rows = slice(start, start + self._size)
            edges = self._standing[rows][[0, -1]]
            about = np.interp(edges, standing, rule.nodes)
            known = self._trials[rows].min() * np.interp(about, rule.nodes, information)
            spread = _FORESEEN_SDS / np.sqrt(1.0 + known)
            reaches.append((float(about[0] - spread[0]), float(about[1] + spread[1])))
        self._reaches = reaches

    def sweep(
        self,
        rule: Quadrature,
        joint: Callable[[slice, slice], Floats],
        use: Callable[[slice, slice, Floats], None],
    ) -> Expected:
        """Take log densities from `joint` of rows and nodes, and hand the weights there to `use`."""
        count, agents = len(rule), self.order.size
        starts = range(0, agents, self._size)
        windows = [slice(0, count)] * len(starts)
        if self._reaches is not None and rule.spacing is not None:
            windows = [_window_over(rule.nodes, reach) for reach in self._reaches]
        reaches = []
        log_marginal, mean, variance = np.empty((3, agents))
        for start, window in zip(starts, windows, strict=True):
            rows = slice(start, min(start + self._size, agents))
            log_marginal[rows], weights = posterior_weights(joint(rows, window))
            if _cut_off(weights, window, count):
                window = slice(0, count)
                log_marginal[rows], weights = posterior_weights(joint(rows, window))
            around = rule.nodes[window]
            mean[self.order[rows]], variance[self.order[rows]] = moments(weights, around)
            reaches.append(_living(weights, around))
            use(rows, window, weights)
        self._reaches = reaches
        return Expected(float(log_marginal.sum()), mean, variance)


def _cut_off(weights: Floats, window: slice, count: int) -> bool:
    """Whether a window ends where posteriors still have mass."""
    return bool(
        (window.start > 0 and weights[:, 0].max() > _EDGE)
        or (window.stop < count and weights[:, -1].max() > _EDGE)
    )


def _living(weights: Floats, nodes: Floats) -> tuple[float, float]:
    """The abilities between which a block's posteriors live."""
    alive = np.flatnonzero(weights.max(axis=0) > _EDGE / 100)
    return float(nodes[alive[0]]), float(nodes[alive[-1]])


def _window_over(nodes: Floats, reach: tuple[float, float]) -> slice:
    """The nodes between two abilities, and a few more on each side, since posteriors move on."""
    low, high = np.searchsorted(nodes, reach)
    return slice(max(0, int(low) - _MARGIN), min(nodes.size, int(high) + _MARGIN + 1))
