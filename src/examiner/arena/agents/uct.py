"""Monte-Carlo tree search with upper confidence bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.arena.planning.planner import Lookahead, drawn
from examiner.arena.planning.tree import ActionNode, ActionTreePlanner, Returns


@dataclass(slots=True)
class _MeanNode(ActionNode):
    total: float = 0.0

    def meet(self, gained: float) -> None:
        self.visits += 1
        self.total += gained
        self.value = self.total / self.visits


@dataclass(kw_only=True)
class UCT(ActionTreePlanner):
    r"""Follow upper confidence bounds down a tree, try an action there, then play on at random.

    .. math:: \arg\max_a \; \bar{Q}(n, a) + c \sqrt{\ln N(n) / N(n, a)}

    with c the `exploration` and returns brought to [0, 1] by the least and the greatest met in the
    search; every simulation plays `depth` actions. The action tried most often is taken. Kocsis and
    Szepesvári (2006), Bandit Based Monte-Carlo Planning, ECML; on Atari games Bellemare, Naddaf, Veness
    and Bowling (2013), The Arcade Learning Environment, JAIR 47, section 3.2. Nodes are sequences of
    actions, played anew from the state of the game in every simulation, so that noise is averaged over
    (open loop, as the OLMCTS of GVGAI: Pérez-Liébana et al. 2015, Open Loop Search for General Video
    Game Playing, GECCO); where the game has no noise this is the tree of states.
    """

    exploration: float = 0.5
    depth: int = 10

    node = _MeanNode

    def simulate(
        self, root: _MeanNode, ahead: Lookahead, returns: Returns, rng: np.random.Generator
    ) -> None:
        """Go down to a new node, play on at random, and tell the path what it gained."""
        path, rewards, inside = [root], list[float](), True
        for random_action in drawn(ahead, self.depth, rng):
            if ahead.over or not ahead.affords():
                break
            action = random_action
            if inside:
                node = path[-1]
                inside = not node.untried
                action = node.next_action(ahead, returns, self.exploration, rng)
                path.append(node.children[action])
            rewards.append(ahead.take(action))
        later = 0.0
        for step in range(len(rewards), 0, -1):
            later = rewards[step - 1] + self.discount * later
            if step < len(path):
                path[step].meet(later)
                returns.meet(later)
        root.visits += 1
