"""Tests of clusters: which of them tables with permuted agents do not have."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.clusters import TaskClusters
from examiner.information.factors import oriented_means
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


def tested(clusters: TaskClusters, results: Results, rng: np.random.Generator) -> TaskClusters:
    r"""Return clusters with a permutation test, and which of them are significant.

    Agents are permuted within each task independently, and tasks are clustered again by the same rule.
    Whether tasks correlate at all is tested by :math:`\sum_{s < t} r_{st}^2`. If so, a cluster of k tasks
    with mean correlation r is significant where at most 5 % of the tables have a cluster of at least k
    tasks with a mean correlation of at least r.

    >>> from examiner.information.clusters import clusters
    >>> rng = np.random.default_rng(0)
    >>> results = Results.from_numpy(rng.normal(size=(20, 1)) + rng.normal(size=(20, 6)))
    >>> tested(clusters(results), results, rng).test.significant
    True
    """
    order = order_of_results(results)
    columns = _varied(clusters, order.tasks)
    if not len(columns):
        nothing = PermutationTest(0.0, 0.0, 1.0, 0)
        return replace(clusters, test=nothing, is_significant=(False,) * len(clusters.members))
    agents = _evenly(order.agents, max(MOST_CELLS // len(columns), 3))
    table = oriented_means(results, clusters.measure)[np.ix_(agents, columns)]
    number = clusters.suggested if clusters.number == "auto" else clusters.number

    def structure(means: Floats) -> _Structure:
        correlation = correlate_columns(means, clusters.method)[0]
        tree = linkage_tree(correlation_distances(correlation), clusters.linkage)
        return _Structure.of(correlation, cut_tree(tree, number, clusters.threshold) - 1)

    observed = _Structure.of(correlate_columns(table, clusters.method)[0], clusters.label[columns])
    permuted = [
        structure(permuted_within_columns(table, rng)) for _ in range(permutations_of(table.size))
    ]
    tables = [observed, *permuted]
    squares = np.array([one.squares for one in tables])
    p_value = float(share_as_large(squares)[0])
    test = PermutationTest(observed.squares, float(squares[1:].mean()), p_value, len(permuted))
    # Tasks without any correlation have the last labels.
    significant = np.zeros(len(clusters.members), dtype=bool)
    for place, (size, cohesion) in enumerate(zip(observed.size, observed.cohesion, strict=True)):
        as_large = np.mean([one.has(size, cohesion) for one in tables])
        significant[place] = test.significant and size > 1 and as_large <= LEVEL
    notes = clusters.notes
    if len(columns) == MOST_COMPARED < len(clusters.task_names):
        part = f"{len(columns):,} of {counted(len(clusters.task_names), 'task')}, taken evenly"
        notes = (*notes, f"Clusters were tested on {part}.")
    return replace(clusters, test=test, is_significant=tuple(significant.tolist()), notes=notes)


def _varied(clusters: TaskClusters, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the columns of the tasks with correlations, in an order by content."""
    joined = np.array(clusters.joined or range(len(clusters.task_names)))
    off_diagonal = clusters.correlation.copy()
    np.fill_diagonal(off_diagonal, np.nan)
    columns = joined[np.isfinite(off_diagonal).any(axis=0)]
    return _evenly(order[np.isin(order, columns)], MOST_COMPARED)


def _evenly(places: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return at most so many of these places, taken evenly."""
    return places[np.linspace(0, len(places) - 1, min(len(places), most)).astype(np.intp)]
