"""Planners that improve one sequence of actions and carry it from decision to decision."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from examiner.arena.planning.lookahead import Lookahead
from examiner.arena.planning.planner import Planner
from examiner.arena.planning.sequences import Sequence, drawn, fitting, shifted


@dataclass(kw_only=True)
class SequencePlanner(Planner):
    """A planner with one sequence of `length` actions, shifted on by one after every decision."""

    length: int = 10

    _plan: Sequence = field(init=False, repr=False, default_factory=list)

    def forget(self) -> None:
        """Begin the next episode without a sequence."""
        self._plan = []

    def carried(self, ahead: Lookahead, rng: np.random.Generator) -> Sequence:
        """Return what is left of the last decision's sequence, or a random one at the beginning."""
        if self._plan:
            return shifted(self._plan, ahead, rng)
        return drawn(ahead, fitting(ahead, self.length), rng)
