"""What misfit looks like when the model is true: responses drawn from a fit, and examined the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from examiner.irt.diagnostics.residuals import Residuals, residuals
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.posterior import posterior_blocks
from examiner.irt.simulate import simulate
from examiner.results import ResponseMatrix

Progress = Callable[[str, int, int], None]
Refit = Callable[[ResponseMatrix], tuple[ItemParameters, float]]
"""From responses to task parameters, in the order of its tasks, and the population's sd."""


class View(NamedTuple):
    """Responses as an examiner sees them: posterior means, log f(x | mean) of agents, residuals."""

    ability: Floats
    weights: Floats
    log_likelihood: Floats
    residuals: Residuals


def view(
    matrix: ResponseMatrix, items: ItemParameters, rule: Quadrature, population_sd: float
) -> View:
    """Place the agents of a matrix by EAP under known parameters, and take what is left over."""
    weights = np.empty((len(matrix.agents), len(rule)))
    ability, fit = np.empty((2, len(matrix.agents)))
    kernel = kernel_for(items.response, matrix)
    for block, _, some in posterior_blocks(matrix, items, rule, population_sd=population_sd):
        weights[block.rows] = some
        ability[block.rows] = population_sd * (some @ rule.nodes)
        own = kernel.terms(curves(items, ability[block.rows]), items.precision)
        fit[block.rows] = block.constant + sum(
            (data * term.T).sum(axis=1) for data, term in zip(block.statistics, own, strict=True)
        )
    return View(ability, weights, fit, residuals(matrix, items, ability))


def replicates(
    matrix: ResponseMatrix,
    items: ItemParameters,
    seen: View,
    rule: Quadrature,
    population_sd: float,
    *,
    count: int,
    rng: np.random.Generator,
    refit: Refit | None = None,
    progress: Progress | None = None,
) -> Iterator[View]:
    """Yield `count` views of responses drawn from the model, with the cells and trials of the matrix.

    Each agent's ability is drawn from its own posterior. With `refit` task parameters are estimated
    anew from each draw, since estimates fit their own data better than the truth does; without it
    they are taken as known.
    """
    trials = matrix.trials if matrix.is_counts else matrix.observed.astype(np.int64)
    for done, child in enumerate(rng.spawn(count)):
        if progress is not None:
            progress("simulating", done, count)
        drawn = population_sd * _draw(seen.weights, rule.nodes, child)
        made = simulate(items, drawn, trials=trials, rng=child, agents=matrix.agents)
        judged = (items, population_sd) if refit is None else refit(made)
        yield view(made, judged[0], rule, judged[1])
    if progress is not None:
        progress("simulating", count, count)


def _draw(weights: Floats, nodes: Floats, rng: np.random.Generator) -> Floats:
    """One ability from each posterior: a node by its weight, then evenly up to halfway to the next."""
    sums = np.cumsum(weights, axis=1)
    sums /= sums[:, -1:]
    place = (sums < rng.random((weights.shape[0], 1))).sum(axis=1)
    middles = 0.5 * (nodes[1:] + nodes[:-1])
    edges = np.concatenate([nodes[:1], middles, nodes[-1:]])
    return np.asarray(edges[place] + rng.random(place.size) * (edges[place + 1] - edges[place]))


def merged_items(old: ItemParameters, new: ItemParameters) -> ItemParameters:
    """Return new parameters in the order of the old ones, which stand in for tasks that are missing.

    The scale is turned where the old one points the other way.
    """
    place = {task: column for column, task in enumerate(new.tasks)}
    chosen = np.array([place.get(task, -1) for task in old.tasks])
    known = chosen >= 0
    sign = -1.0 if new.slope[chosen[known]] @ old.slope[known] < 0 else 1.0

    def pick(newer: Floats, older: Floats) -> Floats:
        return np.where(known, newer[chosen], older)

    precision = None
    if old.precision is not None and new.precision is not None:
        precision = pick(new.precision, old.precision)
    return ItemParameters.of(
        old.tasks,
        pick(sign * new.slope, old.slope),
        pick(new.intercept, old.intercept),
        guessing=pick(new.guessing, old.guessing),
        ceiling=pick(new.ceiling, old.ceiling),
        precision=precision,
        response=old.response,
    )
