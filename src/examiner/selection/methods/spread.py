"""Tasks spread evenly from easy to hard."""

from __future__ import annotations

import numpy as np

from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, check_size, grow
from examiner.validation import Floats


def spread(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Choose tasks at even steps of difficulty: the mean of all agents, from the least to the greatest.

    With k tasks the steps stand at the (i − ½)/k quantiles of the tasks' means. What a task gains is how
    near it is to a step that no selected task occupies. Draws nothing at random.
    """
    size = check_size(evidence, size)
    means = evidence.values.mean(axis=0)
    offered = np.sort(means[evidence.terms.offered])
    steps = np.quantile(offered, (np.arange(size) + 0.5) / size)
    width = max(float(offered[-1] - offered[0]), 1e-300)
    away = np.abs(means[:, None] - steps) / width  # [tasks, steps]

    def gains(chosen: list[int]) -> Floats:
        free = np.ones(size, dtype=bool)
        for column in chosen:
            if free.any():
                free[np.flatnonzero(free)[away[column, free].argmin()]] = False
        return np.asarray(1.0 - away[:, free if free.any() else slice(None)].min(axis=1))

    return grow(evidence, size, gains, method="spread", unit="nearness to an even step")
