r"""Posterior draws of the true means and deviations of agents given their runs, by empirical Bayes.

Observed bits are too high, since noise looks like information, and those of tasks chosen for their bits
even more. Posterior draws have neither fault: each task is shrunk towards the distribution of tasks, more
where its runs say less, and the posterior does not depend on whether a task was chosen.

References: Smyth (2004), sections 3 and 6, for the estimates of prior degrees of freedom; Dawid (1994), on
selection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.observations import Moments, Observations
from examiner.information.share_draws import share_draws
from examiner.scores import ratio
from examiner.validation import Floats

MOST_DEGREES = 1e4
"""With this many prior degrees of freedom all variances are equal."""
FEWEST_TASKS = 3
"""With fewer tasks their distribution cannot be estimated."""
_GRID = np.linspace(-1.5, 1.5, 61)
"""Logarithms of a task's noise relative to its estimate (error 0.35 with two runs of three agents)."""


class Prior(NamedTuple):
    """A scaled inverse χ² distribution of variances: degrees of freedom, and the variance they weigh."""

    degrees: float
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class CellNoise:
    """One measure: means [agents, tasks], variances of units, degrees of freedom, units of each cell."""

    mean: Floats
    variance: Floats
    degrees: Floats
    units: Floats

    def take(self, tasks: NDArray[np.intp]) -> CellNoise:
        """Return some tasks."""
        parts = (self.mean, self.variance, self.degrees, self.units)
        mean, variance, degrees, units = (part[:, tasks] for part in parts)
        return CellNoise(mean, variance, degrees, units)

    @property
    def pooled(self) -> Floats:
        """The variance of a unit of each task, from all its cells; NaN where none is repeated."""
        repeated = np.where(self.degrees > 0, self.degrees * self.variance, 0.0).sum(axis=0)
        return ratio(repeated, self.degrees.sum(axis=0))


def plausible_draws(
    observations: Observations, moments: Moments, rng: np.random.Generator
) -> Iterator[Moments]:
    r"""Yield posterior draws of means and squares, without end.

    On each task agents' true means are :math:`\mu_a \sim N(m, \tau^2)` and units of a cell have
    variance :math:`\sigma_a^2`. Variances of cells relative to their task's, and of tasks' means relative
    to their noise, have scaled inverse χ² priors, whose two parameters are matched to logarithms over tasks
    (resampled for every table, since few tasks determine them poorly). Degrees of freedom account for the
    kurtosis of units. Shares of wins are drawn on the scale of log-odds (`share_draws`). A task whose noise
    is not known stays as it is.

    >>> from examiner.information.observations import moments, observe
    >>> from examiner.results import Results
    >>> runs = observe(Results.from_numpy(np.random.default_rng(0).normal(size=(4, 9, 5))))
    >>> drawn = next(plausible_draws(runs, moments(runs), np.random.default_rng(0)))
    >>> bool(drawn.mean.std() < moments(runs).mean.std())  # shrunk: there is only noise
    True
    """
    cells = [
        share_draws(moments, index, rng) if share else _score_noise(observations, moments, index)
        for index, share in enumerate(observations.shares)
    ]
    while True:
        mean, square, unit_square = (
            part.copy() for part in (moments.mean, moments.square, moments.unit_square)
        )
        for index, noise in enumerate(cells):
            if not isinstance(noise, CellNoise):
                mean[index] = next(noise)
                continue
            usable, centre, variance = _drawn(noise, rng)
            mean[index][:, usable] = centre
            rest = noise.variance[:, usable]
            factor = np.where(rest > 0, variance / np.where(rest > 0, rest, 1.0), np.nan)
            for part, count in (
                (square, moments.trials),
                (unit_square, moments.units),
            ):
                own = part[index][:, usable] * factor
                stated = variance * np.maximum(count[index][:, usable] - 1, 0.0)
                part[index][:, usable] = np.where(np.isfinite(own), own, stated)
        mean[np.isnan(moments.mean)] = np.nan
        yield Moments(moments.units, moments.trials, mean, square, unit_square)


