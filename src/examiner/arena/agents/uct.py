"""Monte-Carlo tree search with upper confidence bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from examiner.arena.environment import Seen
from examiner.arena.planning.lookahead import Lookahead
from examiner.arena.planning.planner import Planner
from examiner.arena.planning.returns import Returns
from examiner.arena.planning.sequences import drawn
from examiner.arena.planning.ties import best


@dataclass(slots=True)
class _Node:
    state: Any  # whatever the environment makes it
    reward: float
    untried: list[int]
    children: dict[int, _Node] = field(default_factory=dict)
    visits: int = 0
    total: float = 0.0


@dataclass(kw_only=True)
class UCT(Planner):
    r"""Follow upper confidence bounds down the tree, try an action there, then play on at random.

    .. math:: \arg\max_a \; \bar{Q}(n, a) + c \sqrt{\ln N(n) / N(n, a)}

    with c the `exploration` and returns brought to [0, 1] by the least and the greatest met in the
    search; a simulation plays `depth` random actions after the tree. The action tried most often is
    taken. States are kept in the nodes, as if the game were deterministic: Kocsis and Szepesvári (2006),
    Bandit Based Monte-Carlo Planning, ECML, on Atari games as Bellemare, Naddaf, Veness and Bowling
    (2013), The Arcade Learning Environment, JAIR 47, section 4.2.
    """

    exploration: float = 0.5
    depth: int = 10

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best mean return."""
        root, returns = _node(ahead.root, 0.0, ahead, rng), Returns()
        for _ in range(self.budget):  # simulations that meet the end of a game may cost nothing
            if not ahead.affords():
                break
            path = self._descend(root, returns)
            later = self._play_out(path, ahead, rng)
            for node in reversed(path):
                later = node.reward + self.discount * later
                node.visits += 1
                node.total += later
                returns.meet(later)
        most = max(child.visits for child in root.children.values())
        means = [-np.inf] * ahead.actions
        for action, child in root.children.items():
            if child.visits == most:
                means[action] = child.total / child.visits
        return best(means, rng)

    def _descend(self, node: _Node, returns: Returns) -> list[_Node]:
        path = [node]
        while not node.untried and node.children:
            log_visits = math.log(node.visits)
            node = max(
                node.children.values(),
                key=lambda child: (
                    returns.share(child.total / child.visits)
                    + self.exploration * math.sqrt(log_visits / child.visits)
                ),
            )
            path.append(node)
        return path

    def _play_out(self, path: list[_Node], ahead: Lookahead, rng: np.random.Generator) -> float:
        """Add a node to the path, unless the game ended there; return what random play after it gives."""
        leaf = path[-1]
        if not leaf.untried:
            return 0.0
        action = leaf.untried.pop()
        ahead.go_to(leaf.state)
        reward = ahead.take(action)
        leaf.children[action] = _node(ahead.state(), reward, ahead, rng)
        path.append(leaf.children[action])
        total, weight = 0.0, 1.0
        for chosen in drawn(ahead, self.depth, rng):
            if ahead.over or not ahead.affords():
                break
            total += weight * ahead.take(chosen)
            weight *= self.discount
        return total


def _node(state: object, reward: float, ahead: Lookahead, rng: np.random.Generator) -> _Node:
    ended = ahead.over and state is not ahead.root
    return _Node(state, reward, [] if ended else rng.permutation(ahead.actions).tolist())
