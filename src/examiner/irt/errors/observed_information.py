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

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.agent_posterior import laid_out, term_slopes
from examiner.irt.errors.freedom import CompleteInformation
from examiner.irt.errors.freedom import Freedom as Freedom
from examiner.irt.estimation.kernel import Kernel
from examiner.irt.estimation.kernels import curve_derivatives, expected_gradient, kernel_for
from examiner.irt.estimation.usable_responses import suitable_kind
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.model import Model, moved
from examiner.irt.posterior import AgentBlock, Quadrature, posterior_blocks
from examiner.irt.priors import Priors, SlopeScale
from examiner.results import ResponseMatrix

_GRADIENT_STEP = 1e-4
"""Step of central differences of the expected gradient, as long as rounding and truncation err alike."""
MOST_LEVELS = 24
_FEW_PARAMETERS = 150
"""Up to here every node by itself costs little, and is exact."""
_NEGLIGIBLE = 1e-16
_TOGETHER = 250
"""Agents of a block: few enough to be alike, so that they reach few nodes."""
_STACK = 4_000_000
SMALL = 200_000
"""Up to this many cells products are in double precision; errors need few digits."""
ENOUGH, ROUGHLY_ENOUGH = 1e-6, 1e-4
"""Share of a parameter's information below which a level is the last: errors change by half as much. The
second is for many cells, where products have seven digits."""


class Louis(NamedTuple):
    """What both terms need: the tasks, what is free, and derivatives of F_c."""

    matrix: ResponseMatrix
    items: ItemParameters
    rule: Quadrature
    freedom: Freedom
    complete: CompleteInformation
    order: NDArray[np.intp]
    """Which agent of the responses each row of the matrix is."""
    derivatives: tuple[Floats, ...]
    """∂F_c/∂parameter, one [parameters, tasks, nodes] for each statistic c, as exact as products are."""


def louis(
    matrix: ResponseMatrix,
    items: ItemParameters,
    model: Model,
    priors: Priors | None,
    rule: Quadrature,
    scale: SlopeScale | None = None,
) -> Louis:
    """Prepare both terms for abilities that are N(0, 1); agents are put in order of ability."""
    freedom = Freedom.at(items, model, priors, scale)
    kernel = kernel_for(items.response, matrix, items)
    sums: tuple[Floats, ...] = ()
    ability = np.empty(len(matrix.agents))
    for block, _, weights in posterior_blocks(matrix, items, rule, listed=True):
        ability[block.rows] = weights @ rule.nodes
        part = tuple(data.T @ weights for data in block.statistics)
        sums = tuple(a + b for a, b in zip(sums, part, strict=True)) if sums else part
    order = np.arange(len(matrix.agents))
    if len(matrix.agents) > _TOGETHER:
        order = np.argsort(ability, kind="stable")
        matrix = matrix.take(order.tolist())
    complete = complete_information(kernel, sums, items, rule.nodes, freedom)
    kind = suitable_kind(matrix, SMALL)
    slopes = tuple(by.astype(kind) for by in free_slopes(kernel, items, rule, freedom))
    return Louis(matrix, items, rule, freedom, complete, order, slopes)


def complete_information(
    kernel: Kernel,
    sums: tuple[Floats, ...],
    items: ItemParameters,
    nodes: Floats,
    freedom: Freedom,
) -> CompleteInformation:
    """The first term, from the sums S_c = T_cᵀ W, by central differences of the expected gradient."""
    names, own = freedom.names, len(freedom.own)

    def gradient(at: ItemParameters) -> Floats:
        shape = curves(at, nodes)
        slopes = kernel.slopes(sums, shape, at.precision)
        return expected_gradient(names, curve_derivatives(names, at, shape, nodes), slopes)

    bend = np.empty((len(items), len(names), len(names)))
    for column, name in enumerate(names):
        ahead, behind = (gradient(moved(items, name, side * _GRADIENT_STEP)) for side in (1, -1))
        bend[:, :, column] = (behind - ahead) / (2 * _GRADIENT_STEP)
    bend = 0.5 * (bend + bend.transpose(0, 2, 1))
    mine, shared = bend[:, :own, :own].copy(), bend[:, own:, own:].sum(axis=0)
    coupling = bend[:, :own, own:].copy()
    mine[:, np.arange(own), np.arange(own)] += freedom.tightness()
    shared += np.diag(freedom.shared_tightness())
    for column in range(own):
        stuck = freedom.fixed[:, column]
        mine[stuck, column, :] = 0.0
        mine[stuck, :, column] = 0.0
        mine[stuck, column, column] = 1.0
        coupling[stuck, column, :] = 0.0
    return CompleteInformation(mine, coupling, shared)


def information_matrix(parts: Louis) -> Floats:
    """Return the whole observed information, [size, size]; fixed parameters have a 1 and zeros."""
    scale = np.maximum(np.diagonal(_laid_out(parts.complete)), 1e-12)
    missing = _missing_information(parts, scale)
    along = parts.freedom.moving_along(parts.items.slope)
    if along is not None:
        missing += np.multiply.outer(along, along)
    return whole_information(parts.complete, missing, parts.freedom)


