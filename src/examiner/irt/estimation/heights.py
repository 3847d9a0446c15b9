r"""How high the expected log-likelihood of tasks stands, and how it rises and bends by their parameters.

With g and −I the first and second derivatives of Σ_c S_c F_c by P, and ∇P those of the curve,

.. math:: \nabla = \sum_q g \nabla P, \quad -H = \sum_q I\, \nabla P \nabla P^\top - g \nabla^2 P

With c, m and s the chances of guessing, of neither and of slipping, P = c + mσ(η) has ∂P/∂η = mσ(1 − σ),
∂P/∂γ = c(1 − P) and ∂P/∂ζ = −sP; then ∂²P/∂η² = (1 − 2σ) ∂P/∂η, ∂²P/∂γ² = (1 − 2c) ∂P/∂γ,
∂²P/∂ζ² = (1 − 2s) ∂P/∂ζ, ∂²P/∂η∂γ = −c ∂P/∂η, ∂²P/∂η∂ζ = −s ∂P/∂η and ∂²P/∂γ∂ζ = −cs(1 − 2P).
η = aθ + d is linear, so that slopes and intercepts are moments over θ of what η has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernel import Slopes
from examiner.irt.items import Curves, Floats, ItemParameters
from examiner.irt.model import Parameter

_POWERS: dict[Parameter, int] = {"intercept": 0, "slope": 1}
"""The power of θ by which ∂P/∂η is multiplied."""


class Heights(NamedTuple):
    """Each task's expected log-likelihood [tasks], its gradient [tasks, own], and how it bends.

    `information` [tasks, own, own] is what the kernel calls information, on these parameters, and
    `curvature` minus the second derivatives, as exactly as the kernel tells them.
    """

    value: Floats
    gradient: Floats
    information: Floats
    curvature: Floats


def heights(
    own: Sequence[Parameter], slopes: Slopes, items: ItemParameters, shape: Curves, nodes: Floats
) -> Heights:
    """Return heights of tasks from what their kernel says at nodes, by their own parameters."""
    by = _ByParameters(own, slopes, items, shape, nodes)
    information = by.information()
    curvature = information
    if slopes.beyond is not None:
        curvature = information + by.beyond()
    return Heights(slopes.value.sum(axis=1), by.gradient, information, curvature)


class _ByParameters:
    """Sums over nodes, parameter by parameter."""

    def __init__(
        self,
        own: Sequence[Parameter],
        slopes: Slopes,
        items: ItemParameters,
        shape: Curves,
        nodes: Floats,
    ) -> None:
        self._own, self._slopes, self._shape = tuple(own), slopes, shape
        self._powers = nodes[:, None] ** np.arange(3)
        self._steep = (items.ceiling - items.guessing)[:, None] * shape.rising * shape.falling
        self._ends: dict[Parameter, tuple[Floats, Floats]] = {}
        if "guessing" in own:
            self._ends["guessing"] = items.guessing, items.guessing[:, None] * shape.failure
        if "slip" in own:
            slip = 1.0 - items.ceiling
            self._ends["slip"] = slip, -slip[:, None] * shape.success
        self.gradient = self._gradient()

    def _gradient(self) -> Floats:
        along = (self._slopes.by_success * self._steep) @ self._powers[:, :2]
        found = np.empty((along.shape[0], len(self._own)))
        for column, name in enumerate(self._own):
            if name == "precision":
                assert self._slopes.by_log_precision is not None
                found[:, column] = self._slopes.by_log_precision.sum(axis=1)
            elif name in self._ends:
                found[:, column] = _dotted(self._slopes.by_success, self._ends[name][1])
            else:
                found[:, column] = along[:, _POWERS[name]]
        return found

    def information(self) -> Floats:
        """Σ_q I ∇P ∇Pᵀ, and the kernel's second derivatives by log ν."""
        slopes = self._slopes
        found = self._products(slopes.information)
        if "precision" in self._own:
            assert slopes.bend is not None and slopes.cross is not None
            row = self._own.index("precision")
            crossed = (slopes.cross * self._steep) @ self._powers[:, :2]
            for column, name in enumerate(self._own):
                if name in _POWERS:
                    found[:, row, column] = found[:, column, row] = crossed[:, _POWERS[name]]
            found[:, row, row] = slopes.bend.sum(axis=1)
        return found

    def beyond(self) -> Floats:
        """Minus the second derivatives less `information`: the kernel's part, and −Σ_q g ∇²P."""
        slopes, shape = self._slopes, self._shape
        assert slopes.beyond is not None
        bowed = slopes.by_success * self._steep * (shape.falling - shape.rising)
        found = self._products(slopes.beyond, bowed)
        for row, name in enumerate(self._own):
            if name not in self._ends:
                continue
            chance, _ = self._ends[name]
            found[:, row, row] -= (1.0 - 2.0 * chance) * self.gradient[:, row]
            for column, other in enumerate(self._own):
                if other in _POWERS:
                    found[:, row, column] += chance * self.gradient[:, column]
                    found[:, column, row] += chance * self.gradient[:, column]
        if len(self._ends) == 2:
            first, second = (self._own.index(name) for name in ("guessing", "slip"))
            both = _dotted(slopes.by_success, shape.failure - shape.success)
            both *= self._ends["guessing"][0] * self._ends["slip"][0]
            found[:, first, second] += both
            found[:, second, first] += both
        return found

    def _products(self, weight: Floats, less: Floats | None = None) -> Floats:
        """Σ_q w ∇P ∇Pᵀ, less something by η; 0 by log ν."""
        count = len(self._own)
        found = np.zeros((self._steep.shape[0], count, count))
        steep = weight * self._steep
        twice = steep * self._steep
        if less is not None:
            twice -= less
        along = twice @ self._powers
        lines = [(row, _POWERS[name]) for row, name in enumerate(self._own) if name in _POWERS]
        for row, power in lines:
            for column, other in lines:
                found[:, row, column] = along[:, power + other]
        ends = [
            (row, self._ends[name][1]) for row, name in enumerate(self._own) if name in self._ends
        ]
        for row, by in ends:
            crossed = (steep * by) @ self._powers[:, :2]
            for column, power in lines:
                found[:, row, column] = found[:, column, row] = crossed[:, power]
            weighted = weight * by
            for column, other_by in ends:
                found[:, row, column] = _dotted(weighted, other_by)
        return found


def with_abilities(
    own: Sequence[Parameter], slopes: Slopes, items: ItemParameters, shape: Curves, nodes: Floats
) -> tuple[Floats, Floats]:
    """Return information that parameters share with ability [tasks, own, nodes], and on ability [nodes]."""
    steep = (items.ceiling - items.guessing)[:, None] * shape.rising * shape.falling
    rise = items.slope[:, None] * steep
    weighted = slopes.information * rise
    found = np.empty((len(items), len(own), nodes.size))
    for row, name in enumerate(own):
        if name == "slope":
            found[:, row] = weighted * steep * nodes
        elif name == "intercept":
            found[:, row] = weighted * steep
        elif name == "guessing":
            found[:, row] = weighted * items.guessing[:, None] * shape.failure
        elif name == "slip":
            found[:, row] = -weighted * (1.0 - items.ceiling)[:, None] * shape.success
        else:
            found[:, row] = 0.0
    return found, np.einsum("tq,tq->q", weighted, rise)


def _dotted(first: Floats, second: Floats) -> Floats:
    """Sums over nodes of products, [tasks]."""
    return np.asarray(np.einsum("tq,tq->t", first, second))
