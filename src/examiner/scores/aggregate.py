"""One number per agent: aggregates of weighted run scores, for many replicates at once, by name or own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number
from examiner.messages import InputError, joined, shorten
from examiner.results import Results, reads_results
from examiner.scores.cells import ratio
from examiner.scores.standing import best_first, shared_ranks
from examiner.scores.total import Total
from examiner.scores.uncertainty.influence import Contributions, of_iqm, of_mean, of_median
from examiner.scores.uncertainty.resampling import Sample, observed
from examiner.scores.uncertainty.strata import RunScores, Strata, run_scores
from examiner.scores.unit import score_unit
from examiner.validation import Floats, known_name, smallest_unsigned

Statistic: TypeAlias = Callable[[Sample], Floats]
UserFunction: TypeAlias = Callable[[Floats, NDArray[np.generic]], Floats]

MANY = 32
"""From this many replicates on, a loop over scores beats arrays of all scores at once."""


def mean(sample: Sample) -> Floats:
    r"""Mean over tasks of the mean over runs, shape [replicates].

    .. math:: \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i x_{ti}

    >>> mean(Sample(np.array([[1.0, 3.0]]), np.array([[[1, 2], [1, 0]]]), np.array([2])))
    array([2., 1.])
    """
    return _mean_of(sample.scores, sample)


def median(sample: Sample) -> Floats:
    """Median over tasks of the mean over runs, shape [replicates].

    >>> median(Sample(np.array([[1.0], [3.0], [9.0]]), np.ones((3, 1, 1)), np.array([1, 1, 1])))
    array([3.])
    """
    if sample.times is None:
        return np.asarray(np.median(task_means(sample), axis=0))
    if sample.whole:
        means = _whole_means(sample)
        order = np.argsort(means, kind="stable")
        ordered, times = means[order, None], sample.times[order]
    else:
        means = task_means(sample)
        order = np.argsort(means, axis=0)
        ordered = np.take_along_axis(means, order, axis=0)
        times = np.take_along_axis(sample.times, order, axis=0)
    reached = np.cumsum(times, axis=0, dtype=np.int32)
    total = reached[-1]
    ordered = np.broadcast_to(ordered, reached.shape)
    middle = [
        np.take_along_axis(ordered, (reached > rank).argmax(axis=0)[None], axis=0)[0]
        for rank in ((total - 1) // 2, total // 2)
    ]
    return np.where(total > 0, (middle[0] + middle[1]) / 2, np.nan)


def iqm(sample: Sample) -> Floats:
    """Interquartile mean of all runs on all tasks, shape [replicates].

    A quarter of the scores, rounded down, is cut at each end, as `scipy.stats.trim_mean` does; with
    uneven runs, a quarter of their weight, every task weighing the same.

    References: Agarwal et al. (2021), section 4.3.

    >>> iqm(Sample(np.array([[1.0, 2.0], [3.0, 99.0]]), np.ones((2, 2, 1)), np.array([2, 2])))
    array([2.5])
    """
    tasks, runs, replicates = sample.weights.shape
    weights = sample.weights.reshape(tasks * runs, replicates)
    size, mass = _sizes(sample)
    cut = np.floor(size / 4) * np.divide(mass, size, out=np.ones_like(mass), where=size > 0)
    low, high = np.full(replicates, cut), np.full(replicates, mass - cut)
    even = bool((sample.draws == sample.draws.max(initial=1)).all())
    if not even:
        unit = np.repeat(sample.draws.max(initial=1) / sample.draws, runs)
        weights = weights * unit[:, None]
    elif np.issubdtype(weights.dtype, np.integer):
        # Small whole numbers, in a type that holds their sums: a quarter of the memory to move
        kind = np.result_type(weights.dtype, smallest_unsigned(int(mass.max(initial=0))))
        weights, low, high = weights.astype(kind, copy=False), low.astype(kind), high.astype(kind)
    order = np.argsort(sample.scores, axis=None, kind="stable")
    between = _between if replicates < MANY else _between_by_rows
    kept = between(weights, order, low, high)
    sums = np.einsum("s,sr->r", sample.scores.ravel()[order], kept)
    return ratio(sums, high.astype(np.float64) - low)


@dataclass(frozen=True, slots=True)
class OptimalityGap:
    r"""How far scores fall short of a mark, those above it counted as reaching it.

    .. math:: \gamma - \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i \min(x_{ti}, \gamma)

    References: Agarwal et al. (2021), section 4.3.

    >>> OptimalityGap(1.0)(Sample(np.array([[0.5, 3.0]]), np.ones((1, 2, 1)), np.array([2])))
    array([0.25])
    """

    gamma: float = 1.0

    def __call__(self, sample: Sample) -> Floats:
        """Return the gap, shape [replicates]."""
        return self.gamma - _mean_of(np.minimum(sample.scores, self.gamma), sample)

    def contributions(self, strata: Strata, error: float) -> Floats:
        """Return what each run adds to the gap, shape [tasks, most runs]."""
        return -np.minimum(strata.scores, self.gamma) * strata.shares[:, None]


class Aggregate(NamedTuple):
    """A number over all tasks and runs of an agent: what it is called and how it is computed."""

    name: str
    title: str
    statistic: Statistic
    higher_is_better: bool = True
    smooth: bool = True  # the median is not: its jackknife says nothing
    contributions: Contributions | None = None  # what each run adds; else by leaving one out
    least: float = -np.inf  # below which the truth cannot lie


AGGREGATES: Mapping[str, Aggregate] = MappingProxyType(
    {
        "mean": Aggregate("mean", "mean", mean, contributions=of_mean),
        "median": Aggregate("median", "median", median, smooth=False, contributions=of_median),
        "iqm": Aggregate("iqm", "interquartile mean", iqm, contributions=of_iqm),
        "optimality_gap": Aggregate(
            "optimality_gap",
            "optimality gap",
            OptimalityGap(1.0),
            higher_is_better=False,
            contributions=OptimalityGap(1.0).contributions,
            least=0.0,
        ),
    }
)
"""Name → aggregate. A new one is a function of a `Sample` and one line here."""


def aggregate_named(choice: str | Aggregate | UserFunction) -> Aggregate:
    """Return the aggregate of a name, or make one of a function.

    A function is given `scores` of shape [tasks, runs] and `weights` of shape
    [tasks, runs, replicates], how often each score counts (0 where a task has fewer runs than
    others), and returns one number per replicate.

    >>> def solved(scores, weights):
    ...     return ((scores > 0.5)[..., None] * weights).sum((0, 1)) / weights.sum((0, 1))
    >>> aggregate_named(solved).name, aggregate_named("optimality-gap").name
    ('solved', 'optimality_gap')
    """
    if isinstance(choice, Aggregate):
        return choice
    if callable(choice):
        name = getattr(choice, "__name__", "function")
        return Aggregate(name, name, UserStatistic(name, choice))
    return AGGREGATES[known_name("aggregate", choice, AGGREGATES)]


def check_total(aggregates: Sequence[Aggregate], total: Total | None) -> None:
    """Refuse aggregates that are no mean where tasks count unlike: a total is a mean.

    >>> check_total([AGGREGATES["median"]], Total(("t", "u"), weights=(1.0, 3.0)))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The aggregate 'median' knows no levels or weights: a total is a mean. \