def whole_information(complete: CompleteInformation, missing: Floats, freedom: Freedom) -> Floats:
    """Return complete less missing information, [size, size]; fixed parameters have a 1 and zeros."""
    total = _laid_out(complete)
    total -= missing
    stuck = np.concatenate([freedom.fixed.ravel(), np.zeros(len(freedom.shared), dtype=np.bool_)])
    total[stuck] = 0.0
    total[:, stuck] = 0.0
    total[stuck, stuck] = 1.0
    return total


def _laid_out(complete: CompleteInformation) -> Floats:
    """Blocks of tasks along the diagonal, then what is shared: [size, size]."""
    tasks, own, shared = complete.coupling.shape
    cut = tasks * own
    total = np.zeros((cut + shared, cut + shared))
    columns = np.arange(cut).reshape(tasks, own)
    total[columns[:, :, None], columns[:, None, :]] = complete.own
    joint = complete.coupling.reshape(cut, shared)
    total[:cut, cut:], total[cut:, :cut], total[cut:, cut:] = joint, joint.T, complete.shared
    return total


def _missing_information(parts: Louis, scale: Floats) -> Floats:
    total = np.zeros((scale.size, scale.size))
    for levels in _stacked(_levels(parts, scale)):
        total += levels.T @ levels
    return total


def _levels(parts: Louis, scale: Floats) -> Iterator[Floats]:
    """Yield c_jl [agents, size] whose squares are the missing information, until their share is small."""
    enough = ENOUGH if suitable_kind(parts.matrix, SMALL) is np.float64 else ROUGHLY_ENOUGH
    for some in reached(parts):
        waiting: list[Floats] = []

        def add(level: Floats, waiting: list[Floats] = waiting) -> float:
            waiting.append(level)
            return float((np.einsum("ij,ij->j", level, level) / scale).max(initial=0.0))

        if scale.size > _FEW_PARAMETERS and some.over_levels(add, enough=enough):
            yield from waiting
        else:
            yield from some.by_nodes()


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


class WeightedBlock(NamedTuple):
    """Agents of like ability, their posterior weights, and `parts` at the nodes they reach."""

    parts: Louis
    block: AgentBlock
    weights: Floats

    def over_levels(
        self, add: Callable[[Floats], float], *, enough: float = ENOUGH, most: int = MOST_LEVELS
    ) -> bool:
        """Hand c_jl [agents, size] to `add` level by level until its share is small; say if it is."""
        for count, polynomial in enumerate(orthonormal(self.parts.rule.nodes, self.weights)):
            if count >= most:
                return False
            if add(self.moments(self.weights * polynomial)) < enough:
                return True
        return True

    def by_nodes(self) -> Iterator[Floats]:
        """Yield √w_jq (s_jq − E_j s), node by node: exact, whatever the shape of s."""
        mean = self.moments(self.weights)
        for node, weight in enumerate(self.weights.T):
            near = np.flatnonzero(weight > _NEGLIGIBLE)
            if near.size:
                some = [data[near] for data in self.block.statistics]
                slopes = [by[:, None, :, node] for by in self.parts.derivatives]
                here = laid_out(some, slopes, len(self.parts.freedom.own))
                yield np.sqrt(weight[near])[:, None] * (here - mean[near])

    def moments(self, weights: Floats) -> Floats:
        """Return Σ_q v_jq s_j(θ_q) for weights v: [agents, size], own parameters first."""
        some = weights.astype(self.parts.derivatives[0].dtype, copy=False)
        slopes = (some @ by.transpose(0, 2, 1) for by in self.parts.derivatives)
        return laid_out(self.block.statistics, slopes, len(self.parts.freedom.own))


def reached(parts: Louis) -> Iterator[WeightedBlock]:
    """Yield all agents, those of like ability together."""
    size = parts.freedom.count
    for block, _, weights in posterior_blocks(
        parts.matrix, parts.items, parts.rule, width=size, most=_TOGETHER
    ):
        alive = np.flatnonzero(weights.max(axis=0) > _NEGLIGIBLE)
        window = slice(int(alive[0]), int(alive[-1]) + 1)
        nodes, mass = parts.rule.nodes[window], parts.rule.log_weights[window]
        near = parts._replace(
            rule=Quadrature(nodes, mass, parts.rule.kind),
            derivatives=tuple(slopes[:, :, window] for slopes in parts.derivatives),
        )
        kind = parts.derivatives[0].dtype
        seen = tuple(data.astype(kind, copy=False) for data in block.statistics)
        near_weights = np.ascontiguousarray(weights[:, window])
        yield WeightedBlock(near, block._replace(statistics=seen), near_weights)


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


def free_slopes(
    kernel: Kernel, items: ItemParameters, rule: Quadrature, freedom: Freedom
) -> tuple[Floats, ...]:
    """Return `term_slopes` of all free parameters; 0 for those that are fixed at an end of their range."""
    slopes = term_slopes(kernel, items, rule.nodes, freedom.names)
    for by in slopes:
        by[: len(freedom.own)][freedom.fixed.T] = 0.0
    return slopes
