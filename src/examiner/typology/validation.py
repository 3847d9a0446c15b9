"""Validation of groups: do agents perform similarly on tasks of one group?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, number
from examiner.messages import InputError, counted, listed
from examiner.results import Results, atari_game
from examiner.scores import Progress, cell_means
from examiner.typology.agreement import (
    SMALL_P,
    ClusterAgreement,
    ClusterFunction,
    Distance,
    GroupingTest,
    cluster_agreement,
    permutation_test,
    profile_distances,
    task_clusters,
)
from examiner.typology.kinds import Kinds, TaskGroup
from examiner.typology.pair_tests import (
    FEWEST_AGENTS,
    PairSummary,
    compare_pairs,
    summary_of,
)
from examiner.validation import Floats, Randomness, generator

MOST_TASKS = 2_000
"""This many tasks are two million pairs; more take minutes."""


class Draws(NamedTuple):
    """Random groupings of the permutation test, and bootstrap samples of agents for the agreement."""

    groupings: int = 999
    agents: int = 200


class GroupTests(Table):
    """Summaries of the tests between the tasks of each group."""

    tasks: tuple[str, ...] = name("Tasks of the group")
    pairs: NDArray[np.int64] = count("Pairs of tasks tested")
    mean_p: Floats = number("Mean p-value; a small one means that the tasks differ")
    variance_p: Floats = number("Variance of the p-values", title="variance of p")
    difference: Floats = number("Median absolute difference of mean scores", unit="score")
    effect: Floats = number(
        "Median absolute difference of mean scores (Cohen's d)", unit="standard deviations"
    )
    student: NDArray[np.int64] = count("Pairs with Student's test; the others have Wilcoxon's")


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Answer):
    """How similarly agents perform on tasks of one group, and on tasks of different groups.

    `groups` are those with two tasks or more that have results. `unmatched` are tasks of the
    classification without results, `unclassified` tasks with results that no group has.
    """

    kind = "validation"

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: str
    within: PairSummary
    between: PairSummary
    groups: GroupTests
    permutation: GroupingTest
    agreement: ClusterAgreement | None
    unmatched: tuple[str, ...]
    unclassified: tuple[str, ...]
    missing_cells: int
    untested_pairs: int
    relative_scores: bool
    seed: int | None

    @property
    def headline(self) -> str:
        """Whether tasks of one group are closer to each other than others."""
        test, tasks = self.permutation, counted(len(self.tasks), "task")
        if not len(self.groups):
            return f"No two of the {tasks} are in one group: there is nothing to validate."
        if not np.isfinite(test.p_value):
            return f"All {tasks} are in one group: there are no other groups to compare it with."
        significantly = "" if test.p_value <= SMALL_P else "not significantly "
        return (
            f"Agents' scores on tasks of one group are {significantly}closer to each other than on random "
            f"tasks (permutation test, p = {test.p_value:.2g})."
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the tests mean and what they cannot show."""
        from examiner.typology.sentences import sentences

        return sentences(self)

    @cached_property
    def totals(self) -> GroupTests:
        """Summaries of all pairs within groups, and of all pairs between groups."""
        return _table(
            [("all within groups", self.within), ("all between groups", self.between)], self.scores
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Groups, and all pairs within and between groups."""
        return {"groups": self.groups, "totals": self.totals}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The permutation test, and the agreement of groups and clusters."""
        test, agreement = self.permutation, self.agreement
        rand, low, high = (None,) * 3 if agreement is None else agreement[:3]
        return {
            "p_value": Scalar(test.p_value, "Permutation test of the mean distance within groups"),
            "distance_within": Scalar(test.within, "Mean distance within groups"),
            "distance_between": Scalar(test.between, "Mean distance between groups"),
            "distance_expected": Scalar(test.expected, "Mean distance within random groups"),
            "nearer": Scalar(
                test.nearer,
                "Probability that a pair within a group is closer than one between groups",
            ),
            "adjusted_rand": Scalar(rand, "Adjusted Rand index of groups and clusters"),
            "adjusted_rand_low": Scalar(low, "Lower bound of its interval"),
            "adjusted_rand_high": Scalar(high, "Upper bound of its interval"),
            "agent_count": Scalar(len(self.agents), "Agents"),
            "missing_cells": Scalar(self.missing_cells, "Cells without a result"),
            "untested_pairs": Scalar(
                self.untested_pairs, "Pairs of tasks that could not be tested"
            ),
        }

    @property
    def settings(self) -> Mapping[str, object]:
        """What must be repeated to get the same numbers, and what was excluded."""
        return {
            "seed": self.seed,
            "scores": self.scores,
            "distance": self.permutation.distance,
            "random_groupings": self.permutation.draws,
            "resampled": "agents",
            "without_results": self.unmatched,
            "without_group": self.unclassified,
        }


def validate(
    groups: Sequence[TaskGroup] | Kinds,
    results: Results,
    measure: str | None = None,
    clusters: Mapping[str, Hashable] | ClusterFunction = task_clusters,
    distance: Distance = "euclidean",
    *,
    draws: Draws | None = None,
    progress: Progress | None = None,
    rng: Randomness = 0,
) -> Validation:
    """Test whether agents perform similarly on tasks of one group.

    Three answers: hypothesis tests of each two tasks (Shapiro–Wilk, then Student or Wilcoxon, as in
    papers/000) with the mean p-value within and between groups; a permutation test of the mean distance
    within groups; and the adjusted Rand index of groups and clusters.

    Make scores comparable first, as `normalise(results, "random-only")` does by the paper's equation
    1. Tasks are matched by name, Atari games under any of theirs; levels of a game are averaged.
    `clusters` is a label for each task, or a function of scores and a number.

    References: papers/000, section V-B, experiment 2.

    >>> groups = [TaskGroup((), ("task 1", "task 2")), TaskGroup((), ("task 3",))]
    >>> results = Results.from_numpy([[0.1, 0.2, 0.9], [0.2, 0.5, 0.7], [0.3, 0.3, 0.8]])
    >>> validation = validate(groups, results)
    >>> round(validation.within.mean_p, 3), round(validation.between.mean_p, 3)
    (0.275, 0.007)
    """
    members = groups.members if isinstance(groups, Kinds) else groups
    table = _matched(members, results.with_items(), measure)
    first, second = np.triu_indices(len(table.tasks), k=1)
    tests = compare_pairs(table.scores, first, second)
    same = table.group[first] == table.group[second]
    distances = profile_distances(table.scores, distance)
    permuting, drawing = generator(rng).spawn(2)
    draws, unit = draws or Draws(), _unit(results)
    names = np.array(table.tasks, dtype=object)
    return Validation(
        agents=table.agents,
        tasks=table.tasks,
        scores=unit,
        within=summary_of(tests, same),
        between=summary_of(tests, ~same),
        groups=_table(
            [
                (
                    ", ".join(names[table.group == group]),
                    summary_of(tests, same & (table.group[first] == group)),
                )
                for group in np.unique(table.group)
                if (table.group == group).sum() > 1
            ],
            unit,
        ),
        permutation=permutation_test(
            *(distances, table.group),
            draws=draws.groupings,
            distance=distance,
            progress=progress,
            rng=permuting,
        ),
        agreement=_agreement(table, clusters, draws.agents, progress, drawing),
        unmatched=table.unmatched,
        unclassified=table.unclassified,
        missing_cells=int(np.isnan(table.scores).sum()),
        untested_pairs=int(np.isnan(tests.p_value).sum()),
        relative_scores=_same_means(table.scores),
        seed=rng if isinstance(rng, int) else None,
    )


def _table(rows: Sequence[tuple[str, PairSummary]], unit: str) -> GroupTests:
    columns: dict[str, Any] = {  # Any: lists of numbers
        field: [getattr(summary, field) for _, summary in rows] for field in PairSummary._fields
    }
    return GroupTests(tasks=[tasks for tasks, _ in rows], score_unit=unit, **columns)


class _Matched(NamedTuple):
    """The scores of classified tasks; `group` numbers the group of each."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    group: NDArray[np.intp]
    scores: Floats
    unmatched: tuple[str, ...]
    unclassified: tuple[str, ...]


def _matched(groups: Sequence[TaskGroup], results: Results, measure: str | None) -> _Matched:
    means = cell_means(results, measure)
    observed = np.isfinite(means)
    column_of = {
        _game_name(task): column
        for column, task in enumerate(results.tasks)
        if observed[:, column].any()
    }
    columns, tasks, group, unmatched = [], [], [], []
    for index, members in enumerate(groups):
        for task in members.tasks:
            column = column_of.pop(_game_name(task), None)
            if column is None:
                unmatched.append(task)
                continue
            columns.append(column)
            tasks.append(task)
            group.append(index)
    _check_tasks(tasks, unmatched, results)
    rows = np.flatnonzero(observed[:, columns].any(axis=1))
    if len(rows) < FEWEST_AGENTS:
        raise InputError(
            f"There are results of {counted(len(rows), 'agent')} on these tasks. Hypothesis tests "
            f"need at least {FEWEST_AGENTS}: add agents, or skip the validation."
        )
    return _Matched(
        tuple(results.agents[row] for row in rows),
        tuple(tasks),
        np.array(group, dtype=np.intp),
        means[np.ix_(rows, np.array(columns))],
        tuple(unmatched),
        tuple(results.tasks[column] for column in column_of.values()),
    )


def _game_name(task: str) -> str:
    return atari_game(task) or task


def _check_tasks(tasks: Sequence[str], unmatched: Sequence[str], results: Results) -> None:
    if len(tasks) < 2:
        raise InputError(
            f"Of the classified tasks, {len(tasks)} have results; at least two are needed. The "
            f"classification has {listed([*tasks, *unmatched], 4)}, the results have "
            f"{listed(results.tasks, 4)}: use the same names."
        )
    if len(tasks) > MOST_TASKS:
        raise InputError(
            f"There are {len(tasks):,} tasks to compare with each other. Choose at most "
            f"{MOST_TASKS:,} of them."
        )


def _agreement(
    table: _Matched,
    clusters: Mapping[str, Hashable] | ClusterFunction,
    resamples: int,
    progress: Progress | None,
    rng: np.random.Generator,
) -> ClusterAgreement | None:
    """Return None where all tasks are in one group, or each in its own."""
    count = len(np.unique(table.group))
    if count in (1, len(table.tasks)):
        return None
    chosen: Sequence[Hashable] | ClusterFunction
    if callable(clusters):
        chosen = clusters
    else:
        without = [task for task in table.tasks if task not in clusters]
        if without:
            raise InputError(f"No cluster is given for {listed(without)}. Give one for each task.")
        chosen = [clusters[task] for task in table.tasks]
    return cluster_agreement(
        table.scores, table.group.tolist(), chosen, resamples=resamples, progress=progress, rng=rng
    )


def _unit(results: Results) -> str:
    steps = [step for step in results.provenance.steps if "normalised by" in step]
    return steps[-1] if steps else "as read"


def _same_means(scores: Floats) -> bool:
    """Whether tasks hardly differ in their mean, as after a normaliser relative to these agents."""
    means, spread = np.nanmean(scores, axis=0), np.nanstd(scores, axis=0)
    return bool(means.std() <= 0.15 * np.median(spread))
