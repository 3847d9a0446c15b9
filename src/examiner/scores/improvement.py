"""Probability of improvement: how often a run of one agent beats a run of another, and how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, name, number, scalar
from examiner.messages import InputError, counted, shorten, unknown_name
from examiner.results import Results, reads_results
from examiner.scores.aggregate import AGGREGATES, point_values
from examiner.scores.bootstrap import (
    Bootstrap,
    ByResampling,
    Replicates,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.comparable import OwnFunction
from examiner.scores.estimate import least_after_all_won, wilson
from examiner.scores.normalise import comparable_runs
from examiner.scores.runs import Pair, RunScores, Sample, Unit, share_tasks
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, generator, read_only, seed_of


class Wins(NamedTuple):
    """Runs of two agents, by position, compared on their common tasks.

    `doubled` has shape [tasks, runs of a, runs of b]: 2 where a's run is better, 1 where both are
    equal, 0 where it is worse. `meetings` is the smaller number of runs of each task: so many pairs of
    runs are independent of each other.
    """

    a: int
    b: int
    pair: Pair
    doubled: NDArray[np.int8]
    probability: Floats  # on each common task
    meetings: NDArray[np.int64]
    overall: float  # over all common tasks, as they make a total

    def independent_meetings(self, unit: Unit) -> int:
        """Return how many independent meetings the overall probability rests on."""
        return (int(self.meetings.min()) if unit == "runs" else 1) * len(self.meetings)


def wins(scores: RunScores, a: int, b: int) -> Wins:
    r"""Compare every run of one agent with every run of another, task by task.

    .. math:: P_t = \frac{1}{n m} \sum_{ij} [x_{ti} > y_{tj}] + \tfrac{1}{2} [x_{ti} = y_{tj}]

    the Mann-Whitney statistic as a share. References: Agarwal et al. (2021), section 4.3.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> table = run_scores(Results.from_numpy([[[1.0, 3.0]], [[1.0, 2.0]]]))
    >>> wins(table, 0, 1).probability
    array([0.625])
    """
    pair = Pair.of(scores.strata[a], scores.strata[b])
    (first, rows_a), (second, rows_b) = pair.agents
    x, y = first.scores[rows_a][:, :, None], second.scores[rows_b][:, None, :]
    doubled = (x > y).view(np.int8) + (x >= y)
    n, m = first.runs[rows_a], second.runs[rows_b]
    counted = doubled
    if doubled.size > (n * m).sum():  # rows of fewer runs are filled up
        both = first.present[rows_a][:, :, None] & second.present[rows_b][:, None, :]
        counted = np.where(both, doubled, 0)
    probability = counted.sum(axis=(1, 2)) / (2 * n * m)
    overall = float(pair.nest.average(probability[:, None])[0])
    return Wins(a, b, pair, doubled, probability, np.minimum(n, m), overall)


def overall(block: Replicates, pairs: tuple[Wins, ...]) -> Floats:
    """Return the resampled probability of improvement of each pair, shape [pairs, replicates]."""
    if block.unit == "tasks":
        return block.averages([won.pair.tasks for won in pairs], [won.probability for won in pairs])
    samples: dict[int, Sample] = {}
    values = np.empty((len(pairs), block.replicates))
    for index, won in enumerate(pairs):
        # An agent's sample is large: only that of the first of a pair, which has several, is kept
        samples = {agent: samples.get(agent) or block.sample(agent) for agent in (won.a, won.b)}
        values[index] = _resampled(won, samples[won.a], samples[won.b])[-1]
    return values


def by_task_and_overall(block: Replicates, won: Wins) -> Floats:
    """Return the resampled probability on each task and, last, overall: [tasks + 1, replicates]."""
    return _resampled(won, block.sample(won.a), block.sample(won.b))


def _resampled(won: Wins, a: Sample, b: Sample) -> Floats:
    (_, rows_a), (_, rows_b) = won.pair.agents
    values = np.empty((len(rows_a), a.weights.shape[2]))
    for task, (row_a, row_b) in enumerate(zip(rows_a, rows_b, strict=True)):
        # Small whole numbers: sums are exact, in whatever order they are taken
        met = won.doubled[task].T.astype(np.float64) @ a.weights[row_a].astype(np.float64)
        met *= b.weights[row_b]
        values[task] = met.sum(axis=0)
    values /= 2.0 * (a.draws[rows_a] * b.draws[rows_b])[:, None]
    times = None if a.times is None else a.times[rows_a]
    if times is not None:
        values /= np.maximum(times.astype(np.float64) ** 2, 1.0)
    return np.vstack([values, won.pair.nest.average(values, times)])


NO_BCA = "The interval 'bca' is not made for the probability of improvement."


class TaskImprovement(Table):
    """How probably a run of one agent beats one of another on each common task."""

    task: tuple[str, ...] = name("Task")
    probability: Floats = number(
        "Probability that a run of the first agent beats one of the second"
    )
    probability_low: Floats = bound("probability", "low")
    probability_high: Floats = bound("probability", "high")


class PairImprovement(Table):
    """How probably a run of one agent beats one of another, pair by pair."""

    a: tuple[str, ...] = name("First agent")
    b: tuple[str, ...] = name("Second agent")
    probability: Floats = number(
        "Probability that a run of the first agent beats one of the second"
    )
    probability_low: Floats = bound("probability", "low")
    probability_high: Floats = bound("probability", "high")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Improvement(ByResampling):
    """How probably agent a beats agent b, overall and on each common task.

    At 0 or 1 the interval is one-sided: its other end is the estimate. NaN: no interval.
    """

    kind = "improvement"

    a: str = field(metadata=scalar("First agent"))
    b: str = field(metadata=scalar("Second agent"))
    probability: float = field(metadata=scalar("Probability of improvement over all tasks"))
    low: float = field(metadata=scalar("Lower end of its interval", name="probability_low"))
    high: float = field(metadata=scalar("Upper end of its interval", name="probability_high"))
    tasks: TaskImprovement

    @property
    def headline(self) -> str:
        """How probably a run of the first agent beats one of the second."""
        interval = f"{100 * self.level:g} % interval {self.low:.3g} to {self.high:.3g}"
        size = "" if np.isnan(self.low) else f" ({interval})"
        return f"A run of {self.a} beats one of {self.b} with probability {self.probability:.3g}{size}."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class ImprovementMatrix(ByResampling):
    """Probability that the agent of a row beats the agent of a column; NaN on the diagonal.

    Arrays have shape [agents, agents]; NaN too where a pair was not asked for or shares no task.
    """

    kind = "improvement_matrix"

    agent_names: tuple[str, ...]
    probability: Floats
    low: Floats
    high: Floats

    @property
    def headline(self) -> str:
        """How many pairs have an interval that excludes one half."""
        pairs = self.pairs
        clear = int(((pairs.probability_low > 0.5) | (pairs.probability_high < 0.5)).sum())
        total = counted(len(pairs), "pair")
        return (
            f"The interval of the probability of improvement excludes 0.5 for {clear:,} of {total}."
        )

    @property
    def pairs(self) -> PairImprovement:
        """One row per pair that was compared, the better agent by mean first."""
        first, second = np.nonzero(np.triu(np.isfinite(self.probability), 1))
        return PairImprovement(
            a=[self.agent_names[row] for row in first],
            b=[self.agent_names[row] for row in second],
            probability=self.probability[first, second],
            probability_low=self.low[first, second],
            probability_high=self.high[first, second],
            level=self.level,
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The pairs."""
        return {"pairs": self.pairs}


