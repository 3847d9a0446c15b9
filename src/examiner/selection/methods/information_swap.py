"""The tasks that together tell most about which agent is playing, with exchanges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.selection.bits import bits_gains
from examiner.selection.evidence import Evidence
from examiner.selection.greedy import floating, in_order
from examiner.selection.task_set import TaskSet


def information_swap(evidence: Evidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Add the task that tells most bits, and exchange tasks while that adds bits, at every size.

    Needs `evidence.channels`; draws nothing at random.
    """
    gains = bits_gains(evidence, "information_swap")
    columns = floating(evidence, [size], gains)[0]
    return in_order(evidence, columns, gains, method="information_swap", unit="bits")


def information_swap_path(
    evidence: Evidence, sizes: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the positions of sets of several sizes at once."""
    return floating(evidence, sizes, bits_gains(evidence, "information_swap"))
