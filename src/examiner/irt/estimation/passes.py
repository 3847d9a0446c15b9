"""One pass over a block of agents: posteriors at few nodes, and the sums that the M-step needs.

Every function here takes a block, the abilities between which the posteriors of its tiles were (its state),
and what the pass is about; it returns sums over agents, numbers of agents, and the new state. Sums add up
over blocks, wherever these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from examiner.irt.estimation.arrays import Array, Kind, Place, posterior_weights, split
from examiner.irt.estimation.blocks import Block, SameRow, Statistic
from examiner.irt.estimation.kernels import Kernel
from examiner.irt.estimation.plain import CommonCurves, OwnCurves, Spread
from examiner.irt.items import Curves, Floats, ItemParameters, curves
from examiner.irt.posterior import Quadrature, drawn_abilities

_EDGE = 1e-9
"""A window may end where no posterior weight is above this."""

Reaches = list[tuple[float, float]] | None
"""The abilities between which the posteriors of each tile are; None before the first pass."""
T = TypeVar("T")


class Pass:
    """What a pass is about: tasks, nodes, a likelihood. Curves are evaluated once in each process.

    `plain` are the 1PL and 2PL of successes. `trials` [tasks] are those of all agents, where they had the
    same, and None else; `kind` is the precision of products.
    """

    def __init__(
        self,
        items: ItemParameters,
        rule: Quadrature,
        kernel: Kernel,
        *,
        plain: bool,
        trials: Floats | None,
        kind: Kind,
        place: Place,
        before: Pass | None = None,
    ) -> None:
        self.items, self.rule, self.kernel, self.plain = items, rule, kernel, plain
        self.trials, self.kind, self.place = trials, kind, place
        self._spread: Spread | None = None
        if plain and trials is not None:
            steepest = float(np.abs(items.slope).max())
            self._spread = Spread.over(rule, steepest, None if before is None else before._spread)
        self._kept: dict[str, Any] = {}  # Any: curves by what they are for

    def __getstate__(self) -> dict[str, Any]:  # Any: attributes
        """Leave curves behind: they are evaluated again where they are needed."""
        return {**self.__dict__, "_kept": {}}

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return what was made under a key before, else make it."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    @property
    def shape(self) -> Curves:
        """The curves of tasks at the nodes, [tasks, nodes]."""
        return self.once("shape", lambda: curves(self.items, self.rule.nodes))

    @property
    def terms(self) -> tuple[Floats, ...]:
        """The kernel's F_c at the nodes, each [tasks, nodes]."""
        return self.once("terms", lambda: self.kernel.terms(self.shape, self.items.precision))

    def sent_term(self, number: int) -> Array:
        """Return one of them where products are computed, [nodes, tasks]."""
        return self.once(
            f"term {number}", lambda: self.place.array(self.terms[number], self.kind).T
        )

    @property
    def plain_curves(self) -> CommonCurves | OwnCurves:
        """The curves of a plain model, common where all agents had the same trials."""
        items, spread, trials, place = self.items, self._spread, self.trials, self.place
        if trials is None or spread is None:
            return self.once("own", lambda: OwnCurves(items, self.rule.nodes, self.kind, place))
        return self.once("common", lambda: CommonCurves(items, spread, trials, place))


class PassResult(NamedTuple):
    """What a function of one block returns: sums over its agents, numbers of each agent, and its state."""

    sums: tuple[Array, ...]
    agents: tuple[Floats, ...]
    reaches: Reaches


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
    log_density = _LogDensity(block, at)
    for number, rows in enumerate(block.tiles):
        tables = tuple(table.tile(rows) for table in block.tables)
        joint = log_density.of_tile(tables, rows)
        window = full
        if rule.spacing is not None:
            window = (
                _glimpsed(joint, count, place)
                if reaches is None
                else _window_over(rule.nodes, reaches[number])
            )
        while True:
            log_marginal, weights = posterior_weights(joint(window), place)
            highest = place.numpy(xp.amax(weights, 0))
            cut_below = window.start > 0 and highest[0] > _EDGE
            if not cut_below and (window.stop == count or highest[-1] <= _EDGE):
                break
            window = full
        yield Tile(rows, tables, window, weights, log_marginal, highest)


def _window_over(nodes: Floats, reach: tuple[float, float]) -> slice:
    """The nodes between two abilities, and two more on each side, since posteriors move on."""
    low, high = np.searchsorted(nodes, reach)
    start = min(max(0, int(low) - 2), nodes.size - 1)
    return slice(start, max(min(nodes.size, int(high) + 3), start + 1))


