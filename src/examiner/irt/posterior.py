"""What responses say of agents: posterior weights over nodes, and the marginal likelihood they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernels import Kernel, kernel_for
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.results import ResponseMatrix

_CELLS = 2_000_000
"""Cells of a block of agents: some tens of megabytes for every array over them."""
_SHORT = 200
_FINE, _COARSER = 0.2, 0.5
"""Posterior standard deviations between nodes: short tests can afford them close."""
_NOTHING = 1e-20
"""Weights below this share of the largest are none: as denormal numbers they would slow products."""
_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""
_MARGIN = 2
"""Nodes beyond those where posteriors lived last, since they move on."""


def posterior_weights(joint: Floats) -> tuple[Floats, Floats]:
    """Turn log joint densities [agents, nodes] into log sums and weights; `joint` is overwritten.

    >>> log_marginal, weights = posterior_weights(np.log([[0.1, 0.3]]))
    >>> weights, np.exp(log_marginal).round(12)
    (array([[0.25, 0.75]]), array([0.4]))
    """
    top = joint.max(axis=1)
    joint -= top[:, None]
    np.exp(joint, out=joint)
    joint[joint < _NOTHING] = 0.0
    mass = joint.sum(axis=1)
    joint /= mass[:, None]
    return top + np.log(mass), joint


class AgentBlock(NamedTuple):
    """Some agents: their rows, the kernel's statistics T_c [agents, tasks], and Σ h(x) of each."""

    rows: slice
    statistics: tuple[Floats, ...]
    constant: Floats

    def log_likelihoods(self, terms: Sequence[Floats]) -> Floats:
        """Return log f(xⱼ | θ) of every agent (rows) at the abilities of F_c (columns), with constants."""
        total = np.repeat(self.constant[:, None], terms[0].shape[1], axis=1)
        for data, term in zip(self.statistics, terms, strict=True):
            total += data @ term
        return total


