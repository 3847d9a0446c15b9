"""Which pairs of agents a task separates, and which no task does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, number, text
from examiner.information.channels import Channels
from examiner.information.confusion import FEWEST_BY_LEVELS, PairLikelihood
from examiner.information.gain import BLOCK_CELLS
from examiner.information.levels import CellLevels
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.validation import Floats

ROUNDING = 1e-12
FEW_LEFT = 20_000_000
"""Pairs of agents times tasks that are compared one by one."""


class SeparatingTasks(Table):
    """Tasks, those that separate most pairs first."""

    task: tuple[str, ...] = name("Task")
    pairs_separated: NDArray[np.int64] = count("Pairs of agents that this task separates")


class SeparatedPairs(Table):
    """Pairs of agents, those that the fewest tasks separate first."""

    agent: tuple[str, ...] = name("Agent")
    other: tuple[str, ...] = name("Other agent")
    tasks_separating: NDArray[np.int64] = count("Tasks that separate the two")
    best_task: tuple[str, ...] = text("Task on which they are confused least")
    confusion: Floats = number("Probability of confusing the two on all tasks together")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Separation(Answer):
    """Which pairs of agents are separated: confusing them is less probable than `threshold`.

    `pairs_of_task` has shape [tasks]: how many pairs each separates. `tasks_of_pair`, `best_task` (−1
    where no task was observed on both) and `together` (the confusion on all tasks) have shape [agents,
    agents].
    """

    kind = "separation"

    agents: tuple[str, ...]
    task_names: tuple[str, ...]
    threshold: float
    pairs_of_task: NDArray[np.int64]
    tasks_of_pair: NDArray[np.int64]
    best_task: NDArray[np.int64]
    together: Floats

    @property
    def pair_count(self) -> int:
        """Number of pairs of agents."""
        return len(self.agents) * (len(self.agents) - 1) // 2

    @property
    def never(self) -> tuple[tuple[str, str], ...]:
        """The pairs that no single task separates."""
        first, second = np.nonzero(np.triu(self.tasks_of_pair == 0, k=1))
        return tuple(
            (self.agents[a], self.agents[b])
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
        )

    @property
    def tasks(self) -> SeparatingTasks:
        """How many pairs each task separates."""
        table = SeparatingTasks(task=self.task_names, pairs_separated=self.pairs_of_task)
        return table.sorted_by("pairs_separated", descending=True)

    @property
    def pairs(self) -> SeparatedPairs:
        """By how many tasks each pair of agents is separated."""
        first, second = np.triu_indices(len(self.agents), k=1)
        agents = np.array(self.agents, dtype=object)
        tasks = np.array([*self.task_names, ""], dtype=object)  # −1 is the last
        table = SeparatedPairs(
            agent=agents[first],
            other=agents[second],
            tasks_separating=self.tasks_of_pair[first, second],
            best_task=tasks[self.best_task[first, second]],
            confusion=self.together[first, second],
        )
        return table.sorted_by("tasks_separating")

    @property
    def headline(self) -> str:
        """How many pairs no single task separates."""
        never = len(self.never)
        if not never:
            return "Every pair of agents is separated by at least one task."
        pairs = f"{never:,} of {counted(self.pair_count, 'pair')} of agents"
        return f"{pairs} {'is' if never == 1 else 'are'} separated by no single task."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Tasks and pairs of agents."""
        return {"tasks": self.tasks, "pairs": self.pairs}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Number of pairs, and of those that no task separates."""
        never = Scalar(len(self.never), "Pairs of agents that no single task separates")
        return {
            "pair_count": Scalar(self.pair_count, "Pairs of agents"),
            "never_separated": never,
        }

    @property
    def settings(self) -> Mapping[str, float]:
        """The probability of confusion below which a pair is separated."""
        return {"threshold": self.threshold}


def separation(
    source: Results | Channels,
    threshold: float = 0.05,
    tasks: Sequence[str] | None = None,
    *,
    pairs: PairLikelihood | None = None,
) -> Separation:
    r"""Return which tasks, all by default, separate which pairs of agents.

    Two agents are confused with probability

    .. math:: c(a_1, a_2) = \max_{i} \frac{e^{\ell(a_1, a_2)}}{e^{\ell(a_i, a_i)} + e^{\ell(a_1, a_2)}}

    which is eq. 1 of papers/004 as if these two were all agents; ½ is no difference at all. `pairs` are
    those of the same channels, where they were computed before.

    >>> results = Results.from_numpy([[[0.0, 1.0]], [[0.0, 1.0]], [[9.0, 10.0]]], agents="abc")
    >>> separated = separation(results)
    >>> separated.tasks["task 1"].pairs_separated, separated.never
    (2, (('a', 'b'),))
    """
    if not 0 < threshold < 0.5:
        raise InputError(
            f"The threshold is {threshold}. Give a probability of confusion between 0 and 0.5."
        )
    channels = Channels.of(source)
    if tasks is not None:
        channels = channels.take(channels.columns(tasks))
    pairs = PairLikelihood(channels) if pairs is None else pairs
    together = pairs.table(channels.columns())
    diagonal = together.diagonal()
    levels = pairs.levels() if len(diagonal) >= FEWEST_BY_LEVELS else None
    counts = _by_pairs(pairs, threshold) if levels is None else _by_levels(levels, threshold)
    confused = _probability(np.minimum(diagonal[:, None], diagonal) - together)
    return Separation(channels.agents, channels.tasks, threshold, *counts, confused)


class _Apart(NamedTuple):
    """Pairs that tasks separate [tasks]; tasks that separate each pair, and the best [agents, agents]."""

    pairs_of_task: NDArray[np.int64]
    tasks_of_pair: NDArray[np.int64]
    best_task: NDArray[np.int64]


def _by_pairs(pairs: PairLikelihood, threshold: float) -> _Apart:
    """Compare every pair of agents on every task."""
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


def _by_levels(levels: CellLevels, threshold: float) -> _Apart:
    """Return the same where cells have few levels: a task separates pairs of levels."""
    diagonal = np.einsum("tkk->tk", levels.logs)
    least = np.minimum(diagonal[:, :, None], diagonal[:, None, :])
    confused = _probability(least - levels.logs)
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
    """Return the task that confuses each pair of agents least, from the least confused levels on.

    Each pair of levels is assigned the pairs of agents that no better one was assigned; the few pairs
    that remain are compared one by one.
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
        differs = value[least, np.arange(len(rows))] < 0.5 - ROUNDING
        best[rows[differs], columns[differs]] = least[differs]
    return np.maximum(best, best.T)


def _confused(pairs: PairLikelihood, agent: int, tasks: slice) -> Floats:
    """Return the probability of confusing an agent with each after it; [tasks, agents − agent − 1]."""
    diagonal = pairs.diagonal[tasks]
    least = np.minimum(diagonal[:, agent : agent + 1], diagonal[:, agent + 1 :])
    return _probability(least - pairs.row(agent, tasks, agent + 1))


def _probability(excess: Floats) -> Floats:
    """Return the probability of confusing two agents from the difference of log-likelihoods."""
    return 1 / (1 + np.exp(np.clip(excess, -700.0, 700.0)))
