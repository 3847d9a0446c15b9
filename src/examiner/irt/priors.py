"""Priors: weak ones on what is estimated of tasks, which leave the common scale of slopes free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from examiner.irt.items import Floats
from examiner.messages import InputError
from examiner.validation import check_known, from_record

_FREEDOM = 4.0
"""Degrees of freedom of e: nearly normal among slopes that are alike, and open to a few that are not."""


@dataclass(frozen=True, slots=True)
class NormalPrior:
    """A normal prior: its mean and standard deviation."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        # Within these bounds the squares that a prior enters by are numbers too.
        if not (abs(self.mean) < 1e150 and 1e-150 < self.sd < 1e150):
            raise InputError(
                f"A prior with mean {self.mean} and standard deviation {self.sd} is given. "
                f"Both must be finite, the deviation above 0, and neither out of all proportion."
            )

    def to_record(self) -> list[float]:
        """Return `[mean, sd]`.

        >>> NormalPrior(1.0, 2.0).to_record()
        [1.0, 2.0]
        """
        return [self.mean, self.sd]

    @classmethod
    def from_record(cls, stored: object) -> NormalPrior:
        """Read what `to_record` gave.

        >>> NormalPrior.from_record([1.0, 2.0])
        NormalPrior(mean=1.0, sd=2.0)
        """
        return cls(*from_record(tuple[float, float], stored))

    def slope_at(self, value: float) -> float:
        """Return the derivative of the log-density.

        >>> NormalPrior(1.0, 2.0).slope_at(3.0)
        -0.5
        """
        return (self.mean - value) / self.sd**2


class SlopeScale(NamedTuple):
    """What all slopes have in common: their scale c, and the spread τ of a / c around 1."""

    common: float
    spread: float


