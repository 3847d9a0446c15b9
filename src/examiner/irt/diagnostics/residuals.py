"""What is left of responses once abilities and curves have had their say: infit, outfit, odd agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.cutoffs import RARE, by_chance_among_all
from examiner.irt.items import SCORES, Floats, ItemParameters, curves
from examiner.irt.outcomes import expected_result, result_variance
from examiner.results import ResponseMatrix

_LEAST = 1e-12


class Residuals(NamedTuple):
    """Response minus expectation and the variance expected of it, [agents, tasks].

    Both are 0 in cells that were not observed; `observed` says which.
    """

    difference: Floats
    variance: Floats
    observed: NDArray[np.bool_]

    def standardised(self) -> Floats:
        """Differences over expected standard deviations; 0 in cells that were not observed."""
        return self.difference / np.sqrt(np.where(self.observed, self.variance, 1.0))


def residuals(matrix: ResponseMatrix, items: ItemParameters, ability: Floats) -> Residuals:
    """Return k − nP with variance nP(1 − P)(1 + (n − 1)ρ), or a score less its expectation.

    ρ = 1 / (1 + ν) is how trials of one cell correlate under the beta-binomial, 0 otherwise.
    """
    if items.response in SCORES:
        scores, observed = matrix.to_numpy(), matrix.observed
        expected, variance = (of(items, ability).T for of in (expected_result, result_variance))
        difference = np.where(observed, scores - expected, 0.0)
        return Residuals(
            difference, np.where(observed, np.maximum(variance, _LEAST), 0.0), observed
        )
    shape = curves(items, ability)
    # The variance may not vanish: a surprise where none is possible counts as very large.
    chance, other = shape.success.T, shape.failure.T
    spread = np.maximum(chance * other, _LEAST)
    tried = matrix.trials.astype(np.float64)
    alike = np.zeros(len(items)) if items.precision is None else 1.0 / (1.0 + items.precision)
    variance = tried * spread * (1.0 + np.maximum(tried - 1.0, 0.0) * alike)
    return Residuals(matrix.successes - tried * chance, variance, matrix.observed)


def mean_squares(found: Residuals, axis: int = 0) -> tuple[Floats, Floats]:
    """Return infit Σr²/ΣV and outfit mean(r²/V), per task (axis 0) or per agent (axis 1).

    References: Wright & Masters (1982), pp. 99-105.
    """
    squares = found.difference**2
    seen = found.observed.sum(axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        infit = squares.sum(axis=axis) / found.variance.sum(axis=axis)
        outfit = (found.standardised() ** 2).sum(axis=axis) / seen
    return np.where(seen > 0, infit, np.nan), np.where(seen > 0, outfit, np.nan)


@dataclass(frozen=True, slots=True)
class MeanSquareFit:
    """Mean squared residuals of each task at posterior means, 1 where the curve is right.

    `infit` weighs agents by information and so looks at those near the difficulty; `outfit` weighs
    all alike and so looks at surprises far from it. Low and high ends span 95 % of what the same
    task gives in data drawn from the model. Above: noise, or a curve that is too steep. Below:
    responses more orderly than the curve says.
    """

    tasks: tuple[str, ...]
    infit: Floats
    outfit: Floats
    infit_low: Floats
    infit_high: Floats
    outfit_low: Floats
    outfit_high: Floats

    @property
    def misfit(self) -> NDArray[np.bool_]:
        """Whether infit or outfit lies outside what the model gives."""
        with np.errstate(invalid="ignore"):
            inside = (self.infit >= self.infit_low) & (self.infit <= self.infit_high)
            inside &= (self.outfit >= self.outfit_low) & (self.outfit <= self.outfit_high)
        return ~inside & np.isfinite(self.infit)


def mean_square_fit(
    tasks: tuple[str, ...], found: tuple[Floats, Floats], drawn: tuple[Floats, Floats]
) -> MeanSquareFit:
    """Compare infit and outfit with those of draws, each [draws, tasks]."""
    infit_low, infit_high = np.quantile(drawn[0], [0.025, 0.975], axis=0)
    outfit_low, outfit_high = np.quantile(drawn[1], [0.025, 0.975], axis=0)
    return MeanSquareFit(tasks, *found, infit_low, infit_high, outfit_low, outfit_high)


@dataclass(frozen=True, slots=True)
class AgentFit:
    """How likely each agent's responses are at its own ability, beside draws from the model.

    `log_likelihood` is l₀ = log f(x | ability); `lz` is (l₀ − mean) / sd with mean and sd of the
    same statistic in responses drawn from the model for the same agent, abilities estimated anew
    (so that its mean is 0 and its sd 1, which those of the formula of Drasgow, Levine & Williams
    (1985) are not once ability is estimated). `p_value` is the share of draws at most as likely.
    `adjusted` is the share of tables drawn in which any agent is as odd, beside the others of its
    table, and `odd` marks those of at most 0.05: hard tasks solved and easy ones failed. So one table in
    twenty has any odd agent by chance. infit and outfit are the mean squared residuals of the agent.
    """

    agents: tuple[str, ...]
    log_likelihood: Floats
    lz: Floats
    p_value: Floats
    adjusted: Floats
    infit: Floats
    outfit: Floats
    odd: NDArray[np.bool_]


def agent_fit(
    agents: tuple[str, ...],
    log_likelihood: Floats,
    drawn: Floats,
    mean_squares: tuple[Floats, Floats],
) -> AgentFit:
    """Compare each agent's log-likelihood with draws [draws, agents]."""
    spread = drawn.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        lz = np.where(spread > 0, (log_likelihood - drawn.mean(axis=0)) / spread, np.nan)
    slack = 1e-9 * (1 + np.abs(log_likelihood))
    p_value = (1 + (drawn <= log_likelihood + slack).sum(axis=0)) / (1 + drawn.shape[0])
    adjusted = by_chance_among_all(log_likelihood, drawn)
    with np.errstate(invalid="ignore"):
        odd = adjusted <= RARE + 1e-12
    return AgentFit(agents, log_likelihood, lz, p_value, adjusted, *mean_squares, odd)
