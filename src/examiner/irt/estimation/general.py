"""EM for any kernel: guessing and slipping, trials that share an interaction, continuous scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.acceleration import fixed_point
from examiner.irt.estimation.em import Estimate
from examiner.irt.estimation.kernel_source import GeneralSource, Sums
from examiner.irt.estimation.kernels import Kernel, kernel_for
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import curves
from examiner.irt.model import Priors
from examiner.irt.parameters import (
    Layout,
    bounds_of,
    chained,
    expected_curvature,
    prior_pull,
    table_of,
    values_of,
)
from examiner.results import ResponseMatrix

_DIFFERENCE = 1e-4
_MOST_STEP = 1.0
_SPACING = 0.6
_LOOK_AGAIN = (3, 8, 20, 50, 120)


@dataclass(slots=True)
class _Climb:
    """One EM iteration as a function of a point: the table of free parameters, then the shared."""

    source: GeneralSource
    kernel: Kernel
    layout: Layout
    priors: Priors | None
    fixed: Quadrature | None
    tasks: tuple[str, ...]
    trials: Floats
    rule: Quadrature | None = None
    count: int = 0
    pulls: tuple[Floats, Floats] = field(init=False)
    bounds: tuple[Floats, Floats] = field(init=False)

    def __post_init__(self) -> None:
        self.pulls = prior_pull(self.layout, self.priors)
        ends = [bounds_of(name) for name in self.layout.free]
        self.bounds = np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def split(self, point: Floats) -> tuple[Floats, Floats]:
        width = len(self.layout.free)
        table = point[: width * len(self.tasks)].reshape(len(self.tasks), width)
        return table, point[table.size :]

    def ends(self) -> tuple[Floats, Floats]:
        """The lowest and the highest point allowed."""
        shared = [bounds_of(name) for name in self.layout.shared]
        return (
            np.concatenate([np.tile(self.bounds[0], len(self.tasks)), [low for low, _ in shared]]),
            np.concatenate([np.tile(self.bounds[1], len(self.tasks)), [top for _, top in shared]]),
        )

    def items(self, point: Floats) -> ItemParameters:
        return values_of(self.layout, *self.split(point)).items(self.tasks, self.layout.response)

    def expected(self, point: Floats) -> Sums:
        items = self.items(point)
        if self.rule is None:
            self.rule = self.fixed or Quadrature.for_items(items, self.trials, spacing=_SPACING)
        terms = self.kernel.terms(curves(items, self.rule.nodes), items.precision)
        return self.source.expected(terms, self.rule)

    def log_prior(self, point: Floats) -> float:
        table, shared = self.split(point)
        means, tightness = self.pulls
        width = len(self.layout.free)
        return float(
            -0.5 * (((table - means[:width]) ** 2) * tightness[:width]).sum()
            - 0.5 * (((shared - means[width:]) ** 2) * tightness[width:]).sum()
        )

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        self.count += 1
        if self.fixed is None and self.count in _LOOK_AGAIN:
            self.rule = None
        found = self.expected(point)
        objective = found.log_likelihood + self.log_prior(point)
        table, shared = self.split(point)
        table = self._free_step(found.sums, table, shared)
        if shared.size:
            shared = self._shared_step(found.sums, table, shared)
        rescalable = self.priors is None and self.fixed is None
        if rescalable and {"slope", "intercept"} <= set(self.layout.free):
            table = self._standardised(found, table)
        return objective, np.concatenate([table.ravel(), shared])

    def _standardised(self, found: Sums, table: Floats) -> Floats:
        """Free the population's mean and sd, and rescale to N(0, 1): PX-EM."""
        mean = float(found.ability.mean())
        variance = float(found.variance.mean() + ((found.ability - mean) ** 2).mean())
        a, d = self.layout.free.index("slope"), self.layout.free.index("intercept")
        moved = table.copy()
        moved[:, d] += table[:, a] * mean
        moved[:, a] *= np.sqrt(variance)
        return moved

    def _height(
        self, sums: Sequence[Floats], table: Floats, shared: Floats
    ) -> tuple[Floats, Floats, Floats | None]:
        """Each task's expected log-likelihood, its derivatives, and its expected information."""
        assert self.rule is not None
        values = values_of(self.layout, table, shared)
        items = values.items(self.tasks, self.layout.response)
        shape = curves(items, self.rule.nodes)
        slopes = self.kernel.slopes(sums, shape, items.precision)
        information = None
        if slopes.information is not None:
            information = expected_curvature(
                self.layout, values, shape, self.rule.nodes, slopes.information
            )
        return (
            slopes.value.sum(axis=1),
            chained(self.layout, values, shape, self.rule.nodes, slopes),
            information,
        )

    def _free_step(self, sums: Sequence[Floats], table: Floats, shared: Floats) -> Floats:
        """One step of Newton or of Fisher scoring for every task, halved where it would go down."""
        width = len(self.layout.free)
        means, tightness = (pull[:width] for pull in self.pulls)

        def height(at: Floats) -> tuple[Floats, Floats, Floats | None]:
            value, gradient, information = self._height(sums, at, shared)
            value = value - 0.5 * (((at - means) ** 2) * tightness).sum(axis=1)
            return value, gradient[:, :width] - (at - means) * tightness, information

        here, gradient, curvature = height(table)
        if curvature is not None:
            curvature = curvature + np.diag(tightness)
        else:
            curvature = np.empty((table.shape[0], width, width))
            for column in range(width):
                shift = np.zeros(width)
                shift[column] = _DIFFERENCE
                curvature[:, :, column] = (gradient - height(table + shift)[1]) / _DIFFERENCE
        step = _ascent(gradient, curvature)
        falling = np.arange(table.shape[0])
        for _ in range(12):
            better = np.clip(table[falling] + step[falling], *self.bounds)
            value = self._values(sums, better, shared, falling)
            value -= 0.5 * (((better - means) ** 2) * tightness).sum(axis=1)
            before = here[falling]
            falling = falling[~(value >= before - 1e-12 * (1 + np.abs(before)))]
            if not falling.size:
                break
            step[falling] *= 0.3
        step[falling] = 0.0
        return np.clip(table + step, *self.bounds)

    def _values(
        self, sums: Sequence[Floats], table: Floats, shared: Floats, tasks: NDArray[np.intp]
    ) -> Floats:
        """The expected log-likelihood of some tasks."""
        assert self.rule is not None
        items = values_of(self.layout, table, shared).items(
            tuple(self.tasks[task] for task in tasks), self.layout.response
        )
        terms = self.kernel.terms(curves(items, self.rule.nodes), items.precision)
        chosen = slice(None) if tasks.size == len(self.tasks) else tasks
        return np.asarray(
            sum(
                np.einsum("tq,tq->t", one[chosen], term)
                for one, term in zip(sums, terms, strict=True)
            )
        )

    def _shared_step(self, sums: Sequence[Floats], table: Floats, shared: Floats) -> Floats:
        """One Newton step for the parameters that all tasks share, one after the other."""
        width = len(self.layout.free)
        means, tightness = (pull[width:] for pull in self.pulls)
        moved = shared.copy()
        for position in range(shared.size):

            def height(at: float, position: int = position) -> tuple[float, float]:
                trial = moved.copy()
                trial[position] = at
                value, gradient, _ = self._height(sums, table, trial)
                away = at - means[position]
                return (
                    float(value.sum() - 0.5 * tightness[position] * away**2),
                    float(gradient[:, width + position].sum() - tightness[position] * away),
                )

            at = float(moved[position])
            here, slope = height(at)
            bend = (height(at + _DIFFERENCE)[1] - height(at - _DIFFERENCE)[1]) / (2 * _DIFFERENCE)
            step = slope / max(abs(bend), 1e-8)
            step = float(np.clip(step, -_MOST_STEP, _MOST_STEP))
            for _ in range(12):
                if height(at + step)[0] >= here:
                    break
                step *= 0.3
            else:
                step = 0.0
            moved[position] = np.clip(at + step, *bounds_of(self.layout.shared[position]))
        return moved


