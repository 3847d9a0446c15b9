"""How many bits each task would add to those chosen: the gains of both information methods."""

from __future__ import annotations

import numpy as np

from examiner.information.confusion import PairLikelihood
from examiner.information.gain import bits_with, table_bits
from examiner.selection.evidence import Array, Evidence
from examiner.selection.greedy import Gains


def bits_gains(evidence: Evidence, method: str) -> Gains:
    """Return a function of the tasks chosen that gives the bits each other one would add."""
    evidence.needed(method, "channels")
    channels = evidence.channels
    assert channels is not None
    pairs = PairLikelihood(channels)
    usable = channels.usable
    tables: dict[int, Array] = {}  # of the tasks that were chosen at some time: few

    def gains(chosen: list[int]) -> Array:
        base = np.zeros((pairs.shape[0],) * 2)
        for place in chosen:
            if place not in tables:
                tables[place] = pairs.table([place])
            base += tables[place]
        held = table_bits(base) if chosen else 0.0
        return np.where(usable, bits_with(pairs, base) - held, -np.inf)

    return gains
