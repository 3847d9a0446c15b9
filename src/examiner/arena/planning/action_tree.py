"""A tree of actions, not of states: nodes are played anew from the state of the game every time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from examiner.arena.contract import Seen, best
from examiner.arena.planning.planner import Lookahead, Planner


class Returns:
    """The least and the greatest return met in a search: games count in ones or in thousands.

    >>> returns = Returns()
    >>> for one in (10.0, 30.0):
    ...     returns.meet(one)
    >>> returns.share(15.0)
    0.25
    """

    def __init__(self) -> None:
        self._least, self._greatest = math.inf, -math.inf

    def meet(self, value: float) -> None:
        """Take note of a return."""
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)

    def share(self, value: float) -> float:
        """Return where a return lies between the least (0) and the greatest (1)."""
        spread = self._greatest - self._least
        return (value - self._least) / spread if spread > 0.0 else 0.0


@dataclass(slots=True)
class ActionNode:
    """What is known of a sequence of actions; how its `value` comes about is the planner's affair."""

    untried: list[int]
    children: dict[int, Self] = field(default_factory=dict)
    visits: int = 0
    value: float = 0.0

    @classmethod
    def fresh(cls, ahead: Lookahead, rng: np.random.Generator) -> Self:
        """Return a node whose actions will be tried in a random order."""
        return cls(rng.permutation(ahead.actions).tolist())

    def grow(self: Self, ahead: Lookahead, rng: np.random.Generator) -> int:
        """Add a child for an untried action; return the action."""
        action = self.untried.pop()
        self.children[action] = self.fresh(ahead, rng)
        return action

    def next_action(
        self, ahead: Lookahead, returns: Returns, exploration: float, rng: np.random.Generator
    ) -> int:
        """Return an untried action, which gets a child, or the favourite where all were tried."""
        return self.grow(ahead, rng) if self.untried else self.favourite(returns, exploration)

    def favourite(self, returns: Returns, exploration: float) -> int:
        r"""Return the child with the greatest upper confidence bound.

        .. math:: \arg\max_a \; v(n a) + c \sqrt{\ln N(n) / N(n a)}

        with values brought to [0, 1] by the returns met in the search, and c the exploration.
        """
        log_visits = math.log(self.visits)
        return max(
            self.children,
            key=lambda action: (
                returns.share(self.children[action].value)
                + exploration * math.sqrt(log_visits / self.children[action].visits)
            ),
        )

    def most_tried(self, ahead: Lookahead, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        most = max(child.visits for child in self.children.values())
        values = [-np.inf] * ahead.actions
        for action, child in self.children.items():
            if child.visits == most:
                values[action] = child.value
        return best(values, rng)


@dataclass(kw_only=True)
class ActionTreePlanner(Planner):
    """A planner that simulates down a tree of actions and takes the action tried most often.

    A kind of it says how a simulation goes, in `simulate`, and what its nodes know: `node`.
    """

    exploration: float = math.sqrt(2.0)

    node: ClassVar[type[ActionNode]]

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        root, returns = self.node.fresh(ahead, rng), Returns()
        while ahead.affords():
            ahead.go_to(ahead.root)
            self.simulate(root, ahead, returns, rng)
        return root.most_tried(ahead, rng)

    def simulate(
        self, root: Any, ahead: Lookahead, returns: Returns, rng: np.random.Generator
    ) -> None:  # Any: a node of this kind of planner
        """Play from the state of the game down the tree, and bring the nodes of the path up to date."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it simulates")