@dataclass(frozen=True, slots=True)
class RelativeSlopes:
    r"""A prior on slopes relative to each other, which leaves their common scale free.

    .. math:: a_i = c\,(1 + \tau e_i), \quad e_i \sim t_4, \quad \log c \sim N(0, 1), \quad
              \log \tau \sim N(\log 0.4,\; 0.3^2)

    A prior N(1, 1) on each slope lets many tasks vote on the unit of ability and outvote few agents;
    this one says only that slopes are alike. The tails of Student's t leave the few that are not (a
    reversed key) where their data have them. `log_scale` is the prior of log c and `log_spread` that
    of log τ. The highest point is taken in e and not in a, where the
    densities of m slopes, each 1 / (cτ), would reward small scales. τ is where the data are likeliest
    with every e integrated out: at the highest point of all together it would grow with every task.

    >>> round(RelativeSlopes().common(np.array([0.8, 1.0, 1.2]), 0.4), 2)
    1.03
    """

    log_scale: NormalPrior = NormalPrior(0.0, 1.0)
    log_spread: NormalPrior = NormalPrior(float(np.log(0.4)), 0.3)

    @property
    def expected_spread(self) -> float:
        """The spread that the prior expects."""
        return float(np.exp(self.log_spread.mean))

    def common(self, slope: Floats, spread: float) -> float:
        """Return the scale c that is likeliest for these slopes: the highest point over log c.

        With r = a/c and weights w the log-prior falls by Σ w (r − r²) / τ² − ∂ log p(log c) for each unit
        of log c: Newton's steps with its own curvature.
        """
        middle = float(np.median(slope))
        start = middle if middle > 0 else float(np.sqrt(slope @ slope / slope.size))
        at = float(np.log(np.clip(start, 1e-6, 1e6)))
        # a handful of Newton steps in one dimension is enough
        for _ in range(60):
            scale = SlopeScale(float(np.exp(at)), spread)
            relative, weight = slope / scale.common, self.weights(slope, scale)
            gradient = float(weight @ (relative - relative**2)) / spread**2
            gradient -= self.log_scale.slope_at(at)
            step = float(np.clip(gradient / self._both(slope, scale)[1], -1.0, 1.0))
            at -= step
            if abs(step) < 1e-12:
                break
        return float(np.exp(at))

    def weights(self, slope: Floats, scale: SlopeScale) -> Floats:
        """Return w = (ν + 1) / (ν + e²): Student's t is a normal whose precision is so many times 1."""
        apart = (slope / scale.common - 1.0) / scale.spread
        return np.asarray((_FREEDOM + 1.0) / (_FREEDOM + apart**2))

    def pull(self, slope: Floats, scale: SlopeScale) -> tuple[Floats, Floats]:
        """Return the mean and the curvature of the normals that stand for the prior of each slope."""
        tightness = self.weights(slope, scale) / (scale.common * scale.spread) ** 2
        return np.full(slope.size, scale.common), tightness

    def curvature(self, slope: Floats, scale: SlopeScale) -> Floats:
        """Return minus the second derivative of the log-prior by e, none of them below 0."""
        square = ((slope / scale.common - 1.0) / scale.spread) ** 2
        curvature = (_FREEDOM + 1.0) * (_FREEDOM - square) / (_FREEDOM + square) ** 2
        return np.asarray(np.maximum(curvature, 0.0))

    def log_prior(self, slope: Floats, scale: SlopeScale) -> float:
        """Return the log-density of all e and of log c, without constants."""
        apart = (slope / scale.common - 1.0) / scale.spread
        away = (np.log(scale.common) - self.log_scale.mean) / self.log_scale.sd
        tails = (_FREEDOM + 1.0) * float(np.log1p(apart**2 / _FREEDOM).sum())
        return -0.5 * (tails + float(away) ** 2)

    def spread(self, slope: Floats, information: Floats, scale: SlopeScale) -> float:
        r"""Return the spread τ that is likeliest once every slope is integrated out.

        What the responses alone say of r = a/c of a task is near N(x, s²): s² = 1 / (c² I), with the
        information I they hold on the slope, and x from the estimate, which the prior has pulled by
        the share 1 / (1 + τ² / ws²) towards 1. Then x − 1 ~ N(0, τ²/w + s²).
        """
        relative_information = np.maximum(information * scale.common**2, 1e-12)
        weight = self.weights(slope, scale)
        apart = (slope / scale.common - 1.0) * (
            1.0 + weight / (relative_information * scale.spread**2)
        )
        prior, best = self.log_spread, 0.0
        for reach in (8.0, 0.5):  # sds of the prior: the hill, then its top
            away = best + reach * np.linspace(-1.0, 1.0, 33)
            total = (
                np.exp(2 * (prior.mean + prior.sd * away))[:, None] / weight
                + 1.0 / relative_information
            )
            height = -0.5 * ((np.log(total) + apart**2 / total).sum(axis=1) + away**2)
            best = float(away[int(height.argmax())])
        return float(np.exp(prior.mean + prior.sd * best))

    def given(self, scale: SlopeScale) -> NormalPrior:
        """Return what is left of the prior on each slope once scale and spread are known."""
        return NormalPrior(scale.common, scale.common * scale.spread)

    def shared_pull(self, slope: float) -> tuple[float, float]:
        """Return the parabola that touches the prior of one slope shared by all: mean and curvature.

        Its logarithm is N(0, 1); 1 / a² is the curvature of log a where it peaks, and always above 0.
        """
        tightness = (self.log_scale.sd * slope) ** -2
        return slope + self.log_scale.slope_at(float(np.log(slope))) / slope / tightness, tightness

    def shared_curvature(self, slope: float) -> float:
        """Return minus the second derivative of the log-prior of one slope shared by all."""
        away = float(np.log(slope)) - self.log_scale.mean
        return (1.0 - away) / (self.log_scale.sd * slope) ** 2

    def scale_given(self, slope: Floats, scale: SlopeScale) -> tuple[Floats, float]:
        """Return how log c moves with each slope, and its standard deviation once slopes are known."""
        along, curvature = self._both(slope, scale)
        return along / curvature, curvature**-0.5

    def _both(self, slope: Floats, scale: SlopeScale) -> tuple[Floats, float]:
        """Curvatures of the log-prior by slope and log c together, sign reversed, and by log c alone."""
        relative = slope / scale.common
        bend, weight = self.curvature(slope, scale), self.weights(slope, scale)
        mixed = bend * relative + weight * (relative - 1.0)
        by_scale = float((mixed * relative).sum()) / scale.spread**2 + self.log_scale.sd**-2
        return mixed / (scale.common * scale.spread**2), max(by_scale, self.log_scale.sd**-2)

    def coupling(self, slope: Floats, scale: SlopeScale) -> Floats:
        """Return the curvature that is lost because the scale moves along with slopes, as one vector.

        With k the curvature by e and w its weight, the log-prior in (a, log c) has the curvatures
        k/(cτ)² by a, −(kr + w(r − 1))/(cτ²) by both and Σ(kr² + w(r − 1)r)/τ² + 1 by log c. Without log c
        (Schur) the first loses v vᵀ, v the second over the root of the third.
        """
        both, by_scale = self._both(slope, scale)
        return np.asarray(both / np.sqrt(by_scale))