def _score_noise(observations: Observations, moments: Moments, index: int) -> CellNoise:
    units = moments.units[index]
    spare = np.maximum(units - 1, 0.0)
    variance = ratio(moments.unit_square[index], spare)
    with np.errstate(divide="ignore"):
        # Var s² = σ⁴ (2 / (n − 1) + κ / n), as of a χ² with so many degrees of freedom
        degrees = 2 / (2 / spare + _kurtosis(observations, moments, index) / np.maximum(units, 1))
    return CellNoise(moments.mean[index], variance, np.where(spare > 0, degrees, 0.0), units)


def _kurtosis(observations: Observations, moments: Moments, index: int) -> float:
    """Excess kurtosis of units within cells, pooled, each task in its own unit; 0 with fewer than four."""
    cells = moments.units[index]
    off = observations.mean[index] - moments.mean[index].ravel()[observations.cell]
    finite = np.isfinite(off)
    second, fourth = (
        np.bincount(observations.cell[finite], off[finite] ** power, minlength=cells.size).reshape(
            cells.shape
        )
        for power in (2, 4)
    )
    n = np.where(cells >= 4, cells, np.nan)
    scale = (
        np.nanmean(np.where(np.isnan(n), np.nan, second), axis=0) ** 2
        if np.isfinite(n).any()
        else np.nan
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        cumulant = (
            n * ((n + 1) * fourth - 3 * (n - 1) * second**2 / n) / ((n - 1) * (n - 2) * (n - 3))
        )
        squared = (second / (n - 1)) ** 2 * (n - 1) / (n + 1)
        total = np.nansum(np.where(scale > 0, squared / scale, np.nan))
        above = np.nansum(np.where(scale > 0, cumulant / scale, np.nan))
    return max(float(above / total), 0.0) if total > 0 else 0.0


def _drawn(noise: CellNoise, rng: np.random.Generator) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return which tasks are drawn, and the means and variances of their cells [agents, drawn tasks]."""
    observed = np.isfinite(noise.mean)
    pooled = noise.pooled
    count = observed.sum(axis=0)
    centre = np.where(observed, noise.mean, 0.0).sum(axis=0) / np.maximum(count, 1)
    between = ratio(np.where(observed, (noise.mean - centre) ** 2, 0.0).sum(axis=0), count - 1.0)
    inverse = np.where(observed, 1 / np.maximum(noise.units, 1), 0.0).sum(axis=0)
    error = pooled * inverse / np.maximum(count, 1)
    usable = np.flatnonzero((count > 1) & (error > 0) & (between > 0))
    noise = noise.take(usable)
    if not len(usable):
        return usable, noise.mean, noise.variance
    spread = _Spread(between[usable], error[usable], count[usable] - 1.0, noise.degrees.sum(axis=0))
    again = rng.integers(len(usable), size=len(usable))
    relative = (noise.variance / pooled[usable])[:, again]
    cell_prior = matched(relative.ravel(), noise.degrees[:, again].ravel())
    noise_ratio, total = spread.drawn(spread.prior(again), rng)
    squares = np.where(noise.degrees > 0, noise.degrees * noise.variance, 0.0)
    sums = cell_prior.degrees * cell_prior.variance * pooled[usable] * noise_ratio + squares
    variance = sums / rng.chisquare(cell_prior.degrees + noise.degrees)
    squared = np.maximum(total - error[usable] * noise_ratio, 0.0)
    return usable, _means(noise, squared, variance, rng), variance


def _means(noise: CellNoise, squared: Floats, variance: Floats, rng: np.random.Generator) -> Floats:
    """Draw true means of cells, given the variance between agents on each task and that of units."""
    error = variance / np.maximum(noise.units, 1)
    observed = np.isfinite(noise.mean)
    weight = np.where(observed, 1 / (squared + error), 0.0)
    total = weight.sum(axis=0)
    centre = np.where(observed, weight * noise.mean, 0.0).sum(axis=0) / total
    centre += rng.standard_normal(len(total)) / np.sqrt(total)
    kept = squared / (squared + error)
    noise_kept = np.sqrt(kept * error) * rng.standard_normal(error.shape)
    return np.asarray(centre + kept * (noise.mean - centre) + noise_kept)


class _Spread(NamedTuple):
    """Variances of agents' means on tasks, those of noise alone, and degrees of freedom of both."""

    between: Floats
    error: Floats
    degrees: Floats
    error_degrees: Floats

    def prior(self, tasks: NDArray[np.intp]) -> Prior | None:
        """Return the prior of variances between agents relative to noise; None where tasks are few."""
        if len(self.between) < FEWEST_TASKS:
            return None
        part = _Spread(*(each[tasks] for each in self))
        return matched(part.between / part.error, part.degrees, part.error_degrees)

    def drawn(self, prior: Prior | None, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the noise of each task relative to its estimate, and the variance of agents' means.

        Noise is drawn given its estimate and the variance between agents.
        """
        half = self.degrees[:, None] / 2
        log = -0.5 * self.error_degrees[:, None] * (_GRID + np.exp(-_GRID))
        degrees, variance = (0.0, 1.0) if prior is None else prior
        if prior is not None:
            relative = (self.between / self.error)[:, None] * np.exp(-_GRID) / variance
            log = log + half * np.log(relative)
            log -= (half + degrees / 2) * np.log1p(2 * half * relative / degrees)
        noise_ratio = np.exp(_GRID[np.argmax(log + rng.gumbel(size=log.shape), axis=1)])
        sums = degrees * variance * self.error * noise_ratio + self.degrees * self.between
        return noise_ratio, sums / rng.chisquare(degrees + self.degrees)


def matched(variance: Floats, degrees: Floats, other: Floats | None = None) -> Prior:
    r"""Match a scaled inverse χ² to estimated variances, by mean and variance of their logarithms.

    .. math:: \operatorname{Var} \log s^2 = \psi'(d / 2) + \psi'(\nu / 2), \qquad
              \operatorname{E} \log s^2 = \log \sigma^2 + \psi(d/2) - \log(d/2) - \psi(\nu/2) + \log(\nu/2)

    With `other`, estimates are ratios to variances with so many degrees of freedom.

    References: Smyth (2004), section 6.2.

    >>> rng = np.random.default_rng(0)
    >>> true = 2.0 * 8 / rng.chisquare(8, size=4000)
    >>> prior = matched(true * rng.chisquare(4, size=4000) / 4, np.full(4000, 4.0))
    >>> round(prior.degrees), round(prior.variance)
    (8, 2)
    """
    from scipy.special import digamma, polygamma  # slow to import

    usable = (variance > 0) & (degrees > 0)
    if usable.sum() < FEWEST_TASKS:
        return Prior(MOST_DEGREES, 1.0)
    half = degrees[usable] / 2
    logs = np.log(variance[usable]) - digamma(half) + np.log(half)
    excess = -float(polygamma(1, half).mean())
    if other is not None:
        half = np.maximum(other[usable], 1e-3) / 2
        logs = logs + digamma(half) - np.log(half)
        excess -= float(polygamma(1, half).mean())
    excess += float(logs.var(ddof=1))
    half_degrees = _inverse_trigamma(excess)
    shift = float(digamma(half_degrees) - np.log(half_degrees))
    return Prior(2 * half_degrees, float(np.exp(logs.mean() + shift)))


def _inverse_trigamma(value: float) -> float:
    """Solve ψ'(x) = value by Newton's method on 1 / ψ', which is nearly straight (Smyth 2004, appendix)."""
    from scipy.special import polygamma  # slow to import

    if value <= 2 / MOST_DEGREES:
        return MOST_DEGREES / 2
    at = 0.5 + 1 / value
    for _ in range(50):
        slope = float(polygamma(1, at))
        step = slope * (1 - slope / value) / float(polygamma(2, at))
        at += step
        if -step / at < 1e-8:
            break
    return min(at, MOST_DEGREES / 2)
