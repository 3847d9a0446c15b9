"""The agent that scores are measured against: every action equally likely."""

from __future__ import annotations

from typing import Any

import numpy as np

from examiner.arena.contract import Task


class Random:
    """Choose every action with the same probability, whatever is seen."""

    blind = True

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Take the random numbers of an episode."""
        self._draw, self._rng = task.draw, rng

    def act(self, observation: object) -> Any:
        """Return one of the actions."""
        return self._draw(self._rng)
