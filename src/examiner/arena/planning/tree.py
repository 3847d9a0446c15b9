"""A tree of simulated actions in flat lists, grown breadth-first, and the values it gives actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from examiner.arena.planning.lookahead import Lookahead


class Tree:
    """What each simulated action led to. Node 0 is the state of the game; children follow parents.

    >>> tree = Tree()
    >>> left, right = tree.add(0, 0, 0.0), tree.add(0, 1, 1.0)
    >>> _ = tree.add(left, 1, 4.0)
    >>> tree.action_values(actions=3, discount=0.5)
    [2.0, 1.0, 0.0]
    """

    def __init__(self) -> None:
        self._parents, self._actions, self._rewards = [-1], [-1], [0.0]

    def __len__(self) -> int:
        return len(self._parents)

    def add(self, parent: int, action: int, reward: float) -> int:
        """Add what an action led to; return its node."""
        self._parents.append(parent)
        self._actions.append(action)
        self._rewards.append(reward)
        return len(self._parents) - 1

    def action(self, node: int) -> int:
        """Return the action that led to a node."""
        return self._actions[node]

    def action_values(self, *, actions: int, discount: float) -> list[float]:
        r"""Return the best discounted return that follows each action.

        .. math:: Q(n) = r(n) + \gamma \max_{c \in \text{children}(n)} Q(c)

        and :math:`r(n)` alone for leaves; 0, like all that is unknown, for actions that were not tried.
        """
        untried = -np.inf
        best_after = [untried] * len(self)
        values = [untried] * actions
        for node in range(len(self) - 1, 0, -1):
            after, parent = best_after[node], self._parents[node]
            value = self._rewards[node] + (discount * after if after > untried else 0.0)
            best_after[parent] = max(best_after[parent], value)
            if parent == 0:
                values[self._actions[node]] = max(values[self._actions[node]], value)
        return [0.0 if value == untried else value for value in values]


def grow_breadth_first(
    ahead: Lookahead, worth: Callable[[], bool], rng: np.random.Generator
) -> Tree:
    """Try all actions in the root, then in each state it led to that is `worth` it, in that order.

    Ends when the budget is spent or nothing is left. States are stored only if the budget reaches
    them: storing costs as much as simulating half an action.
    """
    tree, waiting = Tree(), deque([(0, ahead.root)])
    while waiting:
        node, state = waiting.popleft()
        for tried, action in enumerate(rng.permutation(ahead.actions).tolist(), start=1):
            if not ahead.affords():
                return tree
            ahead.go_to(state)
            child = tree.add(node, action, ahead.take(action))
            before = ahead.actions * (len(waiting) + 1) - tried  # actions tried before its own
            if not ahead.over and ahead.affords(before + 1) and worth():
                waiting.append((child, ahead.state()))
    return tree
