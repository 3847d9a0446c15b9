r"""The observed information of the marginal likelihood, by the identity of Louis.

.. math:: I = \sum_j \mathrm{E}_j[-H_j(\theta)] - \sum_j \mathrm{Cov}_j[s_j(\theta)]

with s and H the gradient and the second derivatives of log f(x_j | θ) by the parameters, and
expectations over agent j's posterior (Louis 1982, J. R. Statist. Soc. B 44, eq. 3.2'). It holds for
any parameters, not at the optimum only.

The first term is a block for each task. For the second, s_j(θ) is written in polynomials
orthonormal under agent j's own posterior: Cov_j = Σ_l c_jl c_jlᵀ with c_jl = E_j[s_j π_l], l ≥ 1
(Parseval). A posterior is narrow and s smooth over it, so that a few l are enough; where they are
not, every node is taken by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from examiner.irt.blocks import Block, blocks
from examiner.irt.errors.complete_information import CompleteInformation, complete_information
from examiner.irt.estimation.kernels import Kernel
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.freedom import Freedom, freedom_of, moved
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import curves
from examiner.irt.model import Model, Priors
from examiner.results import ResponseMatrix

_STEP = 1e-5
_MOST_LEVELS = 24
_FEW_PARAMETERS = 150
"""Up to here every node by itself costs little, and is exact."""
_NEGLIGIBLE = 1e-16
_TOGETHER = 250
"""Agents of a block: few enough to be alike, so that they reach few nodes."""
_STACK = 4_000_000
_ENOUGH = 1e-8
"""Share of a parameter's information below which a level is the last: errors change by half as much."""


class Louis(NamedTuple):
    """What both terms need: the tasks, what is free, posterior weights and derivatives of F_c."""

    matrix: ResponseMatrix
    items: ItemParameters
    rule: Quadrature
    freedom: Freedom
    complete: CompleteInformation
    derivatives: tuple[Floats, ...]
    """∂F_c/∂parameter, one [parameters, tasks, nodes] for each statistic c."""


def louis(
    matrix: ResponseMatrix,
    items: ItemParameters,
    model: Model,
    priors: Priors | None,
    rule: Quadrature,
) -> Louis:
    """Prepare both terms for abilities that are N(0, 1); agents are put in order of ability."""
    freedom = freedom_of(items, model)
    kernel, sums, ability = _expected_sums(matrix, items, rule)
    if len(matrix.agents) > _TOGETHER:
        matrix = matrix.take(np.argsort(ability, kind="stable").tolist())
    complete = complete_information(kernel, sums, items, rule, freedom, priors)
    derivatives = _term_slopes(kernel, items, rule, freedom)
    return Louis(matrix, items, rule, freedom, complete, derivatives)


def information_matrix(parts: Louis) -> Floats:
    """Return the whole observed information, [size, size]; fixed parameters have a 1 and zeros."""
    freedom = parts.freedom
    tasks, own = freedom.fixed.shape
    total = np.zeros((freedom.size, freedom.size))
    for task in range(tasks):
        start = task * own
        total[start : start + own, start : start + own] = parts.complete.own[task]
    if freedom.shared:
        joint = parts.complete.coupling.reshape(tasks * own, len(freedom.shared))
        total[: tasks * own, tasks * own :] = joint
        total[tasks * own :, : tasks * own] = joint.T
        total[tasks * own :, tasks * own :] = parts.complete.shared
    scale = np.maximum(np.diagonal(total).copy(), 1e-12)
    total -= _missing_information(parts, scale)
    stuck = np.concatenate([freedom.fixed.ravel(), np.zeros(len(freedom.shared), dtype=np.bool_)])
    total[stuck] = 0.0
    total[:, stuck] = 0.0
    total[stuck, stuck] = 1.0
    return total


def _missing_information(parts: Louis, scale: Floats) -> Floats:
    total = np.zeros((scale.size, scale.size))

    def add(level: Floats) -> float:
        nonlocal total
        total += level.T @ level
        return float(((level**2).sum(axis=0) / scale).max(initial=0.0))

    for near, block, weights in posterior_blocks(parts):
        before = total.copy()
        few = scale.size <= _FEW_PARAMETERS
        if few or not spread_over_levels(near, block, weights, add):
            total = before
            for levels in _stacked(node_levels(near, block, weights)):
                total += levels.T @ levels
    return total


def _stacked(levels: Iterator[Floats]) -> Iterator[Floats]:
    """Levels one above the other in taller matrices: few large products instead of many small ones."""
    waiting: list[Floats] = []
    for level in levels:
        waiting.append(level)
        if sum(part.size for part in waiting) > _STACK:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def spread_over_levels(
    parts: Louis,
    block: Block,
    weights: Floats,
    add: Callable[[Floats], float],
    *,
    enough: float = _ENOUGH,
    most: int = _MOST_LEVELS,
) -> bool:
    """Hand c_jl [agents, size] to `add` level by level until its share is small; say if it became so."""
    for count, polynomial in enumerate(orthonormal(parts.rule.nodes, weights)):
        if count >= most:
            return False
        if add(score_moments(parts, block, weights * polynomial)) < enough:
            return True
    return True


