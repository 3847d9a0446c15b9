r"""Missing information of the 2PL where all agents had the same trials, in closed form.

With k successes of n trials the scores of an agent are θ (k − nP) by slopes and k − nP by intercepts: the
data stand beside θ only. With h = (nθP, nP) at the nodes, posteriors W [agents, nodes], M = diag(column
sums of W), B = W (θ − mean), V the posterior variances and K the successes, in rows and columns of slopes,

.. math:: \sum_j \mathrm{Cov}_j[s] = h (M - W^\top W) h^\top + K^\top V K - C - C^\top, \quad
          C = K^\top B h^\top

It equals the sums of `scores`, and takes one product of the data instead of one for each level: with 2,000
tasks errors take half the time.
"""

from __future__ import annotations

import numpy as np

from examiner.irt.estimation.arrays import Array, Kind
from examiner.irt.estimation.blocks import Block, Dense
from examiner.irt.estimation.passes import Pass, PassResult, Reaches, posteriors
from examiner.irt.estimation.sources import ResponseSource
from examiner.irt.items import Floats, curves


def complete_missing_information(source: ResponseSource, at: Pass, kind: Kind) -> Floats:
    """Return it [2 tasks, 2 tasks]: all slopes, then all intercepts."""
    assert at.trials is not None
    (squares, mass, crossed, spread), _ = source.total(_sums_of, (at, kind))
    reached = np.flatnonzero(mass)
    near = slice(int(reached[0]), int(reached[-1]) + 1)
    nodes, tasks = at.rule.nodes[near], len(at.items)
    expected = curves(at.items, nodes).success * at.trials[:, None]
    h = np.concatenate([expected * nodes, expected]).astype(kind)
    between = (np.diag(mass[near]) - squares[near, near]).astype(kind)
    missing: Array = (h @ between) @ h.T
    missing[:tasks, :tasks] += spread
    cross = crossed[:, near].astype(kind) @ h.T
    missing[:tasks] -= cross
    missing[:, :tasks] -= cross.T
    return np.asarray(missing)


def _sums_of(block: Block, reaches: Reaches, job: tuple[Pass, Kind]) -> PassResult:
    """WᵀW [nodes, nodes], mass [nodes], KᵀB [tasks, nodes], and KᵀVK [tasks, tasks]."""
    at, kind = job
    place, xp, nodes = block.place, block.place.xp, block.place.array(at.rule.nodes)
    count, tasks = len(nodes), len(at.items)
    squares, mass = place.array(np.zeros((count, count))), place.array(np.zeros(count))
    crossed = place.array(np.zeros((count, tasks)))
    spread: Array = 0.0
    for tile in posteriors(block, reaches, at):
        window, weights, won = tile.window, tile.weights, tile.tables[0]
        assert isinstance(won, Dense)
        away = nodes[window] - (weights @ nodes[window])[:, None]
        centred = weights * away
        squares[window, window] += weights.T @ weights
        mass[window] += weights.sum(0)
        data = place.cast(won.data, kind)
        crossed[window] += place.cast(place.cast(centred.T, kind) @ data, np.float64)
        rooted = data * place.cast(xp.sqrt((centred * away).sum(1)), kind)[:, None]
        spread = spread + rooted.T @ rooted
    numbers = (*map(place.numpy, (squares, mass)), place.numpy(crossed).T, place.numpy(spread))
    return PassResult(numbers, (), reaches)
