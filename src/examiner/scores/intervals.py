"""Aggregates with intervals: how sure one can be of a mean, median, IQM or optimality gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Column, Table
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results, reads_results
from examiner.scores.aggregate import (
    AGGREGATES,
    Aggregate,
    Statistic,
    UserFunction,
    aggregate_named,
    by_deletion,
    check_total,
    deletions,
    point_values,
    task_strata,
    task_values,
)
from examiner.scores.bootstrap import (
    Bootstrap,
    ByResampling,
    Chosen,
    Resampling,
    ResamplingOptions,
    each_agent,
)
from examiner.scores.comparable import OwnFunction
from examiner.scores.estimate import score_ends, wilson
from examiner.scores.nest import GroupedError, Nest, grouped_error, scaled
from examiner.scores.normalise import comparable_runs, is_raw, score_unit
from examiner.scores.runs import Strata, Unit
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, generator, read_only, seed_of

_ROUNDING = 1e-9
"""Errors smaller than this beside what they are errors of are none."""


class Shape(NamedTuple):
    """Degrees of freedom of an estimate's squared error, and the skewness of the estimate."""

    degrees: float
    skewness: float


def studentised_ends(
    strata: Strata, aggregate: Aggregate, point: float, drawn: Floats, how: Chosen, *, share: bool
) -> tuple[float, float]:
    r"""Return both ends of the interval around an agent's estimate, from its replicates.

    .. math:: \hat\theta - s\, g^{-1}(\pm t_\nu), \qquad
              g(x) = x + \frac{\gamma}{3} x^2 + \frac{\gamma^2}{27} x^3 + \frac{\gamma}{6}

    with s the standard deviation of the replicates, ν Satterthwaite's degrees of freedom and γ the
    skewness of the estimate, both from what each run adds to it (`shape_of`). The ends lie on both sides
    of the estimate, as those of percentiles need not: these carry the bias of a resample once more. Where
    an aggregate is not smooth (a median), its bias is not of lower order than its error: the interval
    over runs is widened to hold that around the estimate less the replicates' bias, and that over tasks
    is between ranks (`_of_median`). Where tasks are drawn in groups, s and ν are those of `grouped_error`.

    Means of zeros and ones (`share`) have intervals of Wilson's kind with the same error and tails: few
    that are nearly all won are so skewed that g has no way back, and 18 of 20 reached down to 0.33.

    References: Hall (1992), "On the removal of skewness by transformation", eq. 2.5, whose γ/√n is the
    skewness of a mean; the same expansion holds for stratified samples, since the covariance of the
    estimate and its squared error is again the estimate's third cumulant. Satterthwaite (1946).
    """
    from scipy.special import stdtrit  # slow to import

    if how.unit == "tasks" and not aggregate.smooth:
        return _of_median(strata, how.level)
    drawn, exponent = scaled(drawn)
    error, shape = float(np.ldexp(drawn.std(ddof=1), exponent)), None
    if how.unit == "tasks" and strata.nest.sampled is not None:
        error, degrees, _ = _over_groups(aggregate, strata, error)
        shape = Shape(degrees, 0.0)
    if error <= _ROUNDING * max(abs(point), float(np.abs(strata.scores).max())):
        return _unchanged(point, strata, how, share=share)
    shape = shape or shape_of(aggregate, strata, how.unit, error)
    tail = float(stdtrit(shape.degrees, 0.5 + how.level / 2))
    if share:
        return score_ends(point, point * (1 - point) / error**2, tail)
    reach = error * _unskewed(np.array([tail, -tail]), shape.skewness)
    shift = 0.0 if aggregate.smooth else float(np.ldexp(drawn.mean(), exponent)) - point
    return point - reach[0] - max(shift, 0.0), point - reach[1] - min(shift, 0.0)


def _over_groups(aggregate: Aggregate, strata: Strata, error: float) -> GroupedError:
    """The error of an aggregate over groups of tasks, from what each task adds to it."""
    values = task_values(aggregate.statistic, strata)
    if values is not None:
        return grouped_error(values, strata.nest)
    tasks, whole = len(strata.tasks), _added_by_tasks(aggregate, strata, error)
    return grouped_error(tasks * whole, replace(Nest.flat(tasks), sampled=strata.nest.sampled))


