"""Sequences of actions: drawn, changed, played out on a forward model, carried to the next decision."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from examiner.arena.planning.planner import Lookahead, Planner

Sequence = list[int]


def drawn(ahead: Lookahead, length: int, rng: np.random.Generator) -> Sequence:
    """Return random actions."""
    return [int(action) for action in rng.integers(ahead.actions, size=length)]


def changed(sequence: Sequence, ahead: Lookahead, rng: np.random.Generator) -> Sequence:
    """Return the sequence with one action replaced by another."""
    other = list(sequence)
    index = int(rng.integers(len(sequence)))
    if ahead.actions > 1:
        other[index] = int((other[index] + rng.integers(1, ahead.actions)) % ahead.actions)
    return other


def shifted(sequence: Sequence, ahead: Lookahead, rng: np.random.Generator) -> Sequence:
    """Return what is left of a sequence after its first action, a random one behind it.

    The shift buffer of Gaina, Lucas and Pérez-Liébana (2017), Rolling Horizon Evolution Enhancements in
    General Video Game Playing, CIG, section III.
    """
    return [*sequence[1:], int(rng.integers(ahead.actions))]


def fitting(ahead: Lookahead, length: int) -> int:
    """Return the length, or less where the budget of a whole decision allows less."""
    return min(length, ahead.budget // ahead.action_frames)


def value(sequence: Sequence, ahead: Lookahead, discount: float) -> float:
    r"""Play a sequence from the state of the game; return its discounted return.

    .. math:: \sum_t \gamma^t r_t
    """
    ahead.go_to(ahead.root)
    total, weight = 0.0, 1.0
    for action in sequence:
        total += weight * ahead.take(action)
        if ahead.over:
            break
        weight *= discount
    return total


@dataclass(kw_only=True)
class SequencePlanner(Planner):
    """A planner with one sequence of `length` actions, shifted on by one after every decision."""

    length: int = 10

    _plan: Sequence = field(init=False, repr=False, default_factory=list)

    def forget(self) -> None:
        """Begin the next episode without a sequence."""
        self._plan = []

    def carried(self, ahead: Lookahead, rng: np.random.Generator) -> Sequence:
        """Return what is left of the last decision's sequence, or a random one at the beginning."""
        if self._plan:
            return shifted(self._plan, ahead, rng)
        return drawn(ahead, fitting(ahead, self.length), rng)