Ask for the 'mean', or leave levels and weights out.
    """
    if total is None or total.plain:
        return
    for aggregate in aggregates:
        if aggregate.statistic is not mean and not isinstance(aggregate.statistic, OptimalityGap):
            raise InputError(
                f"The aggregate {shorten(aggregate.name)} knows no levels or weights: a total is a mean. "
                f"Ask for the 'mean', or leave levels and weights out."
            )


@dataclass(frozen=True, slots=True)
class UserStatistic:
    """A user's function of scores and weights, checked for what it returns."""

    name: str
    function: UserFunction

    def __call__(self, sample: Sample) -> Floats:
        """Return the user's number for each replicate."""
        values = np.asarray(self.function(sample.scores, sample.weights), dtype=np.float64)
        replicates = sample.weights.shape[2]
        if values.shape != (replicates,):
            raise InputError(
                f"The aggregate {self.name!r} returned shape {values.shape} for {replicates} "
                f"replicates. Return one number for each: weights have shape [tasks, runs, replicates]."
            )
        return values


class AggregatedAgents(Table):
    """Each agent over its observed tasks."""

    agent: tuple[str, ...] = name("Agent")
    rank: Floats = count("Rank by mean; ties share the better rank")
    mean: Floats = number("Mean over the tasks observed", unit="score")
    median: Floats = number("Median of the means of tasks", unit="score")
    iqm: Floats = number(
        "Interquartile mean: mean of the middle half of all runs", unit="score", title="IQM"
    )
    tasks: NDArray[np.int64] = count("Tasks with a score")