def _of_median(strata: Strata, level: float) -> tuple[float, float]:
    r"""Return the interval of a median over tasks: scores at the ranks that a share of one half may have.

    .. math:: r = \frac{T + 1}{2} \pm T z\, e, \quad e = \frac{1}{2 \sqrt T}

    Between two tasks the ends are interpolated. Where tasks come in groups, e is the error over groups of
    the share below the median, with Student's t for z.

    References: Hettmansperger & Sheather (1986); Woodruff (1952), for samples in groups.
    """
    from scipy.special import ndtri, stdtrit  # slow to import

    ordered, tasks = np.sort(strata.means), len(strata.tasks)
    reach = float(ndtri(0.5 + level / 2)) * np.sqrt(tasks) / 2
    if strata.nest.sampled is not None:
        below = (np.sign(np.median(ordered) - strata.means) + 1) / 2
        error, degrees, _ = grouped_error(below, strata.nest)
        if degrees >= 1:
            reach = tasks * float(stdtrit(degrees, 0.5 + level / 2)) * error
    ranks = (tasks + 1) / 2 + np.array([-reach, reach])
    low, high = np.interp(ranks, np.arange(1, tasks + 1), ordered)
    return float(low), float(high)


def _unchanged(point: float, strata: Strata, how: Chosen, *, share: bool) -> tuple[float, float]:
    """Both ends where no resample changes the estimate: itself, or Wilson's of tasks won or lost.

    All of them, or those of each group, are then alike. Tasks that count unevenly are worth fewer, and
    of groups that differ the error is that of half a task more that goes the other way (Jeffreys).
    """
    lost_or_won = bool((np.minimum(strata.means, np.abs(1 - strata.means)) <= _ROUNDING).all())
    if not (share and lost_or_won and how.unit != "runs" and len(strata.tasks) > 1):
        return point, point
    worth = strata.nest.worth
    if min(point, 1 - point) > _ROUNDING:
        stratum = task_strata(strata)
        sizes, counts = np.bincount(stratum), np.bincount(stratum, weights=strata.shares)
        other = 0.5 / (sizes + 1)
        worth = point * (1 - point) / float((counts**2 * other * (1 - other) / sizes).sum())
    return wilson(point * worth, worth, how.level)


def shape_of(aggregate: Aggregate, strata: Strata, unit: Unit, error: float) -> Shape:
    r"""Return degrees of freedom and skewness of an aggregate over the runs, or tasks, of an agent.

    .. math:: \nu = \frac{(\sum_t v_t)^2}{\sum_t v_t^2 / (n_t - 1)}, \qquad
              \gamma = \frac{\sum_t k_t / n_t^2}{(\sum_t v_t)^{3/2}}

    with v the squared error of a task's part and k the unbiased third moment of what its runs add; a
    task with fewer than three runs has none. Over tasks the strata are their groups, or one of all of
    them.

    >>> from examiner.scores.aggregate import AGGREGATES
    >>> from examiner.scores.runs import arranged
    >>> runs = arranged("a", np.repeat([0, 1], 3), np.array([0.0, 1, 2, 5, 7, 9]))
    >>> shape = shape_of(AGGREGATES["mean"], runs, "runs", 0.5)
    >>> round(shape.degrees, 2), shape.skewness
    (2.94, 0.0)
    """
    if unit != "runs" and not aggregate.smooth:  # signs of tasks around their median
        return Shape(float(max(len(strata.tasks) - 1, 1)), 0.0)
    added, sizes = _added(aggregate, strata, unit, error)
    present = np.arange(added.shape[1]) < sizes[:, None]
    means = np.where(present, added, 0.0).sum(axis=1) / sizes
    off, exponent = scaled(np.where(present, added - means[:, None], 0.0))
    several = sizes > 1
    squares = np.where(several, (off**2).sum(axis=1) / np.maximum(sizes - 1, 1) / sizes, 0.0)
    total = float(squares.sum())
    if total <= (_ROUNDING * np.ldexp(error, -exponent)) ** 2:
        # only to higher order does anything vary: be careful
        return Shape(float(sizes[several].min() - 1) if several.any() else 1.0, 0.0)
    degrees = total**2 / float((squares[several] ** 2 / (sizes[several] - 1)).sum())
    third = (off**3).sum(axis=1) / np.maximum((sizes - 1) * (sizes - 2), 1) / sizes
    return Shape(degrees, float(third[sizes > 2].sum()) / total**1.5)