def _ascent(gradient: Floats, curvature: Floats) -> Floats:
    """Directions that climb: curvatures (minus the Hessian) are made positive, steps kept short."""
    symmetric = 0.5 * (curvature + curvature.transpose(0, 2, 1))
    roots, axes = np.linalg.eigh(symmetric)
    floor = 1e-6 * np.maximum(np.abs(roots).max(axis=1, keepdims=True), 1.0)
    along = np.einsum("tpk,tp->tk", axes, gradient) / np.maximum(np.abs(roots), floor)
    step = np.einsum("tpk,tk->tp", axes, along)
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step / np.maximum(longest / _MOST_STEP, 1.0))


def climb_generally(
    matrix: ResponseMatrix,
    layout: Layout,
    start: ItemParameters,
    priors: Priors | None,
    *,
    fixed: Quadrature | None,
    most: int,
    tolerance: float,
) -> Estimate:
    """Run EM from one start until parameters or objective settle."""
    kernel = kernel_for(layout.response, matrix)
    trials = matrix.observed.mean(axis=0)
    if matrix.is_counts:
        trials = matrix.trials.mean(axis=0, dtype=np.float64)
    one = _Climb(
        GeneralSource(matrix, kernel, fixed=fixed is not None),
        kernel,
        layout,
        priors,
        fixed,
        matrix.tasks,
        trials,
    )
    table, shared = table_of(layout, start)
    exact = one.source.exact
    arrival = fixed_point(
        one,
        np.concatenate([table.ravel(), shared]),
        tolerance=tolerance if exact else max(tolerance, 1e-4),
        objective_tolerance=1e-11 if exact else 1e-8,
        most=most,
        bounds=one.ends(),
    )
    if fixed is None:
        one.rule = None
    found = one.expected(arrival.point)
    assert one.rule is not None
    return Estimate(
        one.items(arrival.point),
        found.ability,
        found.variance,
        found.log_likelihood,
        found.log_likelihood + one.log_prior(arrival.point),
        arrival.iterations,
        arrival.settled,
        one.rule,
    )
