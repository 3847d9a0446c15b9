"""Draws with replacement, as weights: how often each run of each task counts in each replicate."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.scores.nest import Nest
from examiner.scores.uncertainty.draw_order import DrawOrder
from examiner.scores.uncertainty.strata import RunScores, Strata
from examiner.validation import Floats, read_only, smallest_unsigned

Unit = Literal["runs", "tasks", "both"]
UNITS: tuple[Unit, ...] = get_args(Unit)


def usual_unit(scores: RunScores) -> Unit:
    """Return what would be another sample: runs where every cell has several, else tasks.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> usual_unit(run_scores(Results.from_numpy([[[1.0, 3.0], [2.0, np.nan]]])))
    'tasks'
    """
    fewest = min((int(one.runs.min()) for one in scores.strata if len(one.tasks)), default=1)
    return "runs" if fewest > 1 else "tasks"


REPS, FEWEST_REPS = 2000, 200
MOST_WORK = 2e9
"""Runs drawn in all by default, some ten seconds of one core: very large tables get fewer resamples."""


def usual_reps(scores: RunScores) -> int:
    """Return how often a table is resampled where nobody says it.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> usual_reps(run_scores(Results.from_numpy(np.zeros((3, 2, 5)))))
    2000
    """
    cells = sum(one.scores.size for one in scores.strata)
    return int(np.clip(MOST_WORK // max(cells, 1), FEWEST_REPS, REPS))


MOST_REPLICATES = 2048
BLOCK_CELLS = 1 << 22
"""A block's weights stay within some megabytes, however large the table and the number of draws."""
MOST_REMEMBERED = 8
"""Blocks whose averages are kept: intervals, comparisons and ranks of a table ask for the same ones."""
FEW_RUNS = 16
"""Up to this many runs, counting draws by comparison is faster than by scattering."""


