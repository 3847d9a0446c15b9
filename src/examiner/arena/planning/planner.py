"""What all planning agents have: a budget, held actions, a discount, and a decision to make."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from examiner.arena.agent import Task
from examiner.arena.environments.contract import Seen
from examiner.arena.planning.lookahead import Lookahead
from examiner.arena.settings import check_number
from examiner.wording import InputError


@dataclass(kw_only=True)
class Planner:
    """An agent that decides by simulating; a kind of planner says how in `choose`.

    `budget` is the most frames simulated for one decision. A chosen action is held for `hold` actions
    of the game, in simulations as in play. Rewards are worth `discount` less each action later; losing
    a life costs `life_cost` times the largest reward met so far. Nothing is kept between episodes.
    """

    budget: int = 1_000
    hold: int = 1
    discount: float = 0.99
    life_cost: float = 1.0

    plans: ClassVar[bool] = True
    blind: ClassVar[bool] = True

    _ahead: Lookahead = field(init=False, repr=False)
    _rng: np.random.Generator = field(init=False, repr=False)
    _action: int = field(init=False, repr=False, default=0)
    _held: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        for one in fields(self):
            if one.init and isinstance(one.default, int | float):
                whole = isinstance(one.default, int)
                most = 1.0 if one.name == "discount" else math.inf
                value = getattr(self, one.name)
                check_number(one.name, value, whole=whole, least=int(whole), most=most)

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Take the forward model and the random numbers of an episode."""
        if task.model is None or not task.actions:
            raise InputError(
                f"The agent {type(self).__name__} plans over a list of actions, and this environment "
                f"has {'continuous ones' if not task.actions else 'no forward model'}. Choose another."
            )
        action_frames = task.frame_skip * self.hold
        if self.budget < action_frames:
            raise InputError(
                f"A budget of {self.budget} frames is less than one action of {action_frames} frames. "
                f"Give at least {action_frames}; {action_frames * len(task.actions)} try all actions."
            )
        self._ahead = Lookahead(
            task.model,
            actions=len(task.actions),
            budget=self.budget,
            action_frames=action_frames,
            hold=self.hold,
            life_cost=self.life_cost,
        )
        self._rng, self._held = rng, 0
        self.forget()

    def forget(self) -> None:
        """Drop what was carried from decision to decision: a new episode begins."""

    def act(self, observation: Seen) -> int:
        """Return the action that is held, or plan the next one."""
        if not self._held:
            self._ahead.begin()
            self._action = self.choose(self._ahead, observation, self._rng)
            self._held = self.hold
        self._held -= 1
        return self._action

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action to take in the state `ahead.root`, of which `seen` is seen."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it chooses")
