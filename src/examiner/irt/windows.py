"""Posterior weights over nodes, and the few nodes that a block of agents needs to look at."""

from __future__ import annotations

import numpy as np

from examiner.irt.items import Floats

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""


def normalised(joint: Floats) -> tuple[Floats, Floats]:
    """Turn log joint densities [agents, nodes] into log sums and weights; `joint` is overwritten."""
    top = joint.max(axis=1)
    joint -= top[:, None]
    np.exp(joint, out=joint)
    mass = joint.sum(axis=1)
    joint /= mass[:, None]
    return top + np.log(mass), joint


def cut_off(weights: Floats, window: tuple[int, int], count: int) -> bool:
    """Whether a window ends where posteriors still have mass."""
    low, high = window
    return bool(
        (low > 0 and weights[:, 0].max() > _EDGE) or (high < count and weights[:, -1].max() > _EDGE)
    )


def living(weights: Floats, low: int, count: int) -> tuple[int, int]:
    """The nodes that matter to a block, and a few more on each side for the next iteration."""
    alive = np.flatnonzero(weights.max(axis=0) > _EDGE / 100)
    return max(0, low + int(alive[0]) - 2), min(count, low + int(alive[-1]) + 3)
