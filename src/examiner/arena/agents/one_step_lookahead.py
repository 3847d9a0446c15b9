"""Look one action ahead: what greed without foresight achieves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.arena.contract import Seen, best
from examiner.arena.planning.planner import Lookahead, Planner


@dataclass(kw_only=True)
class OneStepLookahead(Planner):
    """Simulate every action `samples` times, as far as the budget goes, and take the best mean.

    The counterpart of the sample controller OneStepLookAhead of GVGAI: Pérez-Liébana et al. (2016), The
    2014 General Video Game Playing Competition, IEEE T-CIAIG 8(3).
    """

    samples: int = 1

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action with the best mean reward, ties broken at random."""
        rewards = np.zeros(ahead.actions)
        counts = np.zeros(ahead.actions, dtype=int)
        for _ in range(self.samples):
            for action in rng.permutation(ahead.actions).tolist():
                if not ahead.affords():
                    break
                ahead.go_to(ahead.root)
                rewards[action] += ahead.take(action)
                counts[action] += 1
        means = np.where(counts > 0, rewards / np.maximum(counts, 1), -np.inf)
        return best(means.tolist(), rng)
