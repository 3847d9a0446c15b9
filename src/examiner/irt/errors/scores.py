r"""What the errors of tasks need of a block of agents: sums of the scores of agents under their posteriors.

By the identity of Louis (1982, J. R. Statist. Soc. B 44, eq. 3.2') the missing information is
Σ_j Cov_j[s_j(θ)], with s the gradient of log f(x_j | θ) by the parameters. s_j(θ) is written in polynomials
orthonormal under agent j's posterior: Cov_j = Σ_l c_jl c_jlᵀ with c_jl = E_j[s_j π_l], l ≥ 1 (Parseval). A
posterior is narrow and s smooth over it, so that a few levels l are enough; where they are not, every node
is a level by itself, which is exact.

In the 1PL and 2PL of agents who all had the same trials it has a closed form: with k successes of n trials
scores are θ (k − nP) and k − nP, in which the data are beside θ only. With h = (nθP, nP) at the nodes,
posteriors W [agents, nodes], M = diag(column sums of W), B = W (θ − mean), V the posterior variances and K
the successes, in the rows and columns of slopes,

.. math:: \sum_j \mathrm{Cov}_j[s] = h (M - W^\top W) h^\top + K^\top V K - C - C^\top, \quad
          C = K^\top B h^\top
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.agent_posterior import response_slopes
from examiner.irt.editions import Editions
from examiner.irt.estimation.arrays import Array, Kind, Place
from examiner.irt.estimation.blocks import Block, Dense, Listed, SameRow
from examiner.irt.estimation.passes import Pass, PassResult, Reaches, Tile, posteriors
from examiner.irt.items import Floats
from examiner.irt.model import Parameter
from examiner.irt.parameter_covariance import ParameterCovariance

_MOST_LEVELS = 24
_FEW_PARAMETERS = 150
"""Up to here every node by itself costs little, and is exact."""
_NEGLIGIBLE = 1e-16
_STACK = 4_000_000
"""Numbers of levels that are multiplied together: few large products instead of many small ones."""
_TILES = 4
"""Tiles that may each leave out as much as a whole table; more of them have to be closer."""


@dataclass(frozen=True)
class ScoreJob:
    """What a pass over scores is about: parameters by name, those of tasks first, and what is needed.

    `scale` [names of tasks × tasks, shared] is the complete information on each parameter, against which a
    level is small, and `enough` the share below which it is the last. With `columns` [parameters, n] their
    product with the missing information is asked for, and with `covariance` the errors of abilities.
    """

    at: Pass
    own: tuple[Parameter, ...]
    shared: tuple[Parameter, ...]
    fixed: NDArray[np.bool_]
    """Parameters at an end of their range, which do not move, [tasks, own]."""
    kind: Kind
    agents: int
    scale: Floats | None = None
    enough: float = 1e-4
    most: int = _MOST_LEVELS
    columns: Floats | None = None
    covariance: ParameterCovariance | None = None
    mean_moves: float | None = None
    """By how much the shared slope moves an ability of 1 where it is the unit of ability, else None."""
    editions: Editions | None = None
    populations: Floats | None = None
    """Means and log deviations of editions but the first, the last parameters."""

    @property
    def size(self) -> int:
        """How many parameters there are."""
        populations = 0 if self.editions is None else self.editions.count
        return len(self.at.items) * len(self.own) + len(self.shared) + populations

    def slopes(self, place: Place) -> list[Array]:
        """Return ∂F_c/∂parameter, each [parameters, tasks or 1, nodes], 0 for those that do not move."""

        def evaluated() -> list[Array]:
            names = self.own + self.shared
            found = []
            for by in response_slopes(self.at.kernel, self.at.items, self.at.rule.nodes, names):
                if self.fixed.any():
                    by = np.array(np.broadcast_to(by, (len(names), len(self.fixed), by.shape[2])))
                    by[: len(self.own)][self.fixed.T] = 0.0
                found.append(place.array(by, self.kind))
            return found

        kept: list[Array] = self.at._once(("slopes", self.own, self.shared), evaluated)
        return kept


class Level(NamedTuple):
    """c_jl of some agents: of each parameter of tasks a table [agents, tasks], dense or a list of cells.

    `shared` [agents, parameters] are those of parameters that all tasks share.
    """

    own: list[Array]
    shared: Array

    def largest_share(self, scale: list[Array]) -> float:
        """Return the largest share of a parameter's information that the level has."""
        shares = [((c * c).sum(0) / part).max() for c, part in zip(self.own, scale, strict=False)]
        if self.shared.shape[1]:
            shares.append(((self.shared**2).sum(0) / scale[-1]).max())
        return float(max(shares))

    def flat(self, place: Place) -> Array:
        """Return all parameters side by side, [agents, size]."""
        own = [c if not hasattr(c, "toarray") else c.toarray() for c in self.own]
        return place.xp.concatenate([*own, place.cast(self.shared, _kind(own[0]))], 1)


