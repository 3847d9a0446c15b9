"""One pass over a block of agents: posteriors at few nodes, and the sums that the M-step needs.

Every function here takes a block, the abilities between which the posteriors of its tiles were (its state),
and what the pass is about; it returns sums over agents, numbers of agents, and the new state. Sums add up
over blocks, wherever these are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from examiner.irt.estimation.arrays import (
    HERE,
    Array,
    Kind,
    Place,
    posterior_weights,
    softplus_and_sigmoid,
    split,
)
from examiner.irt.estimation.blocks import Block, Dense, SameRow, Statistic
from examiner.irt.estimation.kernel import Kernel
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.posterior import Quadrature

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""
_FORESEEN_SDS = 14.0
"""Posterior standard deviations around where a tile's share of successes is expected: eight of the
posterior itself, and six since agents met other tasks than the average."""
_REACH_IN_SDS = 8.0
"""How far around an agent's mode its posterior is looked at, in posterior standard deviations."""
_MARGIN = 2
"""Nodes beyond those where posteriors were last, since they move on."""
_GENTLE = 4.0
"""Slopes up to 4 in size have curves smooth enough for few Chebyshev nodes."""
_CHEBYSHEV_ERROR = 1e-8
_NODES_TOGETHER = 32

Reaches = list[tuple[float, float]] | None
"""The abilities between which the posteriors of each tile are; None before the first pass."""


class PassResult(NamedTuple):
    """What a function of one block returns: sums over its agents, numbers of each agent, and its state."""

    sums: tuple[Array, ...]
    agents: tuple[Floats, ...]
    reaches: Reaches


class Spread(NamedTuple):
    """Chebyshev nodes `at` which curves are evaluated, and the `matrix` that spreads them to the nodes."""

    rule: Quadrature
    at: Floats
    matrix: Floats | None
    smooth_below: float

    @classmethod
    def over(cls, rule: Quadrature, steepest: float, before: Spread | None = None) -> Spread:
        """Return few Chebyshev nodes where curves are smooth enough, else the nodes themselves."""
        if before is not None and before.rule is rule and before.smooth_below >= steepest:
            return before
        steepest *= 1.1
        reach = float(max(-rule.nodes[0], rule.nodes[-1]))
        count = _chebyshev_count(steepest, reach)
        if steepest <= _GENTLE and count < len(rule) and rule.spacing is not None:
            return cls(rule, *_chebyshev(rule.nodes, reach, count), steepest)
        return cls(rule, rule.nodes, None, np.inf)


class CommonCurves:
    """A(θ) = Σ n log(1 + exp η) and its rate of change at the nodes, and σ(η) [tasks, places].

    For agents who all had the same trials n.
    """

    def __init__(self, at: Pass, trials: Array, place: Place) -> None:
        items, spread = at.items, at.spread
        assert spread is not None
        self.trials, self.nodes = trials, place.array(spread.at)
        self._spread = None if spread.matrix is None else place.array(spread.matrix)
        eta = place.array(items.slope)[:, None] * self.nodes
        eta += place.array(items.intercept)[:, None]
        plus, self.rising = softplus_and_sigmoid(eta, place)
        total, rate = trials @ plus, (trials * place.array(items.slope)) @ self.rising
        self.total, self.rate = (
            part if self._spread is None else self._spread @ part for part in (total, rate)
        )

    def sums(self, mass: Array, powers: Array) -> tuple[Array, Array]:
        """Return Σ m P (1, θ) and Σ m P (1 − P) (1, θ, θ²) of each task, from the mass m [nodes]."""
        mass = mass if self._spread is None else mass @ self._spread
        weighted = mass[:, None] * powers
        first, bend = self.rising @ weighted[:, :2], (self.rising - self.rising**2) @ weighted
        return first * self.trials[:, None], bend * self.trials[:, None]


