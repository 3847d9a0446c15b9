"""Agents under known task parameters: abilities by EAP, MAP or ML, and a fit to place others on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from examiner.irt.estimation.kernels import Kernel, kernel_for
from examiner.irt.fitted import Abilities, FitOutcome, IRTFit, Starts
from examiner.irt.items import Floats, ItemParameters, curves, rise
from examiner.irt.posterior import (
    AgentBlock,
    Quadrature,
    agent_blocks,
    log_likelihood,
    moments,
    posterior_blocks,
    quadrature_for,
)
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import Recipe
from examiner.validation import check_known

AbilityMethod = Literal["eap", "map", "ml"]

_WORDS = {
    "eap": "posterior means and standard deviations",
    "map": "posterior modes; errors by the curvature there",
    "ml": "maximum likelihood; errors by the curvature there",
}
_FAR = 1e9
"""An ability at which every curve with a slope has reached its end."""
_STEP = 1e-4


def abilities(
    matrix: ResponseMatrix,
    items: ItemParameters,
    *,
    method: AbilityMethod = "eap",
    population_sd: float = 1.0,
    nodes: int | Quadrature | None = None,
) -> Abilities:
    r"""Place agents on the scale of known tasks, each with a standard error.

    `eap`: mean and standard deviation of the posterior p(θ | x) ∝ Πᵢ f(xᵢ | θ) N(θ; 0, σ²).
    `map`: its highest point, with the error 1 / √(−∂² log p). `ml`: the highest point of the
    likelihood alone: infinite where an agent has the best (or worst) possible result on every task
    it met, which `notes` says, and NaN where it met none. Cells that were not observed are left out.

    Slopes of both signs and guessing can give a likelihood several peaks. So the highest node of a
    grid as fine as the tasks need is found first, and then a Newton iteration kept between its two
    neighbours.

    References: Bock & Mislevy (1982), for EAP; Samejima (1969), for MAP.

    >>> items = ItemParameters.of(["t", "u"], slope=[1.0, 1.0], intercept=[0.0, 0.0])
    >>> matrix = ResponseMatrix.from_array([[1, 1], [1, 0]], tasks=["t", "u"])
    >>> abilities(matrix, items).ability[0].round(3)
    np.float64(0.704)
    >>> abilities(matrix, items, method="ml").ability[0]
    np.float64(inf)
    """
    check_known("method", method, get_args(AbilityMethod))
    matched, rule = _matched(matrix, items, nodes, population_sd)
    if method == "eap":
        return _posterior_means(matrix, matched, rule, population_sd)
    ability, errors = np.empty((2, len(matrix.agents)))
    kernel, grid = kernel_for(matched.response, matrix, matched), population_sd * rule.nodes
    if method == "ml":
        grid = _reach(grid, matched)
    heights = _Heights(kernel, matched, population_sd**-2 if method == "map" else 0.0)
    for block in agent_blocks(matrix, kernel, width=len(rule)):
        ability[block.rows], errors[block.rows] = heights.tops(block, grid)
    return Abilities(matrix.agents, ability, errors, _WORDS[method], _notes(ability))


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
        items, rule = _matched(matrix, items, nodes, population_sd)
        likely = log_likelihood(matrix, items, rule, population_sd=population_sd)
        if abilities is None:
            abilities = _posterior_means(matrix, items, rule, population_sd)
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


def _matched(
    matrix: ResponseMatrix,
    items: ItemParameters,
    nodes: int | Quadrature | None,
    population_sd: float,
) -> tuple[ItemParameters, Quadrature]:
    """The parameters of the matrix's tasks, and nodes for abilities in units of the population's."""
    if not (np.isfinite(population_sd) and population_sd > 0):
        raise InputError(
            f"The population's standard deviation is {population_sd}. It must be above 0."
        )
    matched = items.named(matrix.tasks)
    return matched, quadrature_for(nodes, matched, matrix, population_sd)


def _posterior_means(
    matrix: ResponseMatrix, items: ItemParameters, rule: Quadrature, population_sd: float
) -> Abilities:
    ability, errors = np.empty((2, len(matrix.agents)))
    for part in posterior_blocks(matrix, items, rule, population_sd=population_sd):
        mean, variance = moments(part.weights, population_sd * rule.nodes)
        ability[part.block.rows], errors[part.block.rows] = mean, np.sqrt(variance)
    return Abilities(matrix.agents, ability, errors, _WORDS["eap"], _notes(ability))


def _notes(ability: Floats) -> tuple[str, ...]:
    notes = []
    infinite = int(np.isinf(ability).sum())
    if infinite:
        notes.append(
            f"The likelihood of {counted(infinite, 'agent')} rises without end (the best or the worst "
            f"possible result on every task, or no better than guessing): ability is infinite. "
            f"Use EAP or MAP."
        )
    unseen = int(np.isnan(ability).sum())
    if unseen:
        notes.append(
            f"{counted(unseen, 'agent')} met no task, so that nothing is known of ability."
        )
    return tuple(notes)


def _reach(nodes: Floats, items: ItemParameters) -> Floats:
    """The grid, run on to both sides until every task has long turned."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = (np.abs(items.intercept) + 40.0) / np.abs(items.slope)
    end = float(np.clip(np.max(turns[np.isfinite(turns)], initial=0.0), nodes[-1] + 10, 1e4))
    tail = nodes[-1] + np.geomspace(0.25, end - nodes[-1], 80)
    return np.concatenate([-tail[::-1] + nodes[0] + nodes[-1], nodes, tail])


