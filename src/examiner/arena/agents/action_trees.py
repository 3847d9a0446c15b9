"""Planners that grow a tree of actions, played anew from the state of the game in every simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from examiner.arena.contract import Seen, best
from examiner.arena.planner import Lookahead, Planner


@dataclass(slots=True)
class _Node:
    """What is known of a sequence of actions; how its `value` comes about is the planner's affair."""

    untried: list[int]
    children: dict[int, _Node] = field(default_factory=dict)
    visits: int = 0
    value: float = 0.0
    gained: float = 0.0  # the sum over visits, or over simulations that ended here
    endings: int = 0


class _ActionTree:
    """The tree of one decision, and the range of returns: games count in ones or in thousands."""

    def __init__(self, ahead: Lookahead, exploration: float, rng: np.random.Generator) -> None:
        self.ahead, self.rng, self._exploration = ahead, rng, exploration
        self._least, self._greatest = math.inf, -math.inf
        self.root = self._new_node()

    def _new_node(self) -> _Node:
        """A node whose actions will be tried in a random order."""
        return _Node(self.rng.permutation(self.ahead.actions).tolist())

    def meet(self, value: float) -> None:
        """Take note of a return."""
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)

    def next_action(self, node: _Node) -> int:
        r"""Return an untried action, which gets a child, or else that of the greatest confidence bound.

        .. math:: \arg\max_a \; v(n a) + c \sqrt{\ln N(n) / N(n a)}

        with values brought to [0, 1] by the returns met in the search, and c the exploration.
        """
        if node.untried:
            action = node.untried.pop()
            node.children[action] = self._new_node()
            return action
        log_visits, least = math.log(node.visits), self._least
        spread = self._greatest - least

        def bound(action: int) -> float:
            child = node.children[action]
            share = (child.value - least) / spread if spread > 0.0 else 0.0
            return share + self._exploration * math.sqrt(log_visits / child.visits)

        return max(node.children, key=bound)

    def most_tried(self) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        children = self.root.children
        most = max(child.visits for child in children.values())
        values = [-np.inf] * self.ahead.actions
        for action, child in children.items():
            if child.visits == most:
                values[action] = child.value
        return best(values, self.rng)


@dataclass(kw_only=True)
class _ActionTreePlanner(Planner):
    """A planner that simulates down a tree of actions and takes the action tried most often."""

    exploration: float = math.sqrt(2.0)

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        tree = _ActionTree(ahead, self.exploration, rng)
        while ahead.affords():
            ahead.go_to(ahead.root)
            self.simulate(tree)
        return tree.most_tried()

    def simulate(self, tree: _ActionTree) -> None:
        """Play from the state of the game down the tree, and bring the nodes of the path up to date."""
        raise NotImplementedError


@dataclass(kw_only=True)
class UCT(_ActionTreePlanner):
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

    def simulate(self, tree: _ActionTree) -> None:
        """Go down to a new node, play on at random, and tell the path what it gained."""
        ahead = tree.ahead
        path, rewards, inside = [tree.root], list[float](), True
        for action in ahead.draw(self.depth, tree.rng):
            if ahead.over or not ahead.affords():
                break
            if inside:
                node = path[-1]
                inside = not node.untried
                action = tree.next_action(node)
                path.append(node.children[action])
            rewards.append(ahead.take(action))
        later = 0.0
        for step in range(len(rewards), 0, -1):
            later = rewards[step - 1] + self.discount * later
            if step < len(path):
                node = path[step]
                node.visits += 1
                node.gained += later
                node.value = node.gained / node.visits
                tree.meet(later)
        tree.root.visits += 1


@dataclass(kw_only=True)
class OLETS(_ActionTreePlanner):
    r"""Replay actions from the state of the game down a tree, add one node, and score what is reached.

    .. math:: \arg\max_a \; r_M(n a) + c \sqrt{\ln N(n) / N(n a)}, \quad
        r_M(n) = \frac{R_e(n)}{N(n)} + \left(1 - \frac{N_e(n)}{N(n)}\right) \max_a r_M(n a)

    with c the `exploration` and :math:`r_M` brought to [0, 1] by the least and the greatest return of
    the search. The action tried most often is taken. Nodes keep no states, so that noise is averaged
    over. Perez-Liebana, Dieskau, Hünermund, Mostaghim and Lucas (2015), Open Loop Search for General
    Video Game Playing, GECCO, after Couëtoux; its penalty for places already visited is left out, since
    Atari games do not tell places.
    """

    def simulate(self, tree: _ActionTree) -> None:
        """Go down to a new node, count that the simulation ended there, and update the path."""
        ahead, path, gained, weight = tree.ahead, [tree.root], 0.0, 1.0
        new = False
        while not new and ahead.affords() and not ahead.over:
            new = bool(path[-1].untried)
            action = tree.next_action(path[-1])
            path.append(path[-1].children[action])
            gained += weight * ahead.take(action)
            weight *= self.discount
        path[-1].endings += 1
        path[-1].gained += gained
        tree.meet(gained)
        for node in reversed(path):
            node.visits += 1
            later = max((child.value for child in node.children.values()), default=0.0)
            node.value = node.gained / node.visits + (1.0 - node.endings / node.visits) * later