class OwnCurves:
    """log(1 + exp η) and σ(η) of every task at the nodes that were needed, [nodes, tasks]."""

    def __init__(self, at: Pass, kind: Kind, place: Place) -> None:
        self._items, self._kind, self._place = at.items, kind, place
        self.nodes = place.array(at.rule.nodes)
        shape = len(at.rule), len(at.items)
        self.rising = place.array(np.zeros(shape))
        halved = (shape[0], 2, shape[1])
        self._plus = place.array(np.empty(shape if kind is np.float64 else halved, kind), kind)
        self._known = np.zeros(len(at.rule), dtype=bool)

    def plus(self, window: slice) -> Array:
        """Return log(1 + exp η) at some nodes, or its halves."""
        place = self._place
        new = np.arange(len(self._known))[window][~self._known[window]]
        together = _NODES_TOGETHER if place is HERE else len(new) or 1
        for start in range(0, len(new), together):
            nodes = place.array(new[start : start + together], np.int64)
            eta = self.nodes[nodes][:, None] * place.array(self._items.slope)
            eta += place.array(self._items.intercept)
            plus, self.rising[nodes] = softplus_and_sigmoid(eta, place)
            self._plus[nodes] = split(plus, self._kind, place)
        self._known[new] = True
        return self._plus[window]

    def sums(self, mass: Array, powers: Array) -> tuple[Array, Array]:
        """Return the same sums from the mass in trials, [nodes, tasks]."""
        there = np.flatnonzero(self._place.numpy(mass.any(1)))
        window = slice(int(there[0]), int(there[-1]) + 1)
        self.plus(window)
        rising, powers = self.rising[window], powers[window]
        weighted = rising * mass[window]
        first = weighted.T @ powers[:, :2]
        weighted -= weighted * rising
        return first, weighted.T @ powers


class KernelCurves:
    """The terms F_c of a kernel [nodes, tasks], in the precision of the products."""

    def __init__(self, at: Pass, kind: Kind, place: Place) -> None:
        self.terms = [place.array(term, kind).T for term in at.terms]


class Pass:
    """What a pass is about: tasks, nodes, a likelihood. Curves are evaluated once in each process.

    `plain` are the 1PL and 2PL of successes: log f = s θ + t − A(θ) with s = K a and t = K d, so that
    products with a vector stand for those of successes, and where all agents had the same trials, A(θ) and
    the posterior mass are common to all.
    """

    def __init__(
        self,
        items: ItemParameters,
        rule: Quadrature,
        kernel: Kernel,
        *,
        plain: bool,
        before: Pass | None = None,
    ) -> None:
        self.items, self.rule, self.kernel, self.plain = items, rule, kernel, plain
        self.spread: Spread | None = None
        if plain:
            steepest = float(np.abs(items.slope).max())
            self.spread = Spread.over(rule, steepest, None if before is None else before.spread)
        self._kept: dict[Any, Any] = {}  # Any: curves by what they are for

    def __getstate__(self) -> dict[str, Any]:  # Any: attributes
        """Leave curves behind: they are evaluated again where they are needed."""
        return {**self.__dict__, "_kept": {}}

    def _once(self, key: Any, make: Any) -> Any:  # Any: as in `_kept`
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @property
    def shape(self) -> Any:  # Any: Curves
        """The curves of tasks at the nodes, [tasks, nodes]."""
        return self._once("shape", lambda: curves(self.items, self.rule.nodes))

    @property
    def terms(self) -> tuple[Floats, ...]:
        """The kernel's F_c at the nodes, each [tasks, nodes]."""
        found: tuple[Floats, ...] = self._once(
            "terms", lambda: self.kernel.terms(self.shape, self.items.precision)
        )
        return found

    def common_curves(self, trials: Array, place: Place) -> CommonCurves:
        """Return curves for agents who all had the same trials."""
        made: CommonCurves = self._once("common", lambda: CommonCurves(self, trials, place))
        return made

    def own_curves(self, kind: Kind, place: Place) -> OwnCurves:
        """Return curves for agents who had different trials."""
        made: OwnCurves = self._once("own", lambda: OwnCurves(self, kind, place))
        return made

    def kernel_curves(self, kind: Kind, place: Place) -> KernelCurves:
        """Return the terms of the kernel."""
        made: KernelCurves = self._once("kernel", lambda: KernelCurves(self, kind, place))
        return made


class Tile(NamedTuple):
    """Some agents of a block: their rows, statistics, and weights [agents, nodes of the window]."""

    rows: slice
    tables: tuple[Statistic, ...]
    window: slice
    weights: Array
    log_marginal: Array
    highest: Floats
    """The largest weight of any agent at each node."""


