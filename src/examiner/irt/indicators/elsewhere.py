"""What is told of agents whose responses are elsewhere: their means and abilities."""

from __future__ import annotations

import numpy as np

from examiner.irt.fitted import IRTFit
from examiner.irt.indicators.comparison import IndicatorCorrelations, leading
from examiner.irt.indicators.generality import Indicators

NOT_HERE = (
    "Responses were fitted where they lie: there are no tests of whether agents or tasks differ or tasks "
    "are flat, and no regularity, generality and curves of agents, which need responses here."
)


def indicators_without_responses(fit: IRTFit) -> Indicators:
    """Return the means and abilities of a fit's agents, and NaN for what only responses tell.

    >>> from examiner.irt import ItemParameters, known
    >>> made = indicators_without_responses(known(ItemParameters.of(["t"], [1.0], [0.0])))
    >>> made.notes[0]
    'Responses were fitted where they lie: ...'
    """
    nothing = np.full(len(fit.abilities.agents), np.nan)
    return Indicators(
        agents=fit.abilities.agents,
        mean=nothing if fit.means is None else fit.means,
        ability=fit.abilities.ability,
        ability_error=fit.abilities.error,
        regularity=nothing,
        generality=nothing,
        slope=nothing,
        flags=tuple(() for _ in nothing),
        bins=None,
        curves=None,
        correlations=IndicatorCorrelations.from_rows(()),
        notes=(NOT_HERE,),
        leading=leading(fit.abilities, fit.evidence) if len(nothing) else (),
    )
