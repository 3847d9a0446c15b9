"""Which numbers of a model are free, task by task, and how they move the curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import Curves
from examiner.irt.model import Model, Parameter, Priors
from examiner.irt.parameters import Layout

_NONE = 6e-5
"""A chance of guessing or slipping this small is at the end of its range."""
_PRECISE = 1.5e5
"""From this precision on the beta-binomial is the binomial."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """Parameters in the order used in matrices: those of each task first, then the shared ones.

    `fixed` is [tasks, own]: estimates at an end of their range (guessing at 0, an infinite
    precision), which do not move.
    """

    own: tuple[Parameter, ...]
    shared: tuple[Parameter, ...]
    fixed: NDArray[np.bool_]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Names, own first."""
        return self.own + self.shared

    @property
    def size(self) -> int:
        """Number of rows of the information matrix."""
        return self.fixed.size + len(self.shared)

    def position(self, parameter: Parameter) -> int:
        """Where a parameter stands in the order, or −1."""
        return self.parameters.index(parameter) if parameter in self.parameters else -1


def freedom_of(items: ItemParameters, model: Model) -> Freedom:
    """Return what is free under a model at these estimates."""
    layout = Layout.of(model, items.response)
    nowhere = np.zeros(len(items), dtype=np.bool_)
    stuck = {
        "guessing": items.guessing <= _NONE,
        "slip": items.ceiling >= 1 - _NONE,
        "precision": nowhere if items.precision is None else items.precision >= _PRECISE,
    }
    fixed = np.stack([stuck.get(name, nowhere) for name in layout.free], axis=1)
    shared = tuple(
        name for name in layout.shared if not (name in stuck and bool(stuck[name].all()))
    )
    return Freedom(layout.free, shared, fixed)


def moved(items: ItemParameters, parameter: Parameter, step: float) -> ItemParameters:
    """Return the tasks with one parameter moved on the scale on which it is estimated."""
    slope, intercept, precision = items.slope, items.intercept, items.precision
    guessing, ceiling = items.guessing, items.ceiling
    if parameter == "slope":
        slope = slope + step
    elif parameter == "intercept":
        intercept = intercept + step
    elif parameter == "precision":
        precision = None if precision is None else precision * np.exp(step)
    else:
        low, middle, high = guessing, ceiling - guessing, 1.0 - ceiling
        if parameter == "guessing":
            low = low * np.exp(step)
        else:
            high = high * np.exp(step)
        total = low + middle + high
        guessing, ceiling = low / total, (low + middle) / total
    return ItemParameters(
        items.tasks, slope, intercept, guessing, ceiling, precision, items.response
    )


def curve_slopes(
    items: ItemParameters, curves: Curves, abilities: Floats, parameter: Parameter
) -> Floats:
    """Return ∂P/∂parameter, shape [tasks, abilities]; 0 for the precision.

    With c = e^γ/(1 + e^γ + e^ζ) and 1 − u = e^ζ/(1 + e^γ + e^ζ): ∂P/∂γ = c (1 − P) and
    ∂P/∂ζ = −(1 − u) P.
    """
    if parameter == "precision":
        return np.zeros_like(curves.success)
    if parameter == "guessing":
        return items.guessing[:, None] * curves.failure
    if parameter == "slip":
        return -(1.0 - items.ceiling)[:, None] * curves.success
    span = (items.ceiling - items.guessing)[:, None]
    rise = span * curves.rising * curves.falling
    return rise * abilities if parameter == "slope" else rise


def prior_curvature(priors: Priors | None, parameter: Parameter) -> float:
    """Return −∂² log prior of a parameter: 1 / sd², or 0 without priors."""
    return 0.0 if priors is None else float(getattr(priors, parameter).sd) ** -2
