"""What all planning agents have: a forward model with a budget, held actions, and a decision to make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from examiner.arena.contract import ForwardModel, Seen, Task
from examiner.messages import InputError
from examiner.validation import check_numbers


@dataclass(eq=False)
class Lookahead:
    """A forward model on which a decision may cost so many frames, and actions last `hold` steps.

    Budgets are frames, not seconds: a loaded machine changes nothing. Rewards are in points of the
    game, less the price of lost lives: one life is worth `life_cost` times the largest reward of one
    action met so far in the episode, whatever a game counts in.
    """

    model: ForwardModel
    actions: int
    budget: int
    action_frames: int
    hold: int
    life_cost: float

    root: Any = field(init=False, default=None)  # states are whatever the environment makes them
    _limit: int = field(init=False, default=0)
    _lives: int = field(init=False, default=0)
    _largest: float = field(init=False, default=0.0)

    def begin(self) -> None:
        """Look at the game that is played, and open a new budget."""
        self.root = self.model.root()
        self._limit = self.model.frames + self.budget

    @property
    def scale(self) -> float:
        """The largest reward of one action met so far in the episode; 1 before there was any."""
        return self._largest or 1.0

    @property
    def spent(self) -> float:
        """Share of this decision's budget that is spent."""
        return 1.0 - (self._limit - self.model.frames) / self.budget

    @property
    def over(self) -> bool:
        """Whether the simulated episode has ended."""
        return self.model.over

    def affords(self, actions: int = 1) -> bool:
        """Whether the budget allows so many more actions."""
        return self.model.frames + actions * self.action_frames <= self._limit

    def go_to(self, state: Any) -> None:
        """Put the simulation into a state."""
        self.model.restore(state)
        self._lives = self.model.lives

    def state(self) -> Any:
        """Return the state the simulation is in."""
        return self.model.clone()

    def take(self, action: int) -> float:
        """Simulate an action for as long as it is held; return the points less the price of lives."""
        model, reward = self.model, 0.0
        for _ in range(self.hold):
            reward += model.advance(action)
            if model.over:
                break
        if abs(reward) > self._largest:
            self._largest = abs(reward)
        lives = model.lives
        lost, self._lives = self._lives - lives, lives
        return reward - self.life_cost * self.scale * lost if lost > 0 else reward

    def observe(self) -> Seen:
        """Return what an agent would see."""
        return self.model.observe()

    def draw(self, length: int, rng: np.random.Generator) -> list[int]:
        """Return random actions."""
        return list(map(int, rng.integers(self.actions, size=length)))


@dataclass(kw_only=True)
class Planner:
    """An agent that decides by simulating; a kind of planner says how in `choose`.

    `budget` is the most frames simulated for one decision. A chosen action is held for `hold` actions
    of the game, in simulations as in play. Rewards are worth `discount` less each action later; losing
    a life costs `life_cost` times the largest reward met so far. Nothing is kept between episodes. With
    probability `explore` a decision is any action, without a plan: a dial from the planner to random play.
    """

    budget: int = 1_000
    hold: int = 1
    discount: float = 0.99
    life_cost: float = 1.0
    explore: float = 0.0

    plans: ClassVar[bool] = True
    blind: ClassVar[bool] = True

    _ahead: Lookahead = field(init=False, repr=False)
    _rng: np.random.Generator = field(init=False, repr=False)
    _action: int = field(init=False, repr=False, default=0)
    _held: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        check_numbers(self, most={"discount": 1.0, "explore": 1.0})

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
            self._action = self._decided(observation)
            self._held = self.hold
        self._held -= 1
        return self._action

    def _decided(self, observation: Seen) -> int:
        if self.explore and self._rng.random() < self.explore:
            self.forget()  # what was planned goes on from another action
            return int(self._rng.integers(self._ahead.actions))
        self._ahead.begin()
        return self.choose(self._ahead, observation, self._rng)

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action to take in the state `ahead.root`, of which `seen` is seen."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it chooses")
