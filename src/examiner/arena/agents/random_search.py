"""Draw sequences of actions at random and begin the best of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.arena.contract import Seen
from examiner.arena.planning.planner import Lookahead, Planner, drawn, fitting, value


@dataclass(kw_only=True)
class RandomSearch(Planner):
    """Play out random sequences of `length` actions and take the first action of the best.

    The baseline of rolling-horizon evolution: Gaina, Liu, Lucas and Pérez-Liébana (2017), Analysis of
    Vanilla Rolling Horizon Evolution Parameters in General Video Game Playing, EvoApplications.
    """

    length: int = 10

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best sequence."""
        length = fitting(ahead, self.length)
        chosen, highest = drawn(ahead, length, rng), -np.inf
        while ahead.affords(length):
            sequence = drawn(ahead, length, rng)
            worth = value(sequence, ahead, self.discount)
            if worth > highest:
                chosen, highest = sequence, worth
        return chosen[0]
