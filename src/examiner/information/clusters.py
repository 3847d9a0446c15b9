"""Clusters of tasks that rank agents similarly, by their correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, flag, name, scalar, setting, words
from examiner.information.factors import oriented_means
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results, order_of_results, reads_results
from examiner.scores import (
    Linkage,
    Method,
    PermutationTest,
    codes_of,
    correlate_columns,
    correlation_distances,
    cut_tree,
    dendrogram,
    mean_silhouette,
    midranks,
    ordered_tree,
    ratio,
    suggested_number,
    unit_columns,
)
from examiner.validation import Floats, check_known

PAPER_THRESHOLD = 0.8
MOST_TASKS = 5000
"""Distances between more tasks would not fit into memory: some are joined, the others are assigned."""
JOINED = 2000
"""Tasks that are joined then: their distances are some megabytes, and take a second or two."""


class Clusters(Table):
    """Clusters of tasks, in the order of a heat map."""

    cluster: tuple[str, ...] = name("Number of the cluster")
    size: NDArray[np.int64] = count("Tasks in the cluster")
    significant: NDArray[np.bool_] | None = flag(
        "Whether at most 5 % of permuted tables have such a cluster", default=None
    )
    tasks: tuple[tuple[str, ...], ...] = words("Tasks in the cluster")


class ClusteredTasks(Table):
    """Tasks in the order of a heat map."""

    task: tuple[str, ...] = name("Task")
    cluster: tuple[str, ...] = name("Number of its cluster")


@dataclass(frozen=True, eq=False, repr=False)
class TaskClusters(Answer):
    """Clusters of tasks from left to right of a heat map, and the correlations behind them.

    `correlation` has shape [tasks, tasks], NaN where too few agents were observed on both or one does not
    vary; of more than `MOST_TASKS` tasks it is that of those `joined`. `order` holds columns of tasks,
    cluster by cluster; `label` the cluster of each task, from 0.
    `suggested` is the number of clusters with the best silhouette, None where fewer than three vary.
    `branches` [joins, 4, 2] are the corners of a dendrogram over that order: place and distance, 1 − r.
    Clusters are joined by a `linkage` up to the distance `threshold`, or to a `number` of clusters. `test`
    asks whether tasks correlate significantly, and `is_significant` which clusters do: see
    `similarity`.
    """

    kind = "clusters"

    task_names: tuple[str, ...]
    measure: str = field(metadata=setting())
    method: Method = field(metadata=setting(name="correlation"))
    linkage: Linkage
    threshold: float
    number: int | Literal["auto"] | None
    correlation: Floats
    label: NDArray[np.int64]
    order: tuple[int, ...]
    suggested: int | None = field(
        metadata=scalar("Number of clusters with the best silhouette", name="suggested_clusters")
    )
    silhouette: float = field(metadata=scalar("Mean silhouette"))
    notes: tuple[str, ...] = ()
    branches: Floats = field(default_factory=lambda: np.empty((0, 4, 2)))
    joined: tuple[int, ...] | None = None
    test: PermutationTest | None = None
    is_significant: tuple[bool, ...] = ()

    def correlations(self, columns: Sequence[int]) -> tuple[tuple[int, ...], Floats]:
        """Return those of some tasks whose correlations were computed, and these correlations.

        >>> scores = [[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 5.0, 1.0], [4.0, 8.0, 0.0]]
        >>> clusters(Results.from_numpy(scores, tasks="tuv")).correlations([2, 0])[0]
        (2, 0)
        """
        joined = range(len(self.task_names)) if self.joined is None else self.joined
        place = {column: row for row, column in enumerate(joined)}
        computed = tuple(column for column in columns if column in place)
        rows = [place[column] for column in computed]
        return computed, self.correlation[np.ix_(rows, rows)]

    @cached_property
    def members(self) -> tuple[tuple[str, ...], ...]:
        """The names of the tasks of each cluster, from left to right."""
        names: list[list[str]] = [[] for _ in range(int(self.label.max()) + 1)]
        for column, cluster in zip(self.order, self.label[list(self.order)].tolist(), strict=True):
            names[cluster].append(self.task_names[column])
        return tuple(map(tuple, names))

    @property
    def significant(self) -> tuple[tuple[str, ...], ...]:
        """The significant clusters; none before they were tested."""
        pairs = zip(self.members, self.is_significant, strict=True) if self.is_significant else ()
        return tuple(names for names, significant in pairs if significant)

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters with their tasks."""
        return Clusters(
            cluster=range(1, len(self.members) + 1),
            size=[len(names) for names in self.members],
            significant=self.is_significant or None,
            tasks=self.members,
        )

    @cached_property
    def tasks(self) -> ClusteredTasks:
        """The tasks with their cluster."""
        order = list(self.order)
        return ClusteredTasks(
            task=[self.task_names[column] for column in order], cluster=self.label[order] + 1
        )

    @property
    def headline(self) -> str:
        """How many clusters of several tasks there are."""
        several = sum(len(names) > 1 for names in self.members)
        alone = counted(len(self.members) - several, "task")
        verb = "is" if several == 1 else "are"
        return (
            f"There {verb} {counted(several, 'cluster')} of tasks that rank agents similarly by "
            f"{self.measure}; {alone} {'is' if alone == '1 task' else 'are'} in none."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Clusters and tasks."""
        return {"clusters": self.clusters, "tasks": self.tasks}


@reads_results
def clusters(
    results: Results,
    measure: str | None = None,
    *,
    method: Method = "pearson",
    linkage: Linkage = "average",
    threshold: float = PAPER_THRESHOLD,
    number: int | Literal["auto"] | None = None,
) -> TaskClusters:
    """Cluster tasks whose scores correlate across agents.

    The distance of two tasks is 1 − r, with r their correlation over the agents observed on both.
    Clusters are joined, nearest first, up to the distance `threshold`: the rule of papers/004, section
    IV, which does not say how the distance of two clusters is defined (`linkage`). `number` sets the
    number of clusters instead; "auto" takes the number with the best silhouette. A task that does not
    vary is a cluster of its own, at the end. Of more than `MOST_TASKS` tasks some are joined and the
    others are assigned to the nearest of these clusters.

    >>> scores = [[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 5.0, 1.0], [4.0, 8.0, 0.0]]
    >>> clusters(Results.from_numpy(scores, tasks="tuv")).members
    (('t', 'u'), ('v',))
    """
    measure = results.measure_name(measure)
    check_known("linkage", linkage, get_args(Linkage))
    if not 0 <= threshold <= 2:
        raise InputError(f"The threshold is {threshold}. Give a distance 1 − r between 0 and 2.")
    if number is not None and number != "auto" and not (isinstance(number, int) and number >= 1):
        raise InputError(f"The number of clusters is {shorten(number)}. Give 1 or more, or 'auto'.")
    means = oriented_means(results, measure)
    if len(results.tasks) > MOST_TASKS:
        sampled = _evenly(means, JOINED)
        part = results.where(np.isin(results.task_codes, sampled))
        joined = clusters(
            part, measure, method=method, linkage=linkage, threshold=threshold, number=number
        )
        return _followed(joined, results.tasks, means, sampled)
    correlation, _ = correlate_columns(means, method)
    by_content = order_of_results(results).tasks  # ties depend on no name, and on no order of tasks
    varied = by_content[np.isfinite(correlation[:, by_content]).any(axis=0)]
    label = np.zeros(len(results.tasks), dtype=np.int64)
    order: list[int] = varied.tolist()
    suggested, silhouette, branches = None, float("nan"), np.empty((0, 4, 2))
    if len(varied) > 1:
        distance = correlation_distances(correlation[np.ix_(varied, varied)])
        tree, leaves = ordered_tree(distance, linkage)
        suggested = suggested_number(tree, distance)
        wanted = suggested if number == "auto" else number
        label[varied] = cut_tree(tree, wanted, threshold)
        silhouette = mean_silhouette(distance, label[varied])
        order = _largest_first(varied[leaves].tolist(), label, np.argsort(by_content))
        branches = dendrogram(tree, [order.index(column) for column in varied.tolist()])
    alone = by_content[~np.isin(by_content, varied)]
    label[alone] = np.arange(len(alone)) + label.max(initial=0) + 1
    order += alone.tolist()
    label[order] = codes_of(label[order].tolist())  # from 0, from left to right
    return TaskClusters(
        *(results.tasks, measure, method, linkage, threshold, number, correlation, label),
        tuple(order),
        suggested,
        silhouette,
        _notes(results, measure, alone.tolist()),
        branches,
    )


def _largest_first(
    order: list[int], label: NDArray[np.int64], place: NDArray[np.intp]
) -> list[int]:
    """Return the order, or its reverse, so that the end with the largest cluster comes first."""
    labels = label[order]
    largest = np.flatnonzero(labels == np.bincount(labels).argmax()).mean()
    middle = (len(order) - 1) / 2
    backwards = place[order[-1]] < place[order[0]] if largest == middle else largest > middle
    return order[::-1] if backwards else order


def _notes(results: Results, measure: str, alone: list[int]) -> tuple[str, ...]:
    if len(results.agents) < 3:
        return ("Correlations need at least three agents, and there are fewer.",)
    if not alone:
        return ()
    names = listed([results.tasks[column] for column in alone], limit=5)
    return (
        f"{counted(len(alone), 'task')} without any correlation by {shorten(measure)} (no differences "
        f"between agents, or fewer than three agents): {names}.",
    )


def _evenly(means: Floats, count: int) -> NDArray[np.intp]:
    """Return the columns of this many tasks, evenly from the lowest mean to the highest."""
    level = np.nan_to_num(ratio(np.nansum(means, axis=0), np.isfinite(means).sum(axis=0)))
    places = np.linspace(0, len(level) - 1, min(count, len(level))).round().astype(np.intp)
    return np.sort(np.argsort(level, kind="stable")[places])


def _followed(
    joined: TaskClusters, tasks: tuple[str, ...], means: Floats, sampled: NDArray[np.intp]
) -> TaskClusters:
    r"""Assign each task that was not joined to the cluster C with the least mean distance.

    To none beyond the threshold (where a number of clusters was requested, only if it does not vary):

    .. math:: 1 - \frac{1}{|C|} \sum_{c \in C} r_{tc} = 1 - u_t \cdot \bar u_C

    with u a task's results, centred and of length one: the distance of average linkage, without a table
    of all correlations. Where agents miss tasks, a missing cell counts as the task's mean.
    """
    ranked = means
    if joined.method == "spearman":
        ranked = np.where(np.isnan(means), np.nan, midranks(means.T).T)
    units = np.nan_to_num(unit_columns(ranked), copy=False)
    label = np.full(len(tasks), -1, dtype=np.int64)
    label[sampled] = joined.label
    others = np.flatnonzero(label < 0)
    count = int(joined.label.max()) + 1
    member = (joined.label[:, None] == np.arange(count)) / np.bincount(joined.label)
    near = ((units[:, sampled] @ member).T @ units)[:, others]
    varied = np.asarray(units.any(axis=0))[others]
    least = 1 - joined.threshold if joined.number is None else -np.inf
    assigned = varied & (near.max(axis=0) >= least)
    label[others[assigned]] = near.argmax(axis=0)[assigned]
    alone = np.flatnonzero(label < 0)
    label[alone] = np.arange(len(alone)) + count
    order = np.argsort(label, kind="stable")
    label[order] = codes_of(label[order].tolist())
    note = (
        f"Of {len(tasks):,} tasks {len(sampled):,} were joined, taken evenly from hardest to "
        f"easiest; of the others {int(assigned.sum()):,} were assigned to the nearest cluster, and "
        f"{len(alone):,} are in none."
    )
    return replace(
        joined,
        task_names=tasks,
        label=label,
        order=tuple(order.tolist()),
        notes=(note, *joined.notes),
        branches=np.empty((0, 4, 2)),
        joined=tuple(sampled.tolist()),
    )
