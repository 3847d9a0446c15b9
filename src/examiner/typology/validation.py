"""Validation of groups: do agents perform similarly on tasks of one group?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Row, Scalar, Table, count, name, number, scalar, setting
from examiner.messages import InputError, counted, listed
from examiner.results import Results, atari_game
from examiner.scores import LEVEL, Progress, cell_means
from examiner.typology.agreement import (
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
    compare_pairs,
    summary_of,
)
from examiner.validation import Floats, Randomness, generator


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

    groups: GroupTests
    totals: GroupTests
    """All pairs within groups, and all pairs between groups."""
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: str = field(metadata=setting())
    permutation: GroupingTest
    agreement: ClusterAgreement | None
    unmatched: tuple[str, ...] = field(metadata=setting(name="without_results"))
    unclassified: tuple[str, ...] = field(metadata=setting(name="without_group"))
    missing_cells: int = field(metadata=scalar("Cells without a result"))
    untested_pairs: int = field(metadata=scalar("Pairs of tasks that could not be tested"))
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
        significantly = "" if test.p_value <= LEVEL else "not significantly "
        return (
            f"Agents' scores on tasks of one group are {significantly}closer to each other than on random "
            f"tasks (permutation test, p = {test.p_value:.2g})."
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the tests mean and what they cannot show."""
        from examiner.typology.sentences import sentences

        return sentences(self)

    @property
    def within(self) -> Row:
        """The summary of all pairs within groups."""
        return self.totals[0]

    @property
    def between(self) -> Row:
        """The summary of all pairs between groups."""
        return self.totals[1]

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
            **super().scalars,
        }

    @property
    def settings(self) -> Mapping[str, object]:
        """What must be repeated to get the same numbers, and what was excluded."""
        return {
            **super().settings,
            "distance": self.permutation.distance,
            "random_groupings": self.permutation.draws,
            "resampled": "agents",
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
    draws = draws or Draws()
    steps = [step for step in results.provenance.steps if "normalised by" in step]
    unit = steps[-1] if steps else "as read"
    names = np.array(table.tasks, dtype=object)
    groups_of_several = [
        {
            "tasks": ", ".join(names[table.group == group]),
            **summary_of(tests, same & (table.group[first] == group)),
        }
        for group in np.unique(table.group)
        if (table.group == group).sum() > 1
    ]
    totals = [
        {"tasks": "all within groups", **summary_of(tests, same)},
        {"tasks": "all between groups", **summary_of(tests, ~same)},
    ]
    # after a normaliser relative to these agents, tasks hardly differ in their mean
    spread = np.median(np.nanstd(table.scores, axis=0))
    return Validation(
        groups=GroupTests.from_rows(groups_of_several, score_unit=unit),
        totals=GroupTests.from_rows(totals, score_unit=unit),
        agents=table.agents,
        tasks=table.tasks,
        scores=unit,
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
        relative_scores=bool(np.nanmean(table.scores, axis=0).std() <= 0.15 * spread),
        seed=rng if isinstance(rng, int) else None,
    )


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
    if len(tasks) < 2:
        raise InputError(
            f"Of the classified tasks, {len(tasks)} have results; at least two are needed. The "
            f"classification has {listed([*tasks, *unmatched], 4)}, the results have "
            f"{listed(results.tasks, 4)}: use the same names."
        )
    if len(tasks) > 2_000:  # two million pairs; more take minutes
        raise InputError(
            f"There are {len(tasks):,} tasks to compare with each other. Choose at most 2,000 of them."
        )
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
