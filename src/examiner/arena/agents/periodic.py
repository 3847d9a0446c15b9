"""A sequence of actions over and over: how far a game can be played without looking."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from examiner.arena.contract import Task
from examiner.messages import InputError


class Periodic:
    """Choose actions in turn, each for `steps` decisions, beginning anew with every episode."""

    blind = True

    def __init__(self, actions: Sequence[int | str], steps: int = 1) -> None:
        if not actions or steps < 1:
            raise InputError(
                f"The agent 'periodic' got {len(actions)} actions of {steps} steps each. Give at "
                f"least one of both."
            )
        self._wanted, self._steps = tuple(actions), steps

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Find the actions among those of the game, and start the sequence."""
        period = [task.action(wanted) for wanted in self._wanted for _ in range(self._steps)]
        self._turn = itertools.cycle(period)

    def act(self, observation: object) -> int:
        """Return the next action."""
        return next(self._turn)
