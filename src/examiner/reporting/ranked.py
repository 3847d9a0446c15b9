"""Who is better: the ranking of a study by the functions behind `scores.rank`, computed once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Column, Table, bound, count, error, name, number
from examiner.messages import InputError
from examiner.reporting.prose import Name, Parts, enumerated
from examiner.scores import (
    MOST_TESTED,
    Ranking,
    Significance,
    cell_means,
    decision,
    difference_of,
    intervals,
    ranks,
    run_scores,
    significance,
    wilcoxon_holm,
)
from examiner.validation import Floats

if TYPE_CHECKING:
    from examiner.reporting.study import Study

AGGREGATES_SHOWN = ("mean", "iqm", "median")
MOST_NAMED = 3


class ComparedMeans(Table):
    """The best agents in pairs, each compared with every one below it as `compare` does."""

    a: tuple[str, ...] = name("The better agent by mean")
    b: tuple[str, ...] = name("Agent it is compared with", title="agent")
    difference: Floats = number(
        "Mean of the better agent less that of the other, over common tasks", unit="score"
    )
    difference_low: Floats = bound("difference", "low")
    difference_high: Floats = bound("difference", "high")
    difference_error: Floats = error("difference")
    detectable: Floats = number("True difference that is detected four times in five", unit="score")
    p: Floats = number("P-value of the pair alone", title="p of the pair")
    p_adjusted: Floats = number("P-value, adjusted by Holm for all pairs", title="p")
    tasks: NDArray[np.int64] = count("Tasks that both have")


class FirstAgent(NamedTuple):
    """The first agent by mean, agents that do not differ significantly from it, and how many were tested.

    `ahead_on_most`, of the best, do significantly better than it on most tasks, with a lower mean.
    """

    name: str
    alike: tuple[str, ...]
    ahead_on_most: tuple[str, ...]
    others: int


def tests_of(study: Study) -> Significance | str:
    """Test which agents differ, as `scores` does; of very many agents, the first of them.

    A sentence says why nothing can be tested.
    """
    shown = study.resampled
    if len(shown.agents) < 2:
        return "There are no two agents with comparable scores to test."
    few = len(shown.results.agents) <= MOST_TESTED
    results = shown.results if few else shown.shown_results
    try:
        return significance(results, measure=study.measure, total=study.total, unit=shown.unit)
    except InputError as problem:
        return f"No tests: {problem}"


def first_agent(study: Study, tests: Significance) -> FirstAgent:
    """Compare the first agent by mean with the others that were tested."""
    place = {agent: row for row, agent in enumerate(tests.agent_names)}
    first, *best = (place[agent] for agent in study.resampled.agents)
    others = [row for row in np.argsort(-tests.mean, kind="stable").tolist() if row != first]
    rows = [study.scores.agents.index(tests.agent_names[row]) for row in (first, *best)]
    by_ranks = wilcoxon_holm(cell_means(study.scores, study.measure)[rows])[0] < tests.alpha
    ahead = [
        tests.agent_names[row]
        for row, differs in zip(best, by_ranks[1:], strict=True)
        if differs and tests.mean_rank[row] < tests.mean_rank[first]
    ]
    alike = [tests.agent_names[row] for row in others if tests.p[first, row] >= tests.alpha]
    return FirstAgent(tests.agent_names[first], tuple(alike), tuple(ahead), len(others))


def leader_claim(study: Study) -> Parts:
    """Say who leads and which agents do not differ: in the verdict and above the table."""
    tests, found = study.tests, study.first_agent
    assert found is not None and isinstance(tests, Significance), "agents were tested"
    first, alike, ahead, others = found
    next_ones = "" if others + 1 == len(study.results.agents) else "the next "
    tied = [study.results.agents[row] for row in study.order if study.ranks[row] == 1]
    unlike = "not significantly different from"
    if len(tied) > 1:
        alone = [name for name in alike if name not in tied]
        many = f"{len(alone):,} of {next_ones}{others + 1 - len(tied):,} others"
        words = f" lead with the same mean; {many} {_are(len(alone))} {unlike} them."
        if not alone:
            words = " lead with the same mean, and are significantly better than every other agent."
        return (*enumerated(tied, MOST_NAMED), words)
    if better := tests.better_on_common_tasks:
        start = (Name(first), " has the highest mean, but ", *enumerated(better, MOST_NAMED))
        return (*start, f" {_are(len(better))} significantly better on the tasks that both have.")
    if ahead:
        verb = "do" if len(ahead) > 1 else "does"
        start = (Name(first), " has the highest mean, but ", *enumerated(ahead, MOST_NAMED))
        return (*start, f" {verb} better on most tasks.")
    if tests.too_few_tasks:
        few = " has the highest mean; there are too few tasks for a significant difference."
        return (Name(first), few)
    if len(alike) == others > MOST_NAMED:
        return (Name(first), " leads, but no other agent is significantly different from it.")
    if len(alike) > MOST_NAMED:
        many = f"{len(alike):,} of {next_ones}{others:,} others"
        return (Name(first), f" leads; {many} {_are(len(alike))} {unlike} it.")
    if alike:
        return (Name(first), " leads; ", *enumerated(alike), f" {_are(len(alike))} {unlike} it.")
    if others == 1:
        second = next(agent for agent in tests.agent_names if agent != first)
        return (Name(first), " is significantly better than ", Name(second), ".")
    return (Name(first), " leads, and is significantly better than every other agent.")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def compared_means(study: Study, tests: Significance) -> ComparedMeans:
    """Compare the best agents in pairs; pairs without a common task are left out."""
    shown = study.resampled
    scores = run_scores(shown.results, study.measure, study.total)
    place = {agent: row for row, agent in enumerate(tests.agent_names)}
    rows = []
    for a, b in combinations(shown.agents, 2):
        if not (common := int(tests.common[place[a], place[b]])):
            continue
        gap = difference_of(scores.of(a), scores.of(b), unit=tests.unit)
        rows.append(
            {
                "a": a,
                "b": b,
                "difference": gap.value,
                "difference_low": gap.low,
                "difference_high": gap.high,
                "difference_error": gap.error,
                "detectable": gap.detectable_fixed if tests.unit == "runs" else gap.detectable,
                "p": gap.p,
                "p_adjusted": float(tests.p[place[a], place[b]]),
                "tasks": common,
            }
        )
    return ComparedMeans.from_rows(rows, score_unit=tests.score_unit)


def ranking_of(study: Study) -> Ranking:
    """Return the ranking that `scores.rank` gives of the study's comparable scores, without pairs.

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> from examiner.scores import rank
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(3, 9)))
    >>> ranking = ranking_of(Study.of(results, None))
    >>> ranking.agents.to_dict() == rank(results).agents.take([0, 1, 2]).to_dict() | {
    ...     name: ranking.agents.to_dict()[name] for name in ranking.agents.columns}
    True
    """
    shown = study.resampled
    made = intervals(shown.results, _aggregates(study), **shown.how)
    connected = not study.groups
    ranked = None
    if len(shown.results.agents) > 1 and connected and np.isfinite(made.value[:, 0]).all():
        ranked = ranks(shown.results, "mean", **shown.how)
        if np.isnan(ranked.probability).any():
            ranked = None
    tests = study.tests if isinstance(study.tests, Significance) and connected else None
    if tests is not None and len(tests.agent_names) < len(made.agent_names):
        tests = None
    return Ranking(
        aggregates=made,
        improvement=None,
        differences=(),
        ranks=ranked,
        tests=tests,
        decision=decision(study.scores, measure=study.measure),
        notes=made.notes,
        total=study.total,
        observed_tasks=_observed(study, made.agent_names),
        connected=connected,
    )


def _aggregates(study: Study) -> tuple[str, ...]:
    levelled = study.total is not None and not study.total.plain
    if levelled or study.scores.is_binary(study.measure) or study.binary:
        return ("mean",)  # the middle of zeros and ones is a zero or a one
    more = ("optimality_gap",) if study.normaliser == "human" else ()
    return (*AGGREGATES_SHOWN, *more)


def _observed(study: Study, agents: tuple[str, ...]) -> tuple[int, ...]:
    counts = dict(zip(study.results.agents, study.aggregates.tasks.tolist(), strict=True))
    observed = tuple(counts[agent] for agent in agents)
    return observed if len(set(observed)) > 1 else ()


def grouped_agents(ranking: Ranking) -> Table:
    """Return the ranking's agents with their group: the best agent and all that do not differ from it.

    Group 2 is the best of the others with all of these that do not differ significantly from it, and so
    on. Neighbours of two groups need not differ: the test of two agents says that.
    """
    table, tests = ranking.agents, ranking.tests
    if tests is None:
        return table
    place = {agent: row for row, agent in enumerate(tests.agent_names)}
    order = np.array([place[agent] for agent in table.values("agent")])
    groups: NDArray[np.int64] = np.zeros(len(order), dtype=np.int64)
    while (groups == 0).any():
        first = int(np.argmin(groups))
        alike = tests.p[order[first], order] >= tests.alpha
        groups[(groups == 0) & (alike | (np.arange(len(order)) == first))] = groups.max() + 1
    meaning = (
        "Agents of group 1 do not differ significantly from the best agent, those of group 2 from the "
        "best of the others, and so on"
    )
    return table.with_column(Column("group", "count", meaning), groups)
