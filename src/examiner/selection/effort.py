"""About how long choosing takes by each method: to be told before long work, and no more exact."""

from __future__ import annotations

from examiner.selection.benchmark import Benchmark
from examiner.selection.greedy import MOST_EXCHANGED
from examiner.selection.sampled import agents_within
from examiner.selection.shrinkage import BLENDS, FOLDS, rungs_for

CHOICES_A_FOLD = 8
"""A fold chooses once, in five folds inside it, and without the agents at either end."""


def seconds_to_choose(material: Benchmark, size: int | None) -> dict[str, float]:
    """Processor seconds of one choice by each method that takes a while, on a machine of 2024.

    At each step regression scans agents · tasks numbers for ten penalties, the information methods agents²
    · tasks, and covariance agents · tasks once; how far it shrinks is settled once a fold. Without a
    size, as many tasks are reckoned with as the budget buys at the mean cost.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> known = seconds_to_choose(benchmark(Results.from_numpy(np.eye(8, 6))), 2)
    >>> known["regression"] > known["covariance"]
    True
    """
    agents, tasks = material.values.shape
    terms = material.terms
    if size is None:
        assert terms.budget is not None, "without a size there is a budget"
        size = 1 + int(min(terms.budget / terms.cost.mean(), tasks - 1))
    steps = 2 * size + (size * (size + 1) / 2 if tasks <= MOST_EXCHANGED else 0)
    fitting = 5e-6 * agents * tasks
    settling = len(BLENDS) * FOLDS * rungs_for(tasks)[-1] / CHOICES_A_FOLD
    settling *= agents_within(agents, tasks) / agents
    return {
        "covariance": 2e-9 * agents * tasks * (size + settling),
        "regression": 1.7e-7 * agents * tasks * steps,
        "information_swap": 1.7e-9 * agents**2 * tasks * steps,
        "information_gain": 3e-9 * agents**2 * tasks * size,
        "fisher": fitting,
        "discrimination": fitting,
        "anchors": 4e-9 * tasks**2 * steps,
    }