def _added(
    aggregate: Aggregate, strata: Strata, unit: Unit, error: float
) -> tuple[Floats, NDArray[np.int64]]:
    """What each run adds [tasks, most], or each task [groups, most], and the sizes of these strata."""
    if unit == "runs":
        return _added_by_runs(aggregate, strata, error), strata.runs
    whole = _added_by_tasks(aggregate, strata, error)
    if aggregate.contributions is not None and strata.levels is not None:
        # a task that counts more than others of its group draws its mean
        means = strata.nest.stratum_means(strata.means[None])[0]
        whole = whole - strata.shares * means[strata.nest.stratum]
    stratum = task_strata(strata)
    sizes = np.bincount(stratum)
    order = np.argsort(stratum, kind="stable")
    present = np.arange(sizes.max()) < sizes[:, None]
    padded = np.zeros(present.shape)
    padded[present] = (whole * sizes[stratum])[order]
    return padded, sizes


def _added_by_runs(aggregate: Aggregate, strata: Strata, error: float) -> Floats:
    """What each run adds to an aggregate, [tasks, most runs]."""
    if aggregate.contributions is not None:
        return aggregate.contributions(strata, error)
    added = np.zeros(strata.scores.shape)
    added[strata.present] = by_deletion(strata, aggregate.statistic, "runs")
    return added


def _added_by_tasks(aggregate: Aggregate, strata: Strata, error: float) -> Floats:
    """What each task adds to an aggregate, all its runs together, [tasks]."""
    if aggregate.contributions is None:
        return by_deletion(strata, aggregate.statistic, "tasks") / len(strata.tasks)
    added = _added_by_runs(aggregate, strata, error)
    return np.asarray(np.where(strata.present, added, 0.0).sum(axis=1) / strata.runs)


def _unskewed(quantile: Floats, skewness: float) -> Floats:
    """The inverse of Hall's transformation, which rises everywhere."""
    if abs(skewness) < 1e-9:  # a straight line to rounding
        return quantile
    third = skewness / 3
    return np.asarray((np.cbrt(1 + 3 * third * (quantile - skewness / 6)) - 1) / third)


def check_corrected(bootstrap: Bootstrap, aggregates: Sequence[Aggregate]) -> None:
    """Refuse the BCa interval where its correction would be noise.

    >>> bootstrap = Bootstrap.of(Results.from_numpy(np.zeros((1, 2, 3))), None, Resampling(unit="runs"))
    >>> check_corrected(bootstrap, [])
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The interval 'bca' needs 5 runs in every cell, and some have 3. \
Use 'studentised', which covers with few runs.
    """
    scores, unit = bootstrap.scores, bootstrap.how.unit
    fewest = 5  # with fewer runs in a stratum the jackknife's third moments are noise
    for aggregate in aggregates:
        if not aggregate.smooth:
            raise InputError(
                f"The interval 'bca' rests on a jackknife, which fails for the aggregate "
                f"{shorten(aggregate.name)}. Use 'studentised' or 'percentile'."
            )
    if unit == "tasks" and scores.groups is not None:
        raise InputError(
            f"The interval 'bca' has no jackknife for groups of tasks, and tasks come in groups by "
            f"{shorten(scores.groups.column)}. Use 'studentised', or take tasks as independent "
            f'(`group="none"`).'
        )
    if unit == "both":
        raise InputError(
            "The interval 'bca' has no jackknife for runs and tasks at once. Use the unit 'runs' or "
            "'tasks', or the interval 'studentised'."
        )
    observed = [one for one in scores.strata if len(one.tasks)]
    runs, tasks = (
        min(int(one.runs.min()) for one in observed),
        min(len(one.tasks) for one in observed),
    )
    if unit == "runs" and runs < fewest:
        raise InputError(
            f"The interval 'bca' needs {fewest} runs in every cell, and some have {runs}. Use "
            f"'studentised', which covers with few runs."
        )
    if unit == "tasks" and tasks < fewest:
        raise InputError(
            f"The interval 'bca' needs {fewest} tasks to resample them, and there are "
            f"{counted(tasks, 'task')}. Use 'studentised'."
        )


