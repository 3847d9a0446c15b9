"""Tests of clusters: which of them tables with permuted agents do not have."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.clusters import PAPER_THRESHOLD, Clustering, TaskClusters
from examiner.information.observations import oriented_means
from examiner.messages import counted
from examiner.results import Results, order_of_results
from examiner.scores import (
    LEVEL,
    PermutationTest,
    correlate_columns,
    correlation_distances,
    cut_tree,
    linkage_tree,
    permutations_of,
    permuted_within_columns,
    share_as_large,
)
from examiner.validation import Floats

MOST_CELLS = 1_000_000
"""Of larger tables agents are taken evenly: permuted copies of all would fill memory."""
MOST_COMPARED = 1000
"""Of more tasks this many are taken evenly: every permuted table is clustered, in 0.05 s."""


class _Structure(NamedTuple):
    """Clusters of a table: Σ r² of all pairs of tasks, and each cluster's size and mean correlation."""

    squares: float
    size: Floats
    cohesion: Floats

    @classmethod
    def of(cls, correlation: Floats, label: NDArray[np.integer]) -> _Structure:
        table = np.nan_to_num(correlation)
        np.fill_diagonal(table, 0.0)
        size = np.bincount(label).astype(np.float64)
        order = np.argsort(label, kind="stable")
        present, starts = np.unique(label[order], return_index=True)
        by_cluster = np.add.reduceat(table[:, order], starts, axis=1)  # [tasks, clusters present]
        same = by_cluster[np.arange(len(label)), np.searchsorted(present, label)]
        within = np.bincount(label, weights=same)
        pairs = np.maximum(size * (size - 1), 1.0)
        return cls(float((table**2).sum() / 2), size, within / pairs)

    def has(self, size: float, cohesion: float) -> bool:
        """Whether some cluster has at least this size and mean correlation."""
        return bool(((self.size >= size) & (self.cohesion >= cohesion - 1e-9)).any())


def tested(
    clusters: TaskClusters, results: Results, options: Clustering, rng: np.random.Generator
) -> TaskClusters:
    r"""Return clusters with a permutation test, and which of them are significant.

    Agents are permuted within each task independently, and tasks are clustered again by the same rule.
    Whether tasks correlate at all is tested by :math:`\sum_{s < t} r_{st}^2`. If so, a cluster of k tasks
    with mean correlation r is significant where at most 5 % of the tables have a cluster of at least k
    tasks with a mean correlation of at least r.

    >>> from examiner.information.clusters import clusters
    >>> rng = np.random.default_rng(0)
    >>> results = Results.from_numpy(rng.normal(size=(20, 1)) + rng.normal(size=(20, 6)))
    >>> tested(clusters(results), results, {}, rng).test.significant
    True
    """
    order = order_of_results(results)
    columns = _varied(clusters, order.tasks)
    table = _means(results, clusters, order.agents, columns)
    if not len(columns):
        nothing = PermutationTest(0.0, 0.0, 1.0, 0)
        return replace(clusters, test=nothing, is_significant=(False,) * len(clusters.members))
    number = options.get("number")
    number = clusters.suggested if number == "auto" else number
    linkage, threshold = (
        options.get("linkage", "average"),
        options.get("threshold", PAPER_THRESHOLD),
    )

    def structure(means: Floats) -> _Structure:
        correlation = correlate_columns(means, clusters.method)[0]
        tree = linkage_tree(correlation_distances(correlation), linkage)
        return _Structure.of(correlation, cut_tree(tree, number, threshold) - 1)

    observed = _Structure.of(correlate_columns(table, clusters.method)[0], clusters.label[columns])
    permuted = [
        structure(permuted_within_columns(table, rng)) for _ in range(permutations_of(table.size))
    ]
    squares = np.array([observed.squares, *(each.squares for each in permuted)])
    p_value = float(share_as_large(squares)[0])
    test = PermutationTest(observed.squares, float(squares[1:].mean()), p_value, len(permuted))
    significant = [
        test.significant and size > 1 and _p_value(permuted, size, cohesion) <= LEVEL
        for size, cohesion in zip(observed.size, observed.cohesion, strict=True)
    ]
    # Tasks without any correlation have the last labels.
    significant += [False] * (len(clusters.members) - len(significant))
    notes = clusters.notes
    if len(columns) == MOST_COMPARED < len(clusters.task_names):
        part = f"{len(columns):,} of {counted(len(clusters.task_names), 'task')}, taken evenly"
        notes = (*notes, f"Clusters were tested on {part}.")
    flags = tuple(map(bool, significant))
    return replace(clusters, test=test, is_significant=flags, notes=notes)


def _p_value(permuted: list[_Structure], size: float, cohesion: float) -> float:
    return (1 + sum(each.has(size, cohesion) for each in permuted)) / (1 + len(permuted))


def _varied(clusters: TaskClusters, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the columns of the tasks with correlations, in an order by content."""
    joined = np.array(clusters.joined or range(len(clusters.task_names)))
    off_diagonal = clusters.correlation.copy()
    np.fill_diagonal(off_diagonal, np.nan)
    columns = joined[np.isfinite(off_diagonal).any(axis=0)]
    columns = order[np.isin(order, columns)]
    if len(columns) <= MOST_COMPARED:
        return columns
    return columns[np.linspace(0, len(columns) - 1, MOST_COMPARED).astype(np.intp)]


def _means(
    results: Results,
    clusters: TaskClusters,
    agents: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> Floats:
    """Return the means of some tasks."""
    most = max(MOST_CELLS // max(len(columns), 1), 3)
    if len(agents) > most:
        agents = agents[np.linspace(0, len(agents) - 1, most).astype(np.intp)]
    return oriented_means(results, clusters.measure)[np.ix_(agents, columns)]