@dataclass(frozen=True, eq=False, repr=False)
class AgentAggregates(Answer):
    """Point values of agents, best first by mean: `aggregate`."""

    kind = "aggregate"

    agents: AggregatedAgents
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """Which agents have the highest mean."""
        best = self.agents.take(np.flatnonzero(self.agents.rank == 1))
        if not len(best):
            return "No agent has a score."
        names = joined(best.agent)
        verb = "has" if len(best) == 1 else "have"
        return f"{names} {verb} the highest mean: {best.mean[0]:.3g}."


@reads_results
def aggregate(
    results: Results, measure: str | None = None, total: Total | None = None
) -> AgentAggregates:
    """Aggregate each agent's scores over the tasks it was observed on, agents best first by mean.

    Mean and median are of the tasks' means, the mean as defined by `total`; the interquartile
    mean is of all runs' scores, as in
    Agarwal et al. (2021), with equal weight for every task where runs are uneven. These are point
    values only: `intervals` gives their uncertainty.

    >>> aggregate(Results.from_numpy([[1.0, 2.0, 3.0, 10.0]])).agents.iqm
    array([2.5])
    """
    scores = run_scores(results, measure, total)
    agents = aggregates_of(scores, score_unit(results, measure))
    return AgentAggregates(agents.take(best_first(agents.agent, agents.mean)), scores.notes)


def aggregates_of(scores: RunScores, unit: str = "") -> AggregatedAgents:
    """Aggregate agents whose runs are arranged already, in their order.

    >>> aggregates_of(run_scores(Results.from_numpy([[1.0, 2.0], [3.0, 4.0]]))).mean
    array([1.5, 3.5])
    """
    means = [
        float(strata.shares @ strata.means) if len(strata.tasks) else np.nan
        for strata in scores.strata
    ]
    median, iqm = point_values(scores, [AGGREGATES["median"], AGGREGATES["iqm"]]).T
    return AggregatedAgents(
        agent=scores.agents,
        rank=shared_ranks(np.array(means)),
        mean=means,
        median=median,
        iqm=iqm,
        tasks=np.array([len(strata.tasks) for strata in scores.strata], dtype=np.int64),
        score_unit=unit,
    )


def point_values(scores: RunScores, aggregates: Sequence[Aggregate]) -> Floats:
    """Return the aggregates of what was observed, shape [agents, aggregates].

    >>> table = run_scores(Results.from_numpy([[[1.0, 3.0], [5.0, 7.0]]]))
    >>> point_values(table, [AGGREGATES["mean"]])
    array([[4.]])
    """
    values = np.full((len(scores.agents), len(aggregates)), np.nan)
    for row, strata in enumerate(scores.strata):
        if len(strata.tasks):
            values[row] = [known.statistic(observed(strata))[0] for known in aggregates]
    return values


def interquartile_mean(values: Floats) -> float:
    """Return the mean of the middle half: a quarter of the values, rounded down, is cut at each end.

    >>> interquartile_mean(np.array([1.0, 2.0, 3.0, 100.0]))
    2.5
    """
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())


def task_means(sample: Sample) -> Floats:
    """Mean score of each task, shape [tasks, replicates]; 0 where a task was not drawn.

    >>> task_means(Sample(np.array([[1.0, 3.0]]), np.array([[[1, 2], [1, 0]]]), np.array([2])))
    array([[2., 1.]])
    """
    tasks, runs, replicates = sample.weights.shape
    means = np.zeros((tasks, replicates))
    if replicates < MANY:
        means += (sample.weights * sample.scores[:, :, None]).sum(axis=1)
    else:
        part = np.empty(replicates)
        for task in range(tasks):
            for run in range(runs):
                np.multiply(sample.weights[task, run], sample.scores[task, run], out=part)
                means[task] += part
    means /= sample.draws[:, None]
    if sample.times is not None:
        means /= np.maximum(sample.times, 1)
    return means


