"""Open-loop expectimax tree search: a tree of actions, not of states."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from examiner.arena.environments.contract import Seen
from examiner.arena.planning.action_tree import ActionNode
from examiner.arena.planning.lookahead import Lookahead
from examiner.arena.planning.planner import Planner
from examiner.arena.planning.returns import Returns


@dataclass(slots=True)
class _Node(ActionNode):
    endings: int = 0  # simulations that ended here
    ending_total: float = 0.0  # and what they had gained

    def update(self) -> None:
        r""":math:`r_M(n) = R_e(n)/N(n) + (1 - N_e(n)/N(n)) \max_c r_M(c)`."""
        own = self.ending_total / self.visits
        if not self.children:
            self.value = own
            return
        later = max(child.value for child in self.children.values())
        self.value = own + (1.0 - self.endings / self.visits) * later


@dataclass(kw_only=True)
class OLETS(Planner):
    r"""Replay actions from the state of the game down a tree, add one node, and score what is reached.

    .. math:: \arg\max_a \; r_M(n a) + c \sqrt{\ln N(n) / N(n a)}, \quad
        r_M(n) = \frac{R_e(n)}{N(n)} + \left(1 - \frac{N_e(n)}{N(n)}\right) \max_a r_M(n a)

    with c the `exploration` and :math:`r_M` brought to [0, 1] by the least and the greatest return of
    the search. The action tried most often is taken. Nodes keep no states, so that noise is averaged
    over. Perez-Liebana, Dieskau, Hünermund, Mostaghim and Lucas (2015), Open Loop Search for General
    Video Game Playing, GECCO, after Couëtoux; its penalty for places already visited is left out, since
    Atari games do not tell places.
    """

    exploration: float = math.sqrt(2.0)

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        root, returns = _Node.fresh(ahead, rng), Returns()
        while ahead.affords():
            self._simulate(root, ahead, returns, rng)
        return root.most_tried(ahead, rng)

    def _simulate(
        self, root: _Node, ahead: Lookahead, returns: Returns, rng: np.random.Generator
    ) -> None:
        ahead.go_to(ahead.root)
        node, path, gained, weight = root, [root], 0.0, 1.0
        while ahead.affords() and not ahead.over:
            new = bool(node.untried)
            action = node.grow(ahead, rng) if new else node.favourite(returns, self.exploration)
            node = node.children[action]
            path.append(node)
            gained += weight * ahead.take(action)
            weight *= self.discount
            if new:
                break
        node.endings += 1
        node.ending_total += gained
        returns.meet(gained)
        for one in reversed(path):
            one.visits += 1
            one.update()
