"""The tasks that discriminate where the agents are."""

from __future__ import annotations

import numpy as np

from examiner.irt import steepness
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, grow
from examiner.validation import Floats


def discrimination(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Take the tasks whose curves rise most steeply at the agents' abilities, on average.

    "Focus on those games that are discriminating, and also use those whose difficulty is close to the
    estimated ability of the technique" (papers/003, section 5): the slope of the curve at an ability is
    large where both hold, and negative where strong agents do worse. For one agent, give its ability alone.
    Needs `evidence.items` and `evidence.ability`; draws nothing at random.
    """
    items, ability = (evidence.needed("discrimination", what) for what in ("items", "ability"))
    slope: Floats = steepness(items, ability).mean(axis=0)

    def gains(chosen: list[int]) -> Floats:
        return slope

    return grow(evidence, size, gains, method="discrimination", unit="slope at the abilities")
