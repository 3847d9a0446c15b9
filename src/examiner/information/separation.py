"""Which pairs of agents a task separates, which no task does, and which tasks repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels
from examiner.information.confusion import FEWEST_BY_LEVELS, PairLikelihood
from examiner.information.gain import BLOCK_CELLS, bits_with, table_bits
from examiner.information.levels import Levels
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.validation import Floats

ROUNDING = 1e-12
FEW_LEFT = 20_000_000
"""Pairs of agents times tasks that are looked at one by one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Separation:
    """Which pairs of agents are told apart, where confusing them is less likely than `threshold`.

    `pairs_of_task` has shape [tasks]: how many pairs each separates. `tasks_of_pair`, `best_task` (−1
    where no task was seen on both) and `together` (the confusion on all tasks) have shape [agents,
    agents]. `never` names the pairs that no single task separates.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    threshold: float
    pairs_of_task: NDArray[np.int64]
    tasks_of_pair: NDArray[np.int64]
    best_task: NDArray[np.int64]
    together: Floats
    never: tuple[tuple[str, str], ...]

    @property
    def pairs(self) -> int:
        """Return how many pairs of agents there are."""
        return len(self.agents) * (len(self.agents) - 1) // 2

    def __repr__(self) -> str:
        return (
            f"Separation: {len(self.never):,} of {counted(self.pairs, 'pair')} of agents are separated by "
            f"no single task"
        )

    def _repr_html_(self) -> str:
        return html_columns(repr(self), {"task": self.tasks, "pairs separated": self.pairs_of_task})


def separation(
    source: Results | Channels, threshold: float = 0.05, *, pairs: PairLikelihood | None = None
) -> Separation:
    r"""Tell which tasks separate which pairs of agents.

    Two agents are confused with probability

    .. math:: c(a_1, a_2) = \max_{i} \frac{e^{\ell(a_1, a_2)}}{e^{\ell(a_i, a_i)} + e^{\ell(a_1, a_2)}}

    which is eq. 1 of papers/004 with these two as all agents there are; ½ is no difference at all. `pairs`
    are those of the same channels, where they are there already.

    >>> results = Results.from_numpy([[[0.0, 1.0]], [[0.0, 1.0]], [[9.0, 10.0]]], agents="abc")
    >>> found = separation(results)
    >>> found.pairs_of_task, found.never
    (array([2]), (('a', 'b'),))
    """
    if not 0 < threshold < 0.5:
        raise InputError(
            f"The threshold is {threshold}. Give a probability of confusion between 0 and 0.5."
        )
    channels = Channels.of(source)
    pairs = PairLikelihood(channels) if pairs is None else pairs
    together = pairs.table(channels.columns())
    own = together.diagonal()
    levels = pairs.levels() if len(own) >= FEWEST_BY_LEVELS else None
    found = _by_pairs(pairs, threshold) if levels is None else _by_levels(levels, threshold)
    of_task, separated, best = found
    return Separation(
        channels.agents,
        channels.tasks,
        threshold,
        of_task,
        separated,
        best,
        _probability(np.minimum(own[:, None], own) - together),
        _never(channels.agents, separated),
    )


class _Apart(NamedTuple):
    """Pairs that tasks separate [tasks]; tasks that separate each pair, and the best [agents, agents]."""

    pairs_of_task: NDArray[np.int64]
    tasks_of_pair: NDArray[np.int64]
    best_task: NDArray[np.int64]


def _by_pairs(pairs: PairLikelihood, threshold: float) -> _Apart:
    """Look at every pair of agents on every task."""
    agents, tasks = pairs.shape
    separated = np.zeros((agents, agents), dtype=np.int64)
    best = np.full((agents, agents), -1, dtype=np.int64)
    least = np.full((agents, agents), 0.5)
    of_task = np.zeros(tasks, dtype=np.int64)
    step = max(1, BLOCK_CELLS // agents)
    for start in range(0, tasks, step):
        block = slice(start, min(start + step, tasks))
        for agent in range(agents - 1):
            later = slice(agent + 1, None)
            confused = _confused(pairs, agent, block)
            apart = confused < threshold
            of_task[block] += apart.sum(axis=1)
            separated[agent, later] += apart.sum(axis=0)
            nearest = np.rint(confused / ROUNDING).argmin(axis=0)  # ties: the first task
            value = np.take_along_axis(confused, nearest[None], axis=0)[0]
            better = value < least[agent, later] - ROUNDING
            best[agent, later][better] = nearest[better] + start
            least[agent, later][better] = value[better]
    return _Apart(of_task, separated + separated.T, np.maximum(best, best.T))


def _by_levels(levels: Levels, threshold: float) -> _Apart:
    """The same where cells have few levels: a task separates levels, and agents have these."""
    own = np.einsum("tkk->tk", levels.logs)
    confused = _probability(np.minimum(own[:, :, None], own[:, None, :]) - levels.logs)
    apart = confused < threshold
    pairs = np.einsum("tk,tkl,tl->t", levels.count, apart.astype(np.float64), levels.count) / 2
    # Whole numbers below 2²⁴ are exact in single precision.
    kind = np.float32 if len(apart) < 1 << 24 else np.float64
    separated = levels.summed(apart.astype(kind), np.arange(len(apart)))
    return _Apart(
        np.rint(pairs).astype(np.int64),
        np.rint(separated).astype(np.int64),
        _best_task(levels.code, confused, levels.count > 0),
    )


def _best_task(
    code: NDArray[np.uint8], confused: Floats, there: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The task that confuses each pair of agents least, from the least confused levels of any task on.

    Each takes the pairs of agents with these two levels that no better one took; few pairs are left soon,
    and are looked at one by one.
    """
    tasks, agents = code.shape
    best = np.full((agents, agents), -1, dtype=np.int64)
    first, second = (part.astype(np.int32) for part in np.triu_indices(agents, k=1))
    task, low, high = np.nonzero(
        np.triu(there[:, :, None] & there[:, None, :] & (confused < 0.5 - ROUNDING), k=1)
    )
    order = np.argsort(np.rint(confused[task, low, high] / ROUNDING), kind="stable")
    for column, left, right in zip(
        task[order].tolist(), low[order].tolist(), high[order].tolist(), strict=True
    ):
        if len(first) * tasks <= FEW_LEFT:
            break
        here, there_too = code[column][first], code[column][second]
        taken = ((here == left) & (there_too == right)) | ((here == right) & (there_too == left))
        best[first[taken], second[taken]] = column
        first, second = first[~taken], second[~taken]
    step = max(1, BLOCK_CELLS // tasks)
    for start in range(0, len(first) if len(first) * tasks <= FEW_LEFT else 0, step):
        rows, columns = first[start : start + step], second[start : start + step]
        value = confused[np.arange(tasks)[:, None], code[:, rows], code[:, columns]]
        least = np.rint(value / ROUNDING).argmin(axis=0)
        known = value[least, np.arange(len(rows))] < 0.5 - ROUNDING
        best[rows[known], columns[known]] = least[known]
    return np.maximum(best, best.T)


def separated_by(
    source: Results | Channels, task: str, threshold: float = 0.05
) -> tuple[tuple[str, str], ...]:
    """Name the pairs of agents that one task separates.

    >>> results = Results.from_numpy([[[0.0, 1.0]], [[0.0, 1.0]], [[9.0, 10.0]]], agents="abc")
    >>> separated_by(results, "task 1")
    (('a', 'c'), ('b', 'c'))
    """
    channels = Channels.of(source)
    (column,) = channels.columns([task])
    pairs = PairLikelihood(channels)
    found: list[tuple[str, str]] = []
    for agent in range(len(channels.agents) - 1):
        apart = _confused(pairs, agent, slice(column, column + 1))[0] < threshold
        others = (np.flatnonzero(apart) + agent + 1).tolist()
        found += [(channels.agents[agent], channels.agents[other]) for other in others]
    return tuple(found)


def redundancy(source: Results | Channels, tasks: Sequence[str] | None = None) -> Floats:
    r"""Return how much each two tasks repeat each other: I(g) + I(h) − I(g, h), in bits.

    It is negative where two tasks tell more together than the sum of both. The diagonal is what a task
    and its copy repeat. Bits are those of papers/004, eq. 3, whatever the model. Shape [tasks, tasks].

    >>> redundancy(Results.from_numpy([[[0.0, 2.0]] * 2, [[90.0, 92.0]] * 2])).round(3)
    array([[1., 1.],
           [1., 1.]])
    """
    channels = Channels.of(source)
    chosen = channels.take(channels.columns(tasks))
    pairs = PairLikelihood(replace(chosen, model=replace(chosen.model, exact=False)))
    single, joint = np.empty(len(chosen.tasks)), np.empty((len(chosen.tasks),) * 2)
    for column in range(len(single)):
        table = pairs.table([column])
        single[column], joint[column] = table_bits(table), bits_with(pairs, table)
    return single[:, None] + single - (joint + joint.T) / 2


def _confused(pairs: PairLikelihood, agent: int, tasks: slice) -> Floats:
    """Probability of confusing an agent with each after it; shape [tasks, agents − agent − 1]."""
    own = pairs.diagonal[tasks]
    least = np.minimum(own[:, agent : agent + 1], own[:, agent + 1 :])
    return _probability(least - pairs.row(agent, tasks, agent + 1))


def _probability(excess: Floats) -> Floats:
    """How probably two agents are confused, by how much better the worse explains itself."""
    return 1 / (1 + np.exp(np.clip(excess, -700.0, 700.0)))


def _never(agents: tuple[str, ...], separated: NDArray[np.int64]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (agent, agents[row + 1 + other])
        for row, agent in enumerate(agents)
        for other in np.flatnonzero(separated[row, row + 1 :] == 0).tolist()
    )