def corrected_ends(
    strata: Strata, statistic: Statistic, point: float, drawn: Floats, how: Chosen
) -> tuple[float, float]:
    r"""Return both ends of an agent's BCa interval, from its replicates; NaN where all are on one side.

    .. math:: \alpha' = \Phi\!\left(z_0 + \frac{z_0 + z_\alpha}{1 - a (z_0 + z_\alpha)}\right)

    with z₀ from the share of replicates below the estimate, ties half.

    References: Efron (1987); Davison & Hinkley (1997), section 5.3.
    """
    from scipy.special import ndtr, ndtri  # slow to import

    slack = 1e-12 * max(
        abs(point), float(np.abs(drawn).max())
    )  # sums in another order are ties too
    below = ((drawn < point - slack).mean() + (drawn <= point + slack).mean()) / 2
    if not 0 < below < 1:
        return np.nan, np.nan
    shift = float(ndtri(below))
    skew = acceleration(strata, statistic, how.unit)
    tails = shift + ndtri(np.array([(1 - how.level) / 2, (1 + how.level) / 2]))
    low, high = np.percentile(drawn, 100 * ndtr(shift + tails / (1 - skew * tails)))
    return float(low), float(high)


def acceleration(strata: Strata, statistic: Statistic, unit: Unit = "runs") -> float:
    r"""Acceleration from deleting one run (or task) at a time within its stratum.

    .. math:: a = \frac{1}{6} \frac{\sum_t n_t^{-3} \sum_i l_{ti}^3}
                  {\left(\sum_t n_t^{-2} \sum_i l_{ti}^2\right)^{3/2}}, \quad
              l_{ti} = (n_t - 1)\,(\bar\theta_{t(\cdot)} - \theta_{t(i)})

    References: Davison & Hinkley (1997), section 5.3, for several samples.

    >>> from examiner.scores.aggregate import mean
    >>> from examiner.scores.runs import arranged
    >>> acceleration(arranged("a", np.zeros(3, int), np.array([1.0, 2.0, 3.0])), mean)
    0.0
    """
    tasks, sizes = deletions(strata, unit)
    influence = by_deletion(strata, statistic, unit)
    cubes = (influence**3 / sizes[tasks] ** 3).sum()
    squares = (influence**2 / sizes[tasks] ** 2).sum()
    return float(cubes / (6 * squares**1.5)) if squares > 0 else 0.0


SHORT_OF_SKEWED = MappingProxyType({"mean": "92 to 94", "median": "72 to 92"})
"""What `benchmarks/score_coverage.py` finds of log-normal runs, whose logarithms have a deviation of 1."""

