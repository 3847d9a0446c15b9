"""The information there would be if abilities were known: the first term of Louis' identity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernels import Kernel
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.freedom import Freedom, curve_slopes, moved, prior_curvature
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import curves
from examiner.irt.model import Priors

_STEP = 1e-4


class CompleteInformation(NamedTuple):
    """Σ_j E_j[−H] and the priors' curvature: own blocks, their coupling to shared ones, and these.

    Shapes [tasks, own, own], [tasks, own, shared] and [shared, shared].
    """

    own: Floats
    coupling: Floats
    shared: Floats


def complete_information(
    kernel: Kernel,
    sums: tuple[Floats, ...],
    items: ItemParameters,
    rule: Quadrature,
    freedom: Freedom,
    priors: Priors | None,
) -> CompleteInformation:
    """Return both, from the sums S_c = T_cᵀ W, by central differences of the expected gradient."""
    count, own = len(freedom.parameters), len(freedom.own)
    bend = np.empty((len(items), count, count))
    for place, parameter in enumerate(freedom.parameters):
        ahead = _gradient(kernel, sums, moved(items, parameter, _STEP), rule, freedom)
        behind = _gradient(kernel, sums, moved(items, parameter, -_STEP), rule, freedom)
        bend[:, :, place] = (behind - ahead) / (2 * _STEP)
    bend = 0.5 * (bend + bend.transpose(0, 2, 1))
    mine, shared = bend[:, :own, :own].copy(), bend[:, own:, own:].sum(axis=0)
    coupling = bend[:, :own, own:].copy()
    for place, parameter in enumerate(freedom.own):
        mine[:, place, place] += prior_curvature(priors, parameter)
        stuck = freedom.fixed[:, place]
        mine[stuck, place, :] = 0.0
        mine[stuck, :, place] = 0.0
        mine[stuck, place, place] = 1.0
        coupling[stuck, place, :] = 0.0
    for place, parameter in enumerate(freedom.shared):
        shared[place, place] += prior_curvature(priors, parameter)
    return CompleteInformation(mine, coupling, shared)


def _gradient(
    kernel: Kernel,
    sums: tuple[Floats, ...],
    items: ItemParameters,
    rule: Quadrature,
    freedom: Freedom,
) -> Floats:
    """The gradient of Σ_q Σ_c S_c F_c, [tasks, parameters]."""
    shape = curves(items, rule.nodes)
    slopes = kernel.slopes(sums, shape, items.precision)
    found = np.empty((len(items), len(freedom.parameters)))
    for place, parameter in enumerate(freedom.parameters):
        if parameter == "precision":
            assert slopes.by_log_precision is not None
            found[:, place] = slopes.by_log_precision.sum(axis=1)
        else:
            by = curve_slopes(items, shape, rule.nodes, parameter)
            found[:, place] = (slopes.by_success * by).sum(axis=1)
    return found
