"""About how long choosing takes by each method: to be told before long work, and no more exact."""

from __future__ import annotations

from examiner.selection.benchmark import Benchmark
from examiner.selection.greedy import MOST_EXCHANGED
from examiner.selection.sampled import agents_within
from examiner.selection.shrinkage import rungs_for

CHOICES_A_FOLD = 8
"""A fold chooses once, in five folds inside it, and without the agents at either end."""


def reckoned_size(material: Benchmark, size: int | None) -> int:
    """Return how many tasks are reckoned with: as asked, or what the budget buys at the mean cost.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> reckoned_size(benchmark(Results.from_numpy(np.eye(8, 6))), 2)
    2
    """
    if size is not None:
        return size
    terms, tasks = material.terms, len(material.tasks)
    assert terms.budget is not None, "without a size there is a budget"
    return 1 + int(min(terms.budget / terms.cost.mean(), tasks - 1))


def seconds_to_settle(agents: int, tasks: int) -> float:
    """Processor seconds in which the shrinkage of covariances is settled, on some of many agents.

    >>> seconds_to_settle(100, 100) < seconds_to_settle(200, 100)
    True
    """
    return 1.7e-8 * agents_within(agents, tasks) * tasks * rungs_for(tasks)[-1]


def seconds_to_predict(agents: int, tasks: int, size: int) -> float:
    """Processor seconds in which one fold learns to predict from its sets, random ones among them.

    >>> seconds_to_predict(100, 100, 5) < seconds_to_predict(100, 100, 50)
    True
    """
    return 1.1e-7 * agents * tasks + 5e-9 * agents * size * (100 + size)


def seconds_to_choose(material: Benchmark, size: int | None) -> dict[str, float]:
    """Processor seconds of one choice by each method that takes a while, on a machine of 2024.

    At each step regression scans agents · tasks numbers for ten penalties, the information methods agents²
    · tasks, and covariance agents · tasks once, after some factors are fitted. Without a
    size, as many tasks are reckoned with as the budget buys at the mean cost.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> known = seconds_to_choose(benchmark(Results.from_numpy(np.eye(8, 6))), 2)
    >>> known["regression"] > known["covariance"]
    True
    """
    agents, tasks = material.values.shape
    size = reckoned_size(material, size)
    steps = 2 * size + (size * (size + 1) / 2 if tasks <= MOST_EXCHANGED else 0)
    fitting = 5e-6 * agents * tasks
    return {
        "covariance": agents * tasks * (1.3e-7 + 9e-10 * size),
        "regression": 1.7e-7 * agents * tasks * steps,
        "information_swap": 1.7e-9 * agents**2 * tasks * steps,
        "information_gain": 3e-9 * agents**2 * tasks * size,
        "fisher": fitting,
        "discrimination": fitting,
        "anchors": 4e-9 * tasks**2 * steps,
    }
