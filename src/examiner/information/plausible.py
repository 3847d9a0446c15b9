r"""Means and deviations that agents may truly have, given their runs, by empirical Bayes.

Bits of what was observed are too many, since noise looks like information, and those of tasks chosen
for their bits are so twice. Draws of the truth given all runs have neither fault: each task is drawn
towards what tasks are like, the more the less its own runs say, and what is inferred given the data is
the same whether or not a task was chosen for them.

References: Smyth (2004), sections 3 and 6, for the estimates of prior degrees of freedom; Dawid (1994), on
selection; Anscombe (1948), for shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.observations import Moments, Observations
from examiner.scores.cells import ratio
from examiner.validation import Floats

MOST_DEGREES = 1e4
"""With so many prior degrees of freedom all variances are alike."""
FEWEST_TASKS = 3
"""Of fewer tasks nothing is learnt about what tasks are like."""
_GRID = np.linspace(-1.5, 1.5, 61)
"""Logarithms of a task's noise beside its estimate: two runs of three agents leave 0.35 either way."""


class Prior(NamedTuple):
    """A scaled inverse χ² distribution of variances: degrees of freedom, and the variance they weigh."""

    degrees: float
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class CellNoise:
    """One measure: means [agents, tasks], variances of units, their degrees of freedom, units of each cell.

    `exact` says that variances are known, as those of shares are.
    """

    mean: Floats
    variance: Floats
    degrees: Floats
    units: Floats
    exact: bool = False

    def take(self, tasks: NDArray[np.intp]) -> CellNoise:
        """Return some tasks alone."""
        parts = (self.mean, self.variance, self.degrees, self.units)
        mean, variance, degrees, units = (part[:, tasks] for part in parts)
        return CellNoise(mean, variance, degrees, units, self.exact)

    @property
    def pooled(self) -> Floats:
        """The variance of a unit of each task, from all its cells; NaN where none is repeated."""
        repeated = np.where(self.degrees > 0, self.degrees * self.variance, 0.0).sum(axis=0)
        return ratio(repeated, self.degrees.sum(axis=0))


def plausible(seen: Observations, found: Moments, rng: np.random.Generator) -> Iterator[Moments]:
    r"""Yield tables of means and squares as they may truly be, without end.

    On each task agents' true means are :math:`\mu_a \sim N(m, \tau^2)` and units of a cell have
    variance :math:`\sigma_a^2`. Variances of cells, beside their task's, and of tasks' means, beside their
    noise, have scaled inverse χ² priors, whose two parameters are matched to logarithms over tasks
    (drawn anew for every table, since few tasks say little about them). Degrees of freedom are those
    that units with their kurtosis have. Shares are taken by the arcsine of their root. A task whose
    noise cannot be told stays as it is.

    >>> from examiner.information.observations import moments, observe
    >>> from examiner.results import Results
    >>> seen = observe(Results.from_numpy(np.random.default_rng(0).normal(size=(4, 9, 5))))
    >>> drawn = next(plausible(seen, moments(seen), np.random.default_rng(0)))
    >>> bool(drawn.mean.std() < moments(seen).mean.std())  # drawn together: nothing but noise
    True
    """
    named = seen.by_name()
    seen, found = named.observations, found.ordered(named.agents, named.tasks)
    cells = [
        _share_noise(found, index) if share else _score_noise(seen, found, index)
        for index, share in enumerate(seen.shares)
    ]
    while True:
        mean, square, unit_square = (
            part.copy() for part in (found.mean, found.square, found.unit_square)
        )
        for index, (noise, share) in enumerate(zip(cells, seen.shares, strict=True)):
            usable, centre, variance = _drawn(noise, rng)
            if share:
                mean[index][:, usable] = np.sin(np.clip(centre, 0.0, np.pi / 2)) ** 2
                continue
            mean[index][:, usable] = centre
            rest = noise.variance[:, usable]
            factor = np.where(rest > 0, variance / np.where(rest > 0, rest, 1.0), np.nan)
            for part, count in ((square, found.trials), (unit_square, found.units)):
                own = part[index][:, usable] * factor
                stated = variance * np.maximum(count[index][:, usable] - 1, 0.0)
                part[index][:, usable] = np.where(np.isfinite(own), own, stated)
        mean[np.isnan(found.mean)] = np.nan
        yield named.restored(Moments(found.units, found.trials, mean, square, unit_square))


def _score_noise(seen: Observations, found: Moments, index: int) -> CellNoise:
    units = found.units[index]
    spare = np.maximum(units - 1, 0.0)
    variance = ratio(found.unit_square[index], spare)
    with np.errstate(divide="ignore"):
        # Var s² = σ⁴ (2 / (n − 1) + κ / n), as of a χ² with so many degrees of freedom
        degrees = 2 / (2 / spare + _kurtosis(seen, found, index) / np.maximum(units, 1))
    return CellNoise(found.mean[index], variance, np.where(spare > 0, degrees, 0.0), units)


