"""Posterior weights over nodes, and the few nodes that a block of agents needs to look at."""

from __future__ import annotations

import numpy as np

from examiner.irt.items import Floats

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""
_NOTHING = 1e-20
"""Weights below this share of the largest are none: as denormal numbers they would slow products."""
_MARGIN = 2


def normalised(joint: Floats) -> tuple[Floats, Floats]:
    """Turn log joint densities [agents, nodes] into log sums and weights; `joint` is overwritten."""
    top = joint.max(axis=1)
    joint -= top[:, None]
    np.exp(joint, out=joint)
    joint[joint < _NOTHING] = 0.0
    mass = joint.sum(axis=1)
    joint /= mass[:, None]
    return top + np.log(mass), joint


def cut_off(weights: Floats, window: tuple[int, int], count: int) -> bool:
    """Whether a window ends where posteriors still have mass."""
    low, high = window
    return bool(
        (low > 0 and weights[:, 0].max() > _EDGE) or (high < count and weights[:, -1].max() > _EDGE)
    )


def living(weights: Floats, nodes: Floats) -> tuple[float, float]:
    """The abilities between which a block's posteriors live."""
    alive = np.flatnonzero(weights.max(axis=0) > _EDGE / 100)
    return float(nodes[alive[0]]), float(nodes[alive[-1]])


def window_over(nodes: Floats, reach: tuple[float, float]) -> tuple[int, int]:
    """The nodes between two abilities, and a few more on each side, since posteriors move on."""
    low, high = np.searchsorted(nodes, reach)
    return max(0, int(low) - _MARGIN), min(nodes.size, int(high) + _MARGIN + 1)
