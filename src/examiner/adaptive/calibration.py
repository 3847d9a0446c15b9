"""Calibration: what a fit, or parameters given by hand, say of tasks, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from examiner.adaptive.anchoring import Anchor, anchor_of
from examiner.adaptive.versions import (
    ScaleVariance,
    Uncertainty,
    likely_parameters,
    scale_variance,
)
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.wording import InputError, unknown_name

_HAND_MADE_AGENTS = 100
_MOVED = 0.1
"""A scale that moves by more than this is spoken of."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Parameters of tasks, equally likely versions of them, and the scale they are on.

    `landmarks` are ability and error of each agent of the fit; `agents` is how many were calibrated on.
    """

    items: ItemParameters
    versions: tuple[ItemParameters, ...]
    anchor: Anchor
    scale: ScaleVariance
    population_sd: float
    agents: int
    landmarks: Mapping[str, tuple[float, float]]
    uncertainty: Uncertainty
    notes: tuple[str, ...]


def calibration_of(
    source: IRTFit | ItemParameters, uncertainty: Uncertainty, versions: int
) -> Calibration:
    """Return what is known of tasks; with `uncertainty` "none" the fit is taken at its word."""
    if uncertainty not in get_args(Uncertainty):
        raise unknown_name("uncertainty", uncertainty, get_args(Uncertainty))
    if isinstance(source, ItemParameters):
        return _exact(source, None)
    if not isinstance(source, IRTFit):
        raise InputError(
            f"A bank is made of a fit or of task parameters, not of a {type(source).__name__}."
        )
    if uncertainty == "none":
        return _exact(source.items, source)
    anchor = Anchor() if source.priors is None else anchor_of(source)
    notes = _moved_scale(source, anchor)
    if source.errors is None:
        notes += (
            "The fit has no standard errors of its tasks, so that the stated errors leave them out. "
            "Fit again with standard errors.",
        )
        items = source.items.rescaled(*anchor)
        drawn: tuple[ItemParameters, ...] = (items,)
    else:
        likely = likely_parameters(source, source.errors)
        items, drawn = likely.centre(anchor), likely.versions(versions, anchor)
    return Calibration(
        items,
        drawn,
        anchor,
        scale_variance(source)
        if uncertainty == "all" and source.errors is not None
        else ScaleVariance(0.0, 0.0),
        source.population_sd,
        len(source.abilities.agents) or _HAND_MADE_AGENTS,
        _landmarks(source, anchor),
        uncertainty if source.errors is not None else "none",
        notes,
    )


def _exact(items: ItemParameters, fit: IRTFit | None) -> Calibration:
    return Calibration(
        items,
        (items,),
        Anchor(),
        ScaleVariance(0.0, 0.0),
        1.0 if fit is None else fit.population_sd,
        (len(fit.abilities.agents) if fit is not None else 0) or _HAND_MADE_AGENTS,
        {} if fit is None else _landmarks(fit, Anchor()),
        "none",
        (
            "The task parameters are taken as exact: the stated errors leave theirs out.",
            *(() if fit is None or fit.priors is None else _fit_scale(anchor_of(fit))),
        ),
    )


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