def _share_noise(found: Moments, index: int) -> CellNoise:
    """Shares as arcsines, whose variance is that of a quarter of a trial; runs may differ by more."""
    trials, units, mean = (part[index] for part in (found.trials, found.units, found.mean))
    share = np.where(trials > 0, (mean * trials + 0.375) / (trials + 0.75), np.nan)
    spare = np.maximum(units - 1, 0.0)
    with np.errstate(invalid="ignore"):
        alone = np.where(spare > 0, mean * (1 - mean) * ratio(units, trials) * spare, 0.0)
    excess = float(
        np.nansum(np.where(spare > 0, found.unit_square[index], 0.0))
        / max(np.nansum(alone), 1e-300)
    )
    variance = np.where(trials > 0, max(excess, 1.0) / (4 * trials + 2) * units, np.nan)
    return CellNoise(
        np.arcsin(np.sqrt(share)), variance, np.where(trials > 0, MOST_DEGREES, 0.0), units, True
    )


def _kurtosis(seen: Observations, found: Moments, index: int) -> float:
    """Excess kurtosis of units within cells, pooled, each task in its own unit; 0 with fewer than four."""
    cells = found.units[index]
    off = seen.mean[index] - found.mean[index].ravel()[seen.cell]
    known = np.isfinite(off)
    second, fourth = (
        np.bincount(seen.cell[known], off[known] ** power, minlength=cells.size).reshape(
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
    """Which tasks are drawn, and the means and variances of their cells [agents, drawn tasks]."""
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
    cell_prior = Prior(MOST_DEGREES, 1.0)
    if not noise.exact:
        beside = (noise.variance / pooled[usable])[:, again]
        cell_prior = matched(beside.ravel(), noise.degrees[:, again].ravel())
    louder, total = spread.drawn(spread.prior(again), rng)
    if noise.exact:
        variance = noise.variance
    else:
        known = np.where(noise.degrees > 0, noise.degrees * noise.variance, 0.0)
        sums = cell_prior.degrees * cell_prior.variance * pooled[usable] * louder + known
        variance = sums / rng.chisquare(cell_prior.degrees + noise.degrees)
    squared = np.maximum(total - error[usable] * louder, 0.0)
    return usable, _means(noise, squared, variance, rng), variance


def _means(noise: CellNoise, squared: Floats, variance: Floats, rng: np.random.Generator) -> Floats:
    """Draw true means of cells, given the variance between agents on each task and that of units."""
    error = variance / np.maximum(noise.units, 1)
    seen = np.isfinite(noise.mean)
    weight = np.where(seen, 1 / (squared + error), 0.0)
    total = weight.sum(axis=0)
    centre = np.where(seen, weight * noise.mean, 0.0).sum(axis=0) / total
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
        """What variances between agents are like beside noise, by some tasks; None where they are few."""
        if len(self.between) < FEWEST_TASKS:
            return None
        part = _Spread(*(each[tasks] for each in self))
        return matched(part.between / part.error, part.degrees, part.error_degrees)

    def drawn(self, prior: Prior | None, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw how much louder than estimated noise is on each task, and the variance of agents' means.

        Noise is drawn by its own estimate and by what it makes of the variance between agents.
        """
        half = self.degrees[:, None] / 2
        log = -0.5 * self.error_degrees[:, None] * (_GRID + np.exp(-_GRID))
        degrees, variance = (0.0, 1.0) if prior is None else prior
        if prior is not None:
            beside = (self.between / self.error)[:, None] * np.exp(-_GRID) / variance
            log = log + half * np.log(beside)
            log -= (half + degrees / 2) * np.log1p(2 * half * beside / degrees)
        louder = np.exp(_GRID[np.argmax(log + rng.gumbel(size=log.shape), axis=1)])
        sums = degrees * variance * self.error * louder + self.degrees * self.between
        return louder, sums / rng.chisquare(degrees + self.degrees)


def matched(variance: Floats, degrees: Floats, other: Floats | None = None) -> Prior:
    r"""Match a scaled inverse χ² to estimated variances, by mean and variance of their logarithms.

    .. math:: \operatorname{Var} \log s^2 = \psi'(d / 2) + \psi'(\nu / 2), \qquad
              \operatorname{E} \log s^2 = \log \sigma^2 + \psi(d/2) - \log(d/2) - \psi(\nu/2) + \log(\nu/2)

    With `other`, estimates are ratios to variances with so many degrees of freedom.

    References: Smyth (2004), section 6.2.

    >>> rng = np.random.default_rng(0)
    >>> true = 2.0 * 8 / rng.chisquare(8, size=4000)
    >>> found = matched(true * rng.chisquare(4, size=4000) / 4, np.full(4000, 4.0))
    >>> round(found.degrees), round(found.variance)
    (8, 2)
    """
    from scipy.special import digamma, polygamma  # slow to import

    known = (variance > 0) & (degrees > 0)
    if known.sum() < FEWEST_TASKS:
        return Prior(MOST_DEGREES, 1.0)
    half = degrees[known] / 2
    logs = np.log(variance[known]) - digamma(half) + np.log(half)
    excess = -float(polygamma(1, half).mean())
    if other is not None:
        half = np.maximum(other[known], 1e-3) / 2
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
