"""Looking ahead on a forward model with a budget of simulated frames for every decision."""

from __future__ import annotations

from typing import Any

from examiner.arena.environments.contract import Model, Seen


class Lookahead:
    """A forward model on which a decision may cost so many frames, and actions last `hold` steps.

    Budgets are frames, not seconds: a loaded machine changes nothing. Rewards are in points of the
    game, less the price of lost lives: one life is worth `life_cost` times the largest reward of one
    action met so far in the episode, whatever a game counts in.
    """

    def __init__(
        self,
        model: Model,
        *,
        actions: int,
        budget: int,
        action_frames: int,
        hold: int = 1,
        life_cost: float = 1.0,
    ) -> None:
        self.actions, self.budget, self.action_frames = actions, budget, action_frames
        self._model, self._hold, self._life_cost = model, hold, life_cost
        self._limit = model.frames
        self._lives = 0
        self._largest = 0.0
        self.root: Any = None  # states are whatever the environment makes them

    def begin(self) -> None:
        """Look at the game that is played, and open a new budget."""
        self.root = self._model.root()
        self._limit = self._model.frames + self.budget

    @property
    def scale(self) -> float:
        """The largest reward of one action met so far in the episode; 1 before there was any."""
        return self._largest or 1.0

    @property
    def spent(self) -> float:
        """Share of this decision's budget that is spent."""
        return 1.0 - (self._limit - self._model.frames) / self.budget

    @property
    def over(self) -> bool:
        """Whether the simulated episode has ended."""
        return self._model.over

    def affords(self, actions: int = 1) -> bool:
        """Whether the budget allows so many more actions."""
        return self._model.frames + actions * self.action_frames <= self._limit

    def go_to(self, state: Any) -> None:
        """Put the simulation into a state."""
        self._model.restore(state)
        self._lives = self._model.lives

    def state(self) -> Any:
        """Return the state the simulation is in."""
        return self._model.clone()

    def take(self, action: int) -> float:
        """Simulate an action for as long as it is held; return the points less the price of lives."""
        model, reward = self._model, 0.0
        for _ in range(self._hold):
            reward += model.advance(action)
            if model.over:
                break
        if abs(reward) > self._largest:
            self._largest = abs(reward)
        lives = model.lives
        lost, self._lives = self._lives - lives, lives
        return reward - self._life_cost * self.scale * lost if lost > 0 else reward

    def observe(self) -> Seen:
        """Return what an agent would see."""
        return self._model.observe()
