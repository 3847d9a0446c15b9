"""Which pairs of agents a task separates, and which no task does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, number, text
from examiner.information.channels import Channels
from examiner.information.pairs import PairLikelihood
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.validation import Floats

ROUNDING = 1e-12


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
    confused = _probability(np.minimum(diagonal[:, None], diagonal) - together)
    return Separation(
        channels.agents, channels.tasks, threshold, *_counts(pairs, threshold), confused
    )


def _counts(
    pairs: PairLikelihood, threshold: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that tasks separate [tasks]; tasks that separate each pair, and the best [agents, agents]."""
    agents, tasks = pairs.shape
    of_task, of_pair = np.zeros(tasks, dtype=np.int64), np.zeros((agents, agents), dtype=np.int64)
    best, least = np.full(of_pair.shape, -1), np.full(of_pair.shape, 0.5)
    for block, rows in pairs.blocks():
        diagonal = pairs.diagonal[block]
        alone = np.minimum(diagonal[:, rows, None], diagonal[:, None])
        confused = _probability(alone - pairs.logs(block, rows))  # [tasks, rows, agents]
        apart = confused < threshold
        of_task[block] += apart.sum(axis=(1, 2))
        of_pair[rows] += apart.sum(axis=0)
        value = confused.min(axis=0)
        nearest = (confused <= value + ROUNDING).argmax(axis=0)  # ties: the first task
        better = value < least[rows] - ROUNDING
        best[rows] = np.where(better, block[nearest], best[rows])
        least[rows] = np.where(better, value, least[rows])
    return of_task // 2, of_pair, best


def _probability(excess: Floats) -> Floats:
    """Return the probability of confusing two agents from the difference of log-likelihoods."""
    return 1 / (1 + np.exp(np.clip(excess, -700.0, 700.0)))
