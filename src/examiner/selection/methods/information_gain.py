"""The tasks that together tell most about which agent is playing, one after the other."""

from __future__ import annotations

import numpy as np

from examiner.selection.bits import bits_gains
from examiner.selection.evidence import Evidence
from examiner.selection.greedy import grow
from examiner.selection.task_set import TaskSet


def information_gain(evidence: Evidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Add the task that tells most bits beside those chosen (papers/004, section V-C).

    Needs `evidence.channels`; draws nothing at random.
    """
    gains = bits_gains(evidence, "information_gain")
    return grow(evidence, size, gains, method="information_gain", unit="bits")
