"""One task of each cluster of correlated tasks."""

from __future__ import annotations

import numpy as np

from examiner.selection.evidence import Evidence
from examiner.selection.greedy import check_size
from examiner.selection.representatives import likeness, one_of_each_group
from examiner.selection.task_set import TaskSet


def clusters(evidence: Evidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Cut the tree of tasks into as many clusters as tasks are wanted, and take the centre of each.

    Distances are 1 − r, the linkage is the average one (papers/004, section VI). Draws nothing at random.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # slow to import
    from scipy.spatial.distance import squareform

    size = check_size(evidence, size)
    distance = likeness(evidence.values)
    label = np.zeros(len(distance), dtype=np.int64)
    if len(distance) > 1:
        tree = linkage(squareform(distance, checks=False), "average")
        label = fcluster(tree, size, "maxclust").astype(np.int64) - 1
    return one_of_each_group(evidence, size, label, distance, "clusters")