@reads_results
def improvement(
    results: Results,
    a: str,
    b: str,
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    **how: Unpack[ResamplingOptions],
) -> Improvement:
    r"""Estimate how probably a run of agent a beats one of agent b on a task drawn at random.

    .. math:: P(a > b) = \frac{1}{T} \sum_t P(x_t > y_t) + \tfrac{1}{2} P(x_t = y_t)

    or the mean as `total` says. Runs of both agents are resampled independently within each task, as
    `Resampling` says. Where the
    estimate is 0 or 1 no resample differs, and one-sided bounds are given instead: see
    `honest_bounds`.

    References: Agarwal et al. (2021), section 4.3; Rao & Wu (1988).

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[1.0, 2.0]] * 3], agents=["new", "old"])
    >>> found = improvement(results, "new", "old", rng=0)
    >>> found.probability, found.low < 0.875 < found.high
    (0.875, True)
    """
    results = comparable_runs(results, normalise, measure)
    chosen = Resampling(**how).by_percentiles(NO_BCA)
    return improvement_of(Bootstrap.of(results, measure, chosen, total), a, b, seed_of(rng))


def improvement_of(bootstrap: Bootstrap, a: str, b: str, seed: int) -> Improvement:
    """Compare two agents whose runs are arranged already: see `improvement`."""
    scores, how = bootstrap.scores, bootstrap.how
    if a == b:
        raise InputError(f"The agent {shorten(a)} cannot be compared with itself. Name two.")
    won = wins(scores, scores.row(a), scores.row(b))
    estimates = np.append(won.probability, won.overall)
    meetings = [*won.meetings.tolist(), won.independent_meetings(how.unit)]
    ends = np.full((2, len(estimates)), np.nan)
    if bootstrap.reason is None:
        runs = how.unit == "runs"  # where tasks are drawn, one task alone has no interval
        evaluate = partial(by_task_and_overall, won=won) if runs else partial(overall, pairs=(won,))
        drawn = bootstrap.bounds(evaluate, generator(seed), ())
        for place in range(-drawn.shape[1], 0):
            low, high = drawn[:, place]
            ends[:, place] = honest_bounds(estimates[place], low, high, meetings[place], how.level)
    return Improvement(
        a=a,
        b=b,
        probability=won.overall,
        low=float(ends[0, -1]),
        high=float(ends[1, -1]),
        tasks=TaskImprovement(
            task=[scores.tasks[task] for task in won.pair.tasks],
            probability=won.probability,
            probability_low=ends[0, :-1],
            probability_high=ends[1, :-1],
            level=how.level,
        ),
        how=how,
        seed=seed,
        notes=_notes(bootstrap, [won]),
    )


