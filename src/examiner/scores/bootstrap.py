"""The stratified bootstrap: how runs and tasks are drawn, and intervals of any statistic of the draws."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer
from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.scores.aggregate import Statistic, task_values
from examiner.scores.cells import codes_of
from examiner.scores.estimate import check_level
from examiner.scores.runs import (
    UNITS,
    RunScores,
    Sample,
    Unit,
    observed,
    run_scores,
    same_sign,
    usual_unit,
)
from examiner.scores.total import Total
from examiner.validation import Floats, check_known, read_only, smallest_unsigned

REPS = 2000


def usual_reps(scores: RunScores) -> int:
    """Return how often a table is resampled by default: very large ones less often, in some ten seconds.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> usual_reps(run_scores(Results.from_numpy(np.zeros((3, 2, 5)))))
    2000
    """
    cells = sum(one.scores.size for one in scores.strata)
    return int(np.clip(2e9 // max(cells, 1), 200, REPS))


@dataclass(frozen=True, slots=True)
class Replicates:
    """Some replicates of the bootstrap, drawn when asked for.

    Each agent has a stream of random numbers of its own, which starts from its scores (`draw_order`):
    names, and the order of agents, tasks and runs, change nothing. Tasks are drawn once for all agents,
    so that agents stay paired.
    """

    scores: RunScores
    unit: Unit
    less_one: bool
    entropy: tuple[int, ...]
    index: int
    replicates: int

    def sample(self, agent: int) -> Sample:
        """Draw the replicates of one agent."""
        strata = self.scores.strata[agent]
        draws = np.maximum(strata.runs - 1, 1) if self.less_one else strata.runs
        stream = _stream((*self.entropy, self.index, *self.scores.draw_order.streams[agent]))
        if self.unit == "runs":
            counts = self._run_counts(agent, draws, stream)
            return Sample(strata.scores, counts, draws, strata.nest)
        times = self.task_times[strata.tasks]
        if self.unit == "tasks":
            whole = times[:, None, :] * strata.present[:, :, None].astype(times.dtype)
            return Sample(strata.scores, whole, strata.runs, strata.nest, times, whole=True)
        counts = self._repeated_run_counts(agent, draws, times, stream)
        return Sample(strata.scores, counts, draws, strata.nest, times)

    def _run_counts(
        self, agent: int, draws: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.integer]:
        """Draw runs within each task, with replacement, and count them.

        Shape [tasks, most runs, replicates]; every task's counts sum to its number of draws.
        """
        strata, order = self.scores.strata[agent], self.scores.draw_order.rows(agent)
        kind = smallest_unsigned(int(draws.sum()))  # sums over tasks are taken in the same type
        counts = np.zeros((*strata.scores.shape, self.replicates), dtype=kind)
        for runs in np.unique(strata.runs).tolist():
            rows = order[strata.runs[order] == runs]
            if runs == 1:
                counts[rows, 0] = draws[rows, None]
                continue
            count = _count_few if runs <= 16 else _count_many  # by comparison, or by scattering
            places = self.scores.draw_order.runs(agent, rows, runs)
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
        for task in self.scores.draw_order.rows(agent):
            runs, draws_of_run = int(strata.runs[task]), int(draws[task])
            replicate = np.repeat(
                np.arange(times.shape[1]), times[task].astype(np.int64) * draws_of_run
            )
            cell = rng.integers(0, runs, size=len(replicate)) * times.shape[1] + replicate
            drawn = np.bincount(cell, minlength=runs * times.shape[1])
            places = self.scores.draw_order.runs(agent, task[None], runs)[0]
            counts[task, places] = drawn.reshape(runs, -1)
        return counts

    def averages(self, tasks: Sequence[NDArray[np.int64]], values: Sequence[Floats]) -> Floats:
        """Average values of tasks, row by row, over those drawn, as they make a total: [rows, replicates].

        For the unit "tasks", where tasks come with all their runs; rows of the same tasks go together.
        """
        averages = np.empty((len(values), self.replicates))
        alike: dict[bytes, list[int]] = {}
        for row, places in enumerate(tasks):
            alike.setdefault(places.tobytes(), []).append(row)
        for rows in alike.values():
            places = tasks[rows[0]]
            times = self.task_times[places].astype(np.float64)
            stacked = np.stack([values[row] for row in rows])
            averages[rows] = self.scores.nest.rows(places).drawn(stacked, times)
        return averages

    @property
    def task_times(self) -> NDArray[np.integer]:
        """How often each task was drawn with replacement in its stratum; [tasks, replicates]."""
        nest, order = self.scores.nest, self.scores.draw_order
        places = (order.tasks.tobytes(), nest.stratum.tobytes(), nest.drawn_with.tobytes())
        return _task_times(places, self.less_one, self.replicates, (*self.entropy, self.index))


@lru_cache(
    maxsize=4
)  # every agent of a block asks for the same, and so do intervals, pairs and ranks
def _task_times(
    places: tuple[bytes, ...], less_one: bool, replicates: int, entropy: tuple[int, ...]
) -> NDArray[np.integer]:
    """Draw tasks within strata; those of one group as a whole.

    `places` are the tasks' places in the order of drawing, their strata and their groups. Strata are drawn
    in the order of their first task.
    """
    place, stratum, group = (np.frombuffer(part, np.int64) for part in places)
    rng, order = _stream(entropy), np.argsort(place)
    counts = np.empty(
        (len(order), replicates), dtype=np.result_type(smallest_unsigned(len(order)), "u2")
    )
    for one in dict.fromkeys(stratum[order].tolist()):
        rows = order[stratum[order] == one]
        unit = codes_of(group[rows].tolist())
        units = int(unit.max()) + 1
        draws = max(units - 1, 1) if less_one else units
        counts[rows] = _count_many(units, draws, 1, replicates, rng)[0][unit]
    read_only(counts)
    return counts


def blocks(
    scores: RunScores, unit: Unit, less_one: bool, reps: int, rng: np.random.Generator
) -> list[Replicates]:
    """Split the replicates into blocks whose size depends on the table alone, not on workers.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> table = run_scores(Results.from_numpy(np.zeros((1, 2, 3))))
    >>> [block.replicates for block in blocks(table, "runs", True, 5000, np.random.default_rng(0))]
    [2048, 2048, 904]
    """
    cells = max(one.scores.size for one in scores.strata)
    if unit != "runs":
        cells = max(cells, len(scores.tasks))
    size = int(np.clip((1 << 22) // max(cells, 1), 32, 2048))  # weights of some megabytes
    entropy = tuple(rng.integers(0, 1 << 32, size=4).tolist())
    return [
        Replicates(scores, unit, less_one, entropy, index, min(size, reps - start))
        for index, start in enumerate(range(0, reps, size))
    ]


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
            size = min(64, replicates - start)
            cell = rng.integers(0, runs, size=(size, draws)) + runs * np.arange(size)[:, None]
            drawn = np.bincount(cell.ravel(), minlength=runs * size)
            counts[task, :, start : start + size] = drawn.reshape(size, runs).T
    return counts


Progress: TypeAlias = Callable[[str, int, int], None]
Evaluate: TypeAlias = Callable[[Replicates], Floats]
Map: TypeAlias = Callable[[Evaluate, Iterable[Replicates]], Iterable[Any]]
# Any: executors differ in what they call the iterator
Interval: TypeAlias = Literal["studentised", "rescaled", "percentile", "bca"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
MOST_REPS = 10_000_000


class DrawingOptions(TypedDict, total=False):
    """How resamples are drawn, as keyword arguments; `Resampling` says what each means."""

    reps: int | None
    unit: Unit | None
    interval: Interval
    group: str | None
    progress: Progress | None
    map: Map


class ResamplingOptions(DrawingOptions, total=False):
    """How intervals are made, as keyword arguments; `Resampling` says what each means."""

    level: float


@dataclass(frozen=True, slots=True)
class Resampling:
    """A checked choice of how to resample: how often, what, in which way, at which level.

    `unit` says what would be another sample: other "runs" of the same agents on these tasks; other
    "tasks", each with all its runs (a cluster); or "both", tasks and then runs within them, which
    counts the noise of runs twice and is cautious. By default it is runs where every cell has several,
    else tasks (`usual_unit`). `reps` is how often; by default 2000, fewer for very large tables
    (`usual_reps`).

    `interval` says how. "studentised" and "rescaled" draw one run (or task) fewer than there are, which
    makes the variance right for few runs; the first takes only the error from the draws, with tails
    of Student's t and a correction for skewness, and so holds its estimate; the second, as all that is
    not an aggregate, takes their percentiles. "percentile" draws as many as there are, as rliable does;
    "bca" corrects its ends for bias and skewness.

    `group` names the column of the groups in which tasks are drawn as a whole; without it they are found
    (`task_groups`), and "none" takes tasks as independent.

    `map` may be that of `workers`: the number of workers changes nothing.

    >>> Resampling(unit="games")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown unit 'games'. Known: 'both', 'runs', 'tasks'.
    """

    reps: int | None = None
    unit: Unit | None = None
    interval: Interval = "studentised"
    level: float = 0.95
    group: str | None = None
    progress: Progress | None = field(default=None, repr=False, compare=False)
    map: Map = field(default=builtins.map, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.unit is not None:
            check_known("unit", self.unit, UNITS)
        check_known("interval", self.interval, INTERVALS)
        if self.reps is not None and not 1 <= self.reps <= MOST_REPS:
            raise InputError(
                f"{self.reps} replicates were asked for. Give 1 to {MOST_REPS:,}; {REPS} is usual."
            )
        check_level(self.level)

    def on(self, scores: RunScores) -> Chosen:
        """Choose what was left open, as suits the scores.

        >>> Resampling().on(run_scores(Results.from_numpy(np.zeros((3, 2, 5))))).unit
        'runs'
        """
        return Chosen(
            usual_reps(scores) if self.reps is None else self.reps,
            usual_unit(scores) if self.unit is None else self.unit,
            self.interval,
            self.level,
            None if scores.groups is None else scores.groups.column,
            self.progress,
            self.map,
        )

    def by_percentiles(self, refusal: str) -> Resampling:
        """Take percentiles where nothing can be studentised; refuse 'bca' in the caller's words.

        >>> Resampling().by_percentiles("No 'bca' here.").interval
        'rescaled'
        """
        if self.interval == "bca":
            raise InputError(f"{refusal} Use 'rescaled' or 'percentile'.")
        return replace(self, interval="rescaled") if self.interval == "studentised" else self


@dataclass(frozen=True, slots=True)
class Chosen(Resampling):
    """How a table is resampled, with nothing left open."""

    reps: int
    unit: Unit


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class ByResampling(Answer):
    """An answer computed by resampling: how, from which seed, and what a reader should know."""

    how: Chosen
    seed: int
    notes: tuple[str, ...]

    @property
    def unit(self) -> Unit:
        """What was resampled."""
        return self.how.unit

    @property
    def interval(self) -> Interval:
        """Which interval it is."""
        return self.how.interval

    @property
    def level(self) -> float:
        """How often intervals hold the truth."""
        return self.how.level

    @property
    def reps(self) -> int:
        """How many replicates were drawn."""
        return self.how.reps

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, what was resampled, how often, and the kind and level of intervals."""
        how = self.how
        return {
            "seed": self.seed,
            "unit": how.unit,
            "reps": how.reps,
            "interval": how.interval,
            "level": how.level,
            "group": None if how.unit == "runs" else how.group,
        }


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Run scores to be resampled; `reason` says why there can be no interval, where there cannot."""

    scores: RunScores
    how: Chosen
    reason: str | None

    @classmethod
    def of(
        cls, results: Results, measure: str | None, how: Resampling, total: Total | None = None
    ) -> Bootstrap:
        """Arrange the scores of runs, in which higher must be better everywhere."""
        same_sign(results, measure)
        return cls.of_scores(run_scores(results, measure, total, how.group), how)

    @classmethod
    def of_scores(cls, scores: RunScores, how: Resampling) -> Bootstrap:
        """Take scores that are arranged already."""
        chosen = how.on(scores)
        return cls(scores, chosen, _no_interval(scores, chosen.unit))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: of the scores, and of intervals that are not there."""
        grouped = () if self.how.unit == "runs" else self.scores.group_notes
        return (*self.scores.notes, *(grouped if self.reason is None else (self.reason,)))

    def replicates(
        self, evaluate: Evaluate, rng: np.random.Generator, *, silent: bool = False
    ) -> Floats:
        """Evaluate a statistic on resampled runs, shape [..., reps].

        `evaluate` is given a `Replicates` and returns its replicates on the last axis. The interval
        "rescaled" draws one run fewer than observed in each stratum, and so does "studentised": the
        variance of a mean of n − 1 draws, s²(n − 1)/n / (n − 1), is the unbiased s²/n, where n draws
        fall short of it by (n − 1)/n.

        References: Efron & Tibshirani (1993), chapter 8; Rao & Wu (1988), with m = n − 1,
        at which their rescaling factor is one.

        >>> from functools import partial
        >>> from examiner.scores.aggregate import mean
        >>> results = Results.from_numpy(np.arange(12.0).reshape(1, 3, 4))
        >>> bootstrap = Bootstrap.of(results, None, Resampling(reps=100))
        >>> each = partial(each_agent, statistics=(mean,))
        >>> bootstrap.replicates(each, np.random.default_rng(0)).shape
        (1, 1, 100)
        """
        how = self.how
        less_one = how.interval in ("studentised", "rescaled")
        jobs = blocks(self.scores, how.unit, less_one, how.reps, rng)
        parts = []
        for finished, part in enumerate(how.map(evaluate, jobs), start=1):
            parts.append(part)
            if how.progress and not silent:
                how.progress("resampling", finished, len(jobs))
        return np.concatenate(parts, axis=-1)

    def bounds(
        self,
        evaluate: Evaluate,
        rng: np.random.Generator,
        shape: tuple[int, ...],
        *,
        silent: bool = False,
    ) -> Floats:
        """Return both ends of the percentile interval of a statistic of this shape, NaN for none."""
        if self.reason is not None:
            return np.full((2, *shape), np.nan)
        return quantiles(self.replicates(evaluate, rng, silent=silent), self.how.level)

    def along(self, statistic: Statistic, rng: np.random.Generator, points: int) -> Floats:
        """Return each agent's statistic at every point with both ends, [3, agents, points]; NaN for none.

        One agent at a time bounds the memory; all share a seed, since streams go by scores.
        """
        ends = np.full((3, len(self.scores.agents), points), np.nan)
        entropy = rng.integers(0, 1 << 32, size=4).tolist()
        for agent, strata in enumerate(self.scores.strata):
            if self.how.progress:
                self.how.progress("resampling", agent, len(self.scores.agents))
            if len(strata.tasks):
                ends[0, agent] = statistic(observed(strata))[:, 0]
                evaluate = partial(one_agent, agent=agent, statistic=statistic)
                again = np.random.default_rng(entropy)
                ends[1:, agent] = self.bounds(evaluate, again, (points,), silent=True)
        return ends


