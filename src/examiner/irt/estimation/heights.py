r"""How high the expected log-likelihood of tasks stands, and how it rises and bends by their parameters.

With g and −I the first and second derivatives of Σ_c S_c F_c by P, and ∇P those of the curve,

.. math:: \nabla = \sum_q g \nabla P, \quad -H = \sum_q I\, \nabla P \nabla P^\top - g \nabla^2 P

With c, m and s the chances of guessing, of neither and of slipping, P = c + mσ(η) has ∂P/∂η = mσ(1 − σ),
∂P/∂γ = c(1 − P) and ∂P/∂ζ = −sP; then ∂²P/∂η² = (1 − 2σ) ∂P/∂η, ∂²P/∂γ² = (1 − 2c) ∂P/∂γ,
∂²P/∂ζ² = (1 − 2s) ∂P/∂ζ, ∂²P/∂η∂γ = −c ∂P/∂η, ∂²P/∂η∂ζ = −s ∂P/∂η and ∂²P/∂γ∂ζ = −cs(1 − 2P).
η = aθ + d is linear, so that derivatives by the slope are those by the intercept times θ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from examiner.irt.items import Curves, Floats, ItemParameters
from examiner.irt.model import Parameter


class ByCut(NamedTuple):
    """The derivative by one parameter of the cuts, and the curvature it bends with, [tasks, nodes]."""

    gradient: Floats
    bend: Floats


class Slopes(NamedTuple):
    """Expected log-likelihood of each task at each node, and its derivatives by P and by log ν.

    `information` is the information on P, expected or as the data have it, `bend` minus the second
    derivative by log ν, and `cross` that by P and log ν, where each task has its own ν. `by_cuts` is the
    same by parameters of the cuts. `beyond` is what minus the second derivative by P has beyond the
    information; None where that has all of it, the bow of the curve included.
    """

    value: Floats
    by_success: Floats
    by_log_precision: Floats | None
    information: Floats
    bend: Floats | None = None
    by_cuts: Mapping[str, ByCut] = MappingProxyType({})
    cross: Floats | None = None
    beyond: Floats | None = None


class Heights(NamedTuple):
    """Each task's expected log-likelihood [tasks], its gradient [tasks, own], and how it bends.

    `curvature` [tasks, own, own] is minus the second derivatives, as exactly as the kernel tells them.
    """

    value: Floats
    gradient: Floats
    curvature: Floats


def curve_derivatives(
    names: Sequence[Parameter], items: ItemParameters, shape: Curves, abilities: Floats
) -> dict[Parameter, Floats]:
    """Return ∂P/∂parameter, each [tasks, abilities], of those of the parameters that move the curve.

    c = e^γ/(1 + e^γ + e^ζ) and 1 − u = e^ζ/(1 + e^γ + e^ζ).
    """
    by_logit = (items.ceiling - items.guessing)[:, None] * shape.rising * shape.falling
    derivatives: dict[Parameter, Floats] = {}
    for name in names:
        if name == "intercept":
            derivatives[name] = by_logit
        elif name == "slope":
            derivatives[name] = by_logit * abilities
        elif name == "guessing":
            derivatives[name] = items.guessing[:, None] * shape.failure
        elif name == "slip":
            derivatives[name] = -(1.0 - items.ceiling)[:, None] * shape.success
    return derivatives


def expected_gradient(
    names: Sequence[Parameter], by: Mapping[Parameter, Floats], slopes: Slopes
) -> Floats:
    """Return the derivatives of Σ_q Σ_c S_c F_c by parameters on the estimated scale, [tasks, names].

    `by` are those of the curves. For shared parameters these are each task's part of the sum.
    """
    gradient = np.empty((len(slopes.value), len(names)))
    for column, name in enumerate(names):
        if name in by:
            gradient[:, column] = _dotted(slopes.by_success, by[name])
        elif name == "precision":
            assert slopes.by_log_precision is not None
            gradient[:, column] = slopes.by_log_precision.sum(axis=1)
        else:
            gradient[:, column] = slopes.by_cuts[name].gradient.sum(axis=1)
    return gradient


def heights(
    own: Sequence[Parameter], slopes: Slopes, items: ItemParameters, shape: Curves, nodes: Floats
) -> Heights:
    """Return heights of tasks from what their kernel says at nodes, by their own parameters.

    Without `beyond` of the slopes the curvature is the information, which is never negative.
    """
    by = curve_derivatives(own, items, shape, nodes)
    gradient = expected_gradient(own, by, slopes)
    rises = dict(zip(own, gradient.T, strict=True))
    chances = {"guessing": items.guessing, "slip": 1.0 - items.ceiling}

    def bowed(first: Parameter, second: Parameter) -> Floats:
        """Σ_q g ∂²P by two parameters that move the curve, [tasks]."""
        ends = [name for name in (first, second) if name in chances]
        if len(ends) == 1:
            return np.asarray(-chances[ends[0]] * rises[second if first in ends else first])
        if ends and first == second:
            return np.asarray((1.0 - 2.0 * chances[first]) * rises[first])
        if ends:
            both = _dotted(slopes.by_success, shape.failure - shape.success)
            return np.asarray(-chances[first] * chances[second] * both)
        turned = (shape.falling - shape.rising) * by[first]
        return _dotted(slopes.by_success, turned * nodes if second == "slope" else turned)

    exact = slopes.beyond is not None
    weight = slopes.information if slopes.beyond is None else slopes.information + slopes.beyond
    curvature = np.empty((len(items), len(own), len(own)))
    for row, first in enumerate(own):
        for column, second in enumerate(own[: row + 1]):
            if first in by and second in by:
                part = _dotted(weight, by[first] * by[second])
                part -= bowed(first, second) if exact else 0.0
            elif first == second:
                assert slopes.bend is not None
                part = slopes.bend.sum(axis=1)
            else:  # by log ν, and by the line
                assert slopes.cross is not None
                part = _dotted(slopes.cross, by[second if first == "precision" else first])
            curvature[:, row, column] = curvature[:, column, row] = part
    return Heights(slopes.value.sum(axis=1), gradient, curvature)


def _dotted(first: Floats, second: Floats) -> Floats:
    """Sums over nodes of products, [tasks]."""
    return np.asarray(np.einsum("tq,tq->t", first, second))
