"""The tasks with most information about which agent is playing: one after the other, or exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.information import PairLikelihood, bits_with, table_bits
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import Gains, TaskSet, exchanged, floating, grow
from examiner.validation import Floats


def information_gain(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Add the task that gives most bits in addition to those selected (papers/004, section V-C).

    Needs `evidence.channels`; draws nothing at random.
    """
    gains = bits_gains(evidence, "information_gain")
    return grow(evidence, size, gains, method="information_gain", unit="bits")


def information_swap(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Add the task that gives most bits, and exchange tasks while that adds bits, at every size.

    Needs `evidence.channels`; draws nothing at random.
    """
    gains = bits_gains(evidence, "information_swap")
    return exchanged(evidence, size, gains, method="information_swap", unit="bits")


def information_swap_path(
    evidence: SelectionEvidence, sizes: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the positions of sets of several sizes at once."""
    return floating(evidence, sizes, bits_gains(evidence, "information_swap"))


def bits_gains(evidence: SelectionEvidence, method: str) -> Gains:
    """Return a function of the tasks chosen that gives the bits each other one would add."""
    pairs = PairLikelihood(evidence.needed(method, "channels"))
    pairs.keep()
    tables: dict[int, Floats] = {}  # of the tasks that were chosen at some time: few

    def gains(chosen: list[int]) -> Floats:
        base = np.zeros((pairs.shape[0],) * 2)
        for column in chosen:
            if column not in tables:
                tables[column] = pairs.table([column])
            base += tables[column]
        present = table_bits(base) if chosen else 0.0
        return np.where(pairs.usable, bits_with(pairs, base) - present, -np.inf)

    return gains