def one_agent(block: Replicates, agent: int, statistic: Statistic) -> Floats:
    """Return a statistic of one agent, replicates on the last axis.

    >>> from examiner.scores.aggregate import mean
    >>> table = run_scores(Results.from_numpy(np.ones((1, 2, 2))))
    >>> one_agent(blocks(table, "runs", True, 3, np.random.default_rng(0))[0], 0, mean)
    array([1., 1., 1.])
    """
    return statistic(block.sample(agent))


def each_agent(block: Replicates, statistics: tuple[Statistic, ...]) -> Floats:
    """Return every statistic of every agent, shape [agents, statistics, replicates]; NaN if unobserved.

    >>> from examiner.scores.aggregate import mean
    >>> table = run_scores(Results.from_numpy(np.ones((1, 2, 2))))
    >>> each_agent(blocks(table, "runs", True, 3, np.random.default_rng(0))[0], (mean,))
    array([[[1., 1., 1.]]])
    """
    agents = block.scores.strata
    values = np.full((len(agents), len(statistics), block.replicates), np.nan)
    observed = [agent for agent, strata in enumerate(agents) if len(strata.tasks)]
    others = []
    for index, statistic in enumerate(statistics):
        whole = [task_values(statistic, agents[agent]) for agent in observed]
        of_tasks = [one for one in whole if one is not None]
        if block.unit == "tasks" and of_tasks:
            places = [agents[agent].tasks for agent in observed]
            values[observed, index] = block.averages(places, of_tasks)
        else:
            others.append((index, statistic))
    for agent in observed if others else ():
        sample = block.sample(agent)
        for index, statistic in others:
            values[agent, index] = statistic(sample)
    return values


