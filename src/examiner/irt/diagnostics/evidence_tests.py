"""Tests of whether agents differ in ability, and tasks in discrimination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.residuals import permuted_within_tasks
from examiner.irt.diagnostics.standardised import (
    TINY,
    StandardisedCells,
    cells_of_blocks,
    rest_correlations,
    weighted_totals,
)
from examiner.irt.estimation.blocks import same_trials
from examiner.irt.evidence import ChanceTest, evidence_stream
from examiner.irt.items import Floats, ItemParameters, positions, sigmoid_pair
from examiner.irt.posterior import Quadrature, drawn_abilities, posterior_blocks
from examiner.irt.simulate import simulate
from examiner.messages import counted
from examiner.results import ResponseMatrix, matrix_in_content_order, order_of_matrix
from examiner.scores import rarity_of, share_as_large
from examiner.validation import Randomness, generator

PERMUTATIONS = 499
PERMUTED_CELLS = 2_000_000
"""Cells permuted to test abilities: some hundredths of a second."""
FEWEST_TABLES = 39
DRAWN_CELLS = 600_000
"""Cells drawn to test slopes: some tenths of a second."""


def ability_test(matrix: ResponseMatrix, rng: np.random.Generator) -> ChanceTest:
    r"""Test whether agents differ in ability: whether results of an agent correlate across tasks.

    .. math:: T = \sum_j \frac{(\sum_i w_{ji} z_{ji})^2}{\sum_i w_{ji}^2}

    with z the deviate of a result from its task's mean. If all agents are equally able, agents may be
    permuted within each task, each task by itself. The test is exact where cells have equally many trials,
    whatever the tasks. Where some tasks have negative discrimination, sums over tasks lose power: therefore
    the squared agreement of every two agents is a second statistic, and the p-value is that of the rarer of
    both. For tables too large for 99 permutations, T is compared with the scaled χ² with its mean and
    variance. With one trial per cell, T is Cochran's Q. Permutations are drawn in an order by content, so
    that names and the order of rows change nothing.

    Near-copies of an agent (entries of one family) agree on every task, whatever their ability. Where a
    quarter of the agents have one, permuting agents shows different profiles, not different abilities.
    Then T is also compared with its values when the signs of all results on a task are flipped, which
    leaves what agents share as it is, and the larger p-value counts.

    References: Cochran (1950); Good (2005), ch. 3.

    >>> matrix = ResponseMatrix.from_array(np.triu(np.ones((8, 8))))
    >>> ability_test(matrix, np.random.default_rng(0)).p_value
    0.002
    """
    test = _permutation_test(matrix, rng)
    if not test.shown or not has_near_copies(matrix):
        return test
    by_tasks = _sign_flip_p_value(matrix, evidence_stream(rng))
    return test._replace(
        p_value=max(test.p_value, by_tasks),
        method=f"{test.method}, and signs of whole tasks, since some agents are near-copies",
        profile_p_value=test.p_value,
    )


def _permutation_test(matrix: ResponseMatrix, rng: np.random.Generator) -> ChanceTest:
    """The test for independent agents."""
    if matrix.shape[0] * matrix.shape[1] * 99 > PERMUTED_CELLS:
        return _moments_test(matrix)
    if matrix.observed_cells is not None:  # so small a table is permuted whole
        names = matrix.agents, matrix.tasks
        if matrix.is_counts:
            matrix = ResponseMatrix.from_counts(matrix.successes, matrix.trials, *names)
        else:
            matrix = ResponseMatrix.from_array(matrix.to_numpy(), *names)
    matrix = matrix_in_content_order(_informative(matrix))
    cells = StandardisedCells.of(matrix)
    draws = min(PERMUTATIONS, PERMUTED_CELLS // cells.deviate.size)
    drawn = permuted_within_tasks(cells.deviate, matrix.observed, draws, rng)
    statistics = np.concatenate(
        [_agreement(part, cells.weight) for part in (cells.deviate[None], drawn)], axis=1
    )
    p = float(rarity_of(*statistics)[0])
    method = f"{counted(draws, 'permutation')} of agents within each task"
    return ChanceTest(float(statistics[0, 0]), float(statistics[0, 1:].mean()), p, method)


def has_near_copies(matrix: ResponseMatrix) -> bool:
    """Return whether a quarter of the agents are near-copies of another; False with more than 1,000 agents.

    Two are if their results correlate by more than 0.75, and significantly, over at least ten tasks.

    >>> has_near_copies(ResponseMatrix.from_array(np.tile(np.eye(12), (2, 1))))
    True
    """
    agents = len(matrix.agents)
    if agents > 1000 or matrix.observed_cells is not None:
        return False
    # single precision: a million products of pairs in half the time and memory
    products = np.zeros((agents, agents), dtype=np.float32)
    squares, common = np.zeros((agents, 1)), np.zeros((1, 1))
    for _, cells in cells_of_blocks(matrix):
        weighted, present = cells.weight * cells.deviate, cells.weight > 0
        single = weighted.astype(np.float32)
        products += single @ single.T
        if present.all():  # products with ones are sums
            squares = squares + (weighted**2).sum(axis=1)[:, None]
            common = common + weighted.shape[1]
        else:
            there = present.astype(np.float64)
            squares, common = squares + weighted**2 @ there.T, common + there @ there.T
    from scipy.special import ndtri

    critical = float(ndtri(1 - 0.01 / max(agents * (agents - 1) / 2, 1)))  # for all pairs together
    significant = np.tanh(critical / np.sqrt(np.maximum(common - 3, 1)))
    size = np.sqrt(np.maximum(squares, TINY)).astype(np.float32)
    correlations = products / size / size.T
    np.fill_diagonal(correlations, 0.0)
    limit = np.maximum(significant, 0.75).astype(np.float32) + np.float32(1e-6)
    copies = ((correlations > limit) & (common >= 10)).any(axis=1)
    return bool(copies.mean() >= 0.25)


def with_groups_of_tasks(
    test: ChanceTest, matrix: ResponseMatrix, codes: NDArray[np.int64], rng: np.random.Generator
) -> ChanceTest:
    """Return the test with the signs of whole groups of tasks flipped too: the larger p-value counts.

    Agents have strengths of their own on a repository or a game, so that permutations within single tasks
    show different profiles. `codes` [tasks] are the groups. With fewer than six nothing can be significant.

    >>> matrix = ResponseMatrix.from_array(np.tile(np.triu(np.ones((8, 8))), 3))
    >>> test = ability_test(matrix, np.random.default_rng(0))
    >>> of_groups = with_groups_of_tasks(test, matrix, np.arange(24) // 2, np.random.default_rng(0))
    >>> of_groups.shown, with_groups_of_tasks(
    ...     test, matrix, np.arange(24) // 8, np.random.default_rng(0)
    ... ).shown
    (True, False)
    """
    by_groups = _sign_flip_p_value(matrix, rng, codes)
    return test._replace(
        p_value=max(test.p_value, by_groups),
        method=f"{test.method}, and signs of whole groups of tasks",
        profile_p_value=test.p_value,
    )


def _sign_flip_p_value(
    matrix: ResponseMatrix, rng: np.random.Generator, codes: NDArray[np.int64] | None = None
) -> float:
    """The p-value of T when the signs of all results on a task, or on a group of tasks, are flipped."""
    ordered = matrix_in_content_order(matrix)
    group = np.arange(len(ordered.tasks))
    if codes is not None:
        group = codes[positions(matrix.tasks, ordered.tasks)]
        _, first = np.unique(group, return_index=True)  # in an order by content
        group = np.argsort(np.argsort(first))[np.unique(group, return_inverse=True)[1]]
    signs = np.where(rng.random((int(group.max()) + 1, PERMUTATIONS)) < 0.5, -1.0, 1.0)
    signs = np.column_stack([np.ones(len(group)), signs[group]])
    sums, squares = np.zeros((len(ordered.agents), signs.shape[1])), np.zeros(len(ordered.agents))
    for columns, cells in cells_of_blocks(ordered):
        sums += (cells.weight * cells.deviate) @ signs[columns]
        squares += cells.agent_sums(cells.weight**2)
    statistics = (sums**2 / np.maximum(squares, TINY)[:, None]).sum(axis=0)
    p = float(share_as_large(statistics)[0])
    if codes is not None or p * len(statistics) > 1.5:
        return p
    # beyond all draws: their scaled χ²
    return min(p, _scaled_chi2(statistics[0], statistics[1:].mean(), statistics[1:].var()))


def _scaled_chi2(statistic: float, mean: float, variance: float) -> float:
    """The p-value of a statistic under the multiple of χ² with this mean and variance."""
    from scipy.special import chdtrc

    freedom = 2 * mean**2 / max(variance, TINY)
    return float(chdtrc(freedom, statistic * freedom / max(mean, TINY)))


def agents_differ(matrix: ResponseMatrix, rng: Randomness) -> ChanceTest:
    """Test whether agents differ as a fit of the same responses and seed does, without fitting.

    >>> agents_differ(ResponseMatrix.from_array(np.triu(np.ones((8, 8)))), 0).shown
    True
    """
    return ability_test(matrix, evidence_stream(generator(rng)))


def _informative(matrix: ResponseMatrix) -> ResponseMatrix:
    """Without tasks on which all agents have the same result, and agents with results on no other."""
    differ = (StandardisedCells.of(matrix).deviate != 0).any(axis=0)
    present = matrix.observed[:, differ].any(axis=1)
    if not differ.any() or (differ.all() and present.all()):
        return matrix
    return matrix.take(np.flatnonzero(present).tolist(), np.flatnonzero(differ).tolist())


def _agreement(deviate: Floats, weight: Floats) -> Floats:
    """T, and the sum of squared products of every two agents, [2, draws].

    The squares of A Aᵀ and of Aᵀ A have one sum: the smaller of both is computed.
    """
    squares = np.maximum((weight**2).sum(axis=1), np.finfo(np.float64).eps)
    scaled = weight * deviate / np.sqrt(squares)[:, None]
    total = (scaled.sum(axis=-1) ** 2).sum(axis=-1)
    transposed = np.swapaxes(scaled, -1, -2)
    wide = deviate.shape[-2] < deviate.shape[-1]
    products = scaled @ transposed if wide else transposed @ scaled
    of_one = (scaled**2).sum(axis=-1)
    return np.stack([total, (products**2).sum(axis=(-1, -2)) - (of_one**2).sum(axis=-1)])


def _moments_test(matrix: ResponseMatrix) -> ChanceTest:
    """The mean of T is the number of agents n, its variance 2n² / (n − 1) · (1 − Σw⁴ / (Σw²)²)."""
    total, squares, of_tasks = weighted_totals(matrix)
    present = squares > 0
    statistic, n = float((total[present] ** 2 / squares[present]).sum()), int(present.sum())
    share = max(1.0 - float((of_tasks**2).sum() / of_tasks.sum() ** 2), 1e-3)
    p = _scaled_chi2(statistic, n, 2 * n**2 / max(n - 1, TINY) * share)
    return ChanceTest(statistic, float(n), p, "mean and variance over all permutations")


def compared_part(matrix: ResponseMatrix, rng: np.random.Generator) -> ResponseMatrix:
    """Return the part of a table in which slopes are compared: all, or some agents and tasks.

    >>> compared_part(ResponseMatrix.from_array(np.ones((400, 300))), np.random.default_rng(0)).shape
    (153, 100)
    """
    agents, tasks = matrix.shape
    most = DRAWN_CELLS // FEWEST_TABLES
    if agents * tasks <= most:
        return matrix_in_content_order(matrix)
    few = min(tasks, max(100, most // agents))
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
    r"""Test whether tasks differ in discrimination, against one slope for all tasks.

    r is the correlation of a task with the agents' results on the others. Tables are drawn from `alike`,
    with the same cells and trials and each agent's ability from its own posterior, so that the population
    may have any shape. With u the deviation of artanh r from its mean over draws, in standard deviations,
    the statistic is Σ (u − ū)²: a deviation that all tasks share is no difference between them.

    References: Efron & Tibshirani (1993), ch. 16.

    >>> items = ItemParameters.of([f"t{n}" for n in range(20)], np.ones(20), np.linspace(-1, 1, 20))
    >>> matrix = simulate(items, 100, rng=2)
    >>> test = discrimination_test(matrix, items, Quadrature.for_items(items), np.random.default_rng(0))
    >>> test.p_value > 0.05
    True
    """
    agents, tasks = matrix.shape
    draws = int(np.clip(DRAWN_CELLS // (agents * tasks), FEWEST_TABLES, 199))
    weights = np.concatenate([block.weights for block in posterior_blocks(matrix, alike, rule)])
    random = rng.random((2, draws * agents)).T
    abilities = drawn_abilities(np.tile(weights, (draws, 1)), rule.nodes, random)
    drawn = rest_correlations(_drawn_cells(matrix, alike, abilities.reshape(draws, agents), rng))
    every = np.concatenate([rest_correlations(StandardisedCells.of(matrix))[None], drawn])
    every = np.arctanh(np.clip(every, -0.999, 0.999))
    apart = (every - every.mean(axis=0)) / np.maximum(every.std(axis=0), 1e-9)
    statistics = ((apart - apart.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    p = float((statistics >= statistics[0] * (1 - 1e-9)).mean())
    method = f"{counted(draws, 'table')} drawn with one slope for all"
    part = f", of {agents:,} agents × {tasks:,} tasks"
    return ChanceTest(float(statistics[0]), float(statistics[1:].mean()), p, method + part)


def _drawn_cells(
    matrix: ResponseMatrix, alike: ItemParameters, abilities: Floats, rng: np.random.Generator
) -> StandardisedCells:
    """Tables drawn for abilities [draws, agents] with the cells and trials of the matrix."""
    items, shape = alike.named(matrix.tasks), (len(abilities), *matrix.shape)
    trials = matrix.trials if matrix.is_counts else matrix.observed.astype(np.int64)
    if items.response == "binomial" and same_trials(matrix) and (trials[0] == 1).all():
        # as `simulate` does, from uniform numbers in single precision: in a quarter of the time
        eta = np.multiply.outer(abilities, items.slope) + items.intercept
        chance = items.guessing + (items.ceiling - items.guessing) * sigmoid_pair(eta)[0]
        won = (rng.random(shape, dtype=np.float32) < chance).astype(np.float64)
        return StandardisedCells.of_counts(won, np.ones(shape[-1]))
    every = np.tile(trials, (len(abilities), 1))
    drawn = simulate(items, abilities.ravel(), trials=every, rng=rng)
    if drawn.is_counts:
        won, tried = (
            part.astype(np.float64).reshape(shape) for part in (drawn.successes, drawn.trials)
        )
        return StandardisedCells.of_counts(won, tried)
    values, observed = drawn.to_numpy().reshape(shape), drawn.observed.reshape(shape)
    return StandardisedCells.of_scores(np.nan_to_num(values), observed)
