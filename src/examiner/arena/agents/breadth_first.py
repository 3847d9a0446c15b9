"""Try everything to the same depth: the blind search that others are held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.arena.contract import Seen, best
from examiner.arena.planning.planner import Lookahead, Planner
from examiner.arena.planning.tree import grow_breadth_first


@dataclass(kw_only=True)
class BreadthFirst(Planner):
    """Grow the tree of all action sequences, shortest first, and follow its best path.

    Bellemare, Naddaf, Veness and Bowling (2013), The Arcade Learning Environment, JAIR 47, section 3.2.
    """

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best path, ties broken at random."""
        tree = grow_breadth_first(ahead, lambda: True, rng)
        return best(tree.action_values(actions=ahead.actions, discount=self.discount), rng)