def posteriors(block: Block, reaches: Reaches, at: Pass) -> Iterator[Tile]:
    """Yield the posteriors of a block's agents, tile by tile, at the nodes that they reach.

    A window that cuts a posterior off is replaced by all nodes. A quadrature without spacing was asked for
    by the user, and is used whole.
    """
    place, rule = block.place, at.rule
    count, xp = len(rule), place.xp
    full = slice(0, count)
    density = _Density(block, at)
    windows = [full] * len(block.tiles)
    if rule.spacing is not None:
        known = density.foreseen(block) if reaches is None else reaches
        if known is not None:
            windows = [_window_over(rule.nodes, reach) for reach in known]
    for rows, window in zip(block.tiles, windows, strict=True):
        tables = tuple(table.tile(rows) for table in block.tables)
        joint = density.of_tile(tables, rows)
        log_marginal, weights = posterior_weights(joint(window), place)
        highest = place.numpy(xp.amax(weights, 0))
        cut_below = window.start > 0 and highest[0] > _EDGE
        if cut_below or (window.stop < count and highest[-1] > _EDGE):
            window = full
            log_marginal, weights = posterior_weights(joint(window), place)
            highest = place.numpy(xp.amax(weights, 0))
        yield Tile(rows, tables, window, weights, log_marginal, highest)


class _Density:
    """log f(x_j | θ) and the population's log density, of tiles at windows of nodes."""

    def __init__(self, block: Block, at: Pass) -> None:
        self._block, self._at, place = block, at, block.place
        self._nodes = place.array(at.rule.nodes)
        self._base = place.array(at.rule.log_weights)
        if block.anchor is not None:
            self._base = 0.0 * self._base
        self._own: OwnCurves | None = None
        self._terms: list[tuple[int, Array]] = []
        if at.plain:
            slope = place.array(at.items.slope)[None, :]
            self._slope = split(slope, _kind_of(block), place)
            given = block.tables[1]
            if isinstance(given, SameRow):
                self._base = self._base - at.common_curves(given.row, place).total
            else:
                self._own = at.own_curves(_kind_of(block), place)
            return
        kernel_curves = at.kernel_curves(_kind_of(block), place)
        for number, (table, term) in enumerate(zip(block.tables, kernel_curves.terms, strict=True)):
            if isinstance(table, SameRow):
                self._base = self._base + table.times(place.array(at.terms[number]).T)[0]
            else:
                self._terms.append((number, term))

    def of_tile(self, tables: tuple[Statistic, ...], rows: slice) -> Any:  # Any: a function
        """Return a function of a window that gives log densities [agents, nodes]."""
        won, place = tables[0], self._block.place
        score: Array = None
        if self._at.plain:
            assert not isinstance(won, SameRow)
            score = won.times(self._slope)[:, 0]

        def joint(window: slice) -> Array:
            base = self._base[..., window]
            if self._block.codes is not None:
                base = base[self._block.codes[rows]]
            if score is not None:
                density = score[:, None] * self._nodes[window]
                density += base
                if self._own is not None:
                    density -= tables[1].times(self._own.plus(window))
            else:
                # One row of zeros per agent: a lone agent's statistics are all the same for "all" agents.
                empty = place.array(np.zeros((rows.stop - rows.start, 1)))
                density = (empty + base) + sum(
                    tables[number].times(term[window]) for number, term in self._terms
                )
            if self._block.anchor is not None:
                density += self._block.anchor[rows][:, window]
            return density

        return joint

    def foreseen(self, block: Block) -> Reaches:
        """Where posteriors will be, from the shares of successes expected at each node; None if unknown.

        What is foreseen wrong is looked at with all nodes, which costs time and nothing else.
        """
        at, place = self._at, block.place
        if not at.plain or block.trials is None or block.score is None:
            return None
        if self._own is not None:
            self._own.plus(slice(None))
            rising, share = self._own.rising, 1.0 / len(at.items)
            bend = place.array(at.items.slope**2 * share)
            expected = place.numpy(rising.mean(1))
            information = place.numpy(rising @ bend - rising**2 @ bend)
            nodes = at.rule.nodes
        else:
            given = block.tables[1]
            assert isinstance(given, SameRow)
            common = at.common_curves(given.row, place)
            share = given.row / given.row.sum()
            bend = share * place.array(at.items.slope**2)
            expected = place.numpy(share @ common.rising)
            information = place.numpy(bend @ (common.rising - common.rising**2))
            nodes = place.numpy(common.nodes)
            if nodes[0] > nodes[-1]:  # Chebyshev nodes fall
                nodes, expected, information = nodes[::-1], expected[::-1], information[::-1]
        if (np.diff(expected) <= 0).any():
            return None
        standing = (block.score + 1.0) / (block.trials + 2.0)
        reaches = []
        for rows in block.tiles:
            about = np.interp(standing[rows][[0, -1]], expected, nodes)
            known = block.trials[rows].min() * np.interp(about, nodes, information)
            sds = _FORESEEN_SDS / np.sqrt(1.0 + np.maximum(known, 0.0))
            reaches.append((float(about[0] - sds[0]), float(about[1] + sds[1])))
        return reaches