def quantiles(replicates: Floats, level: float) -> Floats:
    """Return the ends that hold the middle share of the replicates, those that are NaN left out; [2, ...].

    >>> quantiles(np.arange(101.0), 0.9).round(9)
    array([ 5., 95.])
    """
    tail = 50 * (1 - level)
    gaps = np.isnan(replicates)
    if not gaps.any():
        return np.percentile(replicates, (tail, 100 - tail), axis=-1)
    ends = np.full((2, *replicates.shape[:-1]), np.nan)
    for cell in np.ndindex(replicates.shape[:-1]):
        kept = replicates[cell][~gaps[cell]]
        if len(kept):
            ends[(slice(None), *cell)] = np.percentile(kept, (tail, 100 - tail))
    return ends


def _no_interval(scores: RunScores, unit: Unit) -> str | None:
    """Why there can be no interval at all; None where there can be one."""
    if not scores.most_runs:
        return "No agent has any score, and there is nothing to resample."
    if unit == "tasks" and len(scores.tasks) < 2:
        return (
            "There is one task: how much the means would change with other tasks is not known, and no "
            "interval is given. The unit 'runs' asks for another set of runs instead."
        )
    total, groups = scores.total, scores.groups
    if unit == "tasks" and groups is not None and groups.number < 2:
        return (
            f"All tasks are of one {shorten(groups.column)}: how much another choice of groups would "
            f'change is not known, and no interval is given. `group="none"` takes tasks as independent.'
        )
    fixed = unit == "tasks" and groups is None and total is not None and total.by
    if fixed and total and max(Counter(total.innermost).values()) < 2:
        return (
            f"Every {total.by[-1]} has one task: how much another choice of tasks within them would "
            f"change is not known, and no interval is given."
        )
    if unit == "runs" and scores.most_runs < 2:
        return (
            "There is one run in every cell: how much another run would differ is not known, and no "
            "interval is given. The unit 'tasks' gives one for another choice of tasks."
        )
    if unit == "both" and (scores.most_runs < 2 or len(scores.tasks) < 2):
        return (
            "Runs and tasks cannot both be resampled where there is one run in every cell, or one "
            "task, and no interval is given. Use the unit of which there are several."
        )
    return None
