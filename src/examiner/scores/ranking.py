"""Who is better? Agents ranked with intervals, comparisons, tests, and where their scores vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Column, Scalar, Table, bound, count, error, name, number
from examiner.messages import InputError, joined
from examiner.results import Connections, Results, reads_results
from examiner.scores.aggregate import AGGREGATES
from examiner.scores.bootstrap import Bootstrap, Interval, Resampling, ResamplingOptions
from examiner.scores.caveats import averaging_notes, direction_notes, missing_notes
from examiner.scores.cells import cell_means
from examiner.scores.comparable import OwnFunction
from examiner.scores.differences import Difference, difference_of
from examiner.scores.improvement import ImprovementMatrix, matrix_of
from examiner.scores.intervals import AggregateIntervals, aggregate_title, checked, intervals_of
from examiner.scores.normalise import comparable_runs, is_raw, score_unit
from examiner.scores.ranks import RankProbabilities, ranks_of
from examiner.scores.runs import Unit, run_scores, usual_unit
from examiner.scores.significance import PostHoc, Significance, significance
from examiner.scores.standing import shared_ranks
from examiner.scores.total import Total
from examiner.scores.variance import DecisionStudy, VarianceParts, decision
from examiner.validation import Floats, Randomness, seed_of

MOST_COMPARED = 30
"""Agents of whom every pair is compared; of more, only neighbours in rank."""
MOST_TESTED = 3000
"""Agents of whom every pair is tested: matrices of pairs of 3,000 agents take 0.5 GB."""


class GroupMeans(Table):
    """Each agent's mean on each group of the innermost level; NaN without results."""

    agent: tuple[str, ...] = name("Agent")
    group: tuple[str, ...] = name("Group of tasks")
    mean: Floats = number("Mean over the tasks of the group", unit="score")


