"""Improve one sequence of actions, at first also by way of worse ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from examiner.arena.contract import Seen
from examiner.arena.planning.planner import Lookahead, SequencePlanner, changed, value


@dataclass(kw_only=True)
class SimulatedAnnealing(SequencePlanner):
    r"""Change one action of a sequence at a time; accept what is worse by :math:`\Delta` with probability

    .. math:: \exp(-\Delta / T), \quad T = T_0^{1 - s} \, T_1^{s}

    where s is the share of the budget spent, and temperatures are in units of the largest reward met.
    The best sequence is begun, and carried to the next decision by a shift buffer. Kirkpatrick, Gelatt
    and Vecchi (1983), Optimization by Simulated Annealing, Science 220.
    """

    hottest: float = 1.0
    coldest: float = 0.01

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best sequence met."""
        plan = self.carried(ahead, rng)
        worth = value(plan, ahead, self.discount)
        self._plan, highest = plan, worth
        while ahead.affords(len(plan)):
            other = changed(plan, ahead, rng)
            others = value(other, ahead, self.discount)
            if others > highest:
                self._plan, highest = other, others
            if others >= worth or rng.random() < self._tolerance(worth - others, ahead):
                plan, worth = other, others
        return self._plan[0]

    def _tolerance(self, loss: float, ahead: Lookahead) -> float:
        heat = self.hottest ** (1.0 - ahead.spent) * self.coldest**ahead.spent
        return math.exp(-loss / (ahead.scale * heat)) if heat else 0.0
