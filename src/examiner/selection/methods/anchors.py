"""Tasks that represent others with similar responses: weighted k-medoids."""

from __future__ import annotations

import numpy as np

from examiner.selection.evidence import SelectionEvidence, check_distances
from examiner.selection.greedy import TaskSet, exchange, grow, selection_of
from examiner.validation import Floats


def anchors(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Choose tasks so that every task is near one of them, in the agents' responses.

    k-medoids (Kaufman & Rousseeuw, 1990: BUILD, then SWAP) on Euclidean distances between the columns
    of responses; `gain` is each anchor's weight, the number of tasks it stands for (Polo et al., 2024).
    Draws nothing at random.
    """
    distance = column_distance(evidence.values)
    far = distance.max() if distance.size else 0.0

    def gains(chosen: list[int]) -> Floats:
        nearest = distance[:, chosen].min(axis=1) if chosen else np.full(len(distance), far)
        return np.asarray(np.maximum(nearest[:, None] - distance, 0.0).mean(axis=0))

    start = grow(evidence, size, gains, method="anchors", unit="tasks it stands for")
    columns = exchange(evidence, start.columns, gains)
    nearest = distance[:, columns].argmin(axis=1)
    nearest[columns] = np.arange(len(columns))  # twins each stand for themselves
    weight = np.bincount(nearest, minlength=len(columns)).astype(np.float64)
    return selection_of(evidence, columns, weight, method="anchors", unit=start.unit)


def column_distance(values: Floats) -> Floats:
    """Euclidean distance between columns, shape [tasks, tasks]."""
    check_distances(values.shape[1])
    centred = values - values.mean()
    gram = centred.T @ centred
    square = np.diag(gram)
    distance: Floats = np.sqrt(np.maximum(square[:, None] + square - 2 * gram, 0.0))
    np.fill_diagonal(distance, 0.0)
    return distance
