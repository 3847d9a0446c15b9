"""One action for ever: what a game gives to whoever leans on a button, or just sits there."""

from __future__ import annotations

import numpy as np

from examiner.arena.contract import Task


class Constant:
    """Always choose the same action, given by its name or position."""

    blind = True

    def __init__(self, action: int | str) -> None:
        self._wanted = action

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Find the action among those of the game."""
        self._action = task.action(self._wanted)

    def act(self, observation: object) -> int:
        """Return the action."""
        return self._action


class NoOp:
    """Always choose the first action, which in Atari games is to do nothing."""

    blind = True

    def act(self, observation: object) -> int:
        """Return the action of doing nothing."""
        return 0
