"""Rolling-horizon evolution: a population of action sequences that moves on with the game."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from examiner.arena.contract import Seen
from examiner.arena.planning.planner import (
    Lookahead,
    Planner,
    Sequence,
    changed,
    drawn,
    fitting,
    shifted,
    value,
)

_Evaluated = tuple[float, Sequence]
_worth = itemgetter(0)


@dataclass(kw_only=True)
class RollingHorizon(Planner):
    """Evolve sequences of `length` actions: children of the better ones replace the worst.

    A parent is the better of two drawn; each action comes from either parent with the same probability,
    then one is changed; the worst of all dies. The population is carried to the next decision by a shift
    buffer. Perez, Samothrakis, Lucas and Rohlfshagen (2013), Rolling Horizon Evolution versus Tree
    Search, GECCO; Gaina, Lucas and Pérez-Liébana (2017), Rolling Horizon Evolution Enhancements in
    General Video Game Playing, CIG.
    """

    length: int = 10
    population: int = 5

    _plans: list[Sequence] = field(init=False, repr=False, default_factory=list)

    def forget(self) -> None:
        """Begin the next episode with a new population."""
        self._plans = []

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best sequence."""
        length = fitting(ahead, self.length)
        plans = [shifted(plan, ahead, rng) for plan in self._plans]
        plans += [drawn(ahead, length, rng) for _ in range(self.population - len(plans))]
        living: list[_Evaluated] = []
        while ahead.affords(length):
            plan = plans.pop(0) if plans else _child(living, ahead, rng)
            living.append((value(plan, ahead, self.discount), plan))
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
    return changed(crossed, ahead, rng)


def _parent(living: list[_Evaluated], rng: np.random.Generator) -> Sequence:
    drawn_two = (living[int(index)] for index in rng.integers(len(living), size=2))
    return max(drawn_two, key=_worth)[1]
