"""Abilities of agents under known task parameters, old agents and new: EAP, MAP, ML."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from examiner.irt.blocks import Block, blocks
from examiner.irt.estimation.kernels import Kernel
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.fitted import Abilities
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import curves
from examiner.irt.posterior import items_for, quadrature_for
from examiner.results import ResponseMatrix
from examiner.wording import InputError, counted, unknown_name

AbilityMethod = Literal["eap", "map", "ml"]

_WORDS = {
    "eap": "posterior means and standard deviations",
    "map": "posterior modes; errors by the curvature there",
    "ml": "maximum likelihood; errors by the curvature there",
}
_FAR = 1e9
"""An ability at which every curve with a slope has reached its end."""
_STEP = 1e-4
_ITERATIONS = 60
_CLOSE = 1e-10


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
    if method not in get_args(AbilityMethod):
        raise unknown_name("method", method, get_args(AbilityMethod))
    if not (np.isfinite(population_sd) and population_sd > 0):
        raise InputError(
            f"The population's standard deviation is {population_sd}. It must be above 0."
        )
    matched = items_for(matrix, items)
    rule = quadrature_for(nodes, matched.rescaled(0.0, population_sd), matrix)
    found = np.empty(len(matrix.agents))
    errors = np.empty_like(found)
    reach = _reach(rule.nodes * population_sd, matched) if method == "ml" else None
    for kernel, block in blocks(matrix, matched, width=len(rule)):
        if method == "eap":
            mean, error = _moments(kernel, block, matched, rule, population_sd)
        elif reach is None:
            mean, error = _modes(
                kernel, block, matched, rule.nodes * population_sd, population_sd**-2
            )
        else:
            mean, error = _modes(kernel, block, matched, reach, 0.0)
        found[block.rows], errors[block.rows] = mean, error
    return Abilities(matrix.agents, found, errors, _WORDS[method], _notes(found))


def _notes(found: Floats) -> tuple[str, ...]:
    notes = []
    infinite = int(np.isinf(found).sum())
    if infinite:
        notes.append(
            f"The likelihood of {counted(infinite, 'agent')} rises without end (the best or the worst "
            f"possible result on every task, or no better than guessing): ability is infinite. "
            f"Use EAP or MAP."
        )
    unseen = int(np.isnan(found).sum())
    if unseen:
        notes.append(
            f"{counted(unseen, 'agent')} met no task, so that nothing is known of ability."
        )
    return tuple(notes)


def _moments(
    kernel: Kernel, block: Block, items: ItemParameters, rule: Quadrature, population_sd: float
) -> tuple[Floats, Floats]:
    joint = _log_likelihoods(kernel, block, items, population_sd * rule.nodes) + rule.log_weights
    weights = np.exp(joint - joint.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ rule.nodes
    spread = (weights * (rule.nodes - mean[:, None]) ** 2).sum(axis=1)
    return population_sd * mean, population_sd * np.sqrt(spread)


def _log_likelihoods(kernel: Kernel, block: Block, items: ItemParameters, at: Floats) -> Floats:
    terms = kernel.terms(curves(items, at), items.precision)
    total = np.repeat(block.constant[:, None], at.size, axis=1)
    for data, term in zip(block.statistics, terms, strict=True):
        total += data @ term
    return total


def _reach(nodes: Floats, items: ItemParameters) -> Floats:
    """The grid, run on to both sides until every task has long turned."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = (np.abs(items.intercept) + 40.0) / np.abs(items.slope)
    end = float(np.clip(np.max(turns[np.isfinite(turns)], initial=0.0), nodes[-1] + 10, 1e4))
    tail = nodes[-1] + np.geomspace(0.25, end - nodes[-1], 80)
    return np.concatenate([-tail[::-1] + nodes[0] + nodes[-1], nodes, tail])


def _modes(
    kernel: Kernel, block: Block, items: ItemParameters, grid: Floats, pull: float
) -> tuple[Floats, Floats]:
    """The highest point of log f(x | θ) − pull · θ² / 2 of each agent, and the error there."""
    height = _log_likelihoods(kernel, block, items, grid) - 0.5 * pull * grid**2
    best = height.argmax(axis=1)
    low = grid[np.maximum(best - 1, 0)]
    high = grid[np.minimum(best + 1, grid.size - 1)]
    data = tuple(np.ascontiguousarray(part.T) for part in block.statistics)
    at = _climb(kernel, data, items, grid[best], low, high, pull)
    _, curvature = _slope_and_curvature(kernel, data, items, at, pull)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(curvature < 0, 1.0 / np.sqrt(-curvature), np.nan)
    if pull == 0.0:
        top = height.max(axis=1)
        ends = _log_likelihoods(kernel, block, items, np.array([-_FAR, _FAR]))
        slack = 1e-9 * (1.0 + np.abs(top))
        for end, sign in zip(ends.T, (-1.0, 1.0), strict=True):
            beyond = end >= top - slack
            at = np.where(beyond, sign * np.inf, at)
            error = np.where(beyond, np.inf, error)
        flat = np.abs(ends - top[:, None]).max(axis=1) <= slack
        at, error = np.where(flat, np.nan, at), np.where(flat, np.nan, error)
    return at, error


def _climb(
    kernel: Kernel,
    data: tuple[Floats, ...],
    items: ItemParameters,
    at: Floats,
    low: Floats,
    high: Floats,
    pull: float,
) -> Floats:
    """Newton steps kept within brackets that shrink by the sign of the slope."""
    at, low, high = at.copy(), low.copy(), high.copy()
    moving = np.arange(at.size)
    for _ in range(_ITERATIONS):
        some = tuple(part[:, moving] for part in data)
        here = at[moving]
        slope, curvature = _slope_and_curvature(kernel, some, items, here, pull)
        low[moving] = np.where(slope > 0, here, low[moving])
        high[moving] = np.where(slope < 0, here, high[moving])
        middle = 0.5 * (low[moving] + high[moving])
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(curvature < 0, here - slope / curvature, middle)
        # A root on the bracket's own end (a perfect score's plateau) is left to the bisection.
        inside = (step > low[moving]) & (step < high[moving])
        new = np.where(slope == 0, here, np.where(inside, step, middle))
        at[moving] = new
        moving = moving[np.abs(new - here) > _CLOSE * (1.0 + np.abs(new))]
        if not moving.size:
            break
    return at


def _slope_and_curvature(
    kernel: Kernel,
    data: tuple[Floats, ...],
    items: ItemParameters,
    at: Floats,
    pull: float,
) -> tuple[Floats, Floats]:
    """First and second derivative by ability; `data` are T_c as [tasks, agents], one ability each."""
    if items.response == "binomial" and not items.guessing.any() and (items.ceiling == 1).all():
        won, tried = data
        shape = curves(items, at)
        slope = items.slope @ (won - tried * shape.rising)
        bend = items.slope**2 @ (tried * shape.rising * shape.falling)
        return slope - pull * at, -bend - pull
    ahead = _slope(kernel, data, items, at + _STEP)
    behind = _slope(kernel, data, items, at - _STEP)
    here = _slope(kernel, data, items, at)
    return here - pull * at, (ahead - behind) / (2 * _STEP) - pull


def _slope(kernel: Kernel, data: tuple[Floats, ...], items: ItemParameters, at: Floats) -> Floats:
    shape = curves(items, at)
    steepness = (items.slope * (items.ceiling - items.guessing))[:, None]
    rise = steepness * shape.rising * shape.falling
    by_success = kernel.slopes(data, shape, items.precision).by_success
    return np.asarray((by_success * rise).sum(axis=0))
