"""A tree of actions, not of states: nodes are played anew from the state of the game every time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from examiner.arena.planning.lookahead import Lookahead
from examiner.arena.planning.returns import Returns
from examiner.arena.planning.ties import best


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
