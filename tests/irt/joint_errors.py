"""The errors that a fit states for tasks, of any parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.irt import (
    ItemParameters,
    JointErrors,
    Model,
    Priors,
    Quadrature,
    SlopeScale,
    TaskErrors,
)
from examiner.results import ResponseMatrix


def task_errors(
    matrix: ResponseMatrix,
    items: ItemParameters,
    model: Model,
    priors: Priors | None,
    rule: Quadrature,
    population_sd: float = 1.0,
) -> TaskErrors:
    named = items.named(matrix.tasks)
    return JointErrors.of(matrix, named, model, priors, rule, population_sd).tasks


def observed_information(
    matrix: ResponseMatrix,
    items: ItemParameters,
    model: Model,
    priors: Priors | None,
    rule: Quadrature,
    scale: SlopeScale | None = None,
) -> NDArray[np.float64]:
    """The information of all parameters, task by task."""
    return JointErrors.of(matrix, items, model, priors, rule, scale=scale).information.whole()
