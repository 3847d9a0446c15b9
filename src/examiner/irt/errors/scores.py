r"""What the errors of tasks need of a block of agents: sums of the scores of agents under their posteriors.

By the identity of Louis (1982, J. R. Statist. Soc. B 44, eq. 3.2') the missing information is
Σ_j Cov_j[s_j(θ)], with s the gradient of log f(x_j | θ) by the parameters. s_j(θ) is written in polynomials
orthonormal under agent j's posterior: Cov_j = Σ_l c_jl c_jlᵀ with c_jl = E_j[s_j π_l], l ≥ 1 (Parseval). A
posterior is narrow and s smooth over it, so that a few levels l are enough; where they are not, every node
is a level by itself, which is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.agent_posterior import response_slopes
from examiner.irt.editions import Editions
from examiner.irt.estimation.arrays import Array, Kind, Place
from examiner.irt.estimation.blocks import Block, Listed, SameRow
from examiner.irt.estimation.passes import Pass, PassResult, Reaches, Tile, posteriors
from examiner.irt.items import Floats
from examiner.irt.model import Parameter
from examiner.irt.parameter_covariance import ParameterCovariance

_MOST_LEVELS, _FEW_LEVELS = 24, 12
"""How many levels there are at most; the second for leading directions and single tasks."""
_ENOUGH, _ROUGHLY_ENOUGH = 1e-6, 1e-4
"""Share of a parameter's information below which a level is the last: errors change by half as much. The
second is for many cells, where products have seven digits, and for leading directions."""
_FEW_PARAMETERS = 150
"""Up to here every node by itself costs little, and is exact."""


class ScoreJob(NamedTuple):
    """What a pass over scores is about: parameters by name, those of tasks first.

    `fixed` [own, tasks] are parameters at an end of their range, which do not move, and `scale` is the
    complete information on each parameter [size], against which a level is small. `mean_moves` is by how
    much the shared slope moves an ability of 1 where it is the unit of ability, else None. `populations`
    are means and log deviations of editions but the first, the last parameters.
    """

    at: Pass
    own: tuple[Parameter, ...]
    shared: tuple[Parameter, ...]
    fixed: NDArray[np.bool_]
    kind: Kind
    agents: int
    scale: Floats
    mean_moves: float | None
    editions: Editions | None
    populations: Floats

    def slopes(self, place: Place) -> list[Array]:
        """Return ∂F_c/∂parameter, each [parameters, tasks or 1, nodes], 0 for those that do not move."""

        def evaluated() -> list[Array]:
            names, at = self.own + self.shared, self.at
            slopes = []
            for by in response_slopes(at.kernel, at.items, at.rule.nodes, names):
                if self.fixed.any():
                    by = np.array(np.broadcast_to(by, (len(names), len(at.items), by.shape[2])))
                    by[: len(self.own)][self.fixed] = 0.0
                slopes.append(place.array(by, self.kind))
            return slopes

        return self.at.once(f"slopes {self.own + self.shared}", evaluated)


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

    def flat(self, place: Place, kind: Kind) -> Array:
        """Return all parameters side by side, [agents, size]."""
        of_tasks = [c if not hasattr(c, "toarray") else c.toarray() for c in self.own]
        return place.xp.concatenate([*of_tasks, place.cast(self.shared, kind)], 1)


def missing_information(block: Block, reaches: Reaches, job: ScoreJob) -> PassResult:
    """Return Σ_j Cov_j[s_j], [size, size]."""
    place, total, waiting = block.place, np.zeros((len(job.scale),) * 2), 0
    stack: list[Array] = []

    def multiplied() -> Floats:
        tall = place.xp.concatenate(stack)
        stack.clear()
        return place.numpy(tall.T @ tall)

    for level in _levels(block, reaches, job):
        stack.append(level.flat(place, job.kind))
        waiting += stack[-1].shape[0] * len(job.scale)
        # few large products instead of many small ones
        if waiting > 4_000_000:
            total += multiplied()
            waiting = 0
    if stack:
        total += multiplied()
    return PassResult((total,), (), reaches)


def missing_times(block: Block, reaches: Reaches, work: tuple[ScoreJob, Floats]) -> PassResult:
    """Return missing information times columns [size, n], and that of each task alone [own, own, tasks].

    Few levels are enough for both.
    """
    job, given = work
    place, width, tasks = block.place, len(job.own), len(job.at.items)
    columns = place.array(given, job.kind)
    parts = [columns[name * tasks : (name + 1) * tasks] for name in range(width)]
    product = place.array(np.zeros(given.shape))
    alone = place.array(np.zeros((width, width, tasks)))
    for level in _levels(block, reaches, job, rough=True):
        along = sum(c @ part for c, part in zip(level.own, parts, strict=True))
        if level.shared.shape[1]:
            along = along + place.cast(level.shared, job.kind) @ columns[width * tasks :]
            product[width * tasks :] += place.cast(level.shared.T, job.kind) @ along
        for name, c in enumerate(level.own):
            product[name * tasks : (name + 1) * tasks] += c.T @ along
            for other in range(name + 1):
                alone[name, other] += (c * level.own[other]).sum(0)
    for name in range(width):
        for other in range(name):
            alone[other, name] = alone[name, other]
    return PassResult((place.numpy(product), place.numpy(alone)), (), reaches)


def ability_errors(
    block: Block, reaches: Reaches, work: tuple[ScoreJob, ParameterCovariance]
) -> PassResult:
    """Return means, variances, what the errors of tasks add, and that along the shared directions.

    The formula is that of `agent_posterior`; abilities are N(0, 1).
    """
    job, covariance = work
    place = block.place
    parts = [
        (mean, variance, *covariance.propagated(level.own, level.shared, job.kind, place))
        for mean, variance, level in _moves(block, reaches, job)
    ]
    numbers = (place.xp.concatenate(part) for part in zip(*parts, strict=True))
    return PassResult((), block.in_order(*numbers), reaches)


def ability_moves(block: Block, reaches: Reaches, job: ScoreJob) -> PassResult:
    """Return variances of abilities, and how their means move with all parameters, [agents, size]."""
    place = block.place
    parts = [
        (variance, level.flat(place, job.kind))
        for _, variance, level in _moves(block, reaches, job)
    ]
    numbers = (place.xp.concatenate(part) for part in zip(*parts, strict=True))
    return PassResult((), block.in_order(*numbers), reaches)


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


def _levels(
    block: Block, reaches: Reaches, job: ScoreJob, *, rough: bool = False
) -> Iterator[Level]:
    """Yield c_jl of all agents, tile by tile, until a level's share of the information is small."""
    place = block.place
    tasks, width = len(job.at.items), len(job.own)
    least = np.maximum(job.scale, 1e-12)
    scale = [place.array(part) for part in np.split(least, np.arange(1, width + 1) * tasks)]
    rough_digits = rough or job.kind is not np.float64
    for tile in posteriors(block, reaches, job.at):
        alive = np.flatnonzero(tile.highest > 1e-16)
        inside = slice(int(alive[0]), int(alive[-1]) + 1)
        window = slice(tile.window.start + inside.start, tile.window.start + inside.stop)
        near = tile._replace(window=window, weights=tile.weights[:, inside])
        share = (tile.rows.stop - tile.rows.start) / job.agents
        # four tiles may each omit as much as a whole table; more of them have to be closer
        enough = (_ROUGHLY_ENOUGH if rough_digits else _ENOUGH) * min(1.0, 4 * share)
        if len(job.scale) > _FEW_PARAMETERS:
            if rough:  # as many as were asked for
                levels = _smooth_levels(block, near, job, scale, enough, _FEW_LEVELS)
                yield from (level for level, _ in levels)
                continue
            smooth = list(_smooth_levels(block, near, job, scale, enough, _MOST_LEVELS))
            if len(smooth) < _MOST_LEVELS or smooth[-1][1] < enough:
                yield from (level for level, _ in smooth)
                continue
        for basis in _node_bases(near.weights, place):
            yield _levels_of(block, near, job, [basis])[0]


