"""Probability of improvement: how often a run of one agent beats a run of another, and how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Scalar, Table, bound, name, number
from examiner.messages import InputError, counted, shorten, unknown_name
from examiner.results import Results, reads_results
from examiner.scores.aggregate import AGGREGATES, point_values
from examiner.scores.bootstrap import (
    Bootstrap,
    ByResampling,
    Chosen,
    Replicates,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.estimate import least_after_all_won, wilson
from examiner.scores.runs import RunScores, Sample, shared_rows
from examiner.scores.standing import best_first
from examiner.scores.total import Nest, Total
from examiner.validation import Floats, Randomness, generator, read_only, seed_of


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
    >>> from examiner.scores.runs import run_scores
    >>> table = run_scores(Results.from_numpy([[[1.0, 3.0]], [[1.0, 2.0]]]))
    >>> wins(table, 0, 1).probability
    array([0.625])
    """
    first, second = scores.strata[a], scores.strata[b]
    rows_a, rows_b = shared_rows(first, second)
    x, y = first.scores[rows_a][:, :, None], second.scores[rows_b][:, None, :]
    doubled = (x > y).view(np.int8) + (x >= y)
    n, m = first.runs[rows_a], second.runs[rows_b]
    fewer, meetings = np.minimum(n, m), n * m
    counted = doubled
    if doubled.size > meetings.sum():  # rows of fewer runs are filled up
        both = first.present[rows_a][:, :, None] & second.present[rows_b][:, None, :]
        counted = np.where(both, doubled, 0)
    probability = counted.sum(axis=(1, 2)) / (2 * meetings)
    nest = Nest.flat(len(rows_a)) if first.nest is None else first.nest.rows(rows_a)
    mean = nest.average(probability[:, None])[0]
    return Wins(a, b, rows_a, rows_b, doubled, probability, fewer, meetings, nest, float(mean))


def overall(block: Replicates, pairs: tuple[Wins, ...]) -> Floats:
    """Return the resampled probability of improvement of each pair, shape [pairs, replicates]."""
    if block.unit == "tasks":
        return _whole_tasks(block, pairs)
    samples: dict[int, Sample] = {}
    values = np.empty((len(pairs), block.replicates))
    for index, pair in enumerate(pairs):
        # An agent's sample is large: only that of the first of a pair, which has several, is kept
        samples = {agent: samples.get(agent) or block.sample(agent) for agent in (pair.a, pair.b)}
        tasks = _by_task(pair, samples[pair.a], samples[pair.b], block)
        values[index] = _averaged(tasks, pair, samples[pair.a])
    return values


def _whole_tasks(block: Replicates, pairs: tuple[Wins, ...]) -> Floats:
    """The same where tasks are drawn whole: pairs with the same common tasks are averaged together."""
    values = np.empty((len(pairs), block.replicates))
    alike: dict[bytes, list[int]] = {}
    for index, pair in enumerate(pairs):
        tasks = block.scores.strata[pair.a].tasks[pair.rows_a]
        alike.setdefault(tasks.tobytes(), []).append(index)
    for rows in alike.values():
        first = pairs[rows[0]]
        tasks = block.scores.strata[first.a].tasks[first.rows_a]
        probabilities = np.stack([pairs[row].probability for row in rows])
        # As many meetings everywhere: counts of wins are whole numbers, whose sums are exact.
        even = {int(count) for row in rows for count in (pairs[row].meetings[0],)}
        most = 2 * even.pop() if len(even) == 1 else 0
        if most and all((2 * pairs[row].meetings == most).all() for row in rows):
            values[rows] = block.averages(tasks, np.rint(probabilities * most)) / most
        else:
            values[rows] = block.averages(tasks, probabilities)
    return values


def by_task_and_overall(block: Replicates, pair: Wins) -> Floats:
    """Return the resampled probability on each task and, last, overall: [tasks + 1, replicates]."""
    a, b = block.sample(pair.a), block.sample(pair.b)
    tasks = _by_task(pair, a, b, block)
    return np.vstack([tasks, _averaged(tasks, pair, a)])


