"""Planners that improve sequences of actions: at random, step by step, or by evolution."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from examiner.arena.contract import Seen
from examiner.arena.planner import Lookahead, Planner

Sequence = list[int]
_Evaluated = tuple[float, Sequence]
_worth = itemgetter(0)


@dataclass(kw_only=True)
class _SequencePlanner(Planner):
    """A planner over sequences of `length` actions, which it may carry to the next decision."""

    length: int = 10

    _plans: list[Sequence] = field(init=False, repr=False, default_factory=list)

    def forget(self) -> None:
        """Begin the next episode without a sequence."""
        self._plans = []

    def fitting(self, ahead: Lookahead) -> int:
        """Return the length, or less where the budget of a whole decision allows less."""
        return min(self.length, ahead.budget // ahead.action_frames)

    def carried(self, ahead: Lookahead, rng: np.random.Generator, count: int = 1) -> list[Sequence]:
        """Return what is left of the last decision's sequences, and random ones until there are enough.

        The shift buffer of Gaina, Lucas and Pérez-Liébana (2017), Rolling Horizon Evolution Enhancements
        in General Video Game Playing, CIG, section III: a random action follows those that are left.
        """
        plans = [[*plan[1:], int(rng.integers(ahead.actions))] for plan in self._plans]
        length = self.fitting(ahead)
        return plans + [ahead.draw(length, rng) for _ in range(count - len(plans))]

    def value(self, sequence: Sequence, ahead: Lookahead) -> float:
        r"""Play a sequence from the state of the game; return its discounted return.

        .. math:: \sum_t \gamma^t r_t
        """
        ahead.go_to(ahead.root)
        total, weight = 0.0, 1.0
        for action in sequence:
            total += weight * ahead.take(action)
            if ahead.over:
                break
            weight *= self.discount
        return total


def _changed(sequence: Sequence, ahead: Lookahead, rng: np.random.Generator) -> Sequence:
    """The sequence with one action replaced by another."""
    other = list(sequence)
    index = int(rng.integers(len(sequence)))
    if ahead.actions > 1:
        other[index] = int((other[index] + rng.integers(1, ahead.actions)) % ahead.actions)
    return other


@dataclass(kw_only=True)
class RandomSearch(_SequencePlanner):
    """Play out random sequences of `length` actions and take the first action of the best.

    The baseline of rolling-horizon evolution: Gaina, Liu, Lucas and Pérez-Liébana (2017), Analysis of
    Vanilla Rolling Horizon Evolution Parameters in General Video Game Playing, EvoApplications.
    """

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best sequence."""
        length = self.fitting(ahead)
        chosen, highest = ahead.draw(length, rng), -np.inf
        while ahead.affords(length):
            sequence = ahead.draw(length, rng)
            worth = self.value(sequence, ahead)
            if worth > highest:
                chosen, highest = sequence, worth
        return chosen[0]


@dataclass(kw_only=True)
class HillClimbing(_SequencePlanner):
    """Change one action of a sequence at a time and keep what is not worse; go on with it next time.

    The (1+1) evolution strategy on sequences of actions that Gaina, Lucas and Pérez-Liébana (2017),
    Rolling Horizon Evolution Enhancements in General Video Game Playing, CIG, begin from; a shift buffer
    carries the sequence to the next decision.
    """

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the sequence as it is when the budget is spent."""
        (plan,) = self.carried(ahead, rng)
        worth = self.value(plan, ahead)
        while ahead.affords(len(plan)):
            other = _changed(plan, ahead, rng)
            others = self.value(other, ahead)
            if others >= worth:
                plan, worth = other, others
        self._plans = [plan]
        return plan[0]


@dataclass(kw_only=True)
class SimulatedAnnealing(_SequencePlanner):
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
        (plan,) = self.carried(ahead, rng)
        worth = self.value(plan, ahead)
        best, highest = plan, worth
        while ahead.affords(len(plan)):
            other = _changed(plan, ahead, rng)
            others = self.value(other, ahead)
            if others > highest:
                best, highest = other, others
            if others >= worth or rng.random() < self._tolerance(worth - others, ahead):
                plan, worth = other, others
        self._plans = [best]
        return best[0]

    def _tolerance(self, loss: float, ahead: Lookahead) -> float:
        heat = self.hottest ** (1.0 - ahead.spent) * self.coldest**ahead.spent
        return math.exp(-loss / (ahead.scale * heat)) if heat else 0.0


@dataclass(kw_only=True)
class RollingHorizon(_SequencePlanner):
    """Evolve sequences of `length` actions: children of the better ones replace the worst.

    A parent is the better of two drawn; each action comes from either parent with the same probability,
    then one is changed; the worst of all dies. The population is carried to the next decision by a shift
    buffer. Perez, Samothrakis, Lucas and Rohlfshagen (2013), Rolling Horizon Evolution versus Tree
    Search, GECCO; Gaina, Lucas and Pérez-Liébana (2017), Rolling Horizon Evolution Enhancements in
    General Video Game Playing, CIG.
    """

    population: int = 5

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best sequence."""
        plans = self.carried(ahead, rng, self.population)
        length = self.fitting(ahead)
        living: list[_Evaluated] = []
        while ahead.affords(length):
            plan = plans.pop(0) if plans else _child(living, ahead, rng)
            living.append((self.value(plan, ahead), plan))
            living.sort(key=_worth, reverse=True)
            del living[self.population :]
        self._plans = [plan for _, plan in living]
        return self._plans[0][0]


def _child(living: list[_Evaluated], ahead: Lookahead, rng: np.random.Generator) -> Sequence:
    mother, father = (_parent(living, rng) for _ in range(2))
    from_mother = rng.random(len(mother)) < 0.5
    crossed = [
        hers if drawn_from_her else his
        for hers, his, drawn_from_her in zip(mother, father, from_mother, strict=True)
    ]
    return _changed(crossed, ahead, rng)


def _parent(living: list[_Evaluated], rng: np.random.Generator) -> Sequence:
    two = (living[int(index)] for index in rng.integers(len(living), size=2))
    return max(two, key=_worth)[1]