@dataclass(frozen=True, slots=True)
class _Heights:
    """log f(x | θ) − pull · θ² / 2 of agents, and where it is highest."""

    kernel: Kernel
    items: ItemParameters
    pull: float

    def tops(self, block: AgentBlock, grid: Floats) -> tuple[Floats, Floats]:
        """The highest point of each agent, and the error by the curvature there."""
        height = block.log_likelihoods(self._terms(grid)) - 0.5 * self.pull * grid**2
        best = height.argmax(axis=1)
        low = grid[np.maximum(best - 1, 0)]
        high = grid[np.minimum(best + 1, grid.size - 1)]
        data = tuple(np.ascontiguousarray(part.T) for part in block.statistics)
        at = self._climb(data, grid[best], low, high)
        _, curvature = self._slope_and_curvature(data, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.where(curvature < 0, 1.0 / np.sqrt(-curvature), np.nan)
        if self.pull == 0.0:
            top = height.max(axis=1)
            ends = block.log_likelihoods(self._terms(np.array([-_FAR, _FAR])))
            slack = 1e-9 * (1.0 + np.abs(top))
            for end, sign in zip(ends.T, (-1.0, 1.0), strict=True):
                beyond = end >= top - slack
                at = np.where(beyond, sign * np.inf, at)
                error = np.where(beyond, np.inf, error)
            flat = np.abs(ends - top[:, None]).max(axis=1) <= slack
            at, error = np.where(flat, np.nan, at), np.where(flat, np.nan, error)
        return at, error

    def _terms(self, at: Floats) -> tuple[Floats, ...]:
        return self.kernel.terms(curves(self.items, at), self.items.precision)

    def _climb(self, data: tuple[Floats, ...], at: Floats, low: Floats, high: Floats) -> Floats:
        """Newton steps kept within brackets that shrink by the sign of the slope."""
        at, low, high = at.copy(), low.copy(), high.copy()
        moving = np.arange(at.size)
        for _ in range(60):
            here = at[moving]
            slope, curvature = self._slope_and_curvature(
                tuple(part[:, moving] for part in data), here
            )
            low[moving] = np.where(slope > 0, here, low[moving])
            high[moving] = np.where(slope < 0, here, high[moving])
            middle = 0.5 * (low[moving] + high[moving])
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(curvature < 0, here - slope / curvature, middle)
            # A root on the bracket's own end (a perfect score's plateau) is left to the bisection.
            inside = (step > low[moving]) & (step < high[moving])
            new = np.where(slope == 0, here, np.where(inside, step, middle))
            at[moving] = new
            moving = moving[np.abs(new - here) > 1e-10 * (1.0 + np.abs(new))]
            if not moving.size:
                break
        return at

    def _slope_and_curvature(self, data: tuple[Floats, ...], at: Floats) -> tuple[Floats, Floats]:
        """Derivatives by ability; `data` are T_c as [tasks, agents], one ability each."""
        items = self.items
        if items.response == "binomial" and not items.guessing.any() and (items.ceiling == 1).all():
            won, tried = data
            shape = curves(items, at)
            slope = items.slope @ (won - tried * shape.rising)
            bend = items.slope**2 @ (tried * shape.rising * shape.falling)
            return slope - self.pull * at, -bend - self.pull
        ahead, behind, here = (self._slope(data, at + step) for step in (_STEP, -_STEP, 0.0))
        return here - self.pull * at, (ahead - behind) / (2 * _STEP) - self.pull

    def _slope(self, data: tuple[Floats, ...], at: Floats) -> Floats:
        shape = curves(self.items, at)
        by_success = self.kernel.slopes(data, shape, self.items.precision).by_success
        return np.asarray((by_success * rise(self.items, shape)).sum(axis=0))
