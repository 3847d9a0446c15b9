"""The agent that all scores are measured against: every action equally likely."""

from __future__ import annotations

import numpy as np

from examiner.arena.agent import Task


class Random:
    """Choose every action with the same probability, whatever is seen."""

    blind = True

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Take the actions there are and the random numbers of an episode."""
        self._actions, self._rng = len(task.actions), rng

    def act(self, observation: object) -> int:
        """Return one of the actions."""
        return int(self._rng.integers(self._actions))
