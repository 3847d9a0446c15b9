"""Improve one sequence of actions, one action at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.arena.contract import Seen
from examiner.arena.planning.planner import Lookahead, SequencePlanner, changed, value


@dataclass(kw_only=True)
class HillClimbing(SequencePlanner):
    """Change one action of a sequence at a time and keep what is not worse; go on with it next time.

    The (1+1) evolution strategy on sequences of actions that Gaina, Lucas and Pérez-Liébana (2017),
    Rolling Horizon Evolution Enhancements in General Video Game Playing, CIG, begin from; a shift buffer
    carries the sequence to the next decision.
    """

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the sequence as it is when the budget is spent."""
        plan = self.carried(ahead, rng)
        worth = value(plan, ahead, self.discount)
        while ahead.affords(len(plan)):
            other = changed(plan, ahead, rng)
            others = value(other, ahead, self.discount)
            if others >= worth:
                plan, worth = other, others
        self._plan = plan
        return plan[0]
