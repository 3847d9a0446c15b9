"""One task of each group: of the kinds of a typology, or of clusters of correlated tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.scores import codes_of
from examiner.selection.evidence import SelectionEvidence, likeness
from examiner.selection.greedy import TaskSet, check_size, grow
from examiner.validation import Floats


def typology(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Take a task of each group of a classification, the largest groups first (papers/000, step 5).

    The paper draws the task of a group at random; here it is the one most like the rest of its group.
    Needs `evidence.groups`; draws nothing at random.
    """
    label = codes_of(evidence.needed("typology", "groups"))
    return one_of_each_group(evidence, size, label, likeness(evidence.values), "typology")


def clusters(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
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


def one_of_each_group(
    evidence: SelectionEvidence, size: int, label: NDArray[np.int64], distance: Floats, method: str
) -> TaskSet:
    """Take a task of every group, largest groups first, then second tasks where groups are large.

    Further tasks go to the group with most tasks for each one chosen (Sainte-Laguë's divisors). Within
    a group the task comes first whose mean distance to the rest of the group is least. `gain` is the
    number of tasks each chosen one stands for.
    """
    groups = int(label.max()) + 1
    count = np.bincount(label, minlength=groups).astype(np.float64)
    same = label[:, None] == label
    apart = np.where(same, distance, 0.0).sum(axis=1) / np.maximum(count[label] - 1, 1)
    central = 1.0 / (1.0 + apart)

    def gains(chosen: list[int]) -> Floats:
        number = np.bincount(label[chosen], minlength=groups)
        turn = count / (2 * number + 1) / len(label) + (number == 0)
        return np.asarray(turn[label] + 1e-6 * central)

    grown = grow(evidence, size, gains, method=method, unit="tasks it stands for")
    number = np.bincount(label[list(grown.columns)], minlength=groups)
    group = label[list(grown.columns)]
    return replace(grown, gain=count[group] / number[group])
