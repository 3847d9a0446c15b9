"""A fit from parameters that were estimated elsewhere or published, to place agents on."""

from __future__ import annotations

import numpy as np

from examiner.irt.ability import abilities as abilities_of
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.fitted import Abilities, FitOutcome, IRTFit, Starts
from examiner.irt.items import ItemParameters
from examiner.irt.posterior import log_likelihood, quadrature_for
from examiner.results import ResponseMatrix
from examiner.scores.recipe import Recipe


def known(
    items: ItemParameters,
    matrix: ResponseMatrix | None = None,
    *,
    abilities: Abilities | None = None,
    population_sd: float = 1.0,
    nodes: int | Quadrature | None = None,
    model: str = "2pl",
    recipe: Recipe | None = None,
) -> IRTFit:
    """Return a fit with these task parameters as they are.

    With responses, the log-likelihood of the parameters is taken and agents get abilities (posterior
    means), unless `abilities` gives them. Tasks of the matrix without parameters are an error.

    >>> items = ItemParameters.of(["t", "u"], slope=[1.0, 1.0], intercept=[0.0, 0.0])
    >>> matrix = ResponseMatrix.from_array([[1, 1], [0, 0]], tasks=["t", "u"])
    >>> known(items, matrix).abilities.ability.round(3)
    array([ 0.704, -0.704])
    """
    likely = float("nan")
    if matrix is None:
        rule = Quadrature.for_items(items)
    else:
        items = items.named(matrix.tasks)
        rule = quadrature_for(nodes, items.rescaled(0.0, population_sd), matrix)
        likely = log_likelihood(matrix, items, rule, population_sd=population_sd)
        if abilities is None:
            abilities = abilities_of(matrix, items, population_sd=population_sd, nodes=rule)
    if abilities is None:
        abilities = Abilities((), np.empty(0), np.empty(0), "none given")
    return IRTFit(
        model=model,
        estimator="ml",
        items=items,
        abilities=abilities,
        population_sd=population_sd,
        log_likelihood=likely,
        objective=likely,
        outcome=FitOutcome.GIVEN,
        converged=True,
        iterations=0,
        starts=Starts((), 0),
        quadrature=rule,
        priors=None,
        flags=tuple(() for _ in items.tasks),
        matrix=matrix,
        recipe=recipe,
    )
