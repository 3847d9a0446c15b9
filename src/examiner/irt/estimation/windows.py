"""Agents of like standing look together, and only at the nodes where their posteriors live."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from examiner.irt.estimation.em import Expected
from examiner.irt.items import Floats
from examiner.irt.posterior import Quadrature, moments, posterior_weights

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""
_MARGIN = 2
"""Nodes beyond those where posteriors lived last, since they move on."""


class Windows:
    """Agents in blocks of like standing that look only at the nodes where their posteriors live.

    `order` sorts agents by `standing` [agents]; rows below are rows in that order. Where posteriors
    live is kept as abilities from one pass to the next, since quadratures may change in between; a
    window that cuts a posterior off is looked at again with all nodes. A quadrature that does not
    follow the tasks' information was asked for, and is kept whole.
    """

    def __init__(self, standing: Floats, size: int) -> None:
        self.order = np.argsort(standing, kind="stable")
        self._size = size
        self._reaches: list[tuple[float, float]] | None = None

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
