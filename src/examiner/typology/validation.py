"""Validation: do agents do alike on tasks of one group? The paper's tests, and what they cannot say."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.results import Results, atari_game
from examiner.results.display import html_table
from examiner.scores.cells import cell_means
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.typology.agreement import (
    Agreement,
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
    PairTests,
    TestedPairs,
    compare_pairs,
    summed,
)
from examiner.validation import Floats, Randomness, generator

MOST_TASKS = 2_000
"""Two million pairs are tested for as many tasks; more take minutes."""


class Draws(NamedTuple):
    """How often groupings are drawn for the permutation test, and agents for the interval of agreement."""

    groupings: int = 999
    agents: int = 200


class GroupTests(NamedTuple):
    """The tests between the tasks of one group."""

    tasks: tuple[str, ...]
    tests: TestedPairs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Validation:
    """How alike agents do on tasks of one group, and on tasks of different groups.

    `groups` are those with two tasks or more that have results. `unmatched` are tasks of the
    classification without results, `unclassified` tasks with results that no group has.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: str
    within: TestedPairs
    between: TestedPairs
    groups: tuple[GroupTests, ...]
    permutation: GroupingTest
    agreement: Agreement | None
    unmatched: tuple[str, ...]
    unclassified: tuple[str, ...]
    missing_cells: int
    untested_pairs: int
    relative_scores: bool

    @property
    def says(self) -> tuple[str, ...]:
        """What this says and what it cannot, one sentence or two each."""
        from examiner.typology.verdict import sentences

        return sentences(self)

    def __repr__(self) -> str:
        return (
            f"Validation: {counted(len(self.groups), 'group')} of several tasks, mean p-value "
            f"{self.within.mean_p:.3g} within and {self.between.mean_p:.3g} between groups"
        )

    def _repr_html_(self) -> str:
        rows = [[", ".join(group.tasks), *group.tests] for group in self.groups]
        header = ["tasks", *(name.replace("_", " ") for name in TestedPairs._fields)]
        return html_table(repr(self), header, rows, self.says)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return everything as JSON values; NaN stays NaN and is written as null.

        >>> groups = [TaskGroup((), ("task 1", "task 2")), TaskGroup((), ("task 3",))]
        >>> results = Results.from_numpy([[0.1, 0.2, 0.9], [0.2, 0.5, 0.7], [0.3, 0.3, 0.8]])
        >>> made = validate(groups, results, rng=0).to_dict()
        >>> made["within"]["pairs"], made["between"]["pairs"]
        (1, 2)
        """
        agreement = None
        if self.agreement is not None:
            agreement = self.agreement._asdict()
            agreement["clusters"] = dict(zip(self.tasks, self.agreement.clusters, strict=True))
        return {
            "agents": list(self.agents),
            "tasks": list(self.tasks),
            "scores": self.scores,
            "within": self.within._asdict(),
            "between": self.between._asdict(),
            "groups": [
                {"tasks": list(group.tasks), **group.tests._asdict()} for group in self.groups
            ],
            "permutation": self.permutation._asdict(),
            "agreement": agreement,
            "without_results": list(self.unmatched),
            "without_group": list(self.unclassified),
            "missing_cells": self.missing_cells,
            "untested_pairs": self.untested_pairs,
            "says": list(self.says),
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
    rng: Randomness,
) -> Validation:
    """Test whether agents do alike on tasks of one group.

    Three answers side by side: hypothesis tests of each two tasks (Shapiro–Wilk, then Student or
    Wilcoxon, as papers/000 has them) with the mean p-value within and between groups; a permutation
    test of the mean distance within groups; and the adjusted Rand index of groups and clusters.

    Make scores comparable first, as `normalise(results, "random-only")` does by the paper's equation
    1. Tasks are matched by name, Atari games under any of theirs; levels of a game are averaged.
    `clusters` is a label for each task, or a function of scores and a number.

    References: papers/000, section V-B, experiment 2.

    >>> groups = [TaskGroup((), ("task 1", "task 2")), TaskGroup((), ("task 3",))]
    >>> results = Results.from_numpy([[0.1, 0.2, 0.9], [0.2, 0.5, 0.7], [0.3, 0.3, 0.8]])
    >>> made = validate(groups, results, rng=0)
    >>> round(made.within.mean_p, 3), round(made.between.mean_p, 3)
    (0.275, 0.007)
    """
    named = groups.groups if isinstance(groups, Kinds) else groups
    table = _matched(named, results.with_items(), measure)
    first, second = np.triu_indices(len(table.tasks), k=1)
    tests = compare_pairs(table.scores, first, second)
    same = table.group[first] == table.group[second]
    distances = profile_distances(table.scores, distance)
    permuting, drawing = generator(rng).spawn(2)
    draws = draws or Draws()
    return Validation(
        agents=table.agents,
        tasks=table.tasks,
        scores=_unit(results),
        within=summed(tests, same),
        between=summed(tests, ~same),
        groups=_by_group(tests, same, table),
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
    seen = np.isfinite(means)
    column_of = {
        _known_as(task): column
        for column, task in enumerate(results.tasks)
        if seen[:, column].any()
    }
    columns, tasks, group, unmatched = [], [], [], []
    for number, members in enumerate(groups):
        for task in members.tasks:
            column = column_of.pop(_known_as(task), None)
            if column is None:
                unmatched.append(task)
                continue
            columns.append(column)
            tasks.append(task)
            group.append(number)
    _check_tasks(tasks, unmatched, results)
    rows = np.flatnonzero(seen[:, columns].any(axis=1))
    if len(rows) < FEWEST_AGENTS:
        raise InputError(
            f"There are results of {counted(len(rows), 'agent')} on these tasks. Hypothesis tests "
            f"need at least {FEWEST_AGENTS}: add agents, or leave the validation out."
        )
    return _Matched(
        tuple(results.agents[row] for row in rows),
        tuple(tasks),
        np.array(group, dtype=np.intp),
        means[np.ix_(rows, np.array(columns))],
        tuple(unmatched),
        tuple(results.tasks[column] for column in column_of.values()),
    )


def _known_as(task: str) -> str:
    return atari_game(task) or task


def _check_tasks(tasks: Sequence[str], unmatched: Sequence[str], results: Results) -> None:
    if len(tasks) < 2:
        raise InputError(
            f"Of the classified tasks, {len(tasks)} have results; two can be compared at least. The "
            f"classification has {listed([*tasks, *unmatched], 4)}, the results have "
            f"{listed(results.tasks, 4)}: use the same names."
        )
    if len(tasks) > MOST_TASKS:
        raise InputError(
            f"There are {len(tasks):,} tasks to compare with each other. Choose at most "
            f"{MOST_TASKS:,} of them."
        )


def _by_group(tests: PairTests, same: NDArray[np.bool_], table: _Matched) -> tuple[GroupTests, ...]:
    names = np.array(table.tasks, dtype=object)
    return tuple(
        GroupTests(
            tuple(names[table.group == group]),
            summed(tests, same & (table.group[tests.first] == group)),
        )
        for group in np.unique(table.group)
        if (table.group == group).sum() > 1
    )


def _agreement(
    table: _Matched,
    clusters: Mapping[str, Hashable] | ClusterFunction,
    resamples: int,
    progress: Progress | None,
    rng: np.random.Generator,
) -> Agreement | None:
    """None where the groups leave nothing to agree with: all tasks in one, or each in its own."""
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
    """Whether tasks hardly differ in their mean, as after a normaliser that only compares agents."""
    means, spread = np.nanmean(scores, axis=0), np.nanstd(scores, axis=0)
    return bool(means.std() <= 0.15 * np.median(spread))