def agent_blocks(
    matrix: ResponseMatrix, kernel: Kernel, *, width: int = 0, most: int | None = None
) -> Iterator[AgentBlock]:
    """Yield the agents in blocks of at most about two million agents × (tasks or `width`), or `most`."""
    agents, tasks = matrix.shape
    step = max(1, min(_CELLS // max(tasks, width, 1), most or agents))
    for start in range(0, agents, step):
        rows = slice(start, min(start + step, agents))
        some = matrix if step >= agents else matrix.take(range(rows.start, rows.stop))
        yield AgentBlock(rows, kernel.statistics(some), kernel.constant(some))


class BlockPosterior(NamedTuple):
    """What the responses of a block say: log marginal likelihoods, and weights [agents, nodes]."""

    block: AgentBlock
    log_marginal: Floats
    weights: Floats


def posterior_blocks(
    matrix: ResponseMatrix,
    items: ItemParameters,
    rule: Quadrature,
    *,
    population_sd: float = 1.0,
    width: int = 0,
    most: int | None = None,
) -> Iterator[BlockPosterior]:
    """Yield the posteriors of agents block by block; node θ stands for the ability population_sd · θ."""
    kernel = kernel_for(items.response, matrix)
    terms = kernel.terms(curves(items, population_sd * rule.nodes), items.precision)
    for block in agent_blocks(matrix, kernel, width=max(len(rule), width), most=most):
        joint = block.log_likelihoods(terms)
        joint += rule.log_weights
        yield BlockPosterior(block, *posterior_weights(joint))


def moments(weights: Floats, nodes: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of every posterior.

    >>> moments(np.array([[0.5, 0.5]]), np.array([-1.0, 1.0]))
    (array([0.]), array([1.]))
    """
    mean = weights @ nodes
    return mean, np.sqrt((weights * (nodes - mean[:, None]) ** 2).sum(axis=1))


def log_likelihood(
    matrix: ResponseMatrix,
    items: ItemParameters,
    nodes: int | Quadrature | None = None,
    *,
    population_sd: float = 1.0,
) -> float:
    """Return Σⱼ log ∫ Πᵢ f(xⱼᵢ | θ) φ(θ) dθ for any parameters and any quadrature.

    `nodes` is a number of Gauss–Hermite nodes, a `Quadrature` (`Quadrature.grid(-6, 6, 241)`), or
    nothing, for a grid as fine as the tasks need. Tasks of the matrix without parameters are an
    error; cells that were not observed are left out. Abilities are N(0, population_sd²).

    >>> matrix = ResponseMatrix.from_array([[1], [0]], tasks=["t"])
    >>> round(log_likelihood(matrix, ItemParameters.of(["t"], [1.0], [0.0])), 6)  # 2 log(1/2)
    -1.386294
    """
    matched = items.named(matrix.tasks)
    rule = quadrature_for(nodes, matched.rescaled(0.0, population_sd), matrix)
    parts = posterior_blocks(matrix, matched, rule, population_sd=population_sd)
    return sum(float(part.log_marginal.sum()) for part in parts)


def quadrature_for(
    nodes: int | Quadrature | None, items: ItemParameters, matrix: ResponseMatrix
) -> Quadrature:
    """Return the quadrature asked for, or one as fine as these tasks and trials need."""
    if isinstance(nodes, Quadrature):
        return nodes
    if isinstance(nodes, int):
        return Quadrature.gauss_hermite(nodes)
    trials: Floats | float = 1.0
    if matrix.is_counts:
        trials = matrix.trials.max(axis=0).astype(np.float64)
    return Quadrature.for_items(items, trials, spacing=_FINE if len(items) <= _SHORT else _COARSER)


class Sweep(NamedTuple):
    """What a pass over all agents found: Σ log marginal likelihood, posterior means and variances."""

    log_marginal: float
    mean: Floats
    variance: Floats


class Windows:
    """Agents in blocks of like standing that look only at the nodes where their posteriors live.

    `order` sorts agents by `standing` [agents]; rows below are rows in that order. Where posteriors
    live is kept as abilities from one pass to the next, since quadratures may change in between; a
    window that cuts a posterior off is looked at again with all nodes. A quadrature that does not
    follow the tasks' information was asked for, and is kept whole.
    """

    def __init__(self, standing: Floats, size: int) -> None:
        self.order = np.argsort(standing, kind="stable")
        self._size = size
        self._reaches: list[tuple[float, float]] | None = None

    def sweep(
        self,
        rule: Quadrature,
        joint: Callable[[slice, slice], Floats],
        use: Callable[[slice, slice, Floats], None],
    ) -> Sweep:
        """Take log densities from `joint` of rows and nodes, and hand the weights there to `use`."""
        count, agents = len(rule), self.order.size
        starts = range(0, agents, self._size)
        windows = [slice(0, count)] * len(starts)
        if self._reaches is not None and rule.spacing is not None:
            windows = [_window_over(rule.nodes, reach) for reach in self._reaches]
        reaches = []
        log_marginal, mean, variance = np.empty((3, agents))
        for start, window in zip(starts, windows, strict=True):
            rows = slice(start, min(start + self._size, agents))
            log_marginal[rows], weights = posterior_weights(joint(rows, window))
            if _cut_off(weights, window, count):
                window = slice(0, count)
                log_marginal[rows], weights = posterior_weights(joint(rows, window))
            around = rule.nodes[window]
            centre = weights @ around
            mean[self.order[rows]] = centre
            variance[self.order[rows]] = weights @ around**2 - centre**2
            reaches.append(_living(weights, around))
            use(rows, window, weights)
        self._reaches = reaches
        return Sweep(float(log_marginal.sum()), mean, variance)


def _cut_off(weights: Floats, window: slice, count: int) -> bool:
    """Whether a window ends where posteriors still have mass."""
    return bool(
        (window.start > 0 and weights[:, 0].max() > _EDGE)
        or (window.stop < count and weights[:, -1].max() > _EDGE)
    )


def _living(weights: Floats, nodes: Floats) -> tuple[float, float]:
    """The abilities between which a block's posteriors live."""
    alive = np.flatnonzero(weights.max(axis=0) > _EDGE / 100)
    return float(nodes[alive[0]]), float(nodes[alive[-1]])


def _window_over(nodes: Floats, reach: tuple[float, float]) -> slice:
    """The nodes between two abilities, and a few more on each side, since posteriors move on."""
    low, high = np.searchsorted(nodes, reach)
    return slice(max(0, int(low) - _MARGIN), min(nodes.size, int(high) + _MARGIN + 1))