def missing_information(block: Block, reaches: Reaches, job: ScoreJob) -> PassResult:
    """Return Σ_j Cov_j[s_j], [size, size], parameter by parameter."""
    place, total, waiting = block.place, np.zeros((job.size, job.size)), 0
    stack: list[Array] = []

    def multiplied() -> Floats:
        tall = place.xp.concatenate(stack)
        stack.clear()
        return place.numpy(tall.T @ tall)

    for _, level in levels(block, reaches, job):
        stack.append(level.flat(place))
        waiting += stack[-1].shape[0] * job.size
        if waiting > _STACK:
            total += multiplied()
            waiting = 0
    if stack:
        total += multiplied()
    return PassResult((total,), (), reaches)


def missing_times(block: Block, reaches: Reaches, job: ScoreJob) -> PassResult:
    """Return missing information times columns [size, n], and that of each task alone [own, own, tasks]."""
    place, own = block.place, len(job.own)
    assert job.columns is not None
    tasks, count = len(job.at.items), job.columns.shape[1]
    columns = place.array(job.columns, job.kind)
    parts = [columns[name * tasks : (name + 1) * tasks] for name in range(own)]
    product = place.array(np.zeros((job.size, count)))
    alone = place.array(np.zeros((own, own, tasks)))
    for _, level in levels(block, reaches, job):
        along = sum(c @ part for c, part in zip(level.own, parts, strict=True))
        if level.shared.shape[1]:
            along = along + place.cast(level.shared, job.kind) @ columns[own * tasks :]
            product[own * tasks :] += place.cast(level.shared.T, job.kind) @ along
        for name, c in enumerate(level.own):
            product[name * tasks : (name + 1) * tasks] += c.T @ along
            for other in range(name + 1):
                alone[name, other] += (c * level.own[other]).sum(0)
    for name in range(own):
        for other in range(name):
            alone[other, name] = alone[name, other]
    return PassResult((place.numpy(product), place.numpy(alone)), (), reaches)


def ability_errors(block: Block, reaches: Reaches, job: ScoreJob) -> PassResult:
    """Return means, variances, what the errors of tasks add, and that along the shared directions.

    The formula is that of `agent_posterior`; abilities are N(0, 1).
    """
    covariance, place = job.covariance, block.place
    assert covariance is not None
    tasks, own = len(job.at.items), len(job.own)
    cut = tasks * own
    directions = place.array(covariance.directions, job.kind)
    blocks = place.array(covariance.task_blocks, job.kind)
    parts: list[tuple[Array, ...]] = []
    for mean, variance, level in _moves(block, reaches, job):
        along = sum(c @ directions[name:cut:own] for name, c in enumerate(level.own))
        along = along + place.cast(level.shared, job.kind) @ directions[cut:]
        added = (place.cast(along, np.float64) ** 2).sum(1)
        for name, c in enumerate(level.own):
            for other in range(name + 1):
                bent = (c * level.own[other]) @ blocks[:, name, other]
                added = added + (1.0 if name == other else 2.0) * bent
        parts.append((mean, variance, place.xp.clip(added, 0.0, None), along))
    numbers = (place.xp.concatenate(part) for part in zip(*parts, strict=True))
    return PassResult((), block.in_order(*numbers), reaches)


def ability_moves(block: Block, reaches: Reaches, job: ScoreJob) -> PassResult:
    """Return variances of abilities, and how their means move with all parameters, [agents, size]."""
    place, tasks, own = block.place, len(job.at.items), len(job.own)
    parts = []
    for _, variance, level in _moves(block, reaches, job):
        flat = place.numpy(level.flat(place))
        mine = flat[:, : tasks * own].reshape(-1, own, tasks).transpose(0, 2, 1)
        laid = np.concatenate([mine.reshape(-1, tasks * own), flat[:, tasks * own :]], axis=1)
        parts.append((place.numpy(variance), laid))
    numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
    return PassResult((), tuple(_unsorted(block, part) for part in numbers), reaches)


def _moves(block: Block, reaches: Reaches, job: ScoreJob) -> Iterator[tuple[Array, Array, Level]]:
    """Yield posterior means and variances of agents, and ∂mean/∂parameters as a level."""
    nodes = block.place.array(job.at.rule.nodes)
    for tile in posteriors(block, reaches, job.at):
        around = nodes[tile.window]
        mean = tile.weights @ around
        beside = tile.weights * (around - mean[:, None])
        variance = (beside * (around - mean[:, None])).sum(1)
        (level,) = _levels_of(block, tile, job, [beside])
        if job.mean_moves is not None:  # the ability shown is the shared slope times θ: both move
            level.shared[:, job.shared.index("slope")] += mean * job.mean_moves
        yield mean, variance, level