def node_levels(parts: Louis, block: Block, weights: Floats) -> Iterator[Floats]:
    """Yield √w_jq (s_jq − E_j s), node by node: exact, whatever the shape of s."""
    mean = score_moments(parts, block, weights)
    for node in range(weights.shape[1]):
        near = np.flatnonzero(weights[:, node] > _NEGLIGIBLE)
        if near.size:
            here = [slopes[:, :, node] for slopes in parts.derivatives]
            scores = [
                sum(data[near] * by[place] for data, by in zip(block.statistics, here, strict=True))
                for place in range(len(parts.freedom.parameters))
            ]
            yield np.sqrt(weights[near, node])[:, None] * (_laid_out(parts, scores) - mean[near])


def orthonormal(nodes: Floats, weights: Floats) -> Iterator[Floats]:
    """Yield π_1, π_2, …: polynomials orthonormal under each row of weights, shape [agents, nodes]."""
    before = np.zeros_like(weights)
    current = np.ones_like(weights)
    norm = np.zeros((weights.shape[0], 1))
    for _ in range(nodes.size - 1):
        centre = (weights * current**2 * nodes).sum(axis=1, keepdims=True)
        following = (nodes - centre) * current - norm * before
        norm = np.sqrt((weights * following**2).sum(axis=1, keepdims=True))
        before = current
        with np.errstate(divide="ignore", invalid="ignore"):
            current = np.where(norm > 1e-10, following / norm, 0.0)
        yield current


def score_moments(parts: Louis, block: Block, weights: Floats) -> Floats:
    """Return Σ_q v_jq s_j(θ_q) for weights v: [agents, size], own parameters first."""
    scores = []
    for place in range(len(parts.freedom.parameters)):
        sums = np.zeros((weights.shape[0], len(parts.items)))
        for data, slopes in zip(block.statistics, parts.derivatives, strict=True):
            sums += data * (weights @ slopes[place].T)
        scores.append(sums)
    return _laid_out(parts, scores)


def _laid_out(parts: Louis, scores: Sequence[Floats]) -> Floats:
    """From [agents, tasks] of each parameter to [agents, size]: tasks one after the other, then shared."""
    own = len(parts.freedom.own)
    agents = scores[0].shape[0]
    mine = np.stack(scores[:own], axis=2).reshape(agents, -1)
    rest = [score.sum(axis=1, keepdims=True) for score in scores[own:]]
    return np.concatenate([mine, *rest], axis=1)


def posterior_blocks(parts: Louis) -> Iterator[tuple[Louis, Block, Floats]]:
    """Yield agents of like ability with their posterior weights, and `parts` at the nodes they reach."""
    terms: tuple[Floats, ...] | None = None
    width = max(len(parts.rule), parts.freedom.size)
    for kernel, block in blocks(parts.matrix, parts.items, width=width, most=_TOGETHER):
        if terms is None:
            shape = curves(parts.items, parts.rule.nodes)
            terms = kernel.terms(shape, parts.items.precision)
        weights = _weights(block, terms, parts.rule)
        alive = np.flatnonzero(weights.max(axis=0) > _NEGLIGIBLE)
        window = slice(int(alive[0]), int(alive[-1]) + 1)
        nodes, mass = parts.rule.nodes[window], parts.rule.log_weights[window]
        near = parts._replace(
            rule=Quadrature(nodes, mass, parts.rule.kind),
            derivatives=tuple(slopes[:, :, window] for slopes in parts.derivatives),
        )
        yield near, block, np.ascontiguousarray(weights[:, window])


def _weights(block: Block, terms: tuple[Floats, ...], rule: Quadrature) -> Floats:
    joint = np.repeat(rule.log_weights[None, :], block.constant.size, axis=0)
    for data, term in zip(block.statistics, terms, strict=True):
        joint += data @ term
    weights = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _expected_sums(
    matrix: ResponseMatrix, items: ItemParameters, rule: Quadrature
) -> tuple[Kernel, tuple[Floats, ...], Floats]:
    """S_c = T_cᵀ W, [tasks, nodes], and the agents' posterior means."""
    sums: tuple[Floats, ...] | None = None
    terms: tuple[Floats, ...] | None = None
    ability = np.empty(len(matrix.agents))
    for kernel, block in blocks(matrix, items, width=len(rule)):
        if terms is None:
            terms = kernel.terms(curves(items, rule.nodes), items.precision)
        weights = _weights(block, terms, rule)
        ability[block.rows] = weights @ rule.nodes
        part = tuple(data.T @ weights for data in block.statistics)
        sums = part if sums is None else tuple(a + b for a, b in zip(sums, part, strict=True))
    assert sums is not None
    return kernel, sums, ability


def _term_slopes(
    kernel: Kernel, items: ItemParameters, rule: Quadrature, freedom: Freedom
) -> tuple[Floats, ...]:
    """∂F_c/∂parameter by central differences of F_c, each [parameters, tasks, nodes]."""
    found: list[list[Floats]] = []
    for place, parameter in enumerate(freedom.parameters):
        ahead = moved(items, parameter, _STEP)
        behind = moved(items, parameter, -_STEP)
        up = kernel.terms(curves(ahead, rule.nodes), ahead.precision)
        down = kernel.terms(curves(behind, rule.nodes), behind.precision)
        found.append([(high - low) / (2 * _STEP) for high, low in zip(up, down, strict=True)])
        if place < len(freedom.own):
            for slopes in found[-1]:
                slopes[freedom.fixed[:, place]] = 0.0
    return tuple(np.stack(parts) for parts in zip(*found, strict=True))