@reads_results
def improvement_matrix(
    results: Results,
    *,
    rng: Randomness = 0,
    pairs: Sequence[tuple[str, str]] | None = None,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    **how: Unpack[ResamplingOptions],
) -> ImprovementMatrix:
    """Estimate the probability of improvement of all pairs of agents, or of some.

    The same as `improvement`, pair by pair, on the same resamples; agents come best first by mean.

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[1.0, 2.0]] * 3])
    >>> improvement_matrix(results, rng=0).probability
    array([[  nan, 0.875],
           [0.125,   nan]])
    """
    results = comparable_runs(results, normalise, measure)
    chosen = Resampling(**how).by_percentiles(NO_BCA)
    return matrix_of(Bootstrap.of(results, measure, chosen, total), pairs, seed_of(rng))


def matrix_of(
    bootstrap: Bootstrap, pairs: Sequence[tuple[str, str]] | None, seed: int
) -> ImprovementMatrix:
    """Compare agents whose runs are arranged already: see `improvement_matrix`.

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[1.0, 2.0]] * 3])
    >>> float(matrix_of(Bootstrap.of(results, None, Resampling()), None, 0).probability[0, 1])
    0.875
    """
    scores, how = bootstrap.scores, bootstrap.how
    agents, strata = scores.agents, scores.strata
    rows = {agent: row for row, agent in enumerate(agents)}
    for unknown in {agent for pair in pairs or () for agent in pair} - set(rows):
        raise unknown_name("agent", unknown, agents)
    order = best_first(agents, point_values(scores, [AGGREGATES["mean"]])[:, 0])
    ranked = tuple(agents[row] for row in order)
    wanted = combinations(ranked, 2) if pairs is None else pairs
    compared = [
        wins(scores, rows[a], rows[b])
        for a, b in wanted
        if a != b and share_tasks(strata[rows[a]], strata[rows[b]])
    ]
    estimates = np.full((3, len(compared)), np.nan)  # with both ends
    estimates[0] = [won.overall for won in compared]
    if bootstrap.reason is None and compared:
        evaluate = partial(overall, pairs=tuple(compared))
        drawn = bootstrap.bounds(evaluate, generator(seed), ())
        for index, (won, low, high) in enumerate(zip(compared, *drawn, strict=True)):
            meetings = won.independent_meetings(how.unit)
            estimates[1:, index] = honest_bounds(won.overall, low, high, meetings, how.level)
    matrices = np.full((3, len(agents), len(agents)), np.nan)
    a, b = [won.a for won in compared], [won.b for won in compared]
    matrices[:, a, b] = estimates
    matrices[:, b, a] = 1 - estimates[[0, 2, 1]]
    probability, low, high = (part[np.ix_(order, order)] for part in matrices)
    read_only(probability, low, high)
    return ImprovementMatrix(
        agent_names=ranked,
        probability=probability,
        low=low,
        high=high,
        how=how,
        seed=seed,
        notes=_notes(bootstrap, compared),
    )


def honest_bounds(
    estimate: float, low: float, high: float, trials: int, level: float = 0.95
) -> tuple[float, float]:
    """Replace the bounds where resamples do not differ: one-sided at 0 and 1, Wilson's between.

    `trials` is the number of independent meetings behind the estimate: each run of one agent is
    paired with one other run of the other, so that a task gives as many as the smaller number of
    runs. Had all of them been won, α^(1/n) bounds their mean probability from below, and exactly so:
    the geometric mean of unlike probabilities does not exceed their mean. Between 0 and 1, Wilson's
    interval is wide enough, because unlike probabilities vary less than equal ones.

    References: Clopper & Pearson (1934); Hoeffding (1956).

    >>> [round(end, 3) for end in honest_bounds(1.0, 1.0, 1.0, trials=30)]
    [0.905, 1.0]
    """
    if estimate >= 1:
        return least_after_all_won(trials, level), 1.0
    if estimate <= 0:
        return 0.0, 1 - least_after_all_won(trials, level)
    return (low, high) if high > low else wilson(estimate * trials, trials, level)


def _notes(bootstrap: Bootstrap, compared: Sequence[Wins]) -> tuple[str, ...]:
    if bootstrap.reason is not None or bootstrap.how.unit != "runs":
        return bootstrap.notes
    sure = [np.isin(won.probability, (0.0, 1.0)).mean() for won in compared]
    doubtful = sum(0.5 < share < 1 for share in sure)
    if not doubtful:
        return bootstrap.notes
    return (
        *bootstrap.notes,
        f"In {doubtful:,} of {len(compared):,} pairs every run of one agent beats every run of the other "
        f"on more than half of the tasks: resampling takes those as certain, and the interval may be too "
        f"narrow.",
    )
