"""Clusters of very many tasks: some are joined, and each other task follows the nearest cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.information.clusters import PAPER_THRESHOLD, Clustering, TaskClusters, clusters
from examiner.information.observations import oriented_means
from examiner.results import Results
from examiner.scores.cells import codes_of
from examiner.scores.likeness import unit_columns
from examiner.scores.signed_ranks import midranks
from examiner.validation import Floats

JOINED = 2000
"""Tasks that are joined: their distances are some megabytes, and take a second or two."""


def clusters_of_many(
    results: Results, measure: str, how: Clustering, joined: int | None = None
) -> TaskClusters:
    r"""Gather more tasks than distances between all of them fit into memory.

    Some tasks are joined as `clusters` does, taken evenly from the hardest to the easiest. Each other task
    goes to the cluster C to which it has the least mean distance, or stands alone beyond the threshold
    (where so many clusters were asked for, only if it does not vary):

    .. math:: 1 - \frac{1}{|C|} \sum_{c \in C} r_{tc} = 1 - u_t \cdot \bar u_C

    with u a task's results, centred and of length one: the distance of average linkage, taken without a
    table of all correlations. Where agents miss tasks, what was not observed counts as the task's mean.

    >>> table = np.vander(np.arange(1.0, 5.0), 3)[:, [0, 1, 0, 1]] * [1, 1, 2, -1]
    >>> clusters_of_many(Results.from_numpy(table, tasks="tuvw"), "score", {}, joined=3).clusters
    (('t', 'u', 'v'), ('w',))
    """
    means = oriented_means(results, measure)
    some = _evenly(means, JOINED if joined is None else joined)
    few = clusters(results.where(np.isin(results.task_codes, some)), measure, **how)
    ranked = midranks(means.T).T if how.get("method") == "spearman" else means
    if ranked is not means:
        ranked = np.where(np.isnan(means), np.nan, ranked)
    units = np.nan_to_num(unit_columns(ranked), copy=False)
    label = np.full(means.shape[1], -1, dtype=np.int64)
    label[some] = few.label
    rest = np.flatnonzero(label < 0)
    count = int(few.label.max()) + 1
    member = (few.label[:, None] == np.arange(count)) / np.bincount(few.label)
    near = ((units[:, some] @ member).T @ units)[:, rest]
    varied = np.asarray(units.any(axis=0))[rest]
    least = 1 - how.get("threshold", PAPER_THRESHOLD) if how.get("number") is None else -np.inf
    follows = varied & (near.max(axis=0) >= least)
    label[rest[follows]] = near.argmax(axis=0)[follows]
    alone = np.flatnonzero(label < 0)
    label[alone] = np.arange(len(alone)) + count
    order = np.argsort(label, kind="stable")
    label[order] = codes_of(label[order].tolist())
    told = (
        f"{len(results.tasks):,} tasks are too many to join all: {len(some):,} were, taken evenly from the "
        f"hardest to the easiest; of the others {int(follows.sum()):,} follow the nearest cluster, "
        f"and {len(alone):,} stand alone."
    )
    return replace(
        few,
        tasks=results.tasks,
        label=label,
        order=tuple(order.tolist()),
        notes=(told, *few.notes),
        branches=np.empty((0, 4, 2)),
        joined=tuple(some.tolist()),
    )


def _evenly(means: Floats, count: int) -> NDArray[np.intp]:
    """The columns of so many tasks, evenly from the lowest mean to the highest, in the table's order."""
    seen = np.isfinite(means)
    level = np.where(seen, means, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    places = np.linspace(0, len(level) - 1, min(count, len(level))).round().astype(np.intp)
    return np.sort(np.argsort(level, kind="stable")[places])
