"""Tables of bits: of single tasks, of chosen sets, and of single measures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, count, flag, name, number, words
from examiner.validation import Floats


class Bits(Table):
    """Information of tasks, with its interval and what permuted results give; NaN where unknown."""

    task: tuple[str, ...] = name("Task")
    bits: Floats = number("Information about which agent is playing", unit="bits")
    bits_low: Floats | None = bound("bits", "low", default=None)
    bits_high: Floats | None = bound("bits", "high", default=None)
    corrected_bits: Floats | None = number(
        "Information expected once noise is removed", unit="bits", title="corrected", default=None
    )
    chance_bits: Floats | None = number(
        "Mean over permuted results", unit="bits", title="by chance", default=None
    )
    chance_high: Floats | None = number(
        "95th percentile over permuted results", unit="bits", default=None
    )


class TaskBits(Bits):
    """Information of single tasks, the most informative first."""

    significant: NDArray[np.bool_] | None = flag(
        "More bits than by chance (permutation test, 5 % over all tasks)", default=None
    )
    pairs_separated: NDArray[np.int64] | None = count(
        "Pairs of agents that this task separates", default=None
    )
    cost: Floats | None = number("Cost of the task", default=None)
    bits_per_cost: Floats | None = number("Information per unit of cost", default=None)


class MeasureBits(Table):
    """Information of single tasks by each measure alone."""

    task: tuple[str, ...] = name("Task")
    measure: tuple[str, ...] = name("Measure")
    bits: Floats = number("Information of this measure alone", unit="bits")


class SetBits(Bits):
    """Chosen tasks in the order in which each adds most to those above it."""

    bits: Floats = number(
        "Information of this task and those above it together", unit="bits", title="bits so far"
    )
    tied_with: tuple[tuple[str, ...], ...] | None = words(
        "Tasks that would have added the same bits", default=None
    )
