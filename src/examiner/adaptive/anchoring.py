"""The scale of a bank: its zero and unit are the mean and spread of the agents calibrated on.

Under maximum likelihood a fit's agents have the mean and spread that the model says, N(0, σ²). Priors
on the parameters of many tasks, with few agents, can pull the whole scale away from that: 500 tasks with
slopes near 1.4 and a prior at 1 make 45 agents look half as spread again. A new agent's ability is then
neither N(0, σ²) nor what its error says. So the agents' own mean and spread are found, and the scale moved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.fitted import IRTFit

_ROUNDS = 200
_FEWEST = 5


class Anchor(NamedTuple):
    """θ = zero + unit · θ': the fit's ability θ from the bank's θ'."""

    zero: float = 0.0
    unit: float = 1.0

    def to_bank(self, ability: float) -> float:
        """Return the bank's ability for one of the fit."""
        return (ability - self.zero) / self.unit

    def to_fit(self, ability: float) -> float:
        """Return the fit's ability for one of the bank."""
        return self.zero + self.unit * ability


def anchor_of(fit: IRTFit) -> Anchor:
    """Find the mean and spread of the fit's agents, as multiples of the population's.

    What the answers alone say of agent j is near N(l, v) with 1/v = 1/e² − 1/σ² and l = v θ̂ / e², θ̂ and e
    its posterior mean and deviation. The mean and spread of all are those that make these most likely.
    """
    ability, error, sd = fit.abilities.ability, fit.abilities.error, fit.population_sd
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = 1.0 / error**2 - 1.0 / sd**2
        told = np.isfinite(precision) & np.isfinite(ability) & (precision * sd**2 > 0.05)
    if told.sum() < _FEWEST:
        return Anchor()
    variance = 1.0 / precision[told]
    centre = variance * ability[told] / error[told] ** 2
    mean, square = 0.0, sd**2
    for _ in range(_ROUNDS):
        kept = 1.0 / (1.0 / variance + 1.0 / square)
        expected = kept * (centre / variance + mean / square)
        mean = float(expected.mean())
        square = float((kept + (expected - mean) ** 2).mean())
    return Anchor(mean, float(np.sqrt(square)) / sd)
