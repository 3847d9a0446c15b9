"""Iterated width 1: search that goes on only from states that show something new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from examiner.arena.contract import Seen, best
from examiner.arena.planning.planner import Lookahead, Planner
from examiner.arena.planning.tree import Novelty, grow_breadth_first, grow_by_rollouts
from examiner.validation import check_known

Search = Literal["rollouts", "breadth-first"]


@dataclass(kw_only=True)
class IW1(Planner):
    """Search that prunes states in which no atom is true for the first time, and follow the best path.

    With `observation = "ram"` atoms are values of bytes of the memory, with screens colours in tiles,
    with anything else numbers as they are and fractions in cells of width `cell`. `search` is
    "breadth-first", as in Lipovetzky, Ramírez and Geffner (2015), Classical Planning with Simulators:
    Results on the Atari Video Games, IJCAI, section 3, which needs tens of thousands of frames to see
    far; or by "rollouts" of at most `depth` actions, as in Bandres, Bonet and Geffner (2018), Planning
    with Pixels in (Almost) Real Time, AAAI, for small budgets. Pruned states still count with their
    reward. Unlike there, no tree is kept for the next decision: with sticky actions the game is rarely
    where it was foreseen.
    """

    search: Search = "rollouts"
    depth: int = 10
    cell: float = 0.1

    blind: ClassVar[bool] = False  # what the root shows is not new

    def __post_init__(self) -> None:
        super().__post_init__()
        check_known("search of the agent 'iw1'", self.search, get_args(Search))

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best path, ties broken at random."""
        novelty = Novelty(self.cell)
        if self.search == "rollouts":
            tree = grow_by_rollouts(ahead, novelty, seen, self.depth, rng)
        else:
            novelty.new(novelty.atoms(seen))
            tree = grow_breadth_first(
                ahead, lambda: novelty.new(novelty.atoms(ahead.observe())), rng
            )
        return best(tree.action_values(actions=ahead.actions, discount=self.discount), rng)
