"""Whether groups of a typology agree with clusters of tasks on which agents do alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.scores.likeness import FEWEST_PAIRS, correlate_columns
from examiner.wording import InputError

ClusterFunction: TypeAlias = Callable[[NDArray[np.float64], int], Sequence[Hashable]]
"""From scores [agents, tasks] and a number of clusters to a label for each task."""

Progress: TypeAlias = Callable[[str, int, int], None]


class Agreement(NamedTuple):
    """Adjusted Rand index of two partitions of tasks, with a percentile interval over agents.

    1 is the same partition, 0 what chance gives. `low` and `high` are NaN where labels were given
    instead of a way to find them, or agents are too few to be drawn again.
    """

    adjusted_rand: float
    low: float
    high: float
    confidence: float
    clusters: tuple[int, ...]
    resamples: int


def adjusted_rand(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    r"""Adjusted Rand index of two partitions, given as a label for each thing.

    .. math:: \frac{\sum_{ij}\binom{n_{ij}}{2} - E}{\frac12[A + B] - E}, \quad
              A = \sum_i \binom{a_i}{2},\; B = \sum_j \binom{b_j}{2},\; E = AB / \binom n2

    Counts are whole numbers throughout. Two partitions of one group each, or of single things, are
    the same and give 1.

    References: Hubert & Arabie (1985), eq. 5.

    >>> adjusted_rand(["a", "a", "b", "b"], [1, 1, 2, 2]), adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    if len(one) != len(other):
        raise InputError(f"{len(one)} labels for {len(other)} labels. Give two for each task.")
    if len(one) < 2:
        raise InputError(f"{len(one)} labels cannot be compared. Give those of two tasks or more.")
    rows, columns = _codes(one), _codes(other)
    table = np.zeros((max(rows) + 1, max(columns) + 1), dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    both = _pairs(table.ravel())
    in_one, in_other = _pairs(table.sum(axis=1)), _pairs(table.sum(axis=0))
    total = math.comb(len(one), 2)
    # Multiplied by twice the total, so that nothing is rounded before the one division.
    above = 2 * (both * total - in_one * in_other)
    below = (in_one + in_other) * total - 2 * in_one * in_other
    return 1.0 if below == 0 else above / below


def task_clusters(scores: NDArray[np.float64], count: int) -> tuple[int, ...]:
    """Cluster tasks by the correlation of their scores across agents: average linkage, cut at a number.

    The distance is 1 − r over the agents observed on both; without a correlation (a task on which all
    agents score the same) it is 1. `scores` has shape [agents, tasks]. There may be fewer clusters
    than asked for where distances tie.

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 6.0, 7.0]])
    >>> task_clusters(scores, 2)
    (1, 1, 2)
    """
    tasks = scores.shape[1]
    if not 1 <= count <= tasks:
        raise InputError(
            f"Cannot make {count} clusters of {tasks} tasks. Choose a number between 1 and {tasks}."
        )
    if tasks == 1:
        return (1,)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distances = 1.0 - np.nan_to_num(correlate_columns(scores)[0], nan=0.0)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform((distances + distances.T) / 2, checks=False), method="average")
    return tuple(int(label) for label in fcluster(tree, count, criterion="maxclust"))


def cluster_agreement(
    scores: NDArray[np.float64],
    groups: Sequence[Hashable],
    clusters: Sequence[Hashable] | ClusterFunction = task_clusters,
    *,
    resamples: int = 200,
    confidence: float = 0.95,
    progress: Progress | None = None,
    rng: np.random.Generator,
) -> Agreement:
    """Compare groups of tasks with clusters of their scores, as many of them as there are groups.

    `clusters` is a label for each task, or a function that finds them; only a function can be asked
    again with agents drawn anew, and so has an interval. `scores` has shape [agents, tasks].

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 6.0, 7.0]])
    >>> cluster_agreement(scores, ["a", "a", "b"], rng=np.random.default_rng(0)).adjusted_rand
    1.0
    """
    count = len(set(groups))
    if not callable(clusters):
        found = _codes(clusters)
        return Agreement(
            adjusted_rand(groups, clusters), math.nan, math.nan, confidence, tuple(found), 0
        )
    labels = clusters(scores, count)
    index = adjusted_rand(groups, labels)
    drawn = []
    for place in range(resamples):
        chosen = rng.integers(len(scores), size=len(scores))
        # Fewer different agents correlate all tasks perfectly.
        if len(np.unique(chosen)) >= FEWEST_PAIRS:
            drawn.append(adjusted_rand(groups, clusters(scores[chosen], count)))
        if progress:
            progress("drawing agents anew", place + 1, resamples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail)) if drawn else (math.nan, math.nan)
    return Agreement(index, float(low), float(high), confidence, tuple(_codes(labels)), len(drawn))


def _codes(labels: Sequence[Hashable]) -> list[int]:
    """A number for each label, in order of appearance."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(label, len(known)) for label in labels]


def _pairs(counts: NDArray[np.int64]) -> int:
    return sum(math.comb(int(count), 2) for count in counts)
