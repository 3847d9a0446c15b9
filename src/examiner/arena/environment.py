"""What play needs of an environment, and what planning agents get of it: a forward model."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Seen = NDArray[np.generic]
"""What an agent sees: a screen, a stack of screens, a memory, a vector."""


class Model(Protocol):
    """A forward model: simulate what actions would lead to, without touching the game that is played.

    Noise of the protocol (sticky actions) is drawn anew in every simulation: a planner does not
    foresee it. `frames` counts all simulated frames, so that a budget can be kept.
    """

    frames: int
    reward: float
    over: bool

    def clone(self) -> object:
        """Return the state the model is in; at the start of `act` that is the game's."""
        ...

    def restore(self, state: object) -> None:
        """Go back to a state."""
        ...

    def advance(self, action: int) -> float:
        """Take an action for as long as the agent's actions last; return the reward."""
        ...

    def observe(self) -> Seen:
        """Return what an agent would see."""
        ...


class Environment(Protocol):
    """A game being played; time is counted in frames."""

    action_names: tuple[str, ...]
    over: bool  # the episode has ended, by itself or cut off
    truncated: bool  # it was cut off by the protocol's cap
    frames: int  # so far in this episode
    lives: int

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of what agents see."""
        ...

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        ...

    def step(self, action: int) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        ...

    def observe(self) -> Seen:
        """Return what the agent sees now."""
        ...

    def model(self, rng: np.random.Generator) -> Model:
        """Return a forward model of the game as it stands."""
        ...
