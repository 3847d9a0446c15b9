"""Integrals over ability: nodes to sum over, posterior weights of agents at them, marginal likelihoods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from examiner.irt.estimation.arrays import posterior_weights as posterior_weights
from examiner.irt.estimation.kernels import Kernel, kernel_for, listed_statistics
from examiner.irt.items import Floats, ItemParameters, curves, fisher_information
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from examiner.validation import Axes, read_only

_KNOTS = 241
_SOME_TASKS = 256
REACH = 6.0
"""Automatic grids run over ±6 standard deviations of the population."""
_FINE, _COARSER = 0.2, 0.5
"""Posterior standard deviations between nodes: short tests can afford them close."""


@dataclass(frozen=True, slots=True, eq=False)
class Quadrature:
    """Nodes, and the logarithm of the standard normal mass that each stands for.

    While agents of several editions are fitted, log weights have a row for the population of each.

    >>> Quadrature.gauss_hermite(2).nodes
    array([-1.,  1.])
    """

    nodes: Annotated[Floats, Axes("nodes")]
    log_weights: Annotated[Floats, Axes("nodes")]
    kind: str
    spacing: float | None = None
    """Posterior standard deviations between nodes, where they follow the tasks' information."""

    def __post_init__(self) -> None:
        rising = np.isfinite(self.nodes).all() and (np.diff(self.nodes) > 0).all()
        if not (self.nodes.size and rising and (self.log_weights < np.inf).all()):
            raise InputError(
                "The nodes of a quadrature are not finite numbers in rising order, each with the logarithm "
                "of its weight. Give nodes so, or how many of them."
            )

    @classmethod
    def gauss_hermite(cls, count: int) -> Quadrature:
        """Return n nodes that integrate polynomials up to degree 2n − 1 against N(0, 1) exactly.

        >>> rule = Quadrature.gauss_hermite(5)
        >>> round(float(np.exp(rule.log_weights) @ rule.nodes**4), 12)  # the fourth moment
        3.0
        """
        if not 1 <= count <= 1000:
            raise InputError(f"{count} nodes are asked for. Give between 1 and 1000.")
        nodes, weights = _hermite_rule(count)
        log_weights = np.log(weights) - 0.5 * np.log(2 * np.pi)
        return cls._of(nodes, log_weights, f"Gauss–Hermite, {count} nodes")

    @classmethod
    def grid(cls, low: float = -REACH, high: float = REACH, count: int = 241) -> Quadrature:
        """Return evenly spaced nodes with normal weights that sum to 1.

        >>> float(np.exp(Quadrature.grid(-6, 6, 241).log_weights).sum().round(12))
        1.0
        """
        if not (np.isfinite(low) and np.isfinite(high) and low < high and count >= 2):
            raise InputError(
                f"A grid of {count} nodes from {low:g} to {high:g} is asked for. "
                f"Give two ends in order and at least 2 nodes."
            )
        nodes = np.linspace(low, high, count)
        log_weights = -0.5 * nodes**2
        log_weights -= np.log(np.exp(log_weights).sum())
        return cls._of(nodes, log_weights, f"grid of {count} nodes from {low:g} to {high:g}")

    @classmethod
    def for_items(
        cls,
        items: ItemParameters,
        trials: float | Floats = 1.0,
        *,
        spacing: float = 0.5,
        ends: tuple[float, float] = (-REACH, REACH),
    ) -> Quadrature:
        """Return nodes that follow the test's information: about `spacing` posterior sds apart.

        Nodes are even in t(θ) = ∫ √(1 + Σᵢ nᵢ Iᵢ(θ)) dθ, in which every posterior has a standard
        deviation near 1; the trapezium rule then converges exponentially fast (a sum over a
        Gaussian with spacing h errs by about 2 exp(−2π² / h²): 1e-34 at h = 0.5, 8e-14 at 0.8).

        >>> long = ItemParameters.of([f"task {n}" for n in range(500)], np.ones(500), np.zeros(500))
        >>> Quadrature.for_items(long).nodes.size > Quadrature.for_items(long.take([0, 1])).nodes.size
        True
        """
        knots = np.linspace(*ends, _KNOTS)
        dense = np.sqrt(1.0 + _total_information(items, trials, knots))
        # narrower posteriors are points, and their nodes would fill memory
        speed = _smoothed(np.minimum(dense, 1e4))
        travelled = _integral(speed, knots[1] - knots[0])
        count = int(np.ceil(travelled[-1] / spacing)) + 1
        steps = np.linspace(0.0, travelled[-1], count)
        nodes, rates = _hermite(steps, travelled, knots, _tamed(1.0 / speed, travelled, knots))
        widths = rates * (steps[1] - steps[0])
        log_weights = np.log(widths) - 0.5 * nodes**2
        log_weights -= np.log(np.exp(log_weights).sum())
        kind = f"{count} nodes as dense as the tasks are informative"
        return cls._of(nodes, log_weights, kind, spacing)

    def between(self, low: float, high: float) -> Quadrature:
        """Return the same rule without the nodes outside two abilities.

        >>> Quadrature.grid(-6, 6, 13).between(-2.0, 2.0).nodes
        array([-2., -1.,  0.,  1.,  2.])
        """
        inside = (self.nodes >= low) & (self.nodes <= high)
        return Quadrature._of(self.nodes[inside], self.log_weights[inside], self.kind, self.spacing)

    @classmethod
    def _of(
        cls, nodes: Floats, log_weights: Floats, kind: str, spacing: float | None = None
    ) -> Quadrature:
        read_only(nodes)
        read_only(log_weights)
        return cls(nodes, log_weights, kind, spacing)

    def __len__(self) -> int:
        """Number of nodes."""
        return int(self.nodes.size)

    def __repr__(self) -> str:
        return f"Quadrature: {self.kind}"


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
    matrix: ResponseMatrix,
    kernel: Kernel,
    *,
    width: int = 0,
    most: int | None = None,
    listed: bool = False,
) -> Iterator[AgentBlock]:
    """Yield the agents in blocks of at most about two million agents × (tasks or `width`), or `most`.

    Statistics may be `listed`: by observed cells, where these alone are held, and in longer blocks.
    """
    agents, tasks = matrix.shape
    listed = listed and matrix.observed_cells is not None and matrix.is_counts
    step = max(1, min(2_000_000 // max(0 if listed else tasks, width, 1), most or agents))
    for start in range(0, agents, step):
        rows = slice(start, min(start + step, agents))
        part = matrix if step >= agents else matrix.take(range(rows.start, rows.stop))
        cells: tuple[Any, ...] | None = None  # Any: lists of cells are multiplied in the same words
        if listed:
            cells = listed_statistics(kernel, part, slice(None))
        yield AgentBlock(rows, cells or kernel.statistics(part), kernel.constant(part))


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
    listed: bool = False,
) -> Iterator[BlockPosterior]:
    """Yield the posteriors of agents block by block; node θ stands for the ability population_sd · θ."""
    kernel = kernel_for(items.response, matrix, items)
    terms = kernel.terms(curves(items, population_sd * rule.nodes), items.precision)
    width = max(len(rule), width)
    for block in agent_blocks(matrix, kernel, width=width, most=most, listed=listed):
        joint = block.log_likelihoods(terms)
        joint += rule.log_weights
        yield BlockPosterior(block, *posterior_weights(joint))


def moments(weights: Floats, nodes: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the variance of every posterior, rows of weights over the same nodes.

    >>> moments(np.array([[0.5, 0.5]]), np.array([-1.0, 1.0]))
    (array([0.]), array([1.]))
    """
    mean = weights @ nodes
    return mean, np.maximum(weights @ nodes**2 - mean**2, 0.0)


def drawn_abilities(weights: Floats, nodes: Floats, random: Floats) -> Floats:
    """Return one ability from each posterior: a node by its weight, and evenly halfway to the next.

    `random` [agents, 2] are numbers from 0 to 1.

    >>> drawn_abilities(np.array([[0.5, 0.5]]), np.array([-1.0, 1.0]), np.array([[0.7, 0.5]]))
    array([0.5])
    """
    sums = np.cumsum(weights, axis=1)
    sums /= sums[:, -1:]
    node = (sums < random[:, :1]).sum(axis=1)
    edges = np.concatenate([nodes[:1], 0.5 * (nodes[1:] + nodes[:-1]), nodes[-1:]])
    return np.asarray(edges[node] + random[:, 1] * (edges[node + 1] - edges[node]))


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
    rule = quadrature_for(nodes, matched, matrix, population_sd)
    parts = posterior_blocks(matrix, matched, rule, population_sd=population_sd, listed=True)
    return sum(float(part.log_marginal.sum()) for part in parts)


def quadrature_for(
    nodes: int | Quadrature | None,
    items: ItemParameters,
    matrix: ResponseMatrix,
    population_sd: float = 1.0,
) -> Quadrature:
    """Return the quadrature asked for, or one as fine as these tasks and trials need.

    Node θ stands for the ability population_sd · θ.
    """
    if isinstance(nodes, Quadrature):
        return nodes
    if isinstance(nodes, int):
        return Quadrature.gauss_hermite(nodes)
    trials: Floats | float = 1.0
    if matrix.is_counts:
        cells, most = matrix.observed_cells, np.zeros(len(matrix.tasks))
        if cells is not None:
            np.maximum.at(most, cells.columns, cells.parts[1].astype(np.float64))
        trials = most if cells is not None else matrix.trials.max(axis=0).astype(np.float64)
    # short tests can afford closer nodes
    spacing = _FINE if len(items) <= 200 else _COARSER
    return Quadrature.for_items(items.rescaled(0.0, population_sd), trials, spacing=spacing)


def _hermite_rule(count: int) -> tuple[Floats, Floats]:
    # numpy is exact up to here
    if count <= 60:
        return np.polynomial.hermite_e.hermegauss(count)
    from scipy.special import roots_hermitenorm

    nodes, weights = roots_hermitenorm(count)
    kept = weights > 0  # the outermost weights of long rules underflow
    return nodes[kept], weights[kept]


def _total_information(items: ItemParameters, trials: float | Floats, abilities: Floats) -> Floats:
    """Σᵢ nᵢ Iᵢ(θ); of many tasks the steepest and a sample, which is enough to place nodes by."""
    counts = np.broadcast_to(np.asarray(trials, dtype=np.float64), (len(items),))
    if len(items) <= 2 * _SOME_TASKS:
        return np.asarray(fisher_information(items, abilities) @ counts)
    by_size = np.argsort(-np.abs(items.slope), kind="stable")
    steepest, others = by_size[:_SOME_TASKS], by_size[_SOME_TASKS:]
    sample = others[:: len(others) // _SOME_TASKS]
    part = np.concatenate([steepest, sample])
    weights = counts[part].copy()
    weights[_SOME_TASKS:] *= counts[others].sum() / max(float(counts[sample].sum()), 1e-12)
    return np.asarray(fisher_information(items.take(part), abilities) @ weights)


def _smoothed(speed: Floats) -> Floats:
    """A running maximum, then a running mean: nodes must not step over the peak of a steep task."""
    width = _KNOTS // 80
    padded = np.pad(speed, width, mode="edge")
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1).max(axis=1)
    bell = np.exp(-0.5 * np.linspace(-3, 3, 4 * width + 1) ** 2)
    padded = np.pad(highest, 2 * width, mode="edge")
    return np.convolve(padded, bell / bell.sum(), mode="valid")


def _integral(values: Floats, step: float) -> Floats:
    """The running integral of even samples, exact for cubics: h/24 (−f₋₁ + 13 f₀ + 13 f₁ − f₂)."""
    first, last = 2 * values[0] - values[1], 2 * values[-1] - values[-2]
    f = np.concatenate([[first], values, [last]])
    parts = step / 24 * (13 * (f[1:-2] + f[2:-1]) - f[:-3] - f[3:])
    return np.concatenate([[0.0], np.cumsum(parts)])


def _tamed(rates: Floats, knots: Floats, values: Floats) -> Floats:
    """Derivatives at which a cubic still rises between knots: under 3 times the secants beside them.

    References: Fritsch & Carlson (1980).
    """
    secants = np.diff(values) / np.diff(knots)
    beside = np.minimum(np.append(secants[0], secants), np.append(secants, secants[-1]))
    return np.asarray(np.minimum(rates, 2.9 * beside))


def _hermite(at: Floats, knots: Floats, values: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """A cubic through values with given derivatives at the knots: its value and derivative."""
    left = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, knots.size - 2)
    gap = knots[left + 1] - knots[left]
    x = (at - knots[left]) / gap
    rise = values[left + 1] - values[left]
    start, end = rates[left] * gap, rates[left + 1] * gap
    cubic = start + end - 2 * rise
    square = 3 * rise - 2 * start - end
    value = values[left] + x * (start + x * (square + x * cubic))
    return value, (start + x * (2 * square + 3 * x * cubic)) / gap