Choice: TypeAlias = str | Aggregate | UserFunction


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class AggregateIntervals(ByResampling):
    """Aggregates of agents with their intervals; arrays of shape [agents, aggregates].

    `low` and `high` are NaN where the data say nothing about them, and a note says why.
    """

    kind = "intervals"

    agent_names: tuple[str, ...]
    aggregates: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    score_unit: str = ""

    @property
    def headline(self) -> str:
        """Which agent is best by the first aggregate, and the interval of its value."""
        if not len(self.value) or np.isnan(self.value[0, 0]):
            return "No agent has a score."
        title = aggregate_title(self.aggregates[0])
        value, low, high = (float(part[0, 0]) for part in (self.value, self.low, self.high))
        start = f"{self.agent_names[0]} has the best {title}: {value:.3g}"
        if np.isnan(low):
            return f"{start}, with an unknown interval."
        return f"{start} ({100 * self.level:g} % interval {low:.3g} to {high:.3g})."

    @property
    def agents(self) -> Table:
        """One row per agent, best first: each aggregate with its interval."""
        columns = [Column("agent", "name", "Agent")]
        values: dict[str, Any] = {"agent": self.agent_names}  # Any: names or arrays
        for column, aggregate in enumerate(self.aggregates):
            meaning = f"{aggregate_title(aggregate).capitalize()} over tasks and runs"
            title = "IQM" if aggregate == "iqm" else aggregate.replace("_", " ")
            columns.append(Column(aggregate, "number", meaning, unit="score", title=title))
            values[aggregate] = self.value[:, column]
            for side, ends in (("low", self.low), ("high", self.high)):
                end = f"{aggregate}_{side}"
                columns.append(Column(end, "number", "", title=side, of=aggregate))
                values[end] = ends[:, column]
        return Table.of(columns, values, level=self.level, score_unit=self.score_unit)

    @property
    def tables(self) -> Mapping[str, Table]:
        """The aggregates of agents."""
        return {"agents": self.agents}

    def of(self, agents: Sequence[str]) -> AggregateIntervals:
        """Return the same of some agents, in this order.

        >>> results = Results.from_numpy(np.arange(12.0).reshape(2, 3, 2), agents=["a", "b"])
        >>> intervals(results).of(["a"]).value
        array([[2.5]])
        """
        rows = [self.agent_names.index(agent) for agent in agents]
        value, low, high = self.value[rows], self.low[rows], self.high[rows]
        return replace(self, agent_names=tuple(agents), value=value, low=low, high=high)


def aggregate_title(aggregate: str) -> str:
    """Return what an aggregate is called in a sentence.

    >>> aggregate_title("iqm"), aggregate_title("solved")
    ('interquartile mean', 'solved')
    """
    return AGGREGATES[aggregate].title if aggregate in AGGREGATES else aggregate


@reads_results
def intervals(
    results: Results,
    aggregates: Choice | Sequence[Choice] = "mean",
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    **how: Unpack[ResamplingOptions],
) -> AggregateIntervals:
    """Aggregate each agent over its tasks, with an interval from the stratified bootstrap.

    Trials are averaged within a run. Aggregates are names in `AGGREGATES` or functions (see
    `aggregate_named`); what is resampled and how is said as in `Resampling`. `total` says how tasks
    make a mean: by which levels, with which weights. Tasks are then drawn within their groups. Agents
    come best first by the first aggregate.

    References: Agarwal et al. (2021), section 4; Rao & Wu (1988); Efron (1987).

    >>> scores = np.random.default_rng(1).normal(size=(2, 26, 5))
    >>> made = intervals(Results.from_numpy(scores), ["mean", "iqm"], rng=0)
    >>> bool((made.low < made.value).all()), bool((made.value < made.high).all())
    (True, True)
    """
    results = comparable_runs(results, normalise, measure)
    chosen = checked(aggregates, results, measure, total)
    bootstrap = Bootstrap.of(results, measure, Resampling(**how), total)
    answer = intervals_of(bootstrap, chosen, seed_of(rng), shares=results.is_binary(measure))
    return replace(answer, score_unit=score_unit(results, measure))


def checked(
    aggregates: Choice | Sequence[Choice],
    results: Results,
    measure: str | None = None,
    total: Total | None = None,
) -> tuple[Aggregate, ...]:
    """Return the aggregates by these names, or refuse those that these results do not permit.

    >>> [one.name for one in checked("mean", Results.from_numpy([[1.0]]))]
    ['mean']
    """
    if isinstance(aggregates, (str, Aggregate)) or callable(aggregates):
        aggregates = [aggregates]
    chosen = tuple(aggregate_named(choice) for choice in aggregates)
    if not chosen:
        raise InputError("No aggregates were named. Name one, as 'mean'.")
    if any(aggregate.name == "optimality_gap" for aggregate in chosen) and is_raw(results, measure):
        raise InputError(
            "The optimality gap is how far scores fall short of 1.0, and these are raw points. Normalise "
            'them first (`ex.normalise(results, "human")`).'
        )
    check_total(chosen, total)
    return chosen


