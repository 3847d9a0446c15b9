"""Posterior weights over nodes, block by block of agents, at the few nodes that each block needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""
_NOTHING = 1e-20
"""Weights below this share of the largest are none: as denormal numbers they would slow products."""
_MARGIN = 2


class BlockPosterior(NamedTuple):
    """Some agents, the nodes they were looked at, and what was found there."""

    rows: slice
    nodes: slice
    log_marginal: Floats
    weights: Floats
    mean: Floats
    variance: Floats


class BlockWindows:
    """Blocks of agents that look only at the nodes where their posteriors live.

    Agents must be sorted so that those of a block are of like ability. Where posteriors live is kept
    as abilities from one pass to the next, since quadratures may change in between; a window that
    cuts a posterior off is looked at again with all nodes. `fixed` keeps all nodes for everyone.
    """

    def __init__(self, agents: int, block: int, *, fixed: bool) -> None:
        self._agents, self._block, self._fixed = agents, block, fixed
        self._reaches: list[tuple[float, float]] | None = None

    def posteriors(
        self, rule: Quadrature, joint: Callable[[slice, slice], Floats]
    ) -> Iterator[BlockPosterior]:
        """Yield the posteriors of every block from `joint`, log densities [agents, nodes]."""
        count = len(rule)
        starts = range(0, self._agents, self._block)
        windows = [slice(0, count)] * len(starts)
        if self._reaches is not None and not self._fixed:
            windows = [_window_over(rule.nodes, reach) for reach in self._reaches]
        reaches = []
        for start, window in zip(starts, windows, strict=True):
            rows = slice(start, min(start + self._block, self._agents))
            log_marginal, weights = normalised(joint(rows, window))
            if _cut_off(weights, window, count):
                window = slice(0, count)
                log_marginal, weights = normalised(joint(rows, window))
            around = rule.nodes[window]
            mean = weights @ around
            reaches.append(_living(weights, around))
            yield BlockPosterior(
                rows, window, log_marginal, weights, mean, weights @ around**2 - mean**2
            )
        self._reaches = reaches


def normalised(joint: Floats) -> tuple[Floats, Floats]:
    """Turn log joint densities [agents, nodes] into log sums and weights; `joint` is overwritten."""
    top = joint.max(axis=1)
    joint -= top[:, None]
    np.exp(joint, out=joint)
    joint[joint < _NOTHING] = 0.0
    mass = joint.sum(axis=1)
    joint /= mass[:, None]
    return top + np.log(mass), joint


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
