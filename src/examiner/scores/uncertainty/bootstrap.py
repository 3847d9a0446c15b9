"""The stratified bootstrap: how it is made, and replicates of any statistic on any number of workers."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np

from examiner.answers import Answer
from examiner.messages import InputError
from examiner.results import Results
from examiner.scores.aggregate import Statistic, task_values
from examiner.scores.estimate import check_level
from examiner.scores.total import Total
from examiner.scores.uncertainty.resampling import (
    REPS,
    UNITS,
    Block,
    Unit,
    blocks,
    observed,
    usual_reps,
    usual_unit,
)
from examiner.scores.uncertainty.strata import RunScores, run_scores, same_sign
from examiner.validation import Floats, check_known

Progress: TypeAlias = Callable[[str, int, int], None]
Evaluate: TypeAlias = Callable[[Block], Floats]
Map: TypeAlias = Callable[[Evaluate, Iterable[Block]], Iterable[Any]]
# Any: executors differ in what they call the iterator
Interval: TypeAlias = Literal["studentised", "rescaled", "percentile", "bca"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
LESS_ONE: tuple[Interval, ...] = ("studentised", "rescaled")
MOST_REPS = 10_000_000


class DrawingOptions(TypedDict, total=False):
    """How resamples are drawn, as keyword arguments; `Resampling` says what each means."""

    reps: int | None
    unit: Unit | None
    interval: Interval
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
        return cls.of_scores(run_scores(results, measure, total), how)

    @classmethod
    def of_scores(cls, scores: RunScores, how: Resampling) -> Bootstrap:
        """Take scores that are arranged already."""
        chosen = how.on(scores)
        return cls(scores, chosen, _no_interval(scores, chosen.unit))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: of the scores, and of intervals that are not there."""
        return self.scores.notes if self.reason is None else (*self.scores.notes, self.reason)

    def replicates(
        self, evaluate: Evaluate, rng: np.random.Generator, *, silent: bool = False
    ) -> Floats:
        """Evaluate a statistic on resampled runs, shape [..., reps].

        `evaluate` is given a `Block` and returns its replicates on the last axis. The interval
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
        jobs = blocks(self.scores, how.unit, how.interval in LESS_ONE, how.reps, rng)
        parts = []
        for done, part in enumerate(how.map(evaluate, jobs), start=1):
            parts.append(part)
            if how.progress and not silent:
                how.progress("resampling", done, len(jobs))
        return np.concatenate(parts, axis=-1)

    def bounds(
        self, evaluate: Evaluate, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Floats:
        """Return both ends of the percentile interval of a statistic of this shape, NaN for none."""
        if self.reason is not None:
            return np.full((2, *shape), np.nan)
        return np.array(quantiles(self.replicates(evaluate, rng), self.how.level))

    def along(
        self, statistic_of: Callable[[int], Statistic], rng: np.random.Generator, points: int
    ) -> Floats:
        """Return each agent's statistic at every point with both ends, [3, agents, points]; NaN for none.

        One agent at a time bounds the memory; all share a seed, since streams go by scores.
        """
        made = np.full((3, len(self.scores.agents), points), np.nan)
        entropy = rng.integers(0, 1 << 32, size=4).tolist()
        for agent, strata in enumerate(self.scores.strata):
            if self.how.progress:
                self.how.progress("resampling", agent, len(self.scores.agents))
            if not len(strata.tasks):
                continue
            statistic = statistic_of(agent)
            made[0, agent] = statistic(observed(strata))[:, 0]
            if self.reason is None:
                again = np.random.default_rng(entropy)
                evaluate = partial(one_agent, agent=agent, statistic=statistic)
                drawn = self.replicates(evaluate, again, silent=True)
                made[1:, agent] = quantiles(drawn, self.how.level)
        return made


def one_agent(block: Block, agent: int, statistic: Statistic) -> Floats:
    """Return a statistic of one agent, replicates on the last axis.

    >>> from examiner.scores.aggregate import mean
    >>> table = run_scores(Results.from_numpy(np.ones((1, 2, 2))))
    >>> one_agent(blocks(table, "runs", True, 3, np.random.default_rng(0))[0], 0, mean)
    array([1., 1., 1.])
    """
    return statistic(block.sample(agent))


def each_agent(block: Block, statistics: tuple[Statistic, ...]) -> Floats:
    """Return every statistic of every agent, shape [agents, statistics, replicates]; NaN if unobserved.

    >>> from examiner.scores.aggregate import mean
    >>> table = run_scores(Results.from_numpy(np.ones((1, 2, 2))))
    >>> each_agent(blocks(table, "runs", True, 3, np.random.default_rng(0))[0], (mean,))
    array([[[1., 1., 1.]]])
    """
    agents = block.scores.strata
    values = np.full((len(agents), len(statistics), block.replicates), np.nan)
    others = []
    for index, statistic in enumerate(statistics):
        if block.unit == "tasks" and task_values(statistic, agents[0]) is not None:
            values[:, index] = _whole_tasks(block, statistic)
        else:
            others.append((index, statistic))
    for agent, strata in enumerate(agents if others else ()):
        if len(strata.tasks):
            sample = block.sample(agent)
            for index, statistic in others:
                values[agent, index] = statistic(sample)
    return values


def _whole_tasks(block: Block, statistic: Statistic) -> Floats:
    """A mean over whole tasks for all agents at once, those with the same tasks together."""
    values = np.full((len(block.scores.agents), block.replicates), np.nan)
    alike: dict[bytes, list[int]] = {}
    for agent, strata in enumerate(block.scores.strata):
        if len(strata.tasks):
            alike.setdefault(strata.tasks.tobytes(), []).append(agent)
    for agents in alike.values():
        some = [block.scores.strata[agent] for agent in agents]
        each = [task_values(statistic, strata) for strata in some]
        known = np.stack([one for one in each if one is not None])
        values[agents] = block.averages(some[0].tasks, known)
    return values


def quantiles(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends that hold the middle share of the replicates, those that are NaN left out.

    >>> low, high = quantiles(np.arange(101.0), 0.9)
    >>> round(float(low), 9), round(float(high), 9)
    (5.0, 95.0)
    """
    tail = 50 * (1 - level)
    gaps = np.isnan(replicates)
    if not gaps.any():
        low, high = np.percentile(replicates, (tail, 100 - tail), axis=-1)
        return low, high
    ends = np.full((2, *replicates.shape[:-1]), np.nan)
    for cell in np.ndindex(replicates.shape[:-1]):
        kept = replicates[cell][~gaps[cell]]
        if len(kept):
            ends[(slice(None), *cell)] = np.percentile(kept, (tail, 100 - tail))
    return ends[0], ends[1]


def _no_interval(scores: RunScores, unit: Unit) -> str | None:
    """Why there can be no interval at all; None where there can be one."""
    if not scores.most_runs:
        return "No agent has any score, and there is nothing to resample."
    if unit == "tasks" and len(scores.tasks) < 2:
        return (
            "There is one task: how much another choice of tasks would change cannot be told, and no "
            "interval is given. The unit 'runs' asks for another set of runs instead."
        )
    groups = () if scores.total is None else scores.total.innermost
    if unit == "tasks" and scores.total and max(Counter(groups).values()) < 2:
        return (
            f"Every {scores.total.by[-1]} has one task: how much another choice of tasks within them would "
            f"change cannot be told, and no interval is given."
        )
    if unit == "runs" and scores.most_runs < 2:
        return (
            "There is one run in every cell: how much another run would change cannot be told, and no "
            "interval is given. The unit 'tasks' gives one for another choice of tasks."
        )
    if unit == "both" and (scores.most_runs < 2 or len(scores.tasks) < 2):
        return (
            "Runs and tasks cannot both be resampled where there is one run in every cell, or one "
            "task, and no interval is given. Use the unit of which there are several."
        )
    return None
