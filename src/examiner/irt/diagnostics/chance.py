"""What chance gives: exchanges of agents within tasks, and tables drawn with one slope for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.even_tables import EvenTables, drawn_successes
from examiner.irt.evidence import ChanceTest, evidence_stream
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.posterior import Quadrature, drawn_abilities, posterior_blocks
from examiner.irt.simulate import simulate
from examiner.messages import counted
from examiner.results import ObservedCells, ResponseMatrix, matrix_in_content_order, order_of_matrix
from examiner.validation import Randomness, generator

MOST_DRAWS, FEWEST_DRAWS = 499, 99
_EXCHANGED_CELLS = 2_000_000
"""Cells exchanged to test abilities: some hundredths of a second. Beyond, chance is told in closed form."""
_MOST_TABLES, _FEWEST_TABLES = 199, 39
_DRAWN_CELLS = 600_000
"""Cells drawn to test slopes, which cost more than to exchange them."""
MOST_COMPARED = _DRAWN_CELLS // _FEWEST_TABLES
"""Cells in which slopes are compared: of a larger table some agents and tasks, still hundreds of them."""
_MOST_TASKS = 100
_BLOCK = 1_000_000
"""Cells looked at together of tables that would fill memory."""


class _Cells(NamedTuple):
    """Results of agents on tasks [..., agents, tasks]: how far each is off its task's mean.

    `off` is 0 where nothing was observed, and has variance 1 within each task; `weight` is how much a
    result says in all: the deviation of a count by chance, and 1 for scores.
    """

    off: Floats
    weight: Floats


def _cells(matrix: ResponseMatrix) -> _Cells:
    if not matrix.is_counts:
        values, seen = matrix.to_numpy(), matrix.observed
        return _standardised(np.where(seen, values, 0.0), seen.astype(np.float64), seen)
    return _counted(matrix.successes.astype(np.float64), matrix.trials.astype(np.float64))


def _counted(won: Floats, trials: Floats) -> _Cells:
    """Of successes: (k − np) / √(np(1 − p)), so that cells with different trials are alike."""
    seen = trials > 0
    total = trials.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = won.sum(axis=-2, keepdims=True) / total
        weight = np.sqrt(trials * share * (1.0 - share))
        off = np.where(weight > 0, (won - trials * share) / weight, 0.0)
    return _standardised(off, np.where(seen, np.nan_to_num(weight), 0.0), seen)


def _standardised(values: Floats, weight: Floats, seen: NDArray[np.bool_]) -> _Cells:
    count = np.maximum(seen.sum(axis=-2, keepdims=True), 1)
    off = np.where(seen, values - values.sum(axis=-2, keepdims=True) / count, 0.0)
    size = np.sqrt((off**2).sum(axis=-2, keepdims=True) / count)
    return _Cells(np.divide(off, size, out=np.zeros_like(off), where=size > 1e-12), weight)


def _listed(cells: ObservedCells) -> _Cells:
    """The same of a list of observed cells, [observed] each."""
    task = cells.columns
    count = np.maximum(cells.task_sums(np.ones(len(cells))), 1)[task]
    if len(cells.parts) == 2:
        won, trials = (part.astype(np.float64) for part in cells.parts)
        share = cells.task_sums(won)[task] / cells.task_sums(trials)[task]
        weight = np.sqrt(trials * share * (1.0 - share))
        off = np.divide(won - trials * share, weight, out=np.zeros_like(won), where=weight > 0)
    else:
        off, weight = cells.parts[0], np.ones(len(cells))
    off = off - cells.task_sums(off)[task] / count
    size = np.sqrt(cells.task_sums(off**2)[task] / count)
    return _Cells(np.divide(off, size, out=np.zeros_like(off), where=size > 1e-12), weight)


def ability_test(matrix: ResponseMatrix, rng: np.random.Generator) -> ChanceTest:
    r"""Test whether agents differ in ability: whether results of an agent go together across tasks.

    .. math:: T = \sum_j \frac{(\sum_i w_{ji} z_{ji})^2}{\sum_i w_{ji}^2}

    with z how far an agent is off a task's mean, in deviations. Where all are equally able, agents may
    be exchanged within each task, and each task by itself: what they are worth on single tasks stays.
    So the test is exact where cells have equally many trials, whatever the tasks. Where some tasks reward
    the weak, sums over tasks say little: so the squares of what every two agents have in common are
    looked at beside T, and the rarer of both is told, with how rare that is. Beyond 20,000 cells T alone
    is held against the scaled χ² with its mean and variance. On one trial each, T is Cochran's Q.
    Exchanges are drawn in an order by content, so names and the order of rows change nothing.

    References: Cochran (1950); Good (2005), ch. 3.

    >>> matrix = ResponseMatrix.from_array(np.triu(np.ones((8, 8))))
    >>> ability_test(matrix, np.random.default_rng(0)).p_value
    0.002
    """
    if matrix.shape[0] * matrix.shape[1] * FEWEST_DRAWS > _EXCHANGED_CELLS:
        return _by_moments(matrix)
    matrix = matrix_in_content_order(_telling(matrix))
    off, weight = _cells(matrix)
    draws = int(np.clip(_EXCHANGED_CELLS // off.size, FEWEST_DRAWS, MOST_DRAWS))
    drawn = _exchanged(off, matrix.observed, draws, rng)
    tables = [_agreements(off[None], weight), _agreements(drawn, weight)]
    together = np.concatenate(tables, axis=1)
    # how rare each statistic is, and how rare it is that the rarer of the two is so rare
    rarity = np.stack([_share_as_large(each) for each in together]).min(axis=0)
    p = float(_share_as_large(-rarity)[0])
    method = f"{counted(draws, 'exchange')} of agents within each task"
    return ChanceTest(float(together[0, 0]), float(together[0, 1:].mean()), p, method)


def agents_differ(matrix: ResponseMatrix, rng: Randomness) -> ChanceTest:
    """Test whether agents differ as a fit of the same responses and seed does, without fitting.

    >>> agents_differ(ResponseMatrix.from_array(np.triu(np.ones((8, 8)))), 0).shown
    True
    """
    return ability_test(matrix, evidence_stream(generator(rng)))


def _telling(matrix: ResponseMatrix) -> ResponseMatrix:
    """Without tasks on which nobody differs, and agents met on no other, who tell nothing."""
    differ = (_cells(matrix).off != 0).any(axis=0)
    seen = matrix.observed[:, differ].any(axis=1)
    if not differ.any() or (differ.all() and seen.all()):
        return matrix
    return matrix.take(np.flatnonzero(seen).tolist(), np.flatnonzero(differ).tolist())


def _agreements(off: Floats, weight: Floats) -> Floats:
    """T, and the sum of squares of what every two agents have in common: [2, draws].

    The squares of A Aᵀ and of Aᵀ A have one sum: the smaller of both is made.
    """
    whole = np.maximum((weight**2).sum(axis=1), np.finfo(np.float64).eps)
    said = weight * off / np.sqrt(whole)[:, None]
    total = (said.sum(axis=-1) ** 2).sum(axis=-1)
    turned = np.swapaxes(said, -1, -2)
    alike = said @ turned if off.shape[-2] < off.shape[-1] else turned @ said
    alone = (said**2).sum(axis=-1)
    return np.stack([total, (alike**2).sum(axis=(-1, -2)) - (alone**2).sum(axis=-1)])


def _share_as_large(values: Floats) -> Floats:
    """The share of all values that are at least as large, but for the last digits."""
    order = np.sort(values)
    below = np.searchsorted(order, values - 1e-9 * np.abs(values), side="left")
    return np.asarray((values.size - below) / values.size)


def _exchanged(
    off: Floats, seen: NDArray[np.bool_], draws: int, rng: np.random.Generator
) -> Floats:
    """Results exchanged between the agents seen on a task, each task by itself: [draws, agents, tasks]."""
    if seen.all():
        return rng.permuted(np.broadcast_to(off, (draws, *off.shape)), axis=1)
    made = np.zeros((draws, *off.shape))
    for task in range(off.shape[1]):
        rows = np.flatnonzero(seen[:, task])
        whole = np.broadcast_to(off[rows, task], (draws, rows.size))
        made[:, rows, task] = rng.permuted(whole, axis=1)
    return made


def _by_moments(matrix: ResponseMatrix) -> ChanceTest:
    """The mean of T is the number of agents n, its variance 2n² / (n − 1) · (1 − Σw⁴ / (Σw²)²)."""
    from scipy.special import chdtrc

    agents, tasks = matrix.shape
    total, whole, each = np.zeros(agents), np.zeros(agents), np.zeros(tasks)
    alike, listed = EvenTables.serves(matrix), matrix.observed_cells
    if listed is not None:
        off, weight = _listed(listed)
        total, whole = listed.agent_sums(weight * off), listed.agent_sums(weight**2)
        each = listed.task_sums(weight**2)
    for columns, part in _blocks(matrix) if listed is None else ():
        if alike:
            even = EvenTables.of(part)
            total += even.off.sum(axis=1)
            whole += float((even.weight**2).sum())
            each[columns] = agents * even.weight**2
            continue
        off, weight = _cells(part)
        total += (weight * off).sum(axis=1)
        whole += (weight**2).sum(axis=1)
        each[columns] = (weight**2).sum(axis=0)
    known = whole > 0
    found, count = float((total[known] ** 2 / whole[known]).sum()), int(known.sum())
    freedom = (count - 1) / max(1.0 - float((each**2).sum() / each.sum() ** 2), 1e-3)
    p = float(chdtrc(freedom, found * freedom / max(count, 1)))
    return ChanceTest(found, float(count), p, "mean and variance over all exchanges")


def _blocks(matrix: ResponseMatrix) -> Iterator[tuple[slice, ResponseMatrix]]:
    """Tasks in parts that do not fill memory, and which they are."""
    agents, tasks = matrix.shape
    step = max(1, _BLOCK // agents)
    for first in range(0, tasks, step):
        columns = slice(first, min(tasks, first + step))
        whole = step >= tasks
        yield columns, matrix if whole else matrix.take(tasks=range(columns.start, columns.stop))


def compared(matrix: ResponseMatrix, rng: np.random.Generator) -> ResponseMatrix:
    """Return the part of a table in which slopes are compared: all, or some agents and tasks.

    >>> compared(ResponseMatrix.from_array(np.ones((400, 300))), np.random.default_rng(0)).shape
    (153, 100)
    """
    agents, tasks = matrix.shape
    if agents * tasks <= MOST_COMPARED:
        return matrix_in_content_order(matrix)
    few = min(tasks, max(_MOST_TASKS, MOST_COMPARED // agents))
    some = min(agents, MOST_COMPARED // few)
    rows, columns = (
        order[np.sort(rng.choice(len(order), wanted, replace=False))]
        for order, wanted in zip(order_of_matrix(matrix), (some, few), strict=True)
    )
    return matrix.take(rows.tolist(), columns.tolist())


def discrimination_test(
    matrix: ResponseMatrix,
    alike: ItemParameters,
    rule: Quadrature,
    rng: np.random.Generator,
    *,
    population_sd: float = 1.0,
) -> ChanceTest:
    r"""Test whether tasks discriminate differently, against tasks with one slope for all.

    Each task has its correlation r with the sum of what the agent did on the others. Tables are drawn
    from `alike`, with the same cells and trials and each agent's ability from its own posterior, so that
    the population may have any shape. With u the deviation of artanh r from its mean over draws, in
    standard deviations, the statistic is Σ (u − ū)²: what all tasks share is no difference.

    References: Efron & Tibshirani (1993), ch. 16.

    >>> items = ItemParameters.of([f"t{n}" for n in range(20)], np.ones(20), np.linspace(-1, 1, 20))
    >>> matrix = simulate(items, 100, rng=2)
    >>> made = discrimination_test(matrix, items, Quadrature.for_items(items), np.random.default_rng(0))
    >>> made.p_value > 0.05
    True
    """
    agents, tasks = matrix.shape
    draws = int(np.clip(_DRAWN_CELLS // (agents * tasks), _FEWEST_TABLES, _MOST_TABLES))
    seen = posterior_blocks(matrix, alike, rule, population_sd=population_sd)
    weights = np.concatenate([block.weights for block in seen])
    abilities = drawn_abilities(np.tile(weights, (draws, 1)), population_sd * rule.nodes, rng)
    drawn = _with_rest_of_drawn(matrix, alike, abilities.reshape(draws, agents), rng)
    told = np.concatenate([_with_rest(matrix)[None], drawn])
    told = np.arctanh(np.clip(told, -0.999, 0.999))
    spread = np.maximum(told.std(axis=0), 1e-9)
    apart = (told - told.mean(axis=0)) / spread
    statistics = ((apart - apart.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    p = float((statistics >= statistics[0] * (1 - 1e-9)).mean())
    method = f"{counted(draws, 'table')} drawn with one slope for all"
    part = f", of {agents:,} agents × {tasks:,} tasks"
    return ChanceTest(float(statistics[0]), float(statistics[1:].mean()), p, method + part)


def _with_rest_of_drawn(
    matrix: ResponseMatrix, alike: ItemParameters, abilities: Floats, rng: np.random.Generator
) -> Floats:
    """The same in tables drawn with the cells and trials of the matrix, [draws, tasks]."""
    items = alike.named(matrix.tasks)
    if items.response == "binomial" and EvenTables.serves(matrix):
        won = drawn_successes(items, abilities, matrix.trials[0], rng)
        return EvenTables.of_counts(won, matrix.trials[0]).correlations()
    trials = matrix.trials if matrix.is_counts else matrix.observed.astype(np.int64)
    every = np.tile(trials, (len(abilities), 1))
    drawn = simulate(items, abilities.ravel(), trials=every, rng=rng)
    whole = (len(abilities), *matrix.shape)
    if drawn.is_counts:
        won, tried = (
            part.astype(np.float64).reshape(whole) for part in (drawn.successes, drawn.trials)
        )
        return _correlations(_counted(won, tried))
    values, seen = drawn.to_numpy().reshape(whole), drawn.observed.reshape(whole)
    if seen.all():
        return EvenTables.of_scores(values).correlations()
    return _correlations(_standardised(np.nan_to_num(values), seen.astype(np.float64), seen))


def with_the_rest(matrix: ResponseMatrix) -> Floats:
    r"""Return how each task goes together with what agents did on the others, [tasks].

    .. math:: z_i = r_i \sqrt{n_i - 1}

    r is the correlation, over the n agents seen on the task, with their mean on the others. Where a task
    tells nothing of the able, its results may be exchanged between agents: z has mean 0 and variance 1,
    whatever the prior, and is nearly normal.

    >>> matrix = ResponseMatrix.from_array([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    >>> with_the_rest(matrix).round(2)
    array([ 1.73,  1.73,  1.73, -1.73])
    """
    agents, tasks = matrix.shape
    total, size, found = np.zeros((agents, 1)), np.zeros((agents, 1)), np.zeros(tasks)
    if EvenTables.serves(matrix):
        every = sum(EvenTables.of(part).off.sum(axis=1) for _, part in _blocks(matrix))
        for columns, part in _blocks(matrix):
            found[columns] = EvenTables.of(part).correlations(np.asarray(every))
        return np.asarray(found * np.sqrt(agents - 1))
    if matrix.observed_cells is not None:
        return _with_rest_of_listed(matrix.observed_cells)
    for _, part in _blocks(matrix):
        off, weight = _cells(part)
        total += (weight * off).sum(axis=1, keepdims=True)
        size += (weight**2).sum(axis=1, keepdims=True)
    for columns, part in _blocks(matrix):
        cells = _cells(part)
        seen = (cells.weight > 0).sum(axis=0)
        r = _rest_correlation(cells, total, size)
        found[columns] = r * np.sqrt(np.maximum(seen - 1, 0))
    return found


def _with_rest_of_listed(cells: ObservedCells) -> Floats:
    """The same of a list of observed cells."""
    off, weight = _listed(cells)
    row, task, said = cells.rows, cells.columns, weight * off
    others = cells.agent_sums(weight**2)[row] - weight**2
    seen = weight > 0
    rest = np.divide(
        cells.agent_sums(said)[row] - said,
        others,
        out=np.zeros_like(off),
        where=(others > 1e-12) & seen,
    )
    count = cells.task_sums(seen)
    rest = np.where(seen, rest - (cells.task_sums(rest) / np.maximum(count, 1))[task], 0.0)
    both = np.sqrt(cells.task_sums(off**2) * cells.task_sums(rest**2))
    r = np.divide(cells.task_sums(off * rest), both, out=np.zeros_like(both), where=both > 1e-12)
    return np.asarray(r * np.sqrt(np.maximum(count - 1, 0)))


def _with_rest(matrix: ResponseMatrix) -> Floats:
    """The correlation of each task with the mean of what agents did on the others, [tasks]."""
    if EvenTables.serves(matrix):
        return EvenTables.of(matrix).correlations()
    return _correlations(_cells(matrix))


def _correlations(cells: _Cells) -> Floats:
    """The same of cells, [..., tasks]."""
    off, weight = cells
    total, size = (
        (weight * off).sum(axis=-1, keepdims=True),
        (weight**2).sum(axis=-1, keepdims=True),
    )
    return _rest_correlation(cells, total, size)


def _rest_correlation(cells: _Cells, total: Floats, size: Floats) -> Floats:
    """The correlation of each task with the mean over others: `total` over all, and its `size`."""
    off, weight = cells
    said = weight * off
    others = size - weight**2
    rest = np.divide(
        total - said, others, out=np.zeros_like(off), where=(others > 1e-12) & (weight > 0)
    )
    seen = weight > 0
    count = np.maximum(seen.sum(axis=-2, keepdims=True), 1)
    rest = np.where(seen, rest - rest.sum(axis=-2, keepdims=True) / count, 0.0)
    both = np.sqrt((off**2).sum(axis=-2) * (rest**2).sum(axis=-2))
    r = np.divide((off * rest).sum(axis=-2), both, out=np.zeros_like(both), where=both > 1e-12)
    return np.asarray(r)
