"""Hierarchical clustering: trees of joins, cuts through them, and how good a cut is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.validation import Floats

Linkage = Literal["average", "complete", "single"]
MOST_ORDERED = 300
"""Beyond this many tasks, finding the order that puts similar tasks next to each other takes too long."""
MOST_CLUSTERS = 40


def dendrogram(tree: Floats, places: Sequence[int]) -> Floats:
    """Return the corners of each join of a tree whose leaves are at these places; shape [joins, 4, 2].

    `tree` is a linkage matrix of scipy. A join begins at its left part, rises to the distance at which
    both are joined, and descends to its right part.

    >>> dendrogram(np.array([[0.0, 1.0, 0.2, 2.0]]), [1, 0])[0].tolist()
    [[1.0, 0.0], [1.0, 0.2], [0.0, 0.2], [0.0, 0.0]]
    """
    place, height = [float(number) for number in places], [0.0] * len(places)
    joins = []
    for one, other, distance in zip(*(tree[:, column] for column in range(3)), strict=True):
        left, right = int(one), int(other)
        joins.append(
            [
                [place[left], height[left]],
                [place[left], distance],
                [place[right], distance],
                [place[right], height[right]],
            ]
        )
        place.append((place[left] + place[right]) / 2)
        height.append(float(distance))
    return np.array(joins)


def mean_silhouette(distance: Floats, labels: NDArray[np.integer]) -> float:
    r"""Return the mean of (b − a) / max(a, b) over tasks (Rousseeuw, 1987).

    a is a task's mean distance to its own cluster, b that to the nearest other; a task alone counts 0.

    >>> mean_silhouette(np.array([[0.0, 0.1, 1.0], [0.1, 0.0, 1.0], [1.0, 1.0, 0.0]]), np.array([1, 1, 2]))
    0.6
    """
    clusters, cluster = np.unique(labels, return_inverse=True)
    if len(clusters) < 2:
        return float("nan")
    member = np.zeros((len(labels), len(clusters)))
    member[np.arange(len(labels)), cluster] = 1.0
    size = member.sum(axis=0)
    total = distance @ member
    rows = np.arange(len(labels))
    within = total[rows, cluster] / np.maximum(size[cluster] - 1, 1)
    others = total / size
    others[rows, cluster] = np.inf
    nearest = others.min(axis=1)
    widest = np.maximum(within, nearest)
    difference = (nearest - within) / np.where(widest > 0, widest, 1)
    return float(np.where((size[cluster] > 1) & (widest > 0), difference, 0).mean())


def suggested_number(tree: Floats, distance: Floats) -> int | None:
    """Return the number of clusters with the best mean silhouette; None for fewer than three tasks."""
    best, most = None, -np.inf
    for number in range(2, min(len(distance), MOST_CLUSTERS + 1)):
        value = mean_silhouette(distance, cut_tree(tree, number))
        if value > most + 1e-12:
            best, most = number, value
    return best


def cut_tree(tree: Floats, number: int | None, threshold: float = 0.0) -> NDArray[np.integer]:
    """Return the cluster of each task, from 1: this number of clusters, or those joined up to a distance.

    >>> cut_tree(np.array([[0.0, 1.0, 0.2, 2.0]]), None, 0.5)
    array([1, 1], dtype=int32)
    """
    from scipy.cluster.hierarchy import fcluster  # slow to import

    if number is None:
        return fcluster(tree, threshold, "distance")
    return fcluster(tree, number, "maxclust")


def linkage_tree(distance: Floats, linkage: Linkage) -> Floats:
    """Return scipy's linkage matrix of a table of distances.

    >>> linkage_tree(np.array([[0.0, 0.2], [0.2, 0.0]]), "average")
    array([[0. , 1. , 0.2, 2. ]])
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    return np.asarray(hierarchy.linkage(squareform(distance, checks=False), linkage))


def ordered_tree(distance: Floats, linkage: Linkage) -> tuple[Floats, NDArray[np.integer]]:
    """Return the tree of joins and its leaves, similar tasks next to each other where they are few."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    condensed = squareform(distance, checks=False)
    tree = linkage_tree(distance, linkage)
    if len(distance) <= MOST_ORDERED:
        tree = hierarchy.optimal_leaf_ordering(tree, condensed)
    return tree, hierarchy.leaves_list(tree)