def _whole_means(sample: Sample) -> Floats:
    """The mean of each task's runs, all of which count alike; shape [tasks]."""
    present = np.arange(sample.scores.shape[1]) < sample.draws[:, None]
    sums: Floats = np.where(present, sample.scores, 0.0).sum(axis=1)
    return sums / sample.draws


def task_total(sample: Sample) -> Floats:
    """How many tasks count in each replicate, shape [1] where always as many, else [replicates].

    >>> task_total(Sample(np.ones((2, 1)), np.ones((2, 1, 5)), np.array([1, 1])))
    array([2.])
    """
    if sample.times is None:
        return np.array([float(len(sample.scores))])
    return np.asarray(sample.times.sum(axis=0, dtype=np.float64))


def task_values(statistic: Statistic, strata: Strata) -> Floats | None:
    """Return what an aggregate is the mean over tasks of, [tasks]; None where it is no such mean.

    >>> task_values(mean, Strata("a", np.array([0]), np.array([2]), np.array([[1.0, 3.0]])))
    array([2.])
    """
    if statistic is mean:
        return strata.means
    if isinstance(statistic, OptimalityGap):
        cut = np.where(strata.present, np.minimum(strata.scores, statistic.gamma), 0.0)
        return np.asarray(statistic.gamma - cut.sum(axis=1) / strata.runs)
    return None


def _mean_of(values: Floats, sample: Sample) -> Floats:
    """The mean over tasks, as they make a total, of the mean over runs of some function of the scores."""
    if sample.nest is not None:
        return sample.nest.average(task_means(sample._replace(scores=values)), sample.times)
    tasks, runs, replicates = sample.weights.shape
    shares = (values / sample.draws[:, None]).ravel()
    weights = sample.weights.reshape(tasks * runs, replicates)
    if replicates < MANY:
        return ratio((weights * shares[:, None]).sum(axis=0), task_total(sample))
    sums, part = np.zeros(replicates), np.empty(replicates)
    # Row by row rather than by BLAS, whose sums may depend on the number of threads
    for row in range(tasks * runs):
        np.multiply(weights[row], shares[row], out=part)
        sums += part
    return ratio(sums, task_total(sample))


def _between(
    weights: NDArray[Any], order: NDArray[np.intp], low: NDArray[Any], high: NDArray[Any]
) -> NDArray[Any]:  # Any: whole numbers or floats
    """What of each score's weight lies between two sums of weights, scores taken in order."""
    within = np.minimum(np.maximum(np.cumsum(weights[order], axis=0), low), high)
    return np.diff(within, axis=0, prepend=low[None])


def _between_by_rows(
    weights: NDArray[Any], order: NDArray[np.intp], low: NDArray[Any], high: NDArray[Any]
) -> NDArray[Any]:  # Any: whole numbers or floats
    """The same score by score, for many replicates: what is at work stays in the fastest cache."""
    kept = np.empty_like(weights)
    reached, within, before = np.zeros_like(low), np.empty_like(low), low.copy()
    for index, row in enumerate(order.tolist()):
        reached += weights[row]
        np.maximum(reached, low, out=within)
        np.minimum(within, high, out=within)
        np.subtract(within, before, out=kept[index])
        before, within = within, before
    return kept


def _sizes(sample: Sample) -> tuple[Floats, Floats]:
    """How many scores each replicate holds, and their weight in units of the longest task's runs."""
    longest = sample.draws.max(initial=1)
    if sample.times is None:
        return np.array([float(sample.draws.sum())]), np.array([float(longest * len(sample.draws))])
    size = (sample.times * sample.draws[:, None]).sum(axis=0, dtype=np.float64)
    return size, longest * sample.times.sum(axis=0, dtype=np.float64)
