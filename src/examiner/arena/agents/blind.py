"""Agents that do not look: random play, and actions that are held or repeated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from examiner.arena.contract import Task
from examiner.messages import InputError


class Random:
    """Choose every action with the same probability, whatever is seen."""

    blind = True

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Take the random numbers of an episode."""
        self._draw, self._rng = task.draw, rng

    def act(self, observation: object) -> Any:
        """Return one of the actions."""
        return self._draw(self._rng)


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


def constant(action: int | str) -> Periodic:
    """Always choose the same action, given by its name or position: what leaning on a button gets.

    >>> constant("FIRE").blind
    True
    """
    return Periodic([action])


def no_op() -> Periodic:
    """Always choose the first action, which in Atari games is to do nothing.

    >>> no_op().blind
    True
    """
    return Periodic([0])
