"""The errors that a fit states for tasks, of any parameters."""

from __future__ import annotations

from examiner.irt import ItemParameters, Model, Priors, Quadrature, TaskErrors
from examiner.irt.errors.joint import JointErrors
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
    return JointErrors(matrix, named, model, priors, rule, population_sd).tasks
