"""Calibration: what a fit, or parameters given by hand, say of tasks, and how far they can be trusted.

The zero and unit of a bank are the mean and spread of the agents calibrated on. Under maximum likelihood
a fit's agents have the mean and spread that the model says, N(0, σ²). Priors on the parameters of many
tasks, with few agents, can pull the whole scale away from that: 500 tasks with slopes near 1.4 and a prior
at 1 make 45 agents look half as spread again. A new agent's ability is then neither N(0, σ²) nor what its
error says. So the agents' own mean and spread are found, and the scale moved (`anchor_of`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from examiner.adaptive.versions import (
    CERTAIN,
    ScaleVariance,
    Uncertainty,
    likely_parameters,
    scale_variance,
)
from examiner.irt import IRTFit, ItemParameters
from examiner.messages import InputError
from examiner.validation import check_known

_VERSIONS = 32
"""Sets of parameters over which likelihoods are averaged."""
_HAND_MADE_AGENTS = 100
"""So many agents are spoken of where parameters were given without any."""
_TAKEN_AS_EXACT = "The task parameters are taken as exact: the stated errors leave theirs out."
_MOVED = 0.1
"""A scale that moves by more than this is spoken of."""
_ROUNDS = 200
"""Enough for the mean and spread of a few agents to settle to every digit shown."""
_FEWEST = 5
"""Fewer agents say nothing of a spread."""


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
    known, sd = fit.abilities, fit.population_sd
    ability, error = known.ability, known.error if known.posterior is None else known.posterior
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


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Parameters of tasks, equally likely versions of them, and the scale they are on.

    `fit` is where they come from, None where they were given by hand. `landmarks` are ability and error
    of each of its agents, on the bank's scale.
    """

    fit: IRTFit | None
    items: ItemParameters
    versions: tuple[ItemParameters, ...]
    uncertainty: Uncertainty
    landmarks: Mapping[str, tuple[float, float]]
    notes: tuple[str, ...]
    anchor: Anchor
    scale: ScaleVariance

    @property
    def agents(self) -> int:
        """How many agents were calibrated on."""
        return len(self.landmarks) or _HAND_MADE_AGENTS

    @property
    def population_sd(self) -> float:
        """Standard deviation of the abilities of the population."""
        return 1.0 if self.fit is None else self.fit.population_sd


def calibration_of(source: IRTFit | ItemParameters, uncertainty: Uncertainty) -> Calibration:
    """Return what is known of tasks; with `uncertainty` "none" the fit is taken at its word."""
    check_known("uncertainty", uncertainty, get_args(Uncertainty))
    if isinstance(source, ItemParameters):
        return _exact(None, source, Anchor(), (_TAKEN_AS_EXACT,))
    if not isinstance(source, IRTFit):
        raise InputError(
            f"A bank is made of a fit or of task parameters, not of a {type(source).__name__}."
        )
    free = source.priors is None or source.slope_scale is not None
    anchor = Anchor() if free else anchor_of(source)
    if uncertainty == "none":
        notes = (_TAKEN_AS_EXACT, *(() if free else _fit_scale(anchor)))
        return _exact(source, source.items, Anchor(), notes)
    moved = _moved_scale(source, anchor)
    if source.errors is None:
        lacking = (
            "The fit has no standard errors of its tasks, so that the stated errors leave them out. "
            "Fit again with standard errors."
        )
        return _exact(source, source.items.rescaled(*anchor), anchor, (*moved, lacking))
    likely = likely_parameters(source, source.errors)
    return Calibration(
        source,
        likely.centre.rescaled(*anchor),
        tuple(version.rescaled(*anchor) for version in likely.versions(_VERSIONS)),
        uncertainty,
        _landmarks(source, anchor),
        moved,
        anchor,
        scale_variance(source) if uncertainty == "all" else CERTAIN,
    )


def _exact(
    fit: IRTFit | None, items: ItemParameters, anchor: Anchor, notes: tuple[str, ...]
) -> Calibration:
    marks = {} if fit is None else _landmarks(fit, anchor)
    return Calibration(fit, items, (items,), "none", marks, notes, anchor, CERTAIN)


def _landmarks(fit: IRTFit, anchor: Anchor) -> dict[str, tuple[float, float]]:
    known = fit.abilities
    return {
        agent: (anchor.to_bank(float(ability)), float(error) / anchor.unit)
        for agent, ability, error in zip(known.agents, known.ability, known.error, strict=True)
    }


def _fit_scale(anchor: Anchor) -> tuple[str, ...]:
    return (
        f"Abilities here are on the scale of the fit. With other errors counted they are on that of its "
        f"agents: this ability less {anchor.zero:.2f}, divided by {anchor.unit:.2f}.",
    )


def _moved_scale(fit: IRTFit, anchor: Anchor) -> tuple[str, ...]:
    if abs(anchor.zero) <= _MOVED * fit.population_sd and abs(anchor.unit - 1) <= _MOVED:
        return ()
    return (
        f"On the fit's scale its agents have a mean of {anchor.zero:.2f} and a spread of "
        f"{anchor.unit * fit.population_sd:.2f}, where its model says 0 and {fit.population_sd:.2f}. "
        f"Abilities here are on the agents' own scale; the fit's ability is {anchor.zero:.2f} + "
        f"{anchor.unit:.2f} × ability.",
    )