def intervals_of(
    bootstrap: Bootstrap, chosen: Sequence[Aggregate], seed: int, *, shares: bool
) -> AggregateIntervals:
    """Aggregate agents whose runs are arranged already; `shares` says that all are zeros and ones.

    >>> scores = Results.from_numpy(np.random.default_rng(1).normal(size=(2, 26, 5)))
    >>> bootstrap = Bootstrap.of(scores, None, Resampling())
    >>> intervals_of(bootstrap, checked("iqm", scores), 0, shares=False).value.shape
    (2, 1)
    """
    value = point_values(bootstrap.scores, chosen)
    ends = _bounds(bootstrap, chosen, value, generator(seed), shares=shares)
    for column, aggregate in enumerate(chosen):  # aggregates of zeros and ones lie between them
        least, most = aggregate.least, np.inf
        if shares and aggregate.contributions is not None:
            least, most = max(least, 0.0), 1.0
        ends[..., column] = np.clip(ends[..., column], least, most)
    ends, honest = _without_false_certainty(bootstrap, chosen, value, ends)
    agents, best = bootstrap.scores.agents, chosen[0]
    order = best_first(agents, value[:, 0], higher_is_better=best.higher_is_better)
    value, low, high = value[order], *ends[:, order]
    read_only(value, low, high)
    caveats = () if bootstrap.reason else _caveats(bootstrap, chosen)
    return AggregateIntervals(
        agent_names=tuple(agents[row] for row in order),
        aggregates=tuple(aggregate.name for aggregate in chosen),
        value=value,
        low=low,
        high=high,
        how=bootstrap.how,
        seed=seed,
        notes=(*bootstrap.notes, *caveats, *honest),
    )


def _bounds(
    bootstrap: Bootstrap,
    aggregates: Sequence[Aggregate],
    value: Floats,
    rng: np.random.Generator,
    *,
    shares: bool,
) -> Floats:
    """Both ends of all intervals, [2, agents, aggregates]."""
    statistics = tuple(aggregate.statistic for aggregate in aggregates)
    evaluate = partial(each_agent, statistics=statistics)
    how = bootstrap.how
    if how.interval not in ("studentised", "bca") or bootstrap.reason is not None:
        return bootstrap.bounds(evaluate, rng, value.shape)
    if how.interval == "bca":
        check_corrected(bootstrap, aggregates)
    replicates, ends = bootstrap.replicates(evaluate, rng), np.full((2, *value.shape), np.nan)
    for row, strata in enumerate(bootstrap.scores.strata):
        for column, aggregate in enumerate(aggregates):
            drawn, point = replicates[row, column], float(value[row, column])
            drawn = drawn[~np.isnan(drawn)]
            if len(drawn) < 2 or np.isnan(point):
                continue
            if how.interval == "bca":
                pair = corrected_ends(strata, aggregate.statistic, point, drawn, how)
            else:
                # of zeros and ones these are a share, or what it lacks to 1
                share = shares and aggregate.name in ("mean", "optimality_gap")
                pair = studentised_ends(strata, aggregate, point, drawn, how, share=share)
            ends[:, row, column] = pair
    return ends


def _caveats(bootstrap: Bootstrap, aggregates: Sequence[Aggregate]) -> list[str]:
    """What makes the intervals narrower than they should be."""
    scores, how = bootstrap.scores, bootstrap.how
    observed = [one for one in scores.strata if len(one.tasks)]
    names = [one.name for one in aggregates]
    if how.unit == "tasks":
        alone = _single_tasks(scores.total) if scores.groups is None else []
        return [*alone, *_few_tasks(observed, names, how.level)]
    caveats = []
    single = {one.agent: int((one.runs == 1).sum()) for one in observed if (one.runs == 1).any()}
    if single:
        caveats.append(
            f"Some tasks have a single run, {max(single.values()):,} at most for an agent: they add "
            f"nothing to the intervals, which are too narrow for {listed(single)}."
        )
    fewest, few = min(int((one.runs - 1).sum()) for one in observed), 10
    if how.interval != "studentised" and 0 < fewest < few:  # normal-like tails are too short
        caveats.append(
            f"Some intervals rest on {counted(fewest, 'spare run')} (runs beyond the first of each "
            f"task): below {few} they are too narrow, and hold the truth less often than said. "
            f"Those of 'studentised' are not."
        )
    uneasy = [name for name in names if name in SHORT_OF_SKEWED]
    if uneasy and any(map(_skewed, observed)):
        short = " and ".join(f"{name} {SHORT_OF_SKEWED[name]}" for name in uneasy)
        caveats.append(
            f"Scores of runs are skewed. In simulations with skewed runs, 95 % intervals cover the true "
            f"{short} times in 100, those of the interquartile mean 95."
        )
    return caveats


