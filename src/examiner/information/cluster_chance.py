"""Clusters compared with chance: which of them permuted tables do not have."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.clusters import Linkage, TaskClusters, cut_tree, linkage_tree
from examiner.information.observations import oriented_means
from examiner.information.permutation import (
    PermutationTest,
    permutations_of,
    permuted_within_columns,
    share_as_large,
)
from examiner.messages import counted
from examiner.results import Results
from examiner.results.names import name_order
from examiner.scores.likeness import Method, correlate_columns, correlation_distances
from examiner.scores.significance import LEVEL
from examiner.validation import Floats, Randomness, generator

MOST_CELLS = 1_000_000
"""Of larger tables agents are taken evenly by name: permuted copies of all would fill memory."""
MOST_COMPARED = 1000
"""Of more tasks this many are taken evenly by name: every permuted table is clustered, in 0.05 s."""


class _Structure(NamedTuple):
    """Clusters of a table: Σ r² of all pairs of tasks, and each cluster's size and mean correlation."""

    squares: float
    size: Floats
    cohesion: Floats

    @classmethod
    def of(cls, correlation: Floats, label: NDArray[np.integer]) -> _Structure:
        known = np.nan_to_num(correlation)
        np.fill_diagonal(known, 0.0)
        size = np.bincount(label).astype(np.float64)
        order = np.argsort(label, kind="stable")
        present, starts = np.unique(label[order], return_index=True)
        by_cluster = np.add.reduceat(known[:, order], starts, axis=1)  # [tasks, clusters present]
        own = by_cluster[np.arange(len(label)), np.searchsorted(present, label)]
        within = np.bincount(label, weights=own)
        pairs = np.maximum(size * (size - 1), 1.0)
        return cls(float((known**2).sum() / 2), size, within / pairs)

    def has(self, size: float, cohesion: float) -> bool:
        """Whether some cluster is as large and as closely correlated."""
        return bool(((self.size >= size) & (self.cohesion >= cohesion - 1e-9)).any())


def compared_with_chance(
    found: TaskClusters,
    results: Results,
    *,
    rng: Randomness,
    linkage: Linkage,
    threshold: float,
    number: int | Literal["auto"] | None,
) -> TaskClusters:
    r"""Return clusters with a permutation test, and which of them are beyond chance.

    Agents are exchanged within each task, each task by itself, and tasks are clustered again by the same
    rule. Whether tasks correlate at all is tested by :math:`\sum_{s < t} r_{st}^2`. If so, a cluster of k
    tasks with mean correlation r is beyond chance where at most 5 % of the tables have a cluster of at
    least k tasks with a mean correlation of at least r.

    >>> from examiner.information.clusters import clusters
    >>> rng = np.random.default_rng(0)
    >>> results = Results.from_numpy(rng.normal(size=(20, 1)) + rng.normal(size=(20, 6)))
    >>> how = {"linkage": "average", "threshold": 0.8, "number": None}
    >>> compared_with_chance(clusters(results), results, rng=0, **how).test.shown
    True
    """
    columns = _varied(found)
    table = _table(results, found, columns)
    label = found.label[columns]
    if not len(columns):
        nothing = PermutationTest(0.0, 0.0, 1.0, 0)
        return replace(found, test=nothing, beyond=(False,) * len(found.clusters))
    wanted = found.suggested if number == "auto" else number
    observed = _Structure.of(_correlation(table, found.method), label)
    drawing = generator(rng)
    permuted = [
        _clustered(
            permuted_within_columns(table, drawing), found.method, linkage, threshold, wanted
        )
        for _ in range(permutations_of(table.size))
    ]
    squares = np.array([observed.squares, *(each.squares for each in permuted)])
    p = float(share_as_large(squares)[0])
    test = PermutationTest(observed.squares, float(squares[1:].mean()), p, len(permuted))
    beyond = [
        test.shown and size > 1 and _share(permuted, size, cohesion) <= LEVEL
        for size, cohesion in zip(observed.size, observed.cohesion, strict=True)
    ]
    alone = len(found.clusters) - len(beyond)  # tasks without any correlation have the last labels
    notes = found.notes
    if len(columns) == MOST_COMPARED < len(found.tasks):
        part = f"{len(columns):,} of {counted(len(found.tasks), 'task')}, taken evenly by name"
        notes = (*notes, f"Clusters were compared with chance on {part}.")
    return replace(found, test=test, beyond=(*map(bool, beyond), *(False,) * alone), notes=notes)


def _share(permuted: list[_Structure], size: float, cohesion: float) -> float:
    return (1 + sum(each.has(size, cohesion) for each in permuted)) / (1 + len(permuted))


def _varied(found: TaskClusters) -> NDArray[np.intp]:
    """Columns of the tasks whose correlations are known, by name."""
    joined = np.arange(len(found.tasks)) if found.joined is None else np.array(found.joined)
    off_diagonal = found.correlation.copy()
    np.fill_diagonal(off_diagonal, np.nan)
    columns = joined[np.isfinite(off_diagonal).any(axis=0)]
    columns = columns[np.argsort(name_order(found.tasks)[columns])]
    if len(columns) <= MOST_COMPARED:
        return columns
    return columns[np.linspace(0, len(columns) - 1, MOST_COMPARED).astype(np.intp)]


def _table(results: Results, found: TaskClusters, columns: NDArray[np.intp]) -> Floats:
    """Means of some tasks, agents by name."""
    agents = np.argsort(name_order(results.agents))
    most = max(MOST_CELLS // max(len(columns), 1), 3)
    if len(agents) > most:
        agents = agents[np.linspace(0, len(agents) - 1, most).astype(np.intp)]
    return oriented_means(results, found.measure)[np.ix_(agents, columns)]


def _correlation(table: Floats, method: Method) -> Floats:
    return correlate_columns(table, method)[0]


def _clustered(
    table: Floats, method: Method, linkage: Linkage, threshold: float, number: int | None
) -> _Structure:
    correlation = _correlation(table, method)
    tree = linkage_tree(correlation_distances(correlation), linkage)
    return _Structure.of(correlation, cut_tree(tree, number, threshold) - 1)