def _glimpsed(joint: Callable[[slice], Array], count: int, place: Place) -> slice:
    """The nodes that a tile reaches, from a look at every eighth: about six posterior deviations apart."""
    coarse = joint(slice(0, count, 8))
    below = coarse - place.xp.amax(coarse, 1)[:, None]
    near = np.flatnonzero(place.numpy(place.xp.amax(below, 0)) > -30.0)
    return slice(max(0, 8 * (int(near[0]) - 2)), min(count, 8 * (int(near[-1]) + 3)))


class _LogDensity:
    """log f(x_j | θ) and the population's log density, of tiles at windows of nodes."""

    def __init__(self, block: Block, at: Pass) -> None:
        self._block, place = block, block.place
        self._nodes = place.array(at.rule.nodes)
        self._base = place.array(at.rule.log_weights)
        if block.anchor is not None:
            self._base = 0.0 * self._base
        self._slope: Array = None
        self._terms: list[tuple[int, Callable[[slice], Array]]] = []
        if at.plain:
            self._slope = split(place.array(at.items.slope)[None, :], at.kind, place)
            plain = at.plain_curves
            if isinstance(plain, CommonCurves):
                self._base = self._base - plain.total
            else:
                self._terms = [(1, plain.failure)]
            return
        for number, (table, term) in enumerate(zip(block.tables, at.terms, strict=True)):
            if isinstance(table, SameRow):
                self._base = self._base + table.times(place.array(term).T)[0]
                continue
            self._terms.append((number, at.sent_term(number).__getitem__))

    def of_tile(self, tables: tuple[Statistic, ...], rows: slice) -> Callable[[slice], Array]:
        """Return a function of a window that gives log densities [agents, nodes]."""
        block, place = self._block, self._block.place
        score = place.array(np.zeros(rows.stop - rows.start))
        if self._slope is not None:
            score = tables[0].times(self._slope)[:, 0]

        def joint(window: slice) -> Array:
            base = self._base[..., window]
            density = score[:, None] * self._nodes[window]
            density += base if block.codes is None else base[block.codes[rows]]
            for number, term in self._terms:
                density += tables[number].times(term(window))
            if block.anchor is not None:
                density += block.anchor[rows][:, window]
            return density

        return joint


def e_step(block: Block, reaches: Reaches, at: Pass) -> PassResult:
    """Return the log-likelihood, sums for the M-step, and means and variances of abilities.

    Sums are, of a `plain` model, the mass at nodes (in agents [nodes] where all had the same trials, else
    in trials [nodes, tasks]) and successes weighted by abilities [tasks]; of a kernel the mass [nodes] and
    S_c = T_cᵀ W, each [nodes, tasks].
    """
    place, xp = block.place, block.place.xp
    nodes = place.array(at.rule.nodes)
    mean, variance = place.array(np.empty((2, block.agents)))
    log_likelihood, new = 0.0, []
    mass = xp.zeros_like(nodes)
    # of a plain model's successes the weighted abilities are enough
    varied = [
        number
        for number, table in enumerate(block.tables)
        if not isinstance(table, SameRow) and not (at.plain and number == 0)
    ]
    sums = {number: place.array(np.zeros((len(at.rule), len(at.items)))) for number in varied}
    for rows, tables, window, weights, log_marginal, highest in posteriors(block, reaches, at):
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
        mass[window] += weights.sum(0)
        for number, total in sums.items():
            table = tables[number]
            assert not isinstance(table, SameRow)
            total[window] += table.transposed(weights)
    agents = block.in_order(mean, variance)
    height = float(log_likelihood) + block.constant
    if at.plain:
        weighted = block.weighted_successes(mean)
        return PassResult((height, sums.get(1, mass), weighted), agents, new)
    every = (
        mass[:, None] * table.row if isinstance(table, SameRow) else sums[number]
        for number, table in enumerate(block.tables)
    )
    return PassResult((height, mass, *every), agents, new)


def weighted_successes(block: Block, reaches: Reaches, standard: tuple[float, float]) -> PassResult:
    """Return the successes of each task, weighted by standardised total scores: [tasks]."""
    assert block.score is not None
    score = block.place.array((block.score - standard[0]) / standard[1])
    return PassResult((block.place.numpy(block.weighted_successes(score)),), (), reaches)


def ability_draws(block: Block, reaches: Reaches, job: tuple[Pass, Floats]) -> PassResult:
    """Return one ability from each posterior; the job has two random numbers of each agent [agents, 2]."""
    at, random = job
    random = random[block.first + block.order]
    drawn = np.empty(block.agents)
    for tile in posteriors(block, reaches, at):
        weights, nodes = block.place.numpy(tile.weights), at.rule.nodes[tile.window]
        drawn[tile.rows] = drawn_abilities(weights, nodes, random[tile.rows])
    return PassResult((), block.in_order(drawn), reaches)
