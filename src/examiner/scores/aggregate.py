"""One number per agent: aggregates of weighted run scores, for many replicates at once, by name or own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number
from examiner.messages import InputError, joined, shorten
from examiner.results import Results, reads_results
from examiner.scores.cells import ratio
from examiner.scores.comparable import OwnFunction
from examiner.scores.nest import scaled
from examiner.scores.normalise import comparable_runs, score_unit
from examiner.scores.runs import (
    RunScores,
    Sample,
    Strata,
    Unit,
    observed,
    run_scores,
)
from examiner.scores.standing import best_first, shared_ranks
from examiner.scores.total import Total
from examiner.validation import Floats, known_name, smallest_unsigned

Contributions: TypeAlias = Callable[[Strata, float], Floats]
"""From an agent's runs, and the standard error of its aggregate, to what each run adds."""


def of_mean(strata: Strata, error: float) -> Floats:
    """Each score times what its task counts in the total, shape [tasks, most runs].

    >>> from examiner.scores.runs import arranged
    >>> of_mean(arranged("a", np.zeros(2, int), np.array([1.0, 3.0])), 1.0)
    array([[1., 3.]])
    """
    return strata.scores * strata.shares[:, None]


def of_iqm(strata: Strata, error: float) -> Floats:
    """Scores drawn in to the quartiles, over the number of tasks and the share that is kept.

    References: Huber & Ronchetti (2009), section 3.3, for the trimmed mean.

    >>> from examiner.scores.runs import arranged
    >>> of_iqm(arranged("a", np.zeros(4, int), np.array([1.0, 2.0, 3.0, 99.0])), 1.0)
    array([[4., 4., 6., 6.]])
    """
    present = strata.present
    scores, weights = strata.scores[present], np.repeat(1.0 / strata.runs, strata.runs)
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    size = len(scores)
    share = (size // 4) / size
    low = scores[order[np.searchsorted(reached, share + 1e-9)]]
    high = scores[order[np.searchsorted(reached, 1 - share - 1e-9)]]
    drawn_in: Floats = np.clip(strata.scores, low, high)
    return drawn_in / (len(strata.tasks) * (1 - 2 * share))


def of_median(strata: Strata, error: float) -> Floats:
    r"""Scores of each task times how much its mean moves the median, smoothed by both errors.

    .. math:: w_t \propto \frac{1}{s_t} \exp \frac{-(m_t - M)^2}{2 s_t^2}, \qquad s_t^2 = v_t + e^2

    where v is the squared error of a task's mean m and e that of the median M: the density of the mean
    at the median. Weights sum to one, since a shift of all tasks shifts the median by as much.

    >>> from examiner.scores.runs import arranged
    >>> few = arranged("a", np.repeat([0, 1, 2], 2), np.array([0.0, 1, 1, 3, 90, 91]))
    >>> of_median(few, 1.0).round(2)
    array([[0.  , 0.34],
           [0.66, 1.98],
           [0.  , 0.  ]])
    """
    spare = np.maximum(strata.runs - 1, 1)
    near_one, exponent = scaled(np.array([error]))  # weights are the same in any unit
    deviations = np.ldexp(strata.deviations, -exponent)
    squares = (deviations**2).sum(axis=1) / spare / strata.runs + near_one**2
    off = np.ldexp(strata.means - np.median(strata.means), -exponent)
    logs = -0.5 * off**2 / squares - 0.5 * np.log(squares)
    weight = np.exp(logs - logs.max())
    return np.asarray(strata.scores * (weight / weight.sum())[:, None])


def by_deletion(strata: Strata, statistic: Callable[[Sample], Floats], unit: Unit) -> Floats:
    r"""Influences from leaving out one run at a time (or task), one for each: [runs of all tasks].

    .. math:: l_{ti} = (n_t - 1)\,(\bar\theta_{t(\cdot)} - \theta_{t(i)})

    References: Davison & Hinkley (1997), section 5.3, for several samples.

    >>> from examiner.scores.runs import arranged
    >>> by_deletion(arranged("a", np.zeros(3, int), np.array([1.0, 2.0, 6.0])), mean, "runs")
    array([-2., -1.,  3.])
    """
    tasks, sizes = deletions(strata, unit)
    most = max(1, (1 << 22) // max(strata.scores.size, 1))  # weights of some megabytes at a time
    parts = [slice(start, start + most) for start in range(0, len(tasks), most)]
    estimates = np.concatenate([statistic(_without_one(strata, unit, part)) for part in parts])
    sums = np.bincount(tasks, weights=estimates)
    return np.asarray((sizes[tasks] - 1) * ((sums / sizes)[tasks] - estimates))


def task_strata(strata: Strata) -> NDArray[np.int64]:
    """Number the group within which each task is drawn, [tasks]; one for all where there are none.

    >>> from examiner.scores.runs import arranged
    >>> task_strata(arranged("a", np.array([0, 0, 1]), np.ones(3)))
    array([0, 0])
    """
    return np.unique(strata.nest.stratum, return_inverse=True)[1]


def deletions(strata: Strata, unit: Unit) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the stratum each deletion belongs to, and the strata's sizes.

    >>> from examiner.scores.runs import arranged
    >>> deletions(arranged("a", np.array([0, 0, 1]), np.ones(3)), "runs")
    (array([0, 0, 1]), array([2, 1]))
    """
    if unit == "tasks":
        stratum = task_strata(strata)
        return stratum, np.bincount(stratum)
    return np.repeat(np.arange(len(strata.tasks)), strata.runs), strata.runs


def _without_one(strata: Strata, unit: Unit, part: slice) -> Sample:
    """One replicate for each of some deletions; in a stratum, the runs that are left stand for all."""
    present = strata.present.astype(np.float64)
    if unit == "tasks":
        left_out = np.arange(len(strata.tasks))[part]
        times = np.ones((len(strata.tasks), len(left_out)), dtype=np.int64)
        times[left_out, np.arange(len(left_out))] = 0
        weights = present[:, :, None] * times[:, None, :]
        return Sample(strata.scores, weights, strata.runs, strata.nest, times)
    task, run = (place[part] for place in np.nonzero(present))
    weights = np.repeat(present[:, :, None], len(task), axis=2)
    deletion = np.arange(len(task))
    several = strata.runs > 1  # a single run cannot be left out: it stays, and adds nothing
    scale = np.where(several, strata.runs / np.maximum(strata.runs - 1, 1), 1.0)
    weights[task, :, deletion] *= scale[task, None]
    weights[task, run, deletion] *= np.where(several, 0.0, 1.0)[task]
    return Sample(strata.scores, weights, strata.runs, strata.nest)


Statistic: TypeAlias = Callable[[Sample], Floats]
UserFunction: TypeAlias = Callable[[Floats, NDArray[np.generic]], Floats]


def mean(sample: Sample) -> Floats:
    r"""Mean over tasks of the mean over runs, shape [replicates].

    .. math:: \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i x_{ti}

    or over groups of tasks, as they make a total.

    >>> from examiner.scores.nest import Nest
    >>> weights = np.array([[[1, 2], [1, 0]]])
    >>> mean(Sample(np.array([[1.0, 3.0]]), weights, np.array([2]), Nest.flat(1)))
    array([2., 1.])
    """
    return sample.nest.average(task_means(sample), sample.times)


def median(sample: Sample) -> Floats:
    """Median over tasks of the mean over runs, shape [replicates].

    >>> from examiner.scores.nest import Nest
    >>> runs = np.array([[1.0], [3.0], [9.0]])
    >>> median(Sample(runs, np.ones((3, 1, 1)), np.ones(3, int), Nest.flat(3)))
    array([3.])
    """
    means = task_means(sample)
    if sample.times is None:
        return np.asarray(np.median(means, axis=0))
    order = np.argsort(means, axis=0, kind="stable")
    times = (
        sample.times[order[:, 0]]
        if sample.whole
        else np.take_along_axis(sample.times, order, axis=0)
    )
    reached = np.cumsum(times, axis=0, dtype=np.int32)
    total = reached[-1]
    ordered = np.broadcast_to(np.take_along_axis(means, order, axis=0), reached.shape)
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

    >>> from examiner.scores.nest import Nest
    >>> runs = np.array([[1.0, 2.0], [3.0, 99.0]])
    >>> iqm(Sample(runs, np.ones((2, 2, 1)), np.array([2, 2]), Nest.flat(2)))
    array([2.5])
    """
    tasks, runs, replicates = sample.weights.shape
    weights = sample.weights.reshape(tasks * runs, replicates)
    longest = sample.draws.max(initial=1)
    times = np.ones((tasks, 1)) if sample.times is None else sample.times
    # How many scores each replicate holds, and their weight in units of the longest task's runs.
    size = (times * sample.draws[:, None]).sum(axis=0, dtype=np.float64)
    mass = longest * times.sum(axis=0, dtype=np.float64)
    cut = np.floor(size / 4) * np.divide(mass, size, out=np.ones_like(mass), where=size > 0)
    low, high = np.full(replicates, cut), np.full(replicates, mass - cut)
    if (sample.draws != longest).any():
        weights = weights * np.repeat(longest / sample.draws, runs)[:, None]
    elif np.issubdtype(weights.dtype, np.integer):
        # Small whole numbers, in a type that holds their sums: a quarter of the memory to move
        kind = np.result_type(weights.dtype, smallest_unsigned(int(mass.max(initial=0))))
        weights, low, high = weights.astype(kind, copy=False), low.astype(kind), high.astype(kind)
    order = np.argsort(sample.scores, axis=None, kind="stable")
    within = np.minimum(np.maximum(np.cumsum(weights[order], axis=0), low), high)
    kept = np.diff(
        within, axis=0, prepend=low[None]
    )  # what of each weight is between the quartiles
    sums = np.einsum("s,sr->r", sample.scores.ravel()[order], kept)
    return ratio(sums, high.astype(np.float64) - low)


def optimality_gap(sample: Sample) -> Floats:
    r"""How far scores fall short of 1, those above it counted as reaching it; shape [replicates].

    .. math:: 1 - \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i \min(x_{ti}, 1)

    References: Agarwal et al. (2021), section 4.3.

    >>> from examiner.scores.nest import Nest
    >>> runs = np.array([[0.5, 3.0]])
    >>> optimality_gap(Sample(runs, np.ones((1, 2, 1)), np.array([2]), Nest.flat(1)))
    array([0.25])
    """
    return 1.0 - mean(sample._replace(scores=np.minimum(sample.scores, 1.0)))


def of_optimality_gap(strata: Strata, error: float) -> Floats:
    """What each run adds to the gap, shape [tasks, most runs].

    >>> from examiner.scores.runs import arranged
    >>> of_optimality_gap(arranged("a", np.zeros(2, int), np.array([0.5, 3.0])), 1.0)
    array([[-0.5, -1. ]])
    """
    return -np.minimum(strata.scores, 1.0) * strata.shares[:, None]


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
            optimality_gap,
            higher_is_better=False,
            contributions=of_optimality_gap,
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
        return Aggregate(name, name, partial(_of_user, name=name, function=choice))
    return AGGREGATES[known_name("aggregate", choice, AGGREGATES)]


def _of_user(sample: Sample, name: str, function: UserFunction) -> Floats:
    """A user's function of scores and weights, checked for what it returns."""
    values = np.asarray(function(sample.scores, sample.weights), dtype=np.float64)
    replicates = sample.weights.shape[2]
    if values.shape != (replicates,):
        raise InputError(
            f"The aggregate {name!r} returned shape {values.shape} for {replicates} "
            f"replicates. Return one number for each: weights have shape [tasks, runs, replicates]."
        )
    return values


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
        if aggregate.statistic not in (mean, optimality_gap):
            raise InputError(
                f"The aggregate {shorten(aggregate.name)} knows no levels or weights: a total is a mean. "
                f"Ask for the 'mean', or leave levels and weights out."
            )


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
    results: Results,
    measure: str | None = None,
    total: Total | None = None,
    *,
    normalise: str | OwnFunction | None = "auto",
) -> AgentAggregates:
    """Aggregate each agent's scores over the tasks it was observed on, agents best first by mean.

    Mean and median are of the tasks' means, the mean as defined by `total`; the interquartile
    mean is of all runs' scores, as in
    Agarwal et al. (2021), with equal weight for every task where runs are uneven. These are point
    values only: `intervals` gives their uncertainty.

    >>> aggregate(Results.from_numpy([[1.0, 2.0, 3.0, 10.0]])).agents.iqm
    array([2.5])
    """
    results = comparable_runs(results, normalise, measure)
    scores = run_scores(results, measure, total)
    agents = aggregates_of(scores, score_unit(results, measure))
    return AgentAggregates(agents.take(best_first(agents.agent, agents.mean)), scores.notes)


def aggregates_of(scores: RunScores, unit: str = "") -> AggregatedAgents:
    """Aggregate agents whose runs are arranged already, in their order.

    >>> aggregates_of(run_scores(Results.from_numpy([[1.0, 2.0], [3.0, 4.0]]))).mean
    array([1.5, 3.5])
    """
    chosen = [AGGREGATES[name] for name in ("mean", "median", "iqm")]
    means, medians, iqms = point_values(scores, chosen).T
    return AggregatedAgents(
        agent=scores.agents,
        rank=shared_ranks(means),
        mean=means,
        median=medians,
        iqm=iqms,
        tasks=[len(strata.tasks) for strata in scores.strata],
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
            values[row] = [aggregate.statistic(observed(strata))[0] for aggregate in aggregates]
    return values


def interquartile_mean(values: Floats) -> float:
    """Return the mean of the middle half: a quarter of the values, rounded down, is cut at each end.

    >>> interquartile_mean(np.array([1.0, 2.0, 3.0, 100.0]))
    2.5
    """
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())


def task_means(sample: Sample) -> Floats:
    """Mean score of each task, 0 where it was not drawn: [tasks, replicates], or [tasks, 1] for all.

    >>> from examiner.scores.nest import Nest
    >>> weights = np.array([[[1, 2], [1, 0]]])
    >>> task_means(Sample(np.array([[1.0, 3.0]]), weights, np.array([2]), Nest.flat(1)))
    array([[2., 1.]])
    """
    if sample.whole:
        present = np.arange(sample.scores.shape[1]) < sample.draws[:, None]
        sums: Floats = np.where(present, sample.scores, 0.0).sum(axis=1)
        return (sums / sample.draws)[:, None]
    means: Floats = np.einsum("tir,ti->tr", sample.weights, sample.scores)
    means /= sample.draws[:, None]
    if sample.times is not None:
        means /= np.maximum(sample.times, 1)
    return means


def task_values(statistic: Statistic, strata: Strata) -> Floats | None:
    """Return what an aggregate is the mean over tasks of, [tasks]; None where it is no such mean.

    >>> from examiner.scores.runs import arranged
    >>> task_values(mean, arranged("a", np.zeros(2, int), np.array([1.0, 3.0])))
    array([2.])
    """
    if statistic is mean:
        return strata.means
    if statistic is optimality_gap:
        cut = np.where(strata.present, np.minimum(strata.scores, 1.0), 0.0)
        return np.asarray(1.0 - cut.sum(axis=1) / strata.runs)
    return None
