r"""What the errors of tasks do to the abilities of agents, whoever tells how these move with tasks.

.. math:: \operatorname{Var}(\hat\theta_j) = s_j^2 + J_j \Sigma J_j^\top

with :math:`s_j` the posterior's deviation, Σ the covariance of all parameters of tasks, and
:math:`J_j = \partial \mathrm{E}_j[\theta] / \partial\beta`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.covariance import JointCovariance
from examiner.irt.errors.freedom import Scores
from examiner.irt.items import Floats
from examiner.irt.model import Model


class AbilityErrors(NamedTuple):
    """Posterior variances of abilities, what the errors of tasks add, and what is shared of that.

    Shapes [agents], [agents] and [agents, directions]; abilities are N(0, 1).
    """

    own: Floats
    added: Floats
    shared: Floats


def ability_errors(
    scores: Scores,
    together: JointCovariance,
    directions: Floats,
    model: Model,
    population_sd: float,
) -> AbilityErrors:
    """Return the errors of the agents that `scores` are of, and J times directions [size, n]."""
    found: list[tuple[NDArray[np.intp], Floats, Floats, Floats]] = []
    for rows, spread, moves in moved_means(scores, model, population_sd):
        shared = np.asarray(moves @ directions.astype(moves.dtype), dtype=np.float64)
        found.append((rows, spread**2, np.maximum(together.variances(moves), 0.0), shared))
    order = np.argsort(np.concatenate([rows for rows, *_ in found]), kind="stable")
    own, added, shared = (
        np.concatenate(part)[order] for part in list(zip(*found, strict=True))[1:]
    )
    return AbilityErrors(own, added, shared)


def moved_means(
    scores: Scores, model: Model, population_sd: float
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Yield rows of agents, their posterior deviations, and J of them [agents, size]."""
    for rows, mean, spread, moves in scores.moves():
        if model.unit_slopes:  # θ told is the shared slope times θ: both move
            moves[:, scores.freedom.columns("slope")[0]] += mean / population_sd
        yield rows, spread, moves