def _few_tasks(strata: Sequence[Strata], names: Sequence[str], level: float) -> list[str]:
    """Say where so few tasks cannot have intervals that hold their level."""
    fewest, notes = min(len(one.tasks) for one in strata), []
    # how often the median is between the lowest and the highest task
    most = 1 - 0.5 ** (fewest - 1)
    if "median" in names and most < level - 0.02:
        notes.append(
            f"The median over {counted(fewest, 'task')} has no {100 * level:g} % interval: all of them "
            f"enclose the median of tasks like these in {100 * most:.0f} of 100 cases."
        )
    unbounded = any(np.ptp(np.clip(one.scores, 0, 1) - one.scores) for one in strata)
    if "mean" in names and fewest <= 10 and unbounded:  # `benchmarks/coverage.py`
        notes.append(
            f"Over {counted(fewest, 'task')}, intervals of the mean rely on scores without a long tail: of "
            f"log-normal scores, they hold the truth in 83 to 92 of 100 cases. Those of the median do not."
        )
    return notes


def _single_tasks(total: Total | None) -> list[str]:
    """Say which groups have one task, and so no other to be drawn in its place."""
    if total is None or not total.by:
        return []
    alone = [name for name, count in Counter(total.innermost).items() if count == 1]
    if not alone:
        return []
    return [
        f"{counted(len(alone), total.by[-1])} {'has' if len(alone) == 1 else 'have'} a single task, which "
        f"adds nothing to the intervals: {listed(alone)}."
    ]


def _skewed(strata: Strata) -> bool:
    """Whether the runs of an agent's tasks lean to one side, by their third moments all together.

    They lean as gamma runs of shape 4 do, or more: their third moments exceed their cubed deviations.
    """
    several = strata.runs > 2
    runs, (off, _) = strata.runs[several], scaled(strata.deviations[several])
    spread = np.sqrt((off**2).sum(axis=1) / (runs - 1))
    third = runs * (off**3).sum(axis=1) / ((runs - 1) * (runs - 2))
    total = float((spread**3).sum())
    return total > 0 and abs(float(third.sum())) > total


def _without_false_certainty(
    bootstrap: Bootstrap, aggregates: Sequence[Aggregate], value: Floats, ends: Floats
) -> tuple[Floats, list[str]]:
    """Replace intervals of zero width: by Wilson's where runs are 0 or 1, else by none."""
    scores, how, notes = bootstrap.scores, bootstrap.how, []
    means = np.array([one.name == "mean" for one in aggregates])
    won_or_lost = [
        row
        for row, one in enumerate(scores.strata)
        if len(one.tasks) == 1 and np.isin(one.scores, (0.0, 1.0)).all()
    ]
    if how.unit == "runs" and won_or_lost and means.any():
        for row in won_or_lost:
            trials = int(scores.strata[row].runs.sum())
            share = wilson(float(value[row, means][0]) * trials, trials, how.level)
            ends[:, row, means] = np.array(share)[:, None]
        notes.append("Runs on the one task are won or lost: intervals of the mean are Wilson's.")
    # What rounding leaves is no width either; false where there is no interval.
    flat = ends[1] - ends[0] <= 1e-12 * np.abs(ends).max(axis=0)
    ends[:, flat] = np.nan
    if flat.any():
        names = [agent for agent, row in zip(scores.agents, flat, strict=True) if row.any()]
        notes.append(
            f"Resampling {how.unit} never changes some aggregates of {listed(names)}, which does not "
            f"make them certain: no interval is given."
        )
    return ends, notes
