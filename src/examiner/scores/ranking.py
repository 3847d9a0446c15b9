"""Who is better? Agents ranked with intervals, comparisons, tests, and where their scores vary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Column, Scalar, Table, bound, count, error, name, number
from examiner.messages import InputError, joined, shorten
from examiner.results import Connections, Results, atari_game, reads_results
from examiner.scores.aggregate import AGGREGATES
from examiner.scores.bootstrap import (
    Bootstrap,
    Interval,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.cells import cell_means, judged_runs
from examiner.scores.comparable import OwnFunction
from examiner.scores.differences import Difference, difference_of
from examiner.scores.improvement import ImprovementMatrix, matrix_of
from examiner.scores.intervals import (
    AggregateIntervals,
    aggregate_title,
    checked,
    intervals_of,
)
from examiner.scores.missing import missing_notes
from examiner.scores.normalise import (
    FAR_APART,
    is_raw,
    score_unit,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.normalise import normalise as normalised
from examiner.scores.ranks import RankProbabilities, ranks_of
from examiner.scores.runs import RunScores, Unit, run_scores, usual_unit
from examiner.scores.significance import PostHoc, Significance, significance
from examiner.scores.standing import shared_ranks
from examiner.scores.total import Total
from examiner.scores.variance import DecisionStudy, VarianceParts, decision
from examiner.validation import Floats, Randomness, seed_of

MOST_COMPARED = 30
"""Agents of whom every pair is compared; of more, only neighbours in rank."""
LOWER_IS_BETTER = frozenset(
    {
        *(
            "time",
            "runtime",
            "duration",
            "latency",
            "seconds",
            "sec",
            "milliseconds",
            "millisecond",
            "ms",
        )
    }
    | {
        *(
            "minutes",
            "cost",
            "price",
            "loss",
            "error",
            "errors",
            "regret",
            "perplexity",
            "ppl",
            "nll",
        )
    }
    | {*("wer", "cer", "mae", "mse", "rmse", "par2", "par10")}
)
"""Words in names of measures of which less is better."""
MOST_TESTED = 200
"""Agents of whom every pair is tested: 20,000 tests take a fraction of a second, 125,000 seconds."""


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
    improvement: ImprovementMatrix | None
    differences: tuple[Difference, ...]
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
        best, *alike = self.leading
        title = aggregate_title(self.aggregates.aggregates[0])
        start = f"{best} has the best {title}"
        if better := self._better_on_common_tasks:
            who = joined(better) if len(better) <= 3 else f"{len(better):,} other agents"
            verb = "is" if len(better) == 1 else "are"
            return f"{start}, but {who} {verb} significantly better on the tasks that both have."
        if not alike and title == "mean":
            return f"{start}, and is significantly better than every other agent."
        if not alike:
            return (
                f"{start}, and its mean is significantly different from that of every other agent."
            )
        who = joined(alike) if len(alike) <= 3 else f"{len(alike):,} other agents"
        verb = "is" if len(alike) == 1 else "are"
        return f"{start}; {who} {verb} not significantly different from it."

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
        if ranked is not None:
            order = [ranked.agent_names.index(agent) for agent in aggregates.agent_names]
            best, worst = (end[order] for end in ranked.range())
            range_of = f"rank, observed or in {100 * aggregates.level:g} % of the resamples"
            values["rank_low"] = np.fmin(best, values["rank"])
            values["rank_high"] = np.fmax(worst, values["rank"])
            values["probability_first"] = ranked.probability[order, 0]
            columns += [
                Column("rank_low", "count", f"Best {range_of}", title="low", of="rank"),
                Column("rank_high", "count", f"Worst {range_of}", title="high", of="rank"),
                Column(
                    "probability_first",
                    "number",
                    "Share of resamples in which the agent is first",
                    title="first",
                ),
            ]
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

    @cached_property
    def pairs(self) -> ComparedAgents:
        """One row per pair of agents that was compared."""
        pairs = [(gap.a, gap.b) for gap in self.differences]
        probability, low, high = np.full((3, len(pairs)), np.nan)
        if self.improvement is not None and pairs:
            names = {agent: row for row, agent in enumerate(self.improvement.agent_names)}
            cells = tuple(np.array([[names[a], names[b]] for a, b in pairs]).T)
            probability, low, high = (
                getattr(self.improvement, part)[cells] for part in ("probability", "low", "high")
            )
        p = None
        if self.tests is not None:
            names = {agent: row for row, agent in enumerate(self.tests.agent_names)}
            p = [self.tests.p[names[a], names[b]] for a, b in pairs]
        gaps = self.differences
        return ComparedAgents(
            a=[gap.a for gap in gaps],
            b=[gap.b for gap in gaps],
            probability=probability,
            probability_low=low,
            probability_high=high,
            difference=[gap.value for gap in gaps],
            difference_low=[gap.low for gap in gaps],
            difference_high=[gap.high for gap in gaps],
            difference_error=[gap.error for gap in gaps],
            p_adjusted=p,
            tasks=[gap.tasks for gap in gaps],
            level=self.aggregates.level,
            score_unit=self.aggregates.score_unit,
            caption="Pairs of agents: a compared with b",
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
    normalise: str | OwnFunction | None = None,
    rng: Randomness = 0,
    posthoc: PostHoc = "t-holm",
    total: Total | None = None,
    **how: Unpack[ResamplingOptions],
) -> Ranking:
    """Rank agents: means with intervals, ranks in resamples, tests of pairs, and components of variance.

    `aggregates` are names in `AGGREGATES`, or "all". Agents come best first by the first of them, and
    ranks are by it. `normalise` makes scores comparable first (see `ex.normalise`). `total` defines how
    tasks are averaged: by which levels, with which weights; components of variance and tests of ranks
    count every task once. `how` defines how scores are resampled
    (see `Resampling`); differences and tests of means are over runs where every cell has several and runs
    are resampled, else over tasks. Every part starts from the same seed, so that it equals what the
    function for it alone returns.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 5)))
    >>> ranking = rank(results, "iqm", reps=100)
    >>> ranking.agents.agent, ranking.ranks.probability.shape
    (('agent 3', 'agent 2', 'agent 1'), (3, 3))
    """
    raw_notes = averaging_notes(results) if normalise is None else direction_notes(results)
    results = normalised(results, normalise)
    results = judged_runs(results)  # once, for all its parts, as runs are arranged
    levelled = total is not None and not total.plain
    names = (aggregates,) if isinstance(aggregates, str) else tuple(aggregates)
    seed = seed_of(rng)
    if "all" in names:
        raw = is_raw(results)
        names = tuple(name for name in AGGREGATES if not (raw and name == "optimality_gap"))
    chosen, scores = (
        checked(names, results, total=total),
        run_scores(results, total=total, group=how.get("group")),
    )
    bootstrap = Bootstrap.of_scores(scores, Resampling(**how))
    aggregated = intervals_of(bootstrap, chosen, seed, shares=results.is_binary())
    aggregated = replace(aggregated, score_unit=score_unit(results))
    met = _met(scores)
    pairs = _pairs(aggregated, dict(zip(results.agents, met, strict=True)))
    # Neither comparisons nor ranks have a studentised or a corrected interval.
    kind: Interval = "percentile" if aggregated.interval == "percentile" else "rescaled"
    percentiles = Bootstrap.of_scores(scores, replace(bootstrap.how, interval=kind))
    improvement = ranked = None
    if pairs:
        improvement = matrix_of(percentiles, pairs, seed)
    apart = Connections.by_groups(results.agents, results.tasks, met).warnings
    if len(results.agents) > 1 and np.isfinite(aggregated.value[:, 0]).all() and not apart:
        ranked = ranks_of(percentiles, chosen[0], seed)
    unit: Unit = usual_unit(scores) if aggregated.unit == "runs" else "tasks"
    tests, why = (
        _tested(results, posthoc, 1 - aggregated.level, total, unit, how.get("group"))
        if not apart
        else (None, ())
    )
    studied = decision(results)
    notes = [f"{sentence} So there are no ranks and no tests of all." for sentence in apart]
    notes += [
        *raw_notes,
        *missing_notes(results),
        *aggregated.notes,
        *(improvement.notes if improvement else ()),
        *why,
    ]
    notes += studied.components.notes
    if aggregated.interval == "bca" and pairs:
        notes.append("Comparisons and ranks have no 'bca' interval: theirs are 'rescaled'.")
    if len(results.agents) > MOST_COMPARED:
        notes.append(
            f"With more than {MOST_COMPARED} agents, only neighbours in rank are compared in pairs."
        )
    if levelled and tests is not None:
        ranked_pairs = "" if posthoc == "t-holm" else " and those of pairs"
        notes.append(f"Friedman's test{ranked_pairs} count every task alike, whatever its group.")
    differences = tuple(
        difference_of(scores.of(a), scores.of(b), aggregated.level, unit) for a, b in pairs
    )
    return Ranking(
        aggregates=aggregated,
        improvement=improvement,
        differences=differences,
        ranks=ranked,
        tests=tests,
        decision=studied,
        notes=tuple(dict.fromkeys(notes)),
        total=total,
        groups=_groups(results, total, aggregated),
        observed_tasks=_observed(met, results.agents, aggregated),
        connected=not apart,
    )


def _observed(
    met: NDArray[np.bool_], agents: Sequence[str], made: AggregateIntervals
) -> tuple[int, ...]:
    """The number of tasks of each agent, in the order of their aggregates, where it differs."""
    if met.all():
        return ()
    counts = dict(zip(agents, met.sum(axis=1).tolist(), strict=True))
    return tuple(counts[agent] for agent in made.agent_names)


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


@reads_results
def direction_notes(results: Results) -> tuple[str, ...]:
    """Say where higher is taken as better, and the measure is named like one of which less is better.

    >>> direction_notes(Results.from_numpy([[0.1]]))
    ()
    """
    measure = results.measure_name(None)
    words = set(re.split(r"[\W_]+", measure.lower()))
    stated = results.scales.aligned(results.task_names, measure).sign
    if not words & LOWER_IS_BETTER or (stated < 0).any():
        return ()
    return (
        f"Higher is taken as better, though {shorten(measure)} is named like a cost or an error. If lower "
        f"is better, say so in a table of tasks (a column 'direction' with the word lower), and normalise.",
    )


@reads_results
def averaging_notes(results: Results) -> tuple[str, ...]:
    """Say where raw scores are averaged over tasks with units of their own, or less may be better.

    >>> averaging_notes(Results.from_numpy([[0.1, 0.9], [0.4, 0.5]]))
    ()
    """
    measure = results.measure_name(None)
    if any(step.startswith(f"{measure} normalised by ") for step in results.provenance.steps):
        return ()
    method, direction = suggested_normaliser(results), direction_notes(results)
    if method == "human":
        scaled = "Raw scores are averaged, though every task has a scale"
        return (*direction, f'{scaled}: consider `ex.normalise(results, "human")`.')
    apart = task_ranges_apart(results)
    if method is None or apart < FAR_APART:
        return direction
    atari = any(atari_game(name) is not None for name in results.task_names)
    scaled = 'results.with_scales(ex.load("atari-human-random"))'
    scales = f' or `ex.normalise({scaled}, "human")`' if atari else ""
    return (
        *direction,
        f"Raw scores are averaged over tasks whose ranges lie {apart:,.0f}-fold apart, so that few "
        f'tasks decide: consider `ex.normalise(results, "{method}")`{scales}.',
    )


def _pairs(
    made: AggregateIntervals, met: Mapping[str, NDArray[np.bool_]]
) -> tuple[tuple[str, str], ...]:
    """All pairs of agents, or of many agents the neighbours in rank; only those that share a task."""
    ranked = [made.agent_names[row] for row in np.flatnonzero(np.isfinite(made.value[:, 0]))]
    pairs = pairwise(ranked) if len(ranked) > MOST_COMPARED else combinations(ranked, 2)
    return tuple((a, b) for a, b in pairs if (met[a] & met[b]).any())


def _met(scores: RunScores) -> NDArray[np.bool_]:
    """Which agent has a result on which task, [agents, tasks]."""
    met = np.zeros((len(scores.agents), len(scores.tasks)), dtype=np.bool_)
    for row, strata in enumerate(scores.strata):
        met[row, strata.tasks] = True
    return met


def _tested(
    results: Results,
    posthoc: PostHoc,
    alpha: float,
    total: Total | None,
    unit: Unit,
    group: str | None,
) -> tuple[Significance | None, tuple[str, ...]]:
    if not 1 < len(results.agents) <= MOST_TESTED:
        many = len(results.agents) > MOST_TESTED
        return None, (f"No tests of more than {MOST_TESTED} agents.",) if many else ()
    try:
        tests = significance(results, posthoc, alpha, total=total, unit=unit, group=group)
    except InputError as problem:
        return None, (f"No tests: {problem}",)
    return tests, tests.notes