class ComparedAgents(Table):
    """Pairs of agents compared over their common tasks, the better by the first aggregate first."""

    a: tuple[str, ...] = name("First agent")
    b: tuple[str, ...] = name("Second agent")
    probability: Floats = number(
        "Probability that a run of the first agent beats one of the second; its interval is one-sided "
        "at 0 and 1",
        title="a beats b",
    )
    probability_low: Floats = bound("probability", "low")
    probability_high: Floats = bound("probability", "high")
    difference: Floats = number("Mean of the first less the mean of the second", unit="score")
    difference_low: Floats = bound("difference", "low")
    difference_high: Floats = bound("difference", "high")
    difference_error: Floats = error("difference")
    p_adjusted: Floats = number(
        "P-value, adjusted for all pairs of agents", title="p", default=None
    )
    tasks: NDArray[np.int64] = count("Tasks in common")


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Answer):
    """Who is better, and how certain that is: `rank`. Parts are None where nothing can be compared.

    `ranking["dqn"].mean` is the mean of an agent; `agents`, `pairs`, `groups` and `variance` are tables.
    """

    kind = "scores"

    aggregates: AggregateIntervals
    pairs: ComparedAgents
    ranks: RankProbabilities | None
    tests: Significance | None
    decision: DecisionStudy
    notes: tuple[str, ...]
    total: Total | None = None
    groups: GroupMeans | None = None
    observed_tasks: tuple[int, ...] = ()
    """Number of tasks of each agent, best first; none where all agents have all tasks."""
    connected: bool = True
    """Whether all agents are connected by common tasks: others cannot be ranked."""

    @property
    def leading(self) -> tuple[str, ...]:
        """The best agent by the first aggregate, and those not significantly different from it in mean.

        With agents that lack tasks, those significantly better than it on common tasks are among them.
        Without tests it is the best agent alone.
        """
        best, *others = self.aggregates.agent_names
        if self.tests is None:
            return (best,)
        row = {agent: place for place, agent in enumerate(self.tests.agent_names)}
        p, alpha = self.tests.p[row[best]], self.tests.alpha
        better = self._better_on_common_tasks
        return (best, *(name for name in others if p[row[name]] >= alpha or name in better))

    @property
    def _better_on_common_tasks(self) -> tuple[str, ...]:
        """Agents significantly better than the best by the first aggregate, where that is its mean too."""
        if self.tests is None or self.tests.agent_names[0] != self.aggregates.agent_names[0]:
            return ()
        return self.tests.better_on_common_tasks

    @property
    def headline(self) -> str:
        """Which agents are best, as far as tests show."""
        if not self.connected:
            return "Some agents have no task in common with the others: no order of all is known."
        if self.tests is None:
            return self.aggregates.headline
        if not (self.tests.p < self.tests.alpha).any():
            return "No agent is significantly better than another."
        title = aggregate_title(self.aggregates.aggregates[0])
        ranks = shared_ranks(self.aggregates.value[:, 0])
        tied = [self.aggregates.agent_names[row] for row in np.flatnonzero(ranks == ranks[0])]
        alike = [name for name in self.leading if name not in tied]
        several = len(tied) > 1
        start = f"{joined(tied)} {'have' if several else 'has'} the best {title}"
        if better := self._better_on_common_tasks:
            who = joined(better) if len(better) <= 3 else f"{len(better):,} other agents"
            verb = "is" if len(better) == 1 else "are"
            return f"{start}, but {who} {verb} significantly better on the tasks that both have."
        if not alike and title == "mean":
            verb = "are" if several else "is"
            others = [name for name in self.aggregates.agent_names if name not in tied]
            than = others[0] if len(others) == 1 else "every other agent"
            return f"{start}, and {verb} significantly better than {than}."
        if not alike:
            return (
                f"{start}, and its mean is significantly different from that of every other agent."
            )
        who = joined(alike) if len(alike) <= 3 else f"{len(alike):,} other agents"
        verb = "is" if len(alike) == 1 else "are"
        return (
            f"{start}; {who} {verb} not significantly different from {'them' if several else 'it'}."
        )

    @cached_property
    def agents(self) -> Table:
        """One row per agent, best first: aggregates, ranks in resamples, and who is among the best."""
        aggregates, ranked = self.aggregates, self.ranks
        values: dict[str, Any] = aggregates.agents.to_dict()  # Any: as the column declares
        columns = list(aggregates.agents.columns.values())
        first = AGGREGATES[aggregates.aggregates[0]]
        sign = 1 if first.higher_is_better else -1
        by = f"Rank by {first.title}; ties share the better rank"
        values["rank"] = shared_ranks(sign * aggregates.value[:, 0])
        columns.append(Column("rank", "count", by))
        if self.tests is not None:
            row = [self.tests.agent_names.index(agent) for agent in aggregates.agent_names]
            best, worst = (end[row] for end in self.tests.rank_range)
            range_of = (
                f"rank that the tests of pairs of means leave at {100 * aggregates.level:g} %"
            )
            values["rank_low"] = np.fmin(best, values["rank"])
            values["rank_high"] = np.fmax(worst, values["rank"])
            columns += [
                Column("rank_low", "count", f"Best {range_of}", title="low", of="rank"),
                Column("rank_high", "count", f"Worst {range_of}", title="high", of="rank"),
            ]
        if ranked is not None:
            order = [ranked.agent_names.index(agent) for agent in aggregates.agent_names]
            values["probability_first"] = ranked.probability[order, 0]
            meaning = "Share of resamples in which the agent is first"
            columns.append(Column("probability_first", "number", meaning, title="first"))
        if self.tests is not None:
            leading = set(self.leading)
            values["leading"] = [agent in leading for agent in aggregates.agent_names]
            meaning = (
                "Whether the mean is not significantly different from that of the best agent, or better "
                "on the tasks that both have"
            )
            columns.append(Column("leading", "flag", meaning))
        if self.observed_tasks:
            values["tasks"] = self.observed_tasks
            columns.insert(1, Column("tasks", "count", "Tasks on which the agent was observed"))
        caption = "Agents" if self.total is None else f"Agents: {self.total.meaning}"
        return Table.of(
            columns,
            values,
            level=aggregates.level,
            score_unit=aggregates.score_unit,
            caption=caption,
        )

    @property
    def variance(self) -> VarianceParts:
        """Where scores vary: between agents, tasks, both together, and runs."""
        return self.decision.components.parts

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents, pairs of them, means of groups of tasks, and components of the variance."""
        groups = {} if self.groups is None else {"groups": self.groups}
        return {"agents": self.agents, "pairs": self.pairs, **groups, "variance": self.variance}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Tests of all agents, and the error of a difference."""
        tests = {} if self.tests is None else dict(self.tests.scalars)
        error_now = Scalar(self.decision.now, "Expected standard error of a difference", "score")
        halves = {} if self.ranks is None else self.ranks.scalars
        return {**tests, "error_of_difference": error_now, **halves}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """How scores were resampled, tested and averaged."""
        tests = {} if self.tests is None else {"tests": dict(self.tests.settings)}
        total = None if self.total is None else self.total.meaning
        return {**self.aggregates.settings, **tests, "total": total}


