"""Clusters of very many tasks: some are joined, and each other task is assigned to the nearest cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.information.clusters import PAPER_THRESHOLD, Clustering, TaskClusters, clusters
from examiner.information.observations import oriented_means
from examiner.results import Results
from examiner.scores import codes_of, midranks, unit_columns
from examiner.validation import Floats

JOINED = 2000
"""Tasks that are joined: their distances are some megabytes, and take a second or two."""


def clusters_of_many(
    results: Results, measure: str, options: Clustering, joined: int | None = None
) -> TaskClusters:
    r"""Cluster more tasks than distances between all of them fit into memory.

    Some tasks are joined as `clusters` does, taken evenly from the hardest to the easiest. Each other task
    is assigned to the cluster C with the least mean distance, or to none beyond the threshold (where a
    number of clusters was requested, only if it does not vary):

    .. math:: 1 - \frac{1}{|C|} \sum_{c \in C} r_{tc} = 1 - u_t \cdot \bar u_C

    with u a task's results, centred and of length one: the distance of average linkage, without a table
    of all correlations. Where agents miss tasks, a missing cell counts as the task's mean.

    >>> table = np.vander(np.arange(1.0, 5.0), 3)[:, [0, 1, 0, 1]] * [1, 1, 2, -1]
    >>> clusters_of_many(Results.from_numpy(table, tasks="tuvw"), "score", {}, joined=3).members
    (('t', 'u', 'v'), ('w',))
    """
    means = oriented_means(results, measure)
    sampled = _evenly(means, JOINED if joined is None else joined)
    few = clusters(results.where(np.isin(results.task_codes, sampled)), measure, **options)
    ranked = midranks(means.T).T if options.get("method") == "spearman" else means
    if ranked is not means:
        ranked = np.where(np.isnan(means), np.nan, ranked)
    units = np.nan_to_num(unit_columns(ranked), copy=False)
    label = np.full(means.shape[1], -1, dtype=np.int64)
    label[sampled] = few.label
    others = np.flatnonzero(label < 0)
    count = int(few.label.max()) + 1
    member = (few.label[:, None] == np.arange(count)) / np.bincount(few.label)
    near = ((units[:, sampled] @ member).T @ units)[:, others]
    varied = np.asarray(units.any(axis=0))[others]
    least = -np.inf
    if options.get("number") is None:
        least = 1 - options.get("threshold", PAPER_THRESHOLD)
    assigned = varied & (near.max(axis=0) >= least)
    label[others[assigned]] = near.argmax(axis=0)[assigned]
    alone = np.flatnonzero(label < 0)
    label[alone] = np.arange(len(alone)) + count
    order = np.argsort(label, kind="stable")
    label[order] = codes_of(label[order].tolist())
    note = (
        f"Of {len(results.tasks):,} tasks {len(sampled):,} were joined, taken evenly from hardest to "
        f"easiest; of the others {int(assigned.sum()):,} were assigned to the nearest cluster, and "
        f"{len(alone):,} are in none."
    )
    return replace(
        few,
        task_names=results.tasks,
        label=label,
        order=tuple(order.tolist()),
        notes=(note, *few.notes),
        branches=np.empty((0, 4, 2)),
        joined=tuple(sampled.tolist()),
    )


def _evenly(means: Floats, count: int) -> NDArray[np.intp]:
    """Return the columns of this many tasks, evenly from the lowest mean to the highest."""
    observed = np.isfinite(means)
    level = np.where(observed, means, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    places = np.linspace(0, len(level) - 1, min(count, len(level))).round().astype(np.intp)
    return np.sort(np.argsort(level, kind="stable")[places])
