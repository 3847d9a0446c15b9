"""Everything about agents' scores at once: aggregates, comparisons, ranks, tests, and where they vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError
from examiner.results import Results
from examiner.results.atari import atari_game
from examiner.results.connections import Connections
from examiner.scores.aggregate import AGGREGATES
from examiner.scores.cells import cell_means, judged_runs
from examiner.scores.differences import Difference, clusters_of, difference_of
from examiner.scores.normalise import (
    FAR_APART,
    is_raw,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.significance import PostHoc, Significance, significance
from examiner.scores.total import Total
from examiner.scores.uncertainty.bootstrap import (
    Bootstrap,
    Interval,
    Resampling,
    ResamplingOptions,
)
from examiner.scores.uncertainty.improvement import ImprovementMatrix, matrix_of
from examiner.scores.uncertainty.intervals import AggregateIntervals, checked, intervals_of
from examiner.scores.uncertainty.ranks import RankProbabilities, ranks_of
from examiner.scores.uncertainty.resampling import Unit, usual_unit
from examiner.scores.uncertainty.strata import RunScores, run_scores
from examiner.scores.variance import DecisionStudy, decision
from examiner.validation import Floats, Randomness, seed_of

MOST_COMPARED = 30
"""Agents of whom every pair is compared; of more, only neighbours in rank."""
MOST_TESTED = 100


class GroupMeans(NamedTuple):
    """Each agent's mean on each group of the innermost level, [agents, groups]; NaN without results."""

    level: str
    groups: tuple[str, ...]
    means: Floats

    def rows(self, agents: Sequence[str]) -> list[dict[str, Any]]:  # Any: names and numbers
        """Return one dictionary for each agent and group.

        >>> GroupMeans("subtask", ("law",), np.array([[0.5]])).rows(["a"])
        [{'agent': 'a', 'subtask': 'law', 'mean': 0.5}]
        """
        return [
            {"agent": agent, self.level: group, "mean": mean}
            for agent, means in zip(agents, self.means.tolist(), strict=True)
            for group, mean in zip(self.groups, means, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """What is known about agents, and how surely; None where there is nothing to compare."""

    aggregates: AggregateIntervals
    improvement: ImprovementMatrix | None
    pairs: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    ranks: RankProbabilities | None
    tests: Significance | None
    decision: DecisionStudy
    notes: tuple[str, ...]
    total: Total | None = None
    groups: GroupMeans | None = None

    def __repr__(self) -> str:
        agents = len(self.aggregates.agents)
        return f"Overview of {agents} agents, {len(self.pairs)} pairs compared"

    def _repr_html_(self) -> str:
        return self.aggregates._repr_html_()

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return all of it as JSON values; what is not known is NaN.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 5)))
        >>> sorted(overview(results, rng=0, reps=100).to_dict()["improvement"][0])
        ['a', 'b', 'high', 'low', 'one_sided', 'probability']
        """
        made = self.aggregates
        return {
            "unit": made.unit,
            "interval": made.interval,
            "level": made.level,
            "reps": made.reps,
            "seed": made.seed,
            "total": None if self.total is None else self.total.meaning,
            "aggregates": made.rows(),
            "groups": [] if self.groups is None else self.groups.rows(made.agents),
            "improvement": [self._improvement(a, b) for a, b in self.pairs],
            "differences": [each._asdict() for each in self.differences],
            "ranks": _ranks(self.ranks),
            "tests": None if self.tests is None else _tests(self.tests),
            "variance": _variance(self.decision),
            "null_means": "not known from these data; the notes say why",
            "notes": list(self.notes),
        }

    def _improvement(self, a: str, b: str) -> dict[str, Any]:  # Any: JSON values
        matrix = self.improvement
        assert matrix is not None
        pair = matrix.agents.index(a), matrix.agents.index(b)
        probability = float(matrix.probability[pair])
        ends = {"low": float(matrix.low[pair]), "high": float(matrix.high[pair])}
        one_sided = probability in (0.0, 1.0)
        return {"a": a, "b": b, "probability": probability} | ends | {"one_sided": one_sided}


def overview(
    results: Results,
    aggregates: Sequence[str] = ("mean",),
    *,
    rng: Randomness = 0,
    posthoc: PostHoc = "t-holm",
    total: Total | None = None,
    **how: Unpack[ResamplingOptions],
) -> Overview:
    """Aggregate agents with intervals, compare and rank them, test them, and split their variance.

    `aggregates` are names in `AGGREGATES`, or "all". Agents come best first by the first of them, and
    ranks are by it. `total` says how tasks make a mean: by which levels, with which weights; the
    split of the variance and tests of ranks count every task once. `how` says how scores are resampled
    (see `Resampling`); differences and tests of means are over runs where every cell has several and runs
    are resampled, else over tasks. Every part starts from the same seed, so that it is what the
    function by itself gives.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 5)))
    >>> made = overview(results, ["iqm"], rng=0, reps=100)
    >>> made, made.ranks.probability.shape
    (Overview of 3 agents, 3 pairs compared, (3, 3))
    """
    results = judged_runs(results)  # once, for all its parts, as runs are arranged
    levelled = total is not None and not total.plain
    names, seed = tuple(aggregates), seed_of(rng)
    if "all" in names:
        raw = is_raw(results)
        names = tuple(name for name in AGGREGATES if not (raw and name == "optimality_gap"))
    chosen, scores = checked(names, results, total=total), run_scores(results, total=total)
    bootstrap = Bootstrap.of_scores(scores, Resampling(**how))
    made = intervals_of(bootstrap, chosen, seed, shares=results.is_binary())
    met = _met(scores)
    pairs = _pairs(made, dict(zip(results.agents, met, strict=True)))
    # Neither comparisons nor ranks have a studentised or a corrected interval.
    kind: Interval = "percentile" if made.interval == "percentile" else "rescaled"
    percentiles = Bootstrap.of_scores(scores, replace(bootstrap.how, interval=kind))
    improvement = ranked = None
    if pairs:
        improvement = matrix_of(percentiles, pairs, seed)
    apart = Connections.by_groups(results.agents, results.tasks, met).warnings
    if len(results.agents) > 1 and np.isfinite(made.value[:, 0]).all() and not apart:
        ranked = ranks_of(percentiles, chosen[0], seed)
    unit: Unit = usual_unit(scores) if made.unit == "runs" else "tasks"
    tests, why = _tested(results, posthoc, 1 - made.level, total, unit) if not apart else (None, ())
    studied = decision(results)
    told = [*made.notes, *(improvement.notes if improvement else ()), *why]
    told += studied.components.notes
    if made.interval == "bca" and pairs:
        told.append("Comparisons and ranks have no 'bca' interval: theirs are 'rescaled'.")
    if len(results.agents) > MOST_COMPARED:
        told.append(
            f"With more than {MOST_COMPARED} agents, only neighbours in rank are compared in pairs."
        )
    if levelled and tests is not None:
        ranked_pairs = "" if posthoc == "t-holm" else " and those of pairs"
        told.append(f"Friedman's test{ranked_pairs} count every task alike, whatever its group.")
    told += [f"{sentence} So there are no ranks and no tests of all." for sentence in apart]
    games = clusters_of(results.task_names)
    differences = tuple(
        difference_of(scores.of(a), scores.of(b), games, made.level, unit) for a, b in pairs
    )
    notes = tuple(dict.fromkeys(told))
    parts = (made, improvement, pairs, differences, ranked, tests, studied, notes)
    return Overview(*parts, total, _groups(results, total, made.agents))


def _groups(results: Results, total: Total | None, agents: Sequence[str]) -> GroupMeans | None:
    """The means of groups, agents in this order."""
    if total is None or not total.by:
        return None
    rows = [results.agents.index(agent) for agent in agents]
    return GroupMeans(total.by[-1], *total.on(results.tasks).group_means(cell_means(results)[rows]))


def averaging_notes(results: Results) -> tuple[str, ...]:
    """Say where raw scores are averaged over tasks that have units of their own.

    >>> averaging_notes(Results.from_numpy([[0.1, 0.9], [0.4, 0.5]]))
    ()
    """
    method = suggested_normaliser(results)
    if method == "human":
        scaled = "Raw scores are averaged, though every task has a scale"
        return (f'{scaled}: consider `ex.normalise(results, "human")`.',)
    apart = task_ranges_apart(results)
    if method is None or apart < FAR_APART:
        return ()
    atari = any(atari_game(name) is not None for name in results.task_names)
    scaled = 'results.with_scales(ex.load("atari-human-random"))'
    scales = f' or `ex.normalise({scaled}, "human")`' if atari else ""
    return (
        f"Raw scores are averaged over tasks whose ranges lie {apart:,.0f}-fold apart, so that few "
        f'tasks decide: consider `ex.normalise(results, "{method}")`{scales}.',
    )


def _pairs(
    made: AggregateIntervals, met: Mapping[str, NDArray[np.bool_]]
) -> tuple[tuple[str, str], ...]:
    """All pairs of agents, or of many agents the neighbours in rank; only those that share a task."""
    ranked = [made.agents[row] for row in np.flatnonzero(np.isfinite(made.value[:, 0]))]
    pairs = pairwise(ranked) if len(ranked) > MOST_COMPARED else combinations(ranked, 2)
    return tuple((a, b) for a, b in pairs if (met[a] & met[b]).any())


def _met(scores: RunScores) -> NDArray[np.bool_]:
    """Which agent has a result on which task, [agents, tasks]."""
    met = np.zeros((len(scores.agents), len(scores.tasks)), dtype=np.bool_)
    for row, strata in enumerate(scores.strata):
        met[row, strata.tasks] = True
    return met


def _tested(
    results: Results, posthoc: PostHoc, alpha: float, total: Total | None, unit: Unit
) -> tuple[Significance | None, tuple[str, ...]]:
    if not 1 < len(results.agents) <= MOST_TESTED:
        many = len(results.agents) > MOST_TESTED
        return None, (f"No tests of more than {MOST_TESTED} agents.",) if many else ()
    try:
        tests = significance(results, posthoc, alpha, total=total, unit=unit)
    except InputError as problem:
        return None, (f"No tests: {problem}",)
    return tests, tests.notes


def _ranks(found: RankProbabilities | None) -> list[dict[str, Any]]:  # Any: JSON values
    if found is None:
        return []
    rows = zip(found.agents, found.expected.tolist(), found.probability.tolist(), strict=True)
    return [
        {"agent": agent, "aggregate": found.aggregate, "expected": mean, "probabilities": row}
        for agent, mean, row in rows
    ]


def _tests(tests: Significance) -> dict[str, Any]:  # Any: JSON values
    return {
        "friedman": {"statistic": tests.statistic, "p": tests.p_value, "tasks": len(tests.tasks)},
        "posthoc": tests.posthoc,
        "unit": tests.unit,
        "alpha": tests.alpha,
        "critical_difference": tests.critical,
        "mean_ranks": dict(zip(tests.agents, tests.mean_rank.tolist(), strict=True)),
        "pairs": [
            {
                "a": tests.agents[a],
                "b": tests.agents[b],
                "p": float(tests.p[a, b]),
                "tasks": int(tests.common[a, b]),
            }
            for a, b in combinations(range(len(tests.agents)), 2)
        ],
        "cliques": [[tests.agents[agent] for agent in clique] for clique in tests.cliques],
    }


def _variance(study: DecisionStudy) -> dict[str, Any]:  # Any: JSON values
    found = study.components
    return {
        "agent": found.agent,
        "task": found.task,
        "agent_task": found.interaction,
        "run": found.run,
        "shares": found.shares(),
        "truncated": list(found.truncated),
        "tasks": found.tasks,
        "runs": found.runs,
        "error_of_difference": study.now,
        "answer": study.answer,
    }
