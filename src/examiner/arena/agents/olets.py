"""Open-loop expectimax tree search: a tree of actions, not of states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.arena.planning.planner import Lookahead
from examiner.arena.planning.tree import ActionNode, ActionTreePlanner, Returns


@dataclass(slots=True)
class _EndingNode(ActionNode):
    endings: int = 0  # simulations that ended here
    ending_total: float = 0.0  # and what they had gained

    def update(self) -> None:
        r""":math:`r_M(n) = R_e(n)/N(n) + (1 - N_e(n)/N(n)) \max_c r_M(c)`."""
        own = self.ending_total / self.visits
        later = max((child.value for child in self.children.values()), default=0.0)
        self.value = own + (1.0 - self.endings / self.visits) * later


@dataclass(kw_only=True)
class OLETS(ActionTreePlanner):
    r"""Replay actions from the state of the game down a tree, add one node, and score what is reached.

    .. math:: \arg\max_a \; r_M(n a) + c \sqrt{\ln N(n) / N(n a)}, \quad
        r_M(n) = \frac{R_e(n)}{N(n)} + \left(1 - \frac{N_e(n)}{N(n)}\right) \max_a r_M(n a)

    with c the `exploration` and :math:`r_M` brought to [0, 1] by the least and the greatest return of
    the search. The action tried most often is taken. Nodes keep no states, so that noise is averaged
    over. Perez-Liebana, Dieskau, Hünermund, Mostaghim and Lucas (2015), Open Loop Search for General
    Video Game Playing, GECCO, after Couëtoux; its penalty for places already visited is left out, since
    Atari games do not tell places.
    """

    node = _EndingNode

    def simulate(
        self, root: _EndingNode, ahead: Lookahead, returns: Returns, rng: np.random.Generator
    ) -> None:
        """Go down to a new node, count that the simulation ended there, and update the path."""
        node, path, gained, weight = root, [root], 0.0, 1.0
        while ahead.affords() and not ahead.over:
            new = bool(node.untried)
            action = node.next_action(ahead, returns, self.exploration, rng)
            node = node.children[action]
            path.append(node)
            gained += weight * ahead.take(action)
            weight *= self.discount
            if new:
                break
        node.endings += 1
        node.ending_total += gained
        returns.meet(gained)
        for node in reversed(path):
            node.visits += 1
            node.update()
