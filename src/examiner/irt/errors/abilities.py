"""What the errors of tasks do to the abilities of fitted agents, from the scores of these agents.

The formula is that of `agent_posterior`; abilities are N(0, 1) here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.freedom import Scores
from examiner.irt.items import Floats
from examiner.irt.model import Model
from examiner.irt.parameter_covariance import ParameterCovariance


class AbilityErrors(NamedTuple):
    """Posterior variances of abilities, what the errors of tasks add, and what is shared of that.

    Shapes [agents], [agents] and [agents, directions]; abilities are N(0, 1).
    """

    own: Floats
    added: Floats
    shared: Floats


def ability_errors(
    scores: Scores, covariance: ParameterCovariance, model: Model, population_sd: float
) -> AbilityErrors:
    """Return the errors of the agents that `scores` are of, and J times the covariance's directions."""
    parts: list[tuple[NDArray[np.intp], Floats, Floats, Floats]] = []
    for rows, _, deviation, moves in moved_means(scores, model, population_sd):
        shared = moves @ covariance.directions.astype(moves.dtype)
        shared = np.asarray(shared, dtype=np.float64)
        parts.append((rows, deviation**2, covariance.variances(moves), shared))
    order = np.argsort(np.concatenate([rows for rows, *_ in parts]), kind="stable")
    own, added, shared = (
        np.concatenate(part)[order] for part in list(zip(*parts, strict=True))[1:]
    )
    return AbilityErrors(own, added, shared)


def moved_means(
    scores: Scores, model: Model, population_sd: float
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats]]:
    """Yield rows of agents, their posterior means and deviations, and J of them [agents, size]."""
    for rows, mean, deviation, moves in scores.moves():
        if model.unit_slopes:  # the ability shown is the shared slope times θ: both move
            moves[:, scores.freedom.columns("slope")[0]] += mean / population_sd
        yield rows, mean, deviation, moves