@reads_results
def rank(
    results: Results,
    aggregates: str | Sequence[str] = ("mean",),
    *,
    normalise: str | OwnFunction | None = "auto",
    rng: Randomness = 0,
    posthoc: PostHoc = "t-holm",
    total: Total | None = None,
    **how: Unpack[ResamplingOptions],
) -> Ranking:
    """Rank agents: means with intervals, ranks in resamples, tests of pairs, and components of variance.

    `aggregates` are names in `AGGREGATES`, or "all". Agents come best first by the first of them, and
    ranks are by it. `normalise` makes scores comparable first: a name in `NORMALISERS`, a function, None,
    or "auto" for what suits them (`suggested_normaliser`). `total` defines how tasks are averaged: by which
    levels, with which weights; components of variance and tests of ranks count every task once. `how`
    defines how scores are resampled (see `Resampling`); differences and tests of means are over runs where
    every cell has several and runs are resampled, else over tasks. Every part starts from the same seed, so
    that it equals what the function for it alone returns.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 5)))
    >>> ranking = rank(results, "iqm", reps=100)
    >>> ranking.agents.agent, ranking.ranks.probability.shape
    (('agent 3', 'agent 2', 'agent 1'), (3, 3))
    """
    caveats = [*direction_notes(results)]
    results = comparable_runs(results, normalise)
    caveats += [*averaging_notes(results), *missing_notes(results)]
    names = (aggregates,) if isinstance(aggregates, str) else tuple(aggregates)
    if "all" in names:
        raw = is_raw(results)
        names = tuple(name for name in AGGREGATES if not (raw and name == "optimality_gap"))
    group, seed = how.get("group"), seed_of(rng)
    chosen = checked(names, results, total=total)
    scores = run_scores(results, total=total, group=group)
    bootstrap = Bootstrap.of_scores(scores, Resampling(**how))
    aggregated = intervals_of(bootstrap, chosen, seed, shares=results.is_binary())
    aggregated = replace(aggregated, score_unit=score_unit(results))
    met = np.zeros((len(results.agents), len(results.tasks)), dtype=np.bool_)
    for row, strata in enumerate(scores.strata):
        met[row, strata.tasks] = True
    pairs = _pairs(aggregated, dict(zip(results.agents, met, strict=True)))
    # Neither comparisons nor ranks have a studentised or a corrected interval.
    kind: Interval = "percentile" if aggregated.interval == "percentile" else "rescaled"
    percentiles = Bootstrap.of_scores(scores, replace(bootstrap.how, interval=kind))
    improvement = matrix_of(percentiles, pairs, seed)
    apart = Connections.by_groups(results.agents, results.tasks, met).warnings
    ranked: RankProbabilities | None = None
    tests: Significance | None = None
    why: Sequence[str] = ()
    unit: Unit = usual_unit(scores) if aggregated.unit == "runs" else "tasks"
    if not apart:
        alpha = 1 - aggregated.level
        tests, why = _tested(results, posthoc, alpha, total=total, unit=unit, group=group)
        if len(results.agents) > 1 and np.isfinite(aggregated.value[:, 0]).all():
            ranked = ranks_of(percentiles, chosen[0], seed)
    studied = decision(results, normalise=None)
    notes = [f"{sentence} So there are no ranks and no tests of all." for sentence in apart]
    notes += [*caveats, *aggregated.notes, *(improvement.notes if pairs else ()), *why]
    notes += studied.components.notes
    if aggregated.interval == "bca" and pairs:
        notes.append("Comparisons and ranks have no 'bca' interval: theirs are 'rescaled'.")
    if len(results.agents) > MOST_COMPARED:
        notes.append(
            f"With more than {MOST_COMPARED} agents, only neighbours in rank are compared in pairs."
        )
    if total is not None and not total.plain and tests is not None:
        ranked_pairs = "" if posthoc == "t-holm" else " and those of pairs"
        notes.append(f"Friedman's test{ranked_pairs} count every task alike, whatever its group.")
    gaps = [difference_of(scores.of(a), scores.of(b), aggregated.level, unit) for a, b in pairs]
    counts = dict(zip(results.agents, met.sum(axis=1).tolist(), strict=True))
    return Ranking(
        aggregates=aggregated,
        pairs=_compared(gaps, improvement, tests, aggregated),
        ranks=ranked,
        tests=tests,
        decision=studied,
        notes=tuple(dict.fromkeys(notes)),
        total=total,
        groups=_groups(results, total, aggregated),
        observed_tasks=() if met.all() else tuple(counts[one] for one in aggregated.agent_names),
        connected=not apart,
    )


