"""Aggregates with intervals: how sure one can be of a mean, median, IQM or optimality gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, Unpack

import numpy as np

from examiner.answers import Column, Table
from examiner.messages import InputError, counted, listed
from examiner.results import Results, reads_results
from examiner.scores.aggregate import (
    AGGREGATES,
    Aggregate,
    UserFunction,
    aggregate_named,
    check_total,
    point_values,
)
from examiner.scores.estimate import wilson
from examiner.scores.nest import scaled
from examiner.scores.normalise import is_raw
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.scores.uncertainty.bootstrap import (
    Bootstrap,
    ByResampling,
    Resampling,
    ResamplingOptions,
    each_agent,
)
from examiner.scores.uncertainty.corrected import check_corrected, corrected_bounds
from examiner.scores.uncertainty.strata import Strata
from examiner.scores.uncertainty.studentised import studentised_bounds
from examiner.scores.unit import score_unit
from examiner.validation import Floats, Randomness, generator, read_only, seed_of

FEW_DEGREES = 10
"""Below this many degrees of freedom, normal-like tails are noticeably too short."""

SKEWED = 1.0
"""Third moments beyond this many cubed deviations are said: it is the skewness of gamma runs of shape 4."""
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
            columns += aggregate_columns(aggregate)
            values[aggregate] = self.value[:, column]
            values[f"{aggregate}_low"] = self.low[:, column]
            values[f"{aggregate}_high"] = self.high[:, column]
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


def aggregate_columns(aggregate: str) -> list[Column]:
    """Return the columns of an aggregate: its value and both ends of its interval.

    >>> [column.name for column in aggregate_columns("iqm")]
    ['iqm', 'iqm_low', 'iqm_high']
    """
    meaning = f"{aggregate_title(aggregate).capitalize()} over tasks and runs"
    title = "IQM" if aggregate == "iqm" else aggregate.replace("_", " ")
    return [
        Column(aggregate, "number", meaning, unit="score", title=title),
        Column(f"{aggregate}_low", "number", "", title="low", of=aggregate),
        Column(f"{aggregate}_high", "number", "", title="high", of=aggregate),
    ]


@reads_results
def intervals(
    results: Results,
    aggregates: Choice | Sequence[Choice] = "mean",
    *,
    rng: Randomness = 0,
    measure: str | None = None,
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
    chosen = checked(aggregates, results, measure, total)
    bootstrap = Bootstrap.of(results, measure, Resampling(**how), total)
    made = intervals_of(bootstrap, chosen, seed_of(rng), shares=results.is_binary(measure))
    return replace(made, score_unit=score_unit(results, measure))


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
    chosen = _chosen(aggregates)
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
    ends = _possible(ends, chosen, shares=shares)
    low, high, honest = _without_false_certainty(bootstrap, chosen, value, ends)
    agents, best = bootstrap.scores.agents, chosen[0]
    order = best_first(agents, value[:, 0], higher_is_better=best.higher_is_better)
    value, low, high = value[order], low[order], high[order]
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


def _chosen(aggregates: Choice | Sequence[Choice]) -> tuple[Aggregate, ...]:
    if isinstance(aggregates, (str, Aggregate)) or callable(aggregates):
        return (aggregate_named(aggregates),)
    chosen = tuple(aggregate_named(choice) for choice in aggregates)
    if not chosen:
        raise InputError("No aggregates were named. Name one, as 'mean'.")
    return chosen


def _bounds(
    bootstrap: Bootstrap,
    aggregates: Sequence[Aggregate],
    value: Floats,
    rng: np.random.Generator,
    *,
    shares: bool,
) -> Floats:
    evaluate = partial(each_agent, statistics=tuple(known.statistic for known in aggregates))
    kind = bootstrap.how.interval
    if kind not in ("studentised", "bca") or bootstrap.reason is not None:
        return bootstrap.bounds(evaluate, rng, value.shape)
    if kind == "studentised":
        drawn = bootstrap.replicates(evaluate, rng)
        return studentised_bounds(bootstrap, aggregates, value, drawn, shares=shares)
    check_corrected(bootstrap.scores, aggregates, bootstrap.how.unit)
    return corrected_bounds(bootstrap, aggregates, value, bootstrap.replicates(evaluate, rng))


def _possible(ends: Floats, aggregates: Sequence[Aggregate], *, shares: bool) -> Floats:
    """Cut ends to what the truth can be: aggregates of zeros and ones lie between them."""
    for column, aggregate in enumerate(aggregates):
        least, most = aggregate.least, np.inf
        if shares and aggregate.contributions is not None:
            least, most = max(least, 0.0), 1.0
        ends[..., column] = np.clip(ends[..., column], least, most)
    return ends


def _caveats(bootstrap: Bootstrap, aggregates: Sequence[Aggregate]) -> list[str]:
    """What makes the intervals narrower than they should be."""
    scores, how = bootstrap.scores, bootstrap.how
    if how.unit == "tasks":
        return _single_tasks(scores.total)
    caveats = []
    single = {
        one.agent: int((one.runs == 1).sum()) for one in scores.strata if (one.runs == 1).any()
    }
    if single:
        caveats.append(
            f"Some tasks have a single run, {max(single.values()):,} at most for an agent: they add "
            f"nothing to the intervals, which are too narrow for {listed(single)}."
        )
    fewest = min(int((one.runs - 1).sum()) for one in scores.strata if len(one.tasks))
    if how.interval != "studentised" and 0 < fewest < FEW_DEGREES:
        caveats.append(
            f"Some intervals rest on {counted(fewest, 'spare run')} (runs beyond the first of each "
            f"task): below {FEW_DEGREES} they are too narrow, and hold the truth less often than said. "
            f"Those of 'studentised' are not."
        )
    uneasy = [one.name for one in aggregates if one.name in SHORT_OF_SKEWED]
    if uneasy and any(_skewed(one) for one in scores.strata):
        short = " and ".join(f"{name} {SHORT_OF_SKEWED[name]}" for name in uneasy)
        caveats.append(
            f"Runs are skewed, few that are far above or below many: 95 % intervals then hold the truth "
            f"of the {short} times of 100, those of the interquartile mean 95."
        )
    return caveats


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
    """Whether the runs of an agent's tasks lean to one side, by their third moments all together."""
    several = strata.runs > 2
    if not several.any():
        return False
    runs, (off, _) = strata.runs[several], scaled(strata.deviations[several])
    spread = np.sqrt((off**2).sum(axis=1) / (runs - 1))
    third = runs * (off**3).sum(axis=1) / ((runs - 1) * (runs - 2))
    total = float((spread**3).sum())
    return total > 0 and abs(float(third.sum())) > SKEWED * total