def _by_task(pair: Wins, a: Sample, b: Sample, block: Replicates) -> Floats:
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

    a: str
    b: str
    probability: float
    low: float
    high: float
    tasks: TaskImprovement

    @property
    def headline(self) -> str:
        """How probably a run of the first agent beats one of the second."""
        interval = f"{100 * self.level:g} % interval {self.low:.3g} to {self.high:.3g}"
        size = "" if np.isnan(self.low) else f" ({interval})"
        return f"A run of {self.a} beats one of {self.b} with probability {self.probability:.3g}{size}."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The two agents, and the probability over all common tasks with its interval."""
        return {
            "a": Scalar(self.a, "First agent"),
            "b": Scalar(self.b, "Second agent"),
            "probability": Scalar(self.probability, "Probability of improvement over all tasks"),
            "probability_low": Scalar(self.low, "Lower end of its interval"),
            "probability_high": Scalar(self.high, "Upper end of its interval"),
        }


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
    chosen = Resampling(**how).by_percentiles(NO_BCA)
    return improvement_of(Bootstrap.of(results, measure, chosen, total), a, b, seed_of(rng))


def improvement_of(bootstrap: Bootstrap, a: str, b: str, seed: int) -> Improvement:
    """Compare two agents whose runs are arranged already: see `improvement`."""
    scores = bootstrap.scores
    pair = wins(scores, scores.row(a), scores.row(b))
    _check_common(scores, pair)
    evaluate = partial(by_task_and_overall, pair=pair)
    how_chosen = bootstrap.how
    ends = bootstrap.bounds(evaluate, generator(seed), (len(pair.probability) + 1,))
    if bootstrap.reason is None:
        ends = _task_and_pair_bounds(pair, ends, how_chosen)
    return Improvement(
        a=a,
        b=b,
        probability=pair.overall,
        low=float(ends[0, -1]),
        high=float(ends[1, -1]),
        tasks=TaskImprovement(
            task=[scores.tasks[task] for task in scores.strata[pair.a].tasks[pair.rows_a]],
            probability=pair.probability,
            probability_low=ends[0, :-1],
            probability_high=ends[1, :-1],
            level=how_chosen.level,
        ),
        how=how_chosen,
        seed=seed,
        notes=_notes(bootstrap, [pair]),
    )


@reads_results
def improvement_matrix(
    results: Results,
    *,
    rng: Randomness = 0,
    pairs: Sequence[tuple[str, str]] | None = None,
    measure: str | None = None,
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
    agents, chosen = bootstrap.scores.agents, bootstrap.how
    rows = {agent: row for row, agent in enumerate(agents)}
    for unknown in {agent for pair in pairs or () for agent in pair} - set(rows):
        raise unknown_name("agent", unknown, agents)
    order = best_first(agents, point_values(bootstrap.scores, [AGGREGATES["mean"]])[:, 0])
    ranked = tuple(agents[row] for row in order)
    wanted = combinations(ranked, 2) if pairs is None else pairs
    compared = [wins(bootstrap.scores, rows[a], rows[b]) for a, b in wanted if a != b]
    compared = [pair for pair in compared if len(pair.probability)]
    ends = np.full((2, len(compared)), np.nan)
    if bootstrap.reason is None and compared:
        evaluate = partial(overall, pairs=tuple(compared))
        drawn = bootstrap.bounds(evaluate, generator(seed), (len(compared),))
        for index, (pair, low, high) in enumerate(zip(compared, *drawn, strict=True)):
            ends[:, index] = _pair_bounds(pair, low, high, chosen)
    filled = _filled(compared, ends, len(rows))
    probability, low, high = (part[np.ix_(order, order)] for part in filled)
    read_only(probability, low, high)
    return ImprovementMatrix(
        agent_names=ranked,
        probability=probability,
        low=low,
        high=high,
        how=chosen,
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


def _check_common(scores: RunScores, pair: Wins) -> None:
    if pair.a == pair.b:
        raise InputError(
            f"The agent {shorten(scores.agents[pair.a])} cannot be compared with itself. Name two."
        )
    if not len(pair.probability):
        raise InputError(
            f"The agents {shorten(scores.agents[pair.a])} and {shorten(scores.agents[pair.b])} share "
            f"no task. Choose agents that were observed on the same tasks."
        )


def _task_and_pair_bounds(pair: Wins, drawn: Floats, how: Chosen) -> Floats:
    """Bounds of each task and, last, overall; no bounds for a task where only tasks are drawn."""
    ends = np.full(drawn.shape, np.nan)
    if how.unit == "runs":
        for task, (estimate, trials) in enumerate(zip(pair.probability, pair.fewer, strict=True)):
            low, high = drawn[:, task]
            ends[:, task] = honest_bounds(estimate, low, high, trials, how.level)
    ends[:, -1] = _pair_bounds(pair, drawn[0, -1], drawn[1, -1], how)
    return ends


def _pair_bounds(pair: Wins, low: float, high: float, how: Chosen) -> tuple[float, float]:
    trials_of_task = int(pair.fewer.min()) if how.unit == "runs" else 1
    trials = trials_of_task * len(pair.fewer)
    return honest_bounds(pair.overall, low, high, trials, how.level)


def _filled(pairs: Sequence[Wins], ends: Floats, agents: int) -> tuple[Floats, Floats, Floats]:
    """The matrices of probability, low and high; what is below the diagonal mirrors what is above."""
    probability, low, high = np.full((3, agents, agents), np.nan)
    for index, pair in enumerate(pairs):
        value = pair.overall
        probability[pair.a, pair.b], probability[pair.b, pair.a] = value, 1 - value
        low[pair.a, pair.b], low[pair.b, pair.a] = ends[0, index], 1 - ends[1, index]
        high[pair.a, pair.b], high[pair.b, pair.a] = ends[1, index], 1 - ends[0, index]
    return probability, low, high


def _notes(bootstrap: Bootstrap, pairs: Sequence[Wins]) -> tuple[str, ...]:
    if bootstrap.reason is not None or bootstrap.how.unit != "runs":
        return bootstrap.notes
    sure = [np.isin(pair.probability, (0.0, 1.0)).mean() for pair in pairs]
    doubtful = sum(0.5 < share < 1 for share in sure)
    if not doubtful:
        return bootstrap.notes
    return (
        *bootstrap.notes,
        f"In {doubtful:,} of {len(pairs):,} pairs every run of one agent beats every run of the other on "
        f"more than half of the tasks: resampling takes those as certain, and the interval may be too "
        f"narrow.",
    )