def _compared(
    gaps: Sequence[Difference],
    improvement: ImprovementMatrix,
    tests: Significance | None,
    made: AggregateIntervals,
) -> ComparedAgents:
    """One row per pair of agents that was compared."""

    def of_pairs(matrix: Floats, agents: Sequence[str]) -> list[float]:
        place = {agent: row for row, agent in enumerate(agents)}
        return [float(matrix[place[gap.a], place[gap.b]]) for gap in gaps]

    shared = set(ComparedAgents.declared) & set(Difference._fields)
    agents = improvement.agent_names
    return ComparedAgents(
        **{column: [getattr(gap, column) for gap in gaps] for column in shared},
        probability=of_pairs(improvement.probability, agents),
        probability_low=of_pairs(improvement.low, agents),
        probability_high=of_pairs(improvement.high, agents),
        p_adjusted=None if tests is None else of_pairs(tests.p, tests.agent_names),
        level=made.level,
        score_unit=made.score_unit,
        caption="Pairs of agents: a compared with b",
    )


def _groups(results: Results, total: Total | None, made: AggregateIntervals) -> GroupMeans | None:
    """The means of groups, agents in the order of their aggregates."""
    if total is None or not total.by:
        return None
    rows = [results.agents.index(agent) for agent in made.agent_names]
    groups, means = total.on(results.tasks).group_means(cell_means(results)[rows])
    return GroupMeans(
        agent=[agent for agent in made.agent_names for _ in groups],
        group=list(groups) * len(rows),
        mean=means.ravel(),
        score_unit=made.score_unit,
        caption=f"Mean of each {total.by[-1]}",
    )


def _pairs(
    made: AggregateIntervals, met: Mapping[str, NDArray[np.bool_]]
) -> tuple[tuple[str, str], ...]:
    """All pairs of agents, or of many agents the neighbours in rank; only those that share a task."""
    ranked = [made.agent_names[row] for row in np.flatnonzero(np.isfinite(made.value[:, 0]))]
    pairs = pairwise(ranked) if len(ranked) > MOST_COMPARED else combinations(ranked, 2)
    return tuple((a, b) for a, b in pairs if (met[a] & met[b]).any())


def _tested(
    results: Results, posthoc: PostHoc, alpha: float, **options: Any
) -> tuple[Significance | None, Sequence[str]]:
    """The tests of pairs, or why there are none."""
    if not 1 < len(results.agents) <= MOST_TESTED:
        many = len(results.agents) > MOST_TESTED
        return None, (f"No tests of more than {MOST_TESTED} agents.",) if many else ()
    try:
        tests = significance(results, posthoc, alpha, normalise=None, **options)
    except InputError as problem:
        return None, (f"No tests: {problem}",)
    return tests, tests.notes