def _without_false_certainty(
    bootstrap: Bootstrap,
    aggregates: Sequence[Aggregate],
    value: Floats,
    ends: Floats,
) -> tuple[Floats, Floats, list[str]]:
    """Replace intervals of zero width: by Wilson's where runs are 0 or 1, else by none."""
    scores, how = bootstrap.scores, bootstrap.how
    low, high, notes = ends[0].copy(), ends[1].copy(), []
    means = np.array([one.name == "mean" for one in aggregates])
    binary = np.array([_alone_and_binary(one) for one in scores.strata])
    if how.unit == "runs" and binary.any() and means.any():
        for row in np.flatnonzero(binary):
            trials = int(scores.strata[row].runs.sum())
            wins = float(value[row, means][0]) * trials
            low[row, means], high[row, means] = wilson(wins, trials, how.level)
        notes.append("Runs on the one task are won or lost: intervals of the mean are Wilson's.")
    # What rounding leaves is no width either; false where there is no interval.
    flat = high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    low[flat] = high[flat] = np.nan
    if flat.any():
        names = [agent for agent, row in zip(scores.agents, flat, strict=True) if row.any()]
        notes.append(
            f"Resampling {how.unit} never changes some aggregates of {listed(names)}, which does not "
            f"make them certain: no interval is given."
        )
    return low, high, notes


def _alone_and_binary(strata: Strata) -> bool:
    return len(strata.tasks) == 1 and bool(np.isin(strata.scores, (0.0, 1.0)).all())