@dataclass(frozen=True, slots=True)
class Priors:
    """Weak priors on the scale on which parameters are estimated.

    Slopes are alike, on a scale that is free: `RelativeSlopes`. Intercepts d = −ab are N(0, 3²).
    Guessing and slip on their logits (see `Parameter`): a chance of about 0.12 and 0.05, both
    uncertain. Log precision N(2.3, 1.5²): between about 0.5 and 200; that of scores without ends, which
    have units, is free, and so are their intercepts. Cuts of scores of exactly 0 and 1: k₀ is
    N(−5, 2.5²), and the logarithm of the gap to k₁ is N(2.3, 0.5²), between about 4 and 27.

    >>> Priors.of({"slope": (1.0, 2.0)}).slope
    NormalPrior(mean=1.0, sd=2.0)
    """

    slope: NormalPrior | RelativeSlopes = RelativeSlopes()
    intercept: NormalPrior = NormalPrior(0.0, 3.0)
    guessing: NormalPrior = NormalPrior(-2.0, 1.0)
    slip: NormalPrior = NormalPrior(-3.0, 1.0)
    precision: NormalPrior = NormalPrior(2.3, 1.5)
    zero_cut: NormalPrior = NormalPrior(-5.0, 2.5)
    cut_gap: NormalPrior = NormalPrior(2.3, 0.5)

    @classmethod
    def fixed(cls) -> Priors:
        """Return the same with slopes N(1, 1): the unit of ability is then a matter of the tasks too.

        For comparison with other software, which has such priors. With many tasks and few agents they
        move the scale, and intervals do not cover.

        >>> Priors.fixed().slope
        NormalPrior(mean=1.0, sd=1.0)
        """
        return cls(slope=NormalPrior(1.0, 1.0))

    @classmethod
    def of(cls, given: Priors | Mapping[str, Any] | str | None) -> Priors:
        """Return priors from "fixed" or a mapping of parameter to (mean, sd); others keep their default.

        >>> Priors.of({"slope": (1.0, 2.0)}).intercept
        NormalPrior(mean=0.0, sd=3.0)
        >>> Priors.of("fixed") == Priors.fixed()
        True
        """
        if given is None:
            return cls()
        if isinstance(given, Priors):
            return given
        if isinstance(given, str):
            check_known("set of priors", given, ("fixed",))
            return cls.fixed()
        names = [field.name for field in fields(cls)]
        chosen: dict[str, Any] = {}  # Any: a Normal or RelativeSlopes
        for name, prior in given.items():
            check_known("parameter", name, names)
            if isinstance(prior, NormalPrior) or (
                name == "slope" and isinstance(prior, RelativeSlopes)
            ):
                chosen[name] = prior
                continue
            try:
                mean, sd = (float(number) for number in prior)
            except (TypeError, ValueError):
                raise InputError(
                    f"The prior of {name} is {prior!r}. Give its mean and standard deviation: (1, 1)."
                ) from None
            chosen[name] = NormalPrior(mean, sd)
        return cls(**chosen)

    def given(self, scale: SlopeScale | None) -> Priors:
        """Return the priors of single tasks once the common scale of slopes is known.

        >>> Priors().given(SlopeScale(2.0, 0.5)).slope
        NormalPrior(mean=2.0, sd=1.0)
        """
        if scale is None or not isinstance(self.slope, RelativeSlopes):
            return self
        return replace(self, slope=self.slope.given(scale))

    def pull(self, parameter: str) -> tuple[float, float]:
        """Return the mean of a parameter and the curvature 1 / sd² of its log-prior.

        >>> Priors().pull("guessing")
        (-2.0, 1.0)
        """
        prior: NormalPrior = getattr(self, parameter)
        return prior.mean, prior.sd**-2
