"""One sample of the agents of a very large table, used wherever choosing is repeated in folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_CELLS = 5_000_000
"""Agents × tasks of a fold, at most: choosing in it takes seconds (`benchmarks/selection_speed.py`)."""
FEWEST_AGENTS = 200


def is_very_large(agents: int, tasks: int) -> bool:
    """Whether choosing on all agents again and again would take long.

    >>> is_very_large(1000, 500), is_very_large(5000, 20_000)
    (False, True)
    """
    return agents > max(MOST_CELLS // tasks, FEWEST_AGENTS)


def sampled_agents(families: NDArray[np.integer], tasks: int) -> NDArray[np.bool_]:
    """Flag the agents of the sample, [agents]: everybody, where the table is not very large.

    Whole families are taken, evenly by their numbers: nothing is random.

    >>> sampled_agents(np.array([0, 1, 0]), 10).all()
    np.True_
    >>> int(sampled_agents(np.arange(5000), 20_000).sum())
    250
    """
    agents, most = len(families), max(MOST_CELLS // tasks, FEWEST_AGENTS)
    if not is_very_large(agents, tasks):
        return np.ones(agents, dtype=np.bool_)
    number = int(families.max()) + 1
    count = -(-most * number // agents)
    return np.isin(families, np.linspace(0, number - 1, count).astype(np.intp))


def note_of_sample(sample: NDArray[np.bool_]) -> tuple[str, ...]:
    """Say so where some agents are used in place of all.

    >>> note_of_sample(np.array([True, False]))[0][:44]
    'The table is large: 1 of its 2 agents, taken'
    """
    if sample.all():
        return ()
    return (
        f"The table is large: {sample.sum():,} of its {len(sample):,} agents, taken evenly, are "
        f"used wherever the choice is repeated in folds.",
    )
