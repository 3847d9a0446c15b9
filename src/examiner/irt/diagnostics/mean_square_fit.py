"""Infit and outfit of tasks, with cut-offs from data drawn from the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats


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