def _smooth_levels(
    block: Block, tile: Tile, job: ScoreJob, scale: list[Array], enough: float, most: int
) -> Iterator[tuple[Level, float]]:
    """Yield levels and their largest shares of the information, until one is small."""
    nodes = block.place.array(job.at.rule.nodes[tile.window])
    bases = islice(orthonormal(nodes, tile.weights, block.place), most)
    levels: Iterator[Level]
    if block.listed:
        levels = iter(_levels_of(block, tile, job, list(bases) or [0.0 * tile.weights]))
    else:
        levels = (_levels_of(block, tile, job, [basis])[0] for basis in bases)
    for level in levels:
        share = level.largest_share(scale)
        yield level, share
        if share < enough:
            return


def _levels_of(block: Block, tile: Tile, job: ScoreJob, bases: list[Array]) -> list[Level]:
    """Σ_q v_jq s_j(θ_q) for weights v [agents, nodes], of each basis."""
    slopes = [by[:, :, tile.window] for by in job.slopes(block.place)]
    if block.listed:
        return _listed_levels(block, tile, job, slopes, bases)
    place, levels = block.place, []
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
        width = len(job.own)
        shared = [place.cast(part.sum(1), np.float64) for part in every[width:]]
        shared += _by_populations(block, tile, job, basis)
        empty = place.cast(weights[:, :0], np.float64)
        levels.append(Level(every[:width], place.xp.stack(shared, 1) if shared else empty))
    return levels


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
    names, width = len(job.own) + len(job.shared), len(job.own)
    by_cell = np.zeros((len(cells.columns), names, slopes[0].shape[2]), dtype=job.kind)
    for table, by in zip(tables, slopes, strict=True):
        nonzero = np.flatnonzero(table.values)
        here = by[:, cells.columns[nonzero]] if by.shape[1] > 1 else by
        counts = table.values[nonzero, None, None].astype(job.kind)
        by_cell[nonzero] += counts * here.transpose(1, 0, 2)
    weights = np.stack(bases, axis=2).astype(job.kind)
    sums = np.empty((len(cells.columns), names, len(bases)), dtype=job.kind)
    starts = cells.starts.tolist()
    for agent in range(len(starts) - 1):
        mine = slice(starts[agent], starts[agent + 1])
        np.matmul(by_cell[mine], weights[agent], out=sums[mine])
    shape = len(starts) - 1, len(job.at.items)
    shared = np.zeros((shape[0], names - width, len(bases)))
    np.add.at(shared, rows, sums[:, width:])
    levels_found = []
    for number in range(len(bases)):
        tables_of = [
            csr_array((sums[:, name, number].copy(), cells.columns, cells.starts), shape=shape)
            for name in range(width)
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
