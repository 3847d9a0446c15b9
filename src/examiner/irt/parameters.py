"""Parameters on the scale on which they are estimated, task by task and shared by all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernels import Slopes
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.logistic import Curves
from examiner.irt.model import Model, Parameter, Priors

LARGEST = 80.0
"""Slopes and intercepts are kept within ±80: a curve that steep is a step, and is flagged."""
_LOWEST_LOGIT = -10.0
"""A chance of guessing or slipping below 5e-5 is none, and is flagged."""
_BOUNDS: dict[Parameter, tuple[float, float]] = {
    "slope": (-LARGEST, LARGEST),
    "intercept": (-LARGEST, LARGEST),
    "guessing": (_LOWEST_LOGIT, 5.0),
    "slip": (_LOWEST_LOGIT, 5.0),
    "precision": (-5.0, 12.0),
}


def bounds_of(parameter: Parameter) -> tuple[float, float]:
    """Return the lowest and the highest value of a parameter on the estimated scale."""
    return _BOUNDS[parameter]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which parameters are free in each task and which are shared, in which order."""

    free: tuple[Parameter, ...]
    shared: tuple[Parameter, ...]
    response: Response

    @classmethod
    def of(cls, model: Model, response: Response) -> Layout:
        """The beta-binomial adds one precision shared by all tasks."""
        extra: tuple[Parameter, ...] = ("precision",) if response == "beta-binomial" else ()
        return cls(model.free, model.shared + extra, response)

    @property
    def names(self) -> tuple[Parameter, ...]:
        """Every estimated parameter: the free ones, then the shared."""
        return self.free + self.shared

    def count(self, tasks: int) -> int:
        """How many numbers are estimated for so many tasks."""
        return len(self.free) * tasks + len(self.shared)


class Values(NamedTuple):
    """Every parameter of every task, shared ones repeated: [tasks] each, on the estimated scale."""

    slope: Floats
    intercept: Floats
    guessing: Floats | None
    slip: Floats | None
    precision: Floats | None

    def chances(self) -> tuple[Floats, Floats]:
        """Return c and 1 − u: e^γ and e^ζ over 1 + e^γ + e^ζ."""
        none = np.zeros_like(self.slope)
        up = none if self.guessing is None else np.exp(np.clip(self.guessing, -30, 30))
        down = none if self.slip is None else np.exp(np.clip(self.slip, -30, 30))
        whole = 1.0 + up + down
        return up / whole, down / whole

    def items(self, tasks: tuple[str, ...], response: Response) -> ItemParameters:
        """Return what the user reads."""
        chance, slip = self.chances()
        return ItemParameters(  # made of checked parts, many times in a fit
            tasks,
            self.slope,
            self.intercept,
            chance,
            1.0 - slip,
            None if self.precision is None else np.exp(self.precision),
            response,
        )


def values_of(layout: Layout, table: Floats, shared: Floats) -> Values:
    """Return every parameter of every task from the table [tasks, free] and the shared numbers."""
    found: dict[str, Floats] = {name: table[:, column] for column, name in enumerate(layout.free)}
    for position, name in enumerate(layout.shared):
        found[name] = np.full(table.shape[0], shared[position])
    return Values(
        found["slope"],
        found["intercept"],
        found.get("guessing"),
        found.get("slip"),
        found.get("precision"),
    )


def table_of(layout: Layout, items: ItemParameters) -> tuple[Floats, Floats]:
    """Return the table and the shared numbers of parameters as the user reads them."""
    slip = np.maximum(1.0 - items.ceiling, 0.0)
    span = items.ceiling - items.guessing
    with np.errstate(divide="ignore"):
        read: dict[str, Floats] = {
            "slope": items.slope,
            "intercept": items.intercept,
            "guessing": np.maximum(np.log(items.guessing / span), _LOWEST_LOGIT),
            "slip": np.maximum(np.log(slip / span), _LOWEST_LOGIT),
        }
        if items.precision is not None:
            read["precision"] = np.clip(np.log(items.precision), *_BOUNDS["precision"])
    table = np.stack([read[name] for name in layout.free], axis=1)
    return table, np.array([float(np.mean(read[name])) for name in layout.shared])


def curve_derivatives(values: Values, curves: Curves) -> dict[str, Floats]:
    """Return ∂P/∂η, ∂P/∂γ = c (1 − P) and ∂P/∂ζ = −(1 − u) P, each [tasks, nodes]."""
    chance, slip = values.chances()
    span = (1.0 - chance - slip)[:, None]
    found = {"logit": span * curves.rising * curves.falling}
    if values.guessing is not None:
        found["guessing"] = chance[:, None] * curves.failure
    if values.slip is not None:
        found["slip"] = -slip[:, None] * curves.success
    return found


def chained(
    layout: Layout, values: Values, curves: Curves, nodes: Floats, slopes: Slopes
) -> Floats:
    """Return the derivatives of the expected log-likelihood, [tasks, every parameter].

    Columns follow `layout.names`; those of shared parameters are each task's part of the sum.
    """
    by = curve_derivatives(values, curves)
    pull = slopes.by_success * by["logit"]
    columns: list[Floats] = []
    for name in layout.names:
        if name == "slope":
            columns.append(pull @ nodes)
        elif name == "intercept":
            columns.append(pull.sum(axis=1))
        elif name == "precision":
            assert slopes.by_log_precision is not None
            columns.append(slopes.by_log_precision.sum(axis=1))
        else:
            columns.append((slopes.by_success * by[name]).sum(axis=1))
    return np.stack(columns, axis=1)


def expected_curvature(
    layout: Layout, values: Values, curves: Curves, nodes: Floats, information: Floats
) -> Floats:
    """Return Σ_q I ∇P ∇Pᵀ of the free parameters, [tasks, free, free], from the information on P."""
    by = curve_derivatives(values, curves)
    columns = [
        by["logit"] * nodes if name == "slope" else by["logit"] if name == "intercept" else by[name]
        for name in layout.free
    ]
    found = np.empty((values.slope.size, len(columns), len(columns)))
    for row, first in enumerate(columns):
        weighted = information * first
        for column in range(row + 1):
            found[:, row, column] = np.einsum("tq,tq->t", weighted, columns[column])
            found[:, column, row] = found[:, row, column]
    return found


def prior_pull(layout: Layout, priors: Priors | None) -> tuple[Floats, Floats]:
    """Return the means and the precisions 1/sd² of the priors, in the order of `layout.names`."""
    if priors is None:
        return np.zeros(len(layout.names)), np.zeros(len(layout.names))
    chosen = [getattr(priors, name) for name in layout.names]
    return (
        np.array([prior.mean for prior in chosen]),
        np.array([1.0 / prior.sd**2 for prior in chosen]),
    )