def e_step(block: Block, reaches: Reaches, at: Pass) -> PassResult:
    """Return the log-likelihood, sums for the M-step, and means and variances of abilities.

    Sums are, of a `plain` model, the mass at nodes (in agents [nodes] where all had the same trials, else
    in trials [nodes, tasks]) and successes weighted by abilities [tasks]; of a kernel the mass [nodes] and
    S_c = T_cᵀ W, each [nodes, tasks].
    """
    if at.plain and isinstance(block.tables[1], SameRow):
        return _common_e_step(block, reaches, at)
    place, xp = block.place, block.place.xp
    tasks, nodes = len(at.items), place.array(at.rule.nodes)
    mean, variance = place.array(np.empty((2, block.agents)))
    log_likelihood, new = 0.0, []
    mass = xp.zeros_like(nodes)
    varied = [
        number
        for number, table in enumerate(block.tables)
        if not isinstance(table, SameRow) and not (at.plain and number == 0)
    ]
    sums = {number: place.array(np.zeros((len(at.rule), tasks))) for number in varied}
    for tile in posteriors(block, reaches, at):
        rows, tables, window, weights, log_marginal, highest = tile
        around = nodes[window]
        middle = around[len(around) // 2]
        beside = around - middle
        offset = weights @ beside
        mean[rows] = middle + offset
        variance[rows] = xp.clip(weights @ beside**2 - offset**2, 0.0, None)
        log_likelihood = log_likelihood + log_marginal.sum()
        alive = np.flatnonzero(highest > _EDGE / 100)
        near = at.rule.nodes[window]
        new.append((float(near[alive[0]]), float(near[alive[-1]])))
        if not at.plain:
            mass[window] += weights.sum(0)
        for number, total in sums.items():
            table = tables[number]
            assert not isinstance(table, SameRow)
            total[window] += table.transposed(weights)
    agents = block.in_order(mean, variance)
    height = float(log_likelihood) + block.constant
    if at.plain:
        return PassResult((height, sums[1], block.weighted_successes(mean)), agents, new)
    every = (
        mass[:, None] * table.row if isinstance(table, SameRow) else sums[number]
        for number, table in enumerate(block.tables)
    )
    return PassResult((height, mass, *every), agents, new)


def _common_e_step(block: Block, reaches: Reaches, at: Pass) -> PassResult:
    """The same where A(θ) is common to all agents: each looks at the nodes around its mode."""
    place, xp, rule = block.place, block.place.xp, at.rule
    given = block.tables[1]
    assert isinstance(given, SameRow)
    common = at.common_curves(given.row, place)
    nodes, base = place.array(rule.nodes), place.array(rule.log_weights) - common.total
    slope = split(place.array(at.items.slope)[None, :], _kind_of(block), place)
    half = int(np.ceil(_REACH_IN_SDS / rule.spacing)) if rule.spacing else len(rule)
    width = min(2 * half + 1, len(rule))
    mean, variance = place.array(np.empty((2, block.agents)))
    mass, log_likelihood = xp.zeros_like(nodes), 0.0
    for rows in block.tiles:
        score = block.tables[0].tile(rows).times(slope)[:, 0]
        if 2 * width >= len(rule) or block.codes is not None:
            around, window = nodes, None
            joint = score[:, None] * nodes + (
                base if block.codes is None else base[block.codes[rows]]
            )
        else:
            # The mode of s θ − A(θ) − θ²/2 is where A'(θ) + θ, which only rises, reaches s.
            centre = xp.searchsorted(common.rate + nodes, score)
            first = xp.clip(centre - half, 0, len(rule) - width)
            window = first[:, None] + place.array(np.arange(width), np.int64)
            around = nodes[window]
            joint = score[:, None] * around + base[window]
        log_marginal, weights = posterior_weights(joint, place)
        log_likelihood = log_likelihood + log_marginal.sum()
        mean[rows] = (weights * around).sum(1)
        variance[rows] = (weights * (around - mean[rows][:, None]) ** 2).sum(1)
        if window is None:
            mass += weights.sum(0)
        else:
            mass += xp.bincount(window.ravel(), weights.ravel(), len(rule))
    height = float(log_likelihood) + block.constant
    agents = block.in_order(mean, variance)
    return PassResult((height, mass, block.weighted_successes(mean)), agents, reaches)


def weighted_successes(block: Block, reaches: Reaches, standard: tuple[float, float]) -> PassResult:
    """Return the successes of each task, weighted by standardised total scores: [tasks]."""
    assert block.score is not None
    score = block.place.array((block.score - standard[0]) / standard[1])
    return PassResult((block.place.numpy(block.weighted_successes(score)),), (), reaches)


def drawn_abilities(block: Block, reaches: Reaches, job: tuple[Pass, Floats]) -> PassResult:
    """Return one ability from each posterior: a node by its weight, and evenly halfway to the next.

    The job has the pass, and two random numbers for each agent, [agents, 2].
    """
    at, random = job
    random = random[block.first + block.order]
    drawn = np.empty(block.agents)
    for tile in posteriors(block, reaches, at):
        nodes, mine = at.rule.nodes[tile.window], random[tile.rows]
        sums = np.cumsum(block.place.numpy(tile.weights), axis=1)
        sums /= sums[:, -1:]
        node = (sums < mine[:, :1]).sum(axis=1)
        edges = np.concatenate([nodes[:1], 0.5 * (nodes[1:] + nodes[:-1]), nodes[-1:]])
        drawn[tile.rows] = edges[node] + mine[:, 1] * (edges[node + 1] - edges[node])
    return PassResult((), block.in_order(drawn), reaches)


def _kind_of(block: Block) -> Kind:
    kinds = [table.kind for table in block.tables if isinstance(table, Dense)]
    return kinds[0] if kinds else np.float64


def _window_over(nodes: Floats, reach: tuple[float, float]) -> slice:
    """The nodes between two abilities, and a few more on each side, since posteriors move on."""
    low, high = np.searchsorted(nodes, reach)
    start = min(max(0, int(low) - _MARGIN), nodes.size - 1)
    return slice(start, max(min(nodes.size, int(high) + _MARGIN + 1), start + 1))


def _chebyshev_count(steepest: float, reach: float) -> int:
    """How many Chebyshev nodes give log(1 + exp η) to the error allowed.

    Its singularities at η = ±iπ are y = π / (a · reach) above the interval when that is scaled to
    ±1; the error falls like ρ⁻ⁿ with ρ = y + √(1 + y²) (Trefethen 2013, theorem 8.2).
    """
    height = np.pi / max(steepest * reach, 1e-9)
    return int(np.ceil(-np.log(_CHEBYSHEV_ERROR) / np.log(height + np.sqrt(1 + height**2))))


def _chebyshev(nodes: Floats, reach: float, count: int) -> tuple[Floats, Floats]:
    """Chebyshev nodes on ±reach, and the matrix that spreads values at them to the nodes."""
    k = np.arange(count)
    angle = np.pi * (k + 0.5) / count
    at = reach * np.cos(angle)
    barycentric = np.where(k % 2 == 0, 1.0, -1.0) * np.sin(angle)
    gap = nodes[:, None] - at
    exact = gap == 0
    gap[exact] = 1.0
    spread = barycentric / gap
    spread /= spread.sum(axis=1, keepdims=True)
    hit = exact.any(axis=1)
    spread[hit] = exact[hit]
    return at, spread