def levels(block: Block, reaches: Reaches, job: ScoreJob) -> Iterator[tuple[Tile, Level]]:
    """Yield c_jl of all agents, tile by tile, until a level's share of the information is small."""
    place = block.place
    assert job.scale is not None
    tasks, own = len(job.at.items), len(job.own)
    least = np.maximum(job.scale, 1e-12)
    scale = [place.array(part) for part in np.split(least, np.arange(1, own + 1) * tasks)]
    for tile in posteriors(block, reaches, job.at):
        alive = np.flatnonzero(tile.highest > _NEGLIGIBLE)
        inside = slice(int(alive[0]), int(alive[-1]) + 1)
        window = slice(tile.window.start + inside.start, tile.window.start + inside.stop)
        near = tile._replace(window=window, weights=tile.weights[:, inside])
        share = (tile.rows.stop - tile.rows.start) / job.agents
        enough = job.enough * min(1.0, _TILES * share)
        if job.size > _FEW_PARAMETERS:
            every = _smooth_levels(block, near, job, scale, enough)
            if job.most < _MOST_LEVELS:  # as many as were asked for
                yield from ((near, level) for level, _ in every)
                continue
            found = list(every)
            if len(found) < job.most or found[-1][1] < enough:
                yield from ((near, level) for level, _ in found)
                continue
        for basis in _node_bases(near.weights, place):
            yield near, _levels_of(block, near, job, [basis])[0]


def _smooth_levels(
    block: Block, tile: Tile, job: ScoreJob, scale: list[Array], enough: float
) -> Iterator[tuple[Level, float]]:
    """Yield levels and their largest shares of the information, until one is small."""
    nodes = block.place.array(job.at.rule.nodes[tile.window])
    bases = islice(orthonormal(nodes, tile.weights, block.place), job.most)
    made: Iterator[Level]
    if block.listed:
        made = iter(_levels_of(block, tile, job, list(bases) or [0.0 * tile.weights]))
    else:
        made = (_levels_of(block, tile, job, [basis])[0] for basis in bases)
    for level in made:
        share = level.largest_share(scale)
        yield level, share
        if share < enough:
            return


def _levels_of(block: Block, tile: Tile, job: ScoreJob, bases: list[Array]) -> list[Level]:
    """Σ_q v_jq s_j(θ_q) for weights v [agents, nodes], of each basis."""
    slopes = [by[:, :, tile.window] for by in job.slopes(block.place)]
    if block.listed:
        return _listed_levels(block, tile, job, slopes, bases)
    place, found = block.place, []
    for basis in bases:
        weights = place.cast(basis, job.kind)
        every = []
        for name in range(len(job.own) + len(job.shared)):
            total: Array = 0.0
            for table, by in zip(tile.tables, slopes, strict=True):
                assert not isinstance(table, Listed)
                data = table.row if isinstance(table, SameRow) else table.data
                total = total + (weights @ by[name].T) * place.cast(data, job.kind)
            every.append(total)
        own = len(job.own)
        shared = [place.cast(part.sum(1), np.float64) for part in every[own:]]
        shared += _by_populations(block, tile, job, basis)
        empty = place.cast(weights[:, :0], np.float64)
        found.append(Level(every[:own], place.xp.stack(shared, 1) if shared else empty))
    return found


