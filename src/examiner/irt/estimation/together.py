r"""Tasks move together: how far one step of EM falls short, since abilities follow the tasks.

EM steps as though abilities stayed: δ = B⁻¹ ∇ with B the complete information, a block for each task. The
step of Newton is (B − U Uᵀ)⁻¹ ∇ with U Uᵀ the missing information, Σ_j Cov_j[s_j]. Posteriors are narrow,
so that Cov_j is about v (∂s/∂θ)(∂s/∂θ)ᵀ with v the posterior variance, and −∂s/∂θ about the information
that parameters share with ability at the agent's node. Then, by Woodbury's identity, Newton's step is

.. math:: \delta + B^{-1} U (1 - U^\top B^{-1} U)^{-1} U^\top \delta

References: Louis (1982); Jamshidian & Jennrich (1997), on quasi-Newton steps around EM.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from examiner.irt.estimation.heights import Heights
from examiner.irt.estimation.task_steps import solved
from examiner.irt.items import Floats
from examiner.validation import read_only

_DIRECTIONS = 8
"""Profiles over ability along which tasks move together. In a 3PL of 1000 × 500 they miss 0.98, 0.98, 0.75,
0.3, 0.1 and less of their information."""
_SHIFTED = 2
"""The first two are shift and stretch of the scale, which the climb itself takes to the end."""
_MOST_MISSING = 0.6
"""Less than the third profile misses: what U leaves out makes steps too long rather than too short."""
_RIDGE = 1e-3
"""Share of its curvature added to each parameter: what a ridge hides from B is none of the others'."""
_LONGEST, _FURTHEST = 0.5, 1.0
"""Longer steps of a task are its own affair, and say little of others."""


def newton_ahead(
    move: Floats, here: Heights, tightness: Floats, shared: Floats, left_open: Floats
) -> Floats:
    """Return what a step of EM [tasks, own] lacks to one of Newton.

    `here` are heights at its start, `shared` the information that parameters share with ability at nodes
    [tasks, own, nodes], and `left_open` posterior variance over agents there, v over their number [nodes].
    """
    tasks, own, nodes = shared.shape
    each = np.arange(own)
    complete = here.information.copy()
    complete[:, each, each] += tightness
    complete[:, each, each] *= 1.0 + _RIDGE
    complete[:, each, each] += _RIDGE
    missing = (shared * np.sqrt(left_open)) @ _profiles(nodes)
    answered, _ = solved(complete, missing)
    flat, flat_answered = (part.reshape(tasks * own, -1) for part in (missing, answered))
    shares, axes = np.linalg.eigh(flat.T @ flat_answered)
    along = axes.T @ (flat.T @ np.clip(move, -_LONGEST, _LONGEST).ravel())
    along[-_SHIFTED:] = 0.0
    along /= 1.0 - np.minimum(shares, _MOST_MISSING)
    lacking = (flat_answered @ (axes @ along)).reshape(tasks, own)
    return np.asarray(np.clip(lacking, -_FURTHEST, _FURTHEST))


@lru_cache(maxsize=8)
def _profiles(nodes: int) -> Floats:
    """Orthonormal polynomials over nodes, [nodes, directions]; a climb asks for the same in every step."""
    powers = np.vander(np.linspace(-1.0, 1.0, nodes), _DIRECTIONS, increasing=True)
    found = np.linalg.qr(powers)[0]
    read_only(found)
    return found
