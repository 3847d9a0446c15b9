"""The tasks that discriminate where the agents are."""

from __future__ import annotations

import numpy as np

from examiner.irt import steepness
from examiner.selection.constraints import Array
from examiner.selection.evidence import Evidence
from examiner.selection.greedy import grow
from examiner.selection.task_set import TaskSet


def discrimination(evidence: Evidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Take the tasks whose curves rise most steeply at the agents' abilities, on average.

    "Focus on those games that are discriminating, and also use those whose difficulty is close to the
    estimated ability of the technique" (papers/003, section 5): the slope of the curve at an ability is
    large where both hold, and negative where the able do worse. For one agent, give its ability alone.
    Needs `evidence.items` and `evidence.ability`; draws nothing at random.
    """
    evidence.needed("discrimination", "items")
    evidence.needed("discrimination", "ability")
    assert evidence.items is not None
    assert evidence.ability is not None
    slope: Array = steepness(evidence.items, evidence.ability).mean(axis=0)

    def gains(chosen: list[int]) -> Array:
        return slope

    return grow(evidence, size, gains, method="discrimination", unit="slope at the abilities")
