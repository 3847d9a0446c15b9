"""What chance gives: exchanges of agents within tasks, and tables drawn with one slope for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.usable_responses import same_trials
from examiner.irt.evidence import ChanceTest, evidence_stream
from examiner.irt.items import Floats, ItemParameters, positions, sigmoid_pair
from examiner.irt.posterior import Quadrature, drawn_abilities, posterior_blocks
from examiner.irt.simulate import simulate
from examiner.messages import counted
from examiner.results import ObservedCells, ResponseMatrix, matrix_in_content_order, order_of_matrix
from examiner.scores import rarity_of, share_as_large
from examiner.validation import Randomness, generator

_MOST_EXCHANGES, _FEWEST_EXCHANGES = 499, 99
_EXCHANGED_CELLS = 2_000_000
"""Cells exchanged to test abilities: some hundredths of a second. Beyond, chance has a closed form."""
_MOST_TABLES, _FEWEST_TABLES = 199, 39
_DRAWN_CELLS = 600_000
"""Cells drawn to test slopes, which cost more than to exchange them."""
_MOST_TASKS = 100
"""Tasks, at least, in which the slopes of a large table are compared."""
_NEAR_COPY = 0.75
"""Correlation of two agents, task by task, beyond which one is a near-copy of the other."""
_MANY_COPIES = 0.25
"""Share of agents with a near-copy from which on exchanges between agents say little of ability."""
_FEWEST_COMMON = 10
_MOST_COMPARED = 1000
"""Agents up to whom near-copies are sought."""
_BLOCK = 1_000_000
"""Cells of tables that would fill memory that are processed at once."""
_NOTHING = 1e-12


class _Cells(NamedTuple):
    """Results of agents on tasks [..., agents, tasks], or of a list of observed cells [observed].

    `off` is how far each is from its task's mean, 0 where nothing was observed, with variance 1 within
    each task; `weight` is how much a result says in all: the deviation of a count by chance, and 1 for
    scores.
    """

    off: Floats
    weight: Floats
    listed: ObservedCells | None = None

    def task_sums(self, values: NDArray[np.number | np.bool_]) -> Floats:
        """Return sums over agents, [..., tasks]."""
        if self.listed is not None:
            return self.listed.task_sums(values)
        return np.asarray(values.sum(axis=-2), dtype=np.float64)

    def agent_sums(self, values: Floats) -> Floats:
        """Return sums over tasks, [..., agents]."""
        if self.listed is not None:
            return self.listed.agent_sums(values)
        return np.asarray(values.sum(axis=-1))

    def by_task(self, values: Floats) -> Floats:
        """Return a number of each task for its cells."""
        return values[..., None, :] if self.listed is None else values[self.listed.columns]

    def by_agent(self, values: Floats) -> Floats:
        """Return a number of each agent for its cells."""
        return values[..., None] if self.listed is None else values[self.listed.rows]


def _counts(won: Floats, trials: Floats, listed: ObservedCells | None = None) -> _Cells:
    """Of successes: (k − np) / √(np(1 − p)), so that cells with different trials are alike."""
    raw = _Cells(won, trials, listed)
    share = raw.by_task(raw.task_sums(won) / np.maximum(raw.task_sums(trials), 1.0))
    weight = np.sqrt(np.maximum(trials * share * (1.0 - share), 0.0))
    off = np.divide(won - trials * share, weight, out=np.zeros_like(weight), where=weight > 0)
    return _standardised(off, weight, trials > 0, listed)


def _standardised(
    values: Floats, weight: Floats, observed: NDArray[np.bool_], listed: ObservedCells | None = None
) -> _Cells:
    raw = _Cells(values, weight, listed)
    count = np.maximum(raw.task_sums(observed), 1.0)
    off = np.where(observed, values - raw.by_task(raw.task_sums(values) / count), 0.0)
    size = raw.by_task(np.sqrt(raw.task_sums(off**2) / count))
    varies = np.broadcast_to(size > _NOTHING, off.shape)
    scaled = np.divide(off, size, out=np.zeros_like(off), where=varies)
    return _Cells(scaled, np.where(varies, weight, 0.0), listed)


def _cells(matrix: ResponseMatrix) -> _Cells:
    listed = matrix.observed_cells
    if listed is not None and matrix.is_counts:
        won, trials = (part.astype(np.float64) for part in listed.parts)
        return _counts(won, trials, listed)
    if listed is not None:
        every = np.ones(len(listed), dtype=np.bool_)
        return _standardised(listed.parts[0], every.astype(np.float64), every, listed)
    if matrix.is_counts:
        return _counts(matrix.successes.astype(np.float64), matrix.trials.astype(np.float64))
    observed = matrix.observed
    return _standardised(
        np.where(observed, matrix.to_numpy(), 0.0), observed.astype(np.float64), observed
    )


def ability_test(matrix: ResponseMatrix, rng: np.random.Generator) -> ChanceTest:
    r"""Test whether agents differ in ability: whether results of an agent correlate across tasks.

    .. math:: T = \sum_j \frac{(\sum_i w_{ji} z_{ji})^2}{\sum_i w_{ji}^2}

    with z how far an agent is off a task's mean, in deviations. Where all are equally able, agents may
    be exchanged within each task, and each task by itself: their results on single tasks stay.
    So the test is exact where cells have equally many trials, whatever the tasks. Where some tasks have
    negative discrimination, sums over tasks say little: so the squares of what every two agents have in
    common are examined next to T, and the rarer of both is reported, with how rare that is. Beyond 20,000
    cells T alone is compared with the scaled χ² with its mean and variance. On one trial each, T is
    Cochran's Q. Exchanges are drawn in an order by content, so names and the order of rows change nothing.

    Near-copies of an agent (entries of one family) agree on every task, whatever their ability. Where a
    quarter of the agents have one, exchanges between agents show different profiles, not different
    abilities. Then T is also compared with its values when the signs of all results on a task are turned,
    which leaves what agents share as it is, and the larger p-value counts.

    References: Cochran (1950); Good (2005), ch. 3.

    >>> matrix = ResponseMatrix.from_array(np.triu(np.ones((8, 8))))
    >>> ability_test(matrix, np.random.default_rng(0)).p_value
    0.002
    """
    test = _exchange_test(matrix, rng)
    if not test.shown or not has_near_copies(matrix):
        return test
    by_tasks = _sign_test(matrix, evidence_stream(rng))
    return test._replace(
        p_value=max(test.p_value, by_tasks),
        method=f"{test.method}, and signs of whole tasks, since some agents are near-copies",
        profile_p_value=test.p_value,
    )


def _exchange_test(matrix: ResponseMatrix, rng: np.random.Generator) -> ChanceTest:
    """The test for independent agents."""
    if matrix.shape[0] * matrix.shape[1] * _FEWEST_EXCHANGES > _EXCHANGED_CELLS:
        return _by_moments(matrix)
    matrix = matrix_in_content_order(_informative(matrix))
    off, weight, _ = _cells(matrix)
    draws = int(np.clip(_EXCHANGED_CELLS // off.size, _FEWEST_EXCHANGES, _MOST_EXCHANGES))
    drawn = _exchanged(off, matrix.observed, draws, rng)
    together = np.concatenate([_agreements(off[None], weight), _agreements(drawn, weight)], axis=1)
    p = float(rarity_of(*together)[0])
    method = f"{counted(draws, 'exchange')} of agents within each task"
    return ChanceTest(float(together[0, 0]), float(together[0, 1:].mean()), p, method)


def has_near_copies(matrix: ResponseMatrix) -> bool:
    """Whether a quarter of the agents are near-copies of another.

    Two are if their results correlate by more than 0.75, and beyond chance, over at least ten tasks.

    >>> has_near_copies(ResponseMatrix.from_array(np.tile(np.eye(12), (2, 1))))
    True
    """
    agents = len(matrix.agents)
    if agents > _MOST_COMPARED or matrix.observed_cells is not None:
        return False
    together, size, common = np.zeros((agents, agents)), np.zeros((agents, 1)), np.zeros(())
    for _, cells in _blocks(matrix):
        weighted, present = cells.weight * cells.off, cells.weight > 0
        together += weighted @ weighted.T
        if present.all():  # products with ones are sums
            size = size + (weighted**2).sum(axis=1)[:, None]
            common = common + weighted.shape[1]
        else:
            there = present.astype(np.float64)
            size, common = size + weighted**2 @ there.T, common + there @ there.T
    from scipy.special import ndtri

    beyond = float(ndtri(1 - 0.01 / max(agents * (agents - 1) / 2, 1)))  # for all pairs together
    rare = np.tanh(beyond / np.sqrt(np.maximum(common - 3, 1)))
    together = np.where(common >= _FEWEST_COMMON, together, 0.0)
    np.fill_diagonal(together, 0.0)
    copies = (together > np.sqrt(size * size.T) * np.maximum(rare, _NEAR_COPY) + _NOTHING).any(
        axis=1
    )
    return bool(copies.mean() >= _MANY_COPIES)


def with_groups_of_tasks(
    test: ChanceTest, matrix: ResponseMatrix, codes: NDArray[np.int64], rng: np.random.Generator
) -> ChanceTest:
    """Test abilities with the signs of whole groups of tasks turned too: the larger p-value counts.

    Agents have strengths of their own on a repository or a game, so that exchanges within single tasks show
    different profiles. `codes` [tasks] are the groups. With fewer than six nothing can be significant.

    >>> matrix = ResponseMatrix.from_array(np.tile(np.triu(np.ones((8, 8))), 3))
    >>> test = ability_test(matrix, np.random.default_rng(0))
    >>> of_groups = with_groups_of_tasks(test, matrix, np.arange(24) // 2, np.random.default_rng(0))
    >>> of_groups.shown, with_groups_of_tasks(
    ...     test, matrix, np.arange(24) // 8, np.random.default_rng(0)
    ... ).shown
    (True, False)
    """
    by_groups = _sign_test(matrix, rng, codes)
    return test._replace(
        p_value=max(test.p_value, by_groups),
        method=f"{test.method}, and signs of whole groups of tasks",
        profile_p_value=test.p_value,
    )


def _sign_test(
    matrix: ResponseMatrix, rng: np.random.Generator, codes: NDArray[np.int64] | None = None
) -> float:
    """How often T is as large when the signs of all results on a task, or on a group, are turned."""
    ordered = matrix_in_content_order(matrix)
    group = np.arange(len(ordered.tasks))
    if codes is not None:
        group = codes[positions(matrix.tasks, ordered.tasks)]
        _, first = np.unique(group, return_index=True)  # in an order by content
        group = np.argsort(np.argsort(first))[np.unique(group, return_inverse=True)[1]]
    matrix = ordered
    signs = np.where(rng.random((int(group.max()) + 1, _MOST_EXCHANGES)) < 0.5, -1.0, 1.0)
    signs = np.column_stack([np.ones(len(group)), signs[group]])
    sums, size = np.zeros((len(matrix.agents), signs.shape[1])), np.zeros(len(matrix.agents))
    for columns, cells in _blocks(matrix):
        sums += (cells.weight * cells.off) @ signs[columns]
        size += cells.agent_sums(cells.weight**2)
    statistics = (sums**2 / np.maximum(size, _NOTHING)[:, None]).sum(axis=0)
    p = float(share_as_large(statistics)[0])
    if codes is not None or p * len(statistics) > 1.5:
        return p
    from scipy.special import chdtrc

    mean, variance = (
        statistics[1:].mean(),
        statistics[1:].var(),
    )  # beyond all draws: their scaled χ²
    freedom = 2 * mean**2 / max(variance, _NOTHING)
    return min(p, float(chdtrc(freedom, statistics[0] * freedom / mean)))


def agents_differ(matrix: ResponseMatrix, rng: Randomness) -> ChanceTest:
    """Test whether agents differ as a fit of the same responses and seed does, without fitting.

    >>> agents_differ(ResponseMatrix.from_array(np.triu(np.ones((8, 8)))), 0).shown
    True
    """
    return ability_test(matrix, evidence_stream(generator(rng)))


def _informative(matrix: ResponseMatrix) -> ResponseMatrix:
    """Without tasks on which nobody differs, and agents with results on no other."""
    differ = (_cells(matrix).off != 0).any(axis=0)
    present = matrix.observed[:, differ].any(axis=1)
    if not differ.any() or (differ.all() and present.all()):
        return matrix
    return matrix.take(np.flatnonzero(present).tolist(), np.flatnonzero(differ).tolist())


def _agreements(off: Floats, weight: Floats) -> Floats:
    """T, and the sum of squares of what every two agents have in common: [2, draws].

    The squares of A Aᵀ and of Aᵀ A have one sum: the smaller of both is computed.
    """
    whole = np.maximum((weight**2).sum(axis=1), np.finfo(np.float64).eps)
    scaled = weight * off / np.sqrt(whole)[:, None]
    total = (scaled.sum(axis=-1) ** 2).sum(axis=-1)
    turned = np.swapaxes(scaled, -1, -2)
    alike = scaled @ turned if off.shape[-2] < off.shape[-1] else turned @ scaled
    alone = (scaled**2).sum(axis=-1)
    return np.stack([total, (alike**2).sum(axis=(-1, -2)) - (alone**2).sum(axis=-1)])


def _exchanged(
    off: Floats, observed: NDArray[np.bool_], draws: int, rng: np.random.Generator
) -> Floats:
    """Results exchanged between the agents of a task, each task by itself: [draws, agents, tasks]."""
    if observed.all():
        return rng.permuted(np.broadcast_to(off, (draws, *off.shape)), axis=1)
    drawn = np.zeros((draws, *off.shape))
    for task in range(off.shape[1]):
        rows = np.flatnonzero(observed[:, task])
        whole = np.broadcast_to(off[rows, task], (draws, rows.size))
        drawn[:, rows, task] = rng.permuted(whole, axis=1)
    return drawn


def _by_moments(matrix: ResponseMatrix) -> ChanceTest:
    """The mean of T is the number of agents n, its variance 2n² / (n − 1) · (1 − Σw⁴ / (Σw²)²)."""
    from scipy.special import chdtrc

    total, size, by_task = _totals(matrix)
    present = size > 0
    statistic, count = float((total[present] ** 2 / size[present]).sum()), int(present.sum())
    freedom = (count - 1) / max(1.0 - float((by_task**2).sum() / by_task.sum() ** 2), 1e-3)
    p = float(chdtrc(freedom, statistic * freedom / max(count, 1)))
    return ChanceTest(statistic, float(count), p, "mean and variance over all exchanges")


def _blocks(matrix: ResponseMatrix) -> Iterator[tuple[slice, _Cells]]:
    """Tasks in parts that do not fill memory, and which they are; a list of cells is one part."""
    agents, tasks = matrix.shape
    step = max(1, _BLOCK // agents)
    if matrix.observed_cells is not None or step >= tasks:
        yield slice(0, tasks), _cells(matrix)
        return
    for first in range(0, tasks, step):
        columns = slice(first, min(tasks, first + step))
        yield columns, _cells(matrix.take(tasks=range(columns.start, columns.stop)))


def _totals(matrix: ResponseMatrix) -> tuple[Floats, Floats, Floats]:
    """Σ wz and Σ w² over the tasks of each agent, and Σ w² over the agents of each task."""
    agents, tasks = matrix.shape
    total, size, by_task = np.zeros(agents), np.zeros(agents), np.zeros(tasks)
    for columns, cells in _blocks(matrix):
        total += cells.agent_sums(cells.weight * cells.off)
        size += cells.agent_sums(cells.weight**2)
        by_task[columns] = cells.task_sums(cells.weight**2)
    return total, size, by_task


def compared(matrix: ResponseMatrix, rng: np.random.Generator) -> ResponseMatrix:
    """Return the part of a table in which slopes are compared: all, or some agents and tasks.

    >>> compared(ResponseMatrix.from_array(np.ones((400, 300))), np.random.default_rng(0)).shape
    (153, 100)
    """
    agents, tasks = matrix.shape
    most = _DRAWN_CELLS // _FEWEST_TABLES
    if agents * tasks <= most:
        return matrix_in_content_order(matrix)
    few = min(tasks, max(_MOST_TASKS, most // agents))
    rows, columns = (
        order[np.sort(rng.choice(len(order), wanted, replace=False))]
        for order, wanted in zip(
            order_of_matrix(matrix), (min(agents, most // few), few), strict=True
        )
    )
    return matrix.take(rows.tolist(), columns.tolist())


def discrimination_test(
    matrix: ResponseMatrix, alike: ItemParameters, rule: Quadrature, rng: np.random.Generator
) -> ChanceTest:
    r"""Test whether tasks discriminate differently, against tasks with one slope for all.

    Each task has its correlation r with the sum of the agents' results on the others. Tables are drawn
    from `alike`, with the same cells and trials and each agent's ability from its own posterior, so that
    the population may have any shape. With u the deviation of artanh r from its mean over draws, in
    standard deviations, the statistic is Σ (u − ū)²: what all tasks share is no difference.

    References: Efron & Tibshirani (1993), ch. 16.

    >>> items = ItemParameters.of([f"t{n}" for n in range(20)], np.ones(20), np.linspace(-1, 1, 20))
    >>> matrix = simulate(items, 100, rng=2)
    >>> test = discrimination_test(matrix, items, Quadrature.for_items(items), np.random.default_rng(0))
    >>> test.p_value > 0.05
    True
    """
    agents, tasks = matrix.shape
    draws = int(np.clip(_DRAWN_CELLS // (agents * tasks), _FEWEST_TABLES, _MOST_TABLES))
    weights = np.concatenate([block.weights for block in posterior_blocks(matrix, alike, rule)])
    abilities = drawn_abilities(np.tile(weights, (draws, 1)), rule.nodes, rng)
    drawn = _correlations(_drawn(matrix, alike, abilities.reshape(draws, agents), rng))
    every = np.concatenate([_correlations(_cells(matrix))[None], drawn])
    every = np.arctanh(np.clip(every, -0.999, 0.999))
    apart = (every - every.mean(axis=0)) / np.maximum(every.std(axis=0), 1e-9)
    statistics = ((apart - apart.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    p = float((statistics >= statistics[0] * (1 - 1e-9)).mean())
    method = f"{counted(draws, 'table')} drawn with one slope for all"
    part = f", of {agents:,} agents × {tasks:,} tasks"
    return ChanceTest(float(statistics[0]), float(statistics[1:].mean()), p, method + part)


def _drawn(
    matrix: ResponseMatrix, alike: ItemParameters, abilities: Floats, rng: np.random.Generator
) -> _Cells:
    """Tables drawn for abilities [draws, agents] with the cells and trials of the matrix."""
    items, shape = alike.named(matrix.tasks), (len(abilities), *matrix.shape)
    trials = matrix.trials if matrix.is_counts else matrix.observed.astype(np.int64)
    if items.response == "binomial" and same_trials(matrix) and (trials[0] == 1).all():
        # as `simulate` does, from uniform numbers in single precision: in a quarter of the time
        eta = np.multiply.outer(abilities, items.slope) + items.intercept
        chance = items.guessing + (items.ceiling - items.guessing) * sigmoid_pair(eta)[0]
        won = (rng.random(shape, dtype=np.float32) < chance).astype(np.float64)
        return _counts(won, np.ones(shape))
    every = np.tile(trials, (len(abilities), 1))
    drawn = simulate(items, abilities.ravel(), trials=every, rng=rng)
    if drawn.is_counts:
        won, tried = (
            part.astype(np.float64).reshape(shape) for part in (drawn.successes, drawn.trials)
        )
        return _counts(won, tried)
    values, observed = drawn.to_numpy().reshape(shape), drawn.observed.reshape(shape)
    return _standardised(np.nan_to_num(values), observed.astype(np.float64), observed)


def with_the_rest(matrix: ResponseMatrix) -> Floats:
    r"""Return how each task correlates with the agents' results on the others, [tasks].

    .. math:: z_i = r_i \sqrt{n_i - 1}

    r is the correlation, over the n agents with a result on the task, with their mean on the others. Where
    a task does not depend on ability, its results may be exchanged between agents: z has mean 0 and
    variance 1, whatever the prior, and is nearly normal.

    >>> matrix = ResponseMatrix.from_array([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    >>> with_the_rest(matrix).round(2)
    array([ 1.73,  1.73,  1.73, -1.73])
    """
    total, size, _ = _totals(matrix)
    z = np.zeros(len(matrix.tasks))
    for columns, cells in _blocks(matrix):
        count = cells.task_sums(cells.weight > 0)
        z[columns] = _correlations(cells, total, size) * np.sqrt(np.maximum(count - 1, 0.0))
    return z


def _correlations(cells: _Cells, total: Floats | None = None, size: Floats | None = None) -> Floats:
    """The correlation of each task with the mean over the others, [..., tasks].

    `total` and `size` are Σ wz and Σ w² of each agent over all tasks, where some of them are not here.
    """
    off, weight = cells.off, cells.weight
    weighted, present = weight * off, weight > 0
    total = cells.agent_sums(weighted) if total is None else total
    size = cells.agent_sums(weight**2) if size is None else size
    others = cells.by_agent(size) - weight**2
    usable = (others > _NOTHING) & present
    rest = np.divide(cells.by_agent(total) - weighted, others, out=np.zeros_like(off), where=usable)
    count = np.maximum(cells.task_sums(present), 1.0)
    rest = np.where(present, rest - cells.by_task(cells.task_sums(rest) / count), 0.0)
    both = np.sqrt(cells.task_sums(off**2) * cells.task_sums(rest**2))
    together = cells.task_sums(off * rest)
    return np.asarray(np.divide(together, both, out=np.zeros_like(both), where=both > _NOTHING))