class Sample(NamedTuple):
    """One agent's resampled runs, as weights.

    `scores` has shape [tasks, runs], `weights` [tasks, runs, replicates]: how often each score
    counts. `draws` says how many draws stand for one task, shape [tasks]; `times` how often each
    task counts, shape [tasks, replicates], None where each counts once. `whole` says that tasks were
    drawn with all their runs, so that their means are the same in every replicate. `nest` says how
    tasks make a total, None where all count alike.
    """

    scores: Floats
    weights: NDArray[np.integer] | Floats
    draws: NDArray[np.int64]
    times: NDArray[np.integer] | None = None
    whole: bool = False
    nest: Nest | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Some replicates of the bootstrap, drawn when asked for.

    Each agent has a stream of random numbers of its own, which starts from its scores (`draw_order`):
    names, and the order of agents, tasks and runs, change nothing. Tasks are drawn once for all agents,
    so that agents stay paired.
    """

    scores: RunScores
    order: DrawOrder
    unit: Unit
    less_one: bool
    entropy: tuple[int, ...]
    index: int
    replicates: int

    def sample(self, agent: int) -> Sample:
        """Draw the replicates of one agent."""
        strata = self.scores.strata[agent]
        draws = np.maximum(strata.runs - 1, 1) if self.less_one else strata.runs
        stream = _stream((*self.entropy, self.index, *self.order.streams[agent]))
        if self.unit == "runs":
            counts = self._run_counts(agent, draws, stream)
            return Sample(strata.scores, counts, draws, nest=strata.nest)
        times = self._task_times()[strata.tasks]
        if self.unit == "tasks":
            whole = times[:, None, :] * strata.present[:, :, None].astype(times.dtype)
            return Sample(strata.scores, whole, strata.runs, times, True, strata.nest)
        counts = self._repeated_run_counts(agent, draws, times, stream)
        return Sample(strata.scores, counts, draws, times, nest=strata.nest)

    def _run_counts(
        self, agent: int, draws: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.integer]:
        """Draw runs within each task, with replacement, and count them.

        Shape [tasks, most runs, replicates]; every task's counts sum to its number of draws.
        """
        strata, order = self.scores.strata[agent], self.order.rows(agent)
        kind = smallest_unsigned(int(draws.sum()))  # sums over tasks are taken in the same type
        counts = np.zeros((*strata.scores.shape, self.replicates), dtype=kind)
        for runs in np.unique(strata.runs).tolist():
            rows = order[strata.runs[order] == runs]
            if runs == 1:
                counts[rows, 0] = draws[rows, None]
                continue
            count = _count_few if runs <= FEW_RUNS else _count_many
            places = self.order.runs(agent, rows, runs)
            counts[rows[:, None], places] = count(
                runs, int(draws[rows[0]]), len(rows), self.replicates, rng
            )
        return counts

    def _repeated_run_counts(
        self,
        agent: int,
        draws: NDArray[np.int64],
        times: NDArray[np.integer],
        rng: np.random.Generator,
    ) -> NDArray[np.integer]:
        """Draw runs again for each time a task was drawn, and count: [tasks, most runs, replicates]."""
        strata = self.scores.strata[agent]
        total = int(times.max(initial=0)) * int(draws.max(initial=1))
        kind = np.result_type(smallest_unsigned(total), np.uint16)
        counts = np.zeros((*strata.scores.shape, times.shape[1]), dtype=kind)
        for task in self.order.rows(agent):
            runs, each = int(strata.runs[task]), int(draws[task])
            replicate = np.repeat(np.arange(times.shape[1]), times[task].astype(np.int64) * each)
            cell = rng.integers(0, runs, size=len(replicate)) * times.shape[1] + replicate
            drawn = np.bincount(cell, minlength=runs * times.shape[1])
            places = self.order.runs(agent, task[None], runs)[0]
            counts[task, places] = drawn.reshape(runs, -1)
        return counts

    def averages(self, tasks: NDArray[np.int64], values: Floats) -> Floats:
        """Average values [rows, tasks] of some tasks over those drawn, as they make a total.

        Shape [rows, replicates]; for the unit "tasks", where tasks come with all their runs.
        """
        digest = hashlib.blake2b(values.tobytes(), digest_size=16).digest()
        draws = (self.less_one, self.replicates, self.entropy, self.index)
        key, known = (draws, tasks.tobytes(), digest), self.scores.drawn
        if key not in known:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            known[key] = self._averages(tasks, values)
        return known[key]

    def _averages(self, tasks: NDArray[np.int64], values: Floats) -> Floats:
        nest = self.scores.nest or Nest.flat(len(self.scores.tasks))
        times = self._task_times()
        if len(tasks) < len(times):
            nest, times = nest.rows(tasks), times[tasks]
        averages = nest.drawn(values, times.astype(np.float64))
        read_only(averages)
        return averages

    def _task_times(self) -> NDArray[np.integer]:
        """How often each task of the table was drawn; within its group, where there are groups."""
        nest = self.scores.nest
        strata = None if nest is None or not nest.stratum.any() else nest.stratum.tobytes()
        entropy, places = (*self.entropy, self.index), self.order.tasks.tobytes()
        return _task_times(places, self.less_one, self.replicates, entropy, strata)


def blocks(
    scores: RunScores, unit: Unit, less_one: bool, reps: int, rng: np.random.Generator
) -> list[Block]:
    """Split the replicates into blocks whose size depends on the table alone, not on workers.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> table = run_scores(Results.from_numpy(np.zeros((1, 2, 3))))
    >>> [block.replicates for block in blocks(table, "runs", True, 5000, np.random.default_rng(0))]
    [2048, 2048, 904]
    """
    cells = max(one.scores.size for one in scores.strata)
    if unit != "runs":
        cells = max(cells, len(scores.tasks))
    size = int(np.clip(BLOCK_CELLS // max(cells, 1), 32, MOST_REPLICATES))
    entropy, order = tuple(rng.integers(0, 1 << 32, size=4).tolist()), scores.draw_order
    return [
        Block(scores, order, unit, less_one, entropy, index, min(size, reps - start))
        for index, start in enumerate(range(0, reps, size))
    ]


def observed(strata: Strata) -> Sample:
    """Return the runs as they were observed, each once: the sample that gives point values.

    >>> scores = np.array([[1.0, 3.0]])
    >>> observed(Strata("a", np.array([0]), np.array([2]), scores)).weights.shape
    (1, 2, 1)
    """
    once = strata.present[:, :, None].astype(np.uint8)
    return Sample(strata.scores, once, strata.runs, nest=strata.nest)


@lru_cache(
    maxsize=4
)  # every agent of a block asks for the same, and so do intervals, pairs and ranks
def _task_times(
    places: bytes,
    less_one: bool,
    replicates: int,
    entropy: tuple[int, ...],
    strata: bytes | None,
) -> NDArray[np.integer]:
    """Draw tasks with replacement, within strata where these are given, and count: [tasks, replicates].

    `places` are those of the tasks in the order of drawing; strata are drawn in that of their first task.
    """
    rng = _stream(entropy)
    order = np.argsort(np.frombuffer(places, np.int64))
    stratum = np.zeros(len(order), np.int64) if strata is None else np.frombuffer(strata, np.int64)
    kind = np.result_type(smallest_unsigned(len(order)), "u2")
    counts = np.empty((len(order), replicates), dtype=kind)
    for one in dict.fromkeys(stratum[order].tolist()):
        rows = order[stratum[order] == one]
        draws = max(len(rows) - 1, 1) if less_one else len(rows)
        counts[rows] = _count_many(len(rows), draws, 1, replicates, rng)[0]
    read_only(counts)
    return counts


def _stream(entropy: tuple[int, ...]) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(entropy))


def _count_few(
    runs: int, draws: int, tasks: int, replicates: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    drawn = rng.integers(0, runs, size=(draws, tasks, replicates), dtype=np.uint8)
    counts = np.empty((tasks, runs, replicates), dtype=np.uint8)
    for run in range(runs):
        counts[:, run] = np.add.reduce((drawn == run).view(np.uint8), axis=0, dtype=np.uint8)
    return counts


def _count_many(
    runs: int, draws: int, tasks: int, replicates: int, rng: np.random.Generator
) -> NDArray[np.unsignedinteger]:
    counts = np.empty(
        (tasks, runs, replicates), dtype=np.result_type(smallest_unsigned(draws), "u2")
    )
    for task in range(tasks):
        for start in range(0, replicates, 64):  # scattering within few rows stays in the cache
            some = min(64, replicates - start)
            cell = rng.integers(0, runs, size=(some, draws)) + runs * np.arange(some)[:, None]
            drawn = np.bincount(cell.ravel(), minlength=runs * some)
            counts[task, :, start : start + some] = drawn.reshape(some, runs).T
    return counts