def _by_populations(block: Block, tile: Tile, job: ScoreJob, basis: Array) -> list[Array]:
    """Σ_q v_jq ∂ log φ_j(θ_q) by each number of the populations, 0 for agents of other editions."""
    if job.editions is None or block.codes is None:
        return []
    assert job.populations is not None
    scores = job.editions.scores(job.populations, job.at.rule.nodes[tile.window])
    code = block.codes[tile.rows]
    return [(basis @ by) * (code == 1 + row // 2) for row, by in enumerate(scores)]


def _listed_levels(
    block: Block, tile: Tile, job: ScoreJob, slopes: list[Array], bases: list[Array]
) -> list[Level]:
    """The same of observed cells alone, all bases at once."""
    from scipy.sparse import csr_array

    tables = [table for table in tile.tables if isinstance(table, Listed)]
    cells = tables[-1]
    rows = np.repeat(np.arange(len(cells.starts) - 1), np.diff(cells.starts))
    names, own = len(job.own) + len(job.shared), len(job.own)
    by_cell = np.zeros((len(cells.columns), names, slopes[0].shape[2]), dtype=job.kind)
    for table, by in zip(tables, slopes, strict=True):
        some = np.flatnonzero(table.values)
        here = by[:, cells.columns[some]] if by.shape[1] > 1 else by
        counts = table.values[some, None, None].astype(job.kind)
        by_cell[some] += counts * here.transpose(1, 0, 2)
    weights = np.stack(bases, axis=2).astype(job.kind)
    found = np.empty((len(cells.columns), names, len(bases)), dtype=job.kind)
    starts = cells.starts.tolist()
    for agent in range(len(starts) - 1):
        mine = slice(starts[agent], starts[agent + 1])
        np.matmul(by_cell[mine], weights[agent], out=found[mine])
    shape = len(starts) - 1, len(job.at.items)
    shared = np.zeros((shape[0], names - own, len(bases)))
    np.add.at(shared, rows, found[:, own:])
    levels_found = []
    for number in range(len(bases)):
        tables_of = [
            csr_array((found[:, name, number].copy(), cells.columns, cells.starts), shape=shape)
            for name in range(own)
        ]
        populations = _by_populations(block, tile, job, bases[number])
        columns = [shared[:, :, number], *(column[:, None] for column in populations)]
        levels_found.append(Level(tables_of, np.concatenate(columns, axis=1)))
    return levels_found


def orthonormal(nodes: Array, weights: Array, place: Place) -> Iterator[Array]:
    """Yield w π_1, w π_2, …: polynomials orthonormal under each row of weights w, times these."""
    xp = place.xp
    before, current = xp.zeros_like(weights), xp.ones_like(weights)
    norm: Array = 0.0
    for _ in range(len(nodes) - 1):
        centre = (weights * current**2 * nodes).sum(1)[:, None]
        following = (nodes - centre) * current - norm * before
        norm = xp.sqrt((weights * following**2).sum(1))[:, None]
        before = current
        current = xp.where(norm > 1e-10, following / xp.clip(norm, 1e-300, None), 0.0)
        yield weights * current


def _node_bases(weights: Array, place: Place) -> Iterator[Array]:
    """Yield √w_q (e_q − w) of every node q: exact, whatever the shape of s."""
    for node in range(weights.shape[1]):
        root = place.xp.sqrt(weights[:, node])
        basis = -weights * root[:, None]
        basis[:, node] += root
        yield basis


class AlikeJob(NamedTuple):
    """What a pass over agents who all had the same trials is about."""

    at: Pass
    kind: Kind
    whole: bool
    """Whether all of KᵀVK is needed, or its diagonal."""
    columns: Floats | None = None
    """Columns of slopes [tasks, n], of which Kᵀ V K times them is asked for."""


def alike_sums(block: Block, reaches: Reaches, job: AlikeJob) -> PassResult:
    """Return WᵀW [nodes, nodes], mass [nodes], KᵀB [tasks, nodes], and KᵀVK: whole, or its diagonal."""
    place, xp, nodes = block.place, block.place.xp, block.place.array(job.at.rule.nodes)
    count, tasks = len(nodes), len(job.at.items)
    squares, mass = place.array(np.zeros((count, count))), place.array(np.zeros(count))
    crossed = place.array(np.zeros((count, tasks)))
    spread: Array = 0.0
    for tile in posteriors(block, reaches, job.at):
        window, weights, won = tile.window, tile.weights, tile.tables[0]
        assert isinstance(won, Dense)
        away = nodes[window] - (weights @ nodes[window])[:, None]
        beside = weights * away
        variance = (beside * away).sum(1)
        squares[window, window] += weights.T @ weights
        mass[window] += weights.sum(0)
        data = place.cast(won.data, job.kind)
        crossed[window] += place.cast(beside.T, job.kind) @ data
        if job.whole:
            rooted = data * place.cast(xp.sqrt(variance), job.kind)[:, None]
            spread = spread + rooted.T @ rooted
        else:
            spread = spread + place.cast(variance, job.kind) @ data**2
    return PassResult(
        (*map(place.numpy, (squares, mass)), place.numpy(crossed).T, place.numpy(spread)),
        (),
        reaches,
    )


def alike_times(block: Block, reaches: Reaches, job: AlikeJob) -> PassResult:
    """Return KᵀVK times columns of slopes, [tasks, n]."""
    place, nodes = block.place, block.place.array(job.at.rule.nodes)
    columns, total = place.array(job.columns, job.kind), 0.0
    for tile in posteriors(block, reaches, job.at):
        won = tile.tables[0]
        assert isinstance(won, Dense)
        around = nodes[tile.window]
        away = around - (tile.weights @ around)[:, None]
        variance = place.cast((tile.weights * away**2).sum(1), job.kind)
        data = place.cast(won.data, job.kind)
        total = total + data.T @ (variance[:, None] * (data @ columns))
    return PassResult((place.numpy(total),), (), reaches)


def _kind(values: Array) -> Kind:
    return np.float64 if "64" in str(values.dtype) else np.float32


def _unsorted(block: Block, part: Floats) -> Floats:
    back: Any = np.empty_like(part)
    back[block.order] = part
    return np.asarray(back)
