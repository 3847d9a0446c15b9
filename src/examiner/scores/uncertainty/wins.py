"""Who wins when a run of one agent meets a run of another: counted, and counted again on resamples."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.nest import Nest
from examiner.scores.uncertainty.resampling import Block, Sample
from examiner.scores.uncertainty.strata import RunScores, paired_rows
from examiner.validation import Floats, is_binary, read_only

MOST_HELD = 1 << 26
"""Bytes of weights kept for all agents of a block; beyond, an agent is drawn again for each pair."""


class Wins(NamedTuple):
    """Pairs of runs of agents a and b on their common tasks.

    `doubled` has shape [tasks, runs of a, runs of b]: 2 where a's run is better, 1 where both are
    equal, 0 where it is worse. `rows_a` and `rows_b` are the places of the common tasks in the
    agents' strata; `fewer` the smaller number of runs of each task; `nest` how these tasks make a total.
    """

    a: int
    b: int
    rows_a: NDArray[np.intp]
    rows_b: NDArray[np.intp]
    doubled: NDArray[np.int8]
    probability: Floats
    fewer: NDArray[np.int64]
    meetings: NDArray[np.int64]
    nest: Nest
    overall: float  # over all common tasks, as they make a total


def wins(scores: RunScores, a: int, b: int) -> Wins:
    r"""Compare every run of one agent with every run of another, task by task.

    .. math:: P_t = \frac{1}{n m} \sum_{ij} [x_{ti} > y_{tj}] + \tfrac{1}{2} [x_{ti} = y_{tj}]

    the Mann-Whitney statistic as a share. References: Agarwal et al. (2021), section 4.3.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> table = run_scores(Results.from_numpy([[[1.0, 3.0]], [[1.0, 2.0]]]))
    >>> wins(table, 0, 1).probability
    array([0.625])
    """
    first, second = scores.strata[a], scores.strata[b]
    rows_a, rows_b = paired_rows(first, second)
    x, y = first.scores[rows_a][:, :, None], second.scores[rows_b][:, None, :]
    doubled = (x > y).view(np.int8) + (x >= y)
    n, m = first.runs[rows_a], second.runs[rows_b]
    fewer, meetings = np.minimum(n, m), n * m
    if (
        int(meetings.max(initial=0)) <= 1
    ):  # one array for all pairs, of which there may be thousands
        fewer = meetings = _once(len(meetings))
    counted = doubled
    if doubled.size > meetings.sum():  # rows of fewer runs are filled up
        both = first.present[rows_a][:, :, None] & second.present[rows_b][:, None, :]
        counted = np.where(both, doubled, 0)
    probability = counted.sum(axis=(1, 2)) / (2 * meetings)
    nest = Nest.flat(len(rows_a)) if first.nest is None else first.nest.rows(rows_a)
    mean = nest.average(probability[:, None])[0]
    return Wins(a, b, rows_a, rows_b, doubled, probability, fewer, meetings, nest, float(mean))


@lru_cache(maxsize=4)
def _once(tasks: int) -> NDArray[np.int64]:
    once = np.ones(tasks, dtype=np.int64)
    read_only(once)
    return once


def overall(block: Block, pairs: tuple[Wins, ...]) -> Floats:
    """Return the resampled probability of improvement of each pair, shape [pairs, replicates]."""
    if block.unit == "tasks":
        return _whole_tasks(block, pairs)
    agents = {agent for pair in pairs for agent in (pair.a, pair.b)}
    sizes = [block.scores.strata[agent].scores.size for agent in agents]
    keep = sum(sizes) * block.replicates <= MOST_HELD
    held: dict[int, Sample] = {}
    values = np.empty((len(pairs), block.replicates))
    for index, pair in enumerate(pairs):
        for agent in (pair.a, pair.b):
            if agent not in held:
                held = held if keep else {key: held[key] for key in (pair.a,) if key in held}
                held[agent] = block.sample(agent)
        tasks = _by_task(pair, held[pair.a], held[pair.b], block)
        values[index] = _averaged(tasks, pair, held[pair.a])
    return values


def _whole_tasks(block: Block, pairs: tuple[Wins, ...]) -> Floats:
    """The same where tasks are drawn whole: pairs with the same common tasks are averaged together."""
    values = np.empty((len(pairs), block.replicates))
    alike: dict[bytes, list[int]] = {}
    for index, pair in enumerate(pairs):
        tasks = block.scores.strata[pair.a].tasks[pair.rows_a]
        alike.setdefault(tasks.tobytes(), []).append(index)
    for rows in alike.values():
        first = pairs[rows[0]]
        tasks = block.scores.strata[first.a].tasks[first.rows_a]
        if _all_won_or_lost(block.scores, [pairs[row] for row in rows]):
            values[rows] = _from_shares(block, tasks, [pairs[row] for row in rows])
            continue
        each = np.stack([pairs[row].probability for row in rows])
        # As many meetings everywhere: counts of wins are whole numbers, whose sums are exact.
        even = {int(count) for row in rows for count in (pairs[row].meetings[0],)}
        most = 2 * even.pop() if len(even) == 1 else 0
        if most and all((2 * pairs[row].meetings == most).all() for row in rows):
            values[rows] = block.averages(tasks, np.rint(each * most)) / most
        else:
            values[rows] = block.averages(tasks, each)
    return values


def _all_won_or_lost(scores: RunScores, pairs: list[Wins]) -> bool:
    agents = {agent for pair in pairs for agent in (pair.a, pair.b)}
    return all(is_binary(scores.strata[agent].scores) for agent in agents)


def _from_shares(block: Block, tasks: NDArray[np.int64], pairs: list[Wins]) -> Floats:
    r"""The same of zeros and ones, from the agents' shares of ones alone.

    .. math:: P(x > y) + \tfrac{1}{2} P(x = y) = \tfrac{1}{2} (1 + p - q)
    """
    rows = {pair.a: pair.rows_a for pair in pairs} | {pair.b: pair.rows_b for pair in pairs}
    shares = np.stack([block.scores.strata[agent].means[at] for agent, at in rows.items()])
    drawn = dict(zip(rows, block.averages(tasks, shares), strict=True))
    return np.stack([(1 + drawn[pair.a] - drawn[pair.b]) / 2 for pair in pairs])


def by_task_and_overall(block: Block, pair: Wins) -> Floats:
    """Return the resampled probability on each task and, last, overall: [tasks + 1, replicates]."""
    a, b = block.sample(pair.a), block.sample(pair.b)
    tasks = _by_task(pair, a, b, block)
    return np.vstack([tasks, _averaged(tasks, pair, a)])


def _by_task(pair: Wins, a: Sample, b: Sample, block: Block) -> Floats:
    if block.unit == "tasks":
        return np.repeat(pair.probability[:, None], block.replicates, axis=1)
    values = np.empty((len(pair.rows_a), block.replicates))
    for task, (row_a, row_b) in enumerate(zip(pair.rows_a, pair.rows_b, strict=True)):
        # Small whole numbers: sums are exact, in whatever order they are taken
        met = pair.doubled[task].T.astype(np.float64) @ a.weights[row_a].astype(np.float64)
        met *= b.weights[row_b]
        values[task] = met.sum(axis=0)
    values /= 2.0 * (a.draws[pair.rows_a] * b.draws[pair.rows_b])[:, None]
    if a.times is not None:
        values /= np.maximum(a.times[pair.rows_a].astype(np.float64) ** 2, 1.0)
    return values


def _averaged(tasks: Floats, pair: Wins, a: Sample) -> Floats:
    return pair.nest.average(tasks, None if a.times is None else a.times[pair.rows_a])
