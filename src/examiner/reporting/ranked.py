"""Who is better, and whether agents differ at all: asked once for a whole report, by public functions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Column, Table, bound, count, error, name, number
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import (
    MOST_TESTED,
    ComparedAgents,
    Ranking,
    Significance,
    Unit,
    cell_means,
    decision,
    difference_of,
    exchange_runs,
    intervals,
    ranks,
    responses,
    run_scores,
    significance,
    wilcoxon_holm,
)
from examiner.validation import Floats

if TYPE_CHECKING:
    from examiner.irt import ChanceTest
    from examiner.reporting.study import Study

AGGREGATES_SHOWN = ("mean", "iqm", "median")


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
        return significance(
            results, measure=study.measure, normalise=None, total=study.total, unit=shown.unit
        )
    except InputError as problem:
        return f"No tests: {problem}"


def better_on_most_tasks(study: Study, tests: Significance) -> list[str]:
    """Name the best agents that do significantly better than the first on most tasks, with a lower mean."""
    place = {agent: row for row, agent in enumerate(tests.agent_names)}
    first, *others = study.resampled.agents
    rows = [study.scores.agents.index(agent) for agent in (first, *others)]
    p = wilcoxon_holm(cell_means(study.scores, study.measure)[rows])[0]
    ranks = tests.mean_rank
    return [
        agent
        for agent, differs in zip(others, p[1:] < tests.alpha, strict=True)
        if differs and ranks[place[agent]] < ranks[place[first]]
    ]


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
        detectable = gap.detectable_fixed if tests.unit == "runs" else gap.detectable
        values = gap._asdict() | {"detectable": detectable, "tasks": common}
        values["p_adjusted"] = float(tests.p[place[a], place[b]])
        rows.append({column: values[column] for column in ComparedMeans.declared})
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
    aggregates = intervals(shown.results, _aggregates(study), **shown.how)
    connected = not study.groups
    ranked = None
    if len(shown.results.agents) > 1 and connected and np.isfinite(aggregates.value[:, 0]).all():
        ranked = ranks(shown.results, "mean", **shown.how)
        if np.isnan(ranked.probability).any():
            ranked = None
    tests = study.tests if isinstance(study.tests, Significance) and connected else None
    if tests is not None and len(tests.agent_names) < len(aggregates.agent_names):
        tests = None
    return Ranking(
        aggregates=aggregates,
        pairs=ComparedAgents.from_rows(()),
        ranks=ranked,
        tests=tests,
        decision=decision(study.scores, measure=study.measure, normalise=None),
        notes=aggregates.notes,
        total=study.total,
        observed_tasks=_observed(study, aggregates.agent_names),
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


def chance_of(study: Study) -> ChanceTest | None:
    """Test whether agents differ in their mean; None where too few agents, tasks or runs can tell.

    With several runs in every cell, runs are exchanged between agents (`exchange_runs`), with these tasks
    held fixed; else agents are exchanged within tasks (`chance_over_tasks`).

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> chance_of(Study.of(Results.from_numpy([[0.5], [0.0]])))
    """
    from examiner.irt import ChanceTest

    if study.resampled.unit == "tasks":
        return study.chance_over_tasks
    if len(study.results.agents) < 3:
        return _of_pairs(study)
    exchanged = exchange_runs(run_scores(study.scores, study.measure, study.total), study.seed)
    method = f"{counted(exchanged.permutations, 'exchange')} of runs within each task"
    return ChanceTest(exchanged.statistic, exchanged.by_chance, exchanged.p_value, method)


def chance_over_tasks(study: Study) -> ChanceTest | None:
    """Test whether agents differ over other tasks like these; None where too few can tell.

    It is the test of a fit's evidence (`irt.Evidence`), of the same responses where results are successes.
    With fewer agents or tasks than that takes, it is the least p-value of pairs (`significance`).

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> chance_over_tasks(Study.of(Results.from_numpy([[0.5], [0.0]])))
    """
    from examiner.irt import agents_differ  # a package that few sections need

    agents, tasks = study.comparable.shape
    if min(agents, tasks) < 3:  # exchanges of agents within tasks cannot be significant
        return _of_pairs(study, "tasks")
    return agents_differ(_tested(study), study.seed)


def _of_pairs(study: Study, unit: Unit | None = None) -> ChanceTest | None:
    """The least p-value of pairs of agents, after Holm; None where they have too little in common."""
    from examiner.irt import ChanceTest

    shown, nothing = study.resampled.shown_results, float("nan")
    try:
        tests = significance(
            shown, measure=study.measure, normalise=None, total=study.total, unit=unit
        )
    except InputError:
        return None
    p = float(tests.p[np.triu_indices(len(tests.agent_names), 1)].min())
    return ChanceTest(nothing, nothing, p, tests.test)


def not_significant(study: Study, test: ChanceTest | None, unit: Unit) -> str:
    """Say that agents do not differ by a test, and by which; nothing where they do, or without a test."""
    if test is None or test.shown:
        return ""
    over = f"permutation test over {'runs of ' if unit == 'runs' else ''}"
    by = f"{over}{counted(study.comparable.shape[1], 'task')}"
    if np.isnan(test.statistic):  # of pairs
        by = test.method
    return f"Agents do not differ significantly: {test.p} ({by})."


def _tested(study: Study) -> ResponseMatrix:
    """Successes of trials where results are some, else comparable scores."""
    if study.normaliser is None and study.results.is_binary(study.measure):
        return responses(study.results, measure=study.measure)
    return ResponseMatrix.from_array(study.comparable)
