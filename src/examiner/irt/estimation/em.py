"""One start to one optimum: EM of the 1PL and 2PL with a free population and acceleration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.acceleration import fixed_point
from examiner.irt.estimation.exponential import SPACING, Expected, ResponseSource
from examiner.irt.estimation.maximise import log_prior, newton_step
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Priors
from examiner.irt.parameters import LARGEST

_LOOK_AGAIN = (3, 10, 30, 100, 300)
"""Iterations after which an automatic grid is laid anew for the slopes found by then."""


_FAR = 9.0
"""No agent has posterior mass beyond 9 posterior standard deviations that could matter."""
_SHORT = 100
"""Tests of so many tasks can afford nodes closer by far."""
_STALE = 8
"""A grid laid this many iterations before the end is laid once more."""


class Estimate(NamedTuple):
    """An optimum: parameters, abilities with posterior variances, and how it was reached."""

    items: ItemParameters
    ability: Floats
    variance: Floats
    log_likelihood: float
    objective: float
    iterations: int
    settled: bool
    rule: Quadrature


@dataclass(slots=True)
class _Climb:
    """One EM iteration as a function of a point; keeps the quadrature it uses."""

    source: ResponseSource
    priors: Priors | None
    shared_slope: bool
    fixed: Quadrature | None
    rule: Quadrature | None = None
    count: int = 0
    laid: int = 0
    last: Expected | None = None

    def split(self, point: Floats) -> tuple[Floats, Floats]:
        if self.shared_slope:
            return np.full(point.size - 1, point[0]), point[1:]
        half = point.size // 2
        return point[:half], point[half:]

    def joined(self, slope: Floats, intercept: Floats) -> Floats:
        return np.concatenate([slope[:1] if self.shared_slope else slope, intercept])

    def expected(self, slope: Floats, intercept: Floats) -> Expected:
        if self.rule is None:
            self.rule = self.fixed or self._grid(slope, intercept)
            self.laid = self.count
        self.last = self.source.expected(slope, intercept, self.rule)
        return self.last

    def _grid(self, slope: Floats, intercept: Floats) -> Quadrature:
        count = slope.size
        items = ItemParameters(
            ("",) * count, slope, intercept, np.zeros(count), np.ones(count), None, "binomial"
        )
        spacing = SPACING if count > _SHORT else 0.4 * SPACING
        rule = Quadrature.for_items(items, self.source.tried / self.source.agents, spacing=spacing)
        if self.last is None:
            return rule
        reach = _FAR * np.sqrt(self.last.variance)
        low, high = self.last.ability - reach, self.last.ability + reach
        return rule.between(float(low.min()), float(high.max()))

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        slope, intercept = self.split(point)
        self.count += 1
        if self.fixed is None and self.count in _LOOK_AGAIN:
            self.rule = None
        expected = self.expected(slope, intercept)
        objective = expected.log_likelihood + log_prior(
            slope, intercept, self.priors, shared_slope=self.shared_slope
        )
        better = newton_step(
            expected, slope, intercept, self.priors, shared_slope=self.shared_slope
        )
        if self.priors is None and self.fixed is None:  # given nodes cannot be rescaled with it
            better = self._standardised(expected, *better)
        return objective, self.joined(*better)

    @staticmethod
    def _standardised(
        expected: Expected, slope: Floats, intercept: Floats
    ) -> tuple[Floats, Floats]:
        """Free the population's mean and sd, and rescale to N(0, 1): PX-EM (Liu, Rubin, Wu 1998)."""
        mean, variance = expected.spread
        return slope * np.sqrt(variance), intercept + slope * mean


def climb(
    source: ResponseSource,
    start: ItemParameters,
    priors: Priors | None,
    *,
    shared_slope: bool,
    fixed: Quadrature | None,
    most: int,
    tolerance: float,
    noise: float = 1e-12,
) -> Estimate:
    """Run EM from one start until parameters or objective settle; `noise` is the objective's, relative."""
    one = _Climb(source, priors, shared_slope, fixed)
    arrival = fixed_point(
        one,
        one.joined(start.slope, start.intercept),
        tolerance=tolerance,
        objective_tolerance=noise,
        most=most,
        bounds=(-LARGEST, LARGEST),
    )
    slope, intercept = one.split(arrival.point)
    if fixed is None and arrival.iterations > one.laid + _STALE:
        one.rule = None
    expected = one.expected(slope, intercept)
    assert one.rule is not None
    return Estimate(
        ItemParameters.of(start.tasks, slope, intercept),
        expected.ability,
        expected.variance,
        expected.log_likelihood,
        expected.log_likelihood + log_prior(slope, intercept, priors, shared_slope=shared_slope),
        arrival.iterations,
        arrival.settled,
        one.rule,
    )


def biserial_start(source: ResponseSource, *, shared_slope: bool) -> tuple[Floats, Floats]:
    """Return slopes and intercepts from shares and from correlations with the total score.

    A task's correlation with the standardised total, divided by the height of the normal curve at
    its share, is about the biserial r; a = 1.702 r / √(1 − r²) in logits. Shares are smoothed.
    """
    share = (source.won + 0.5) / (source.tried + 1.0)
    logit = np.log(share / (1 - share))
    total = source.times(np.ones(source.won.size))
    ability = (total - total.mean()) / max(float(total.std()), 1e-12)
    # Logistic and normal quantiles differ by 1.702; the normal height at the quantile is closed-form.
    height = np.exp(-0.5 * (logit / 1.702) ** 2) / np.sqrt(2 * np.pi)
    covariance = source.transposed_times(ability) / source.tried
    r = np.clip(covariance / height, -0.9, 0.9)
    stretch = 1 / np.sqrt(1 - r**2)
    slope = np.clip(1.702 * r * stretch, -4.0, 4.0)
    if shared_slope:
        slope = np.full(slope.size, max(0.1, float(np.median(slope))))
    return slope, logit * stretch
