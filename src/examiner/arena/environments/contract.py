"""What play needs of an environment, and what planning agents get of it: a forward model."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Seen = NDArray[np.generic]
"""What an agent sees: a screen, a stack of screens, a memory, a vector."""


class Model(Protocol):
    """A forward model: what actions would lead to, without touching the game that is played.

    Noise (sticky actions, the environment's own) is drawn anew in every simulation: a planner does
    not foresee it. `frames` counts all simulated frames of the episode, so that a budget can be kept.
    """

    frames: int

    # States are whatever the environment makes them: a planner only keeps them and hands them back.
    def root(self) -> Any:
        """Return the state of the game that is played."""
        ...

    def clone(self) -> Any:
        """Return the state the simulation is in."""
        ...

    def restore(self, state: Any) -> None:
        """Put the simulation into a state."""
        ...

    def advance(self, action: int) -> float:
        """Take an action for as long as the agent's actions last; return the reward."""
        ...

    def observe(self) -> Seen:
        """Return what an agent would see."""
        ...

    @property
    def over(self) -> bool:
        """Whether the simulated episode has ended."""
        ...

    @property
    def lives(self) -> int:
        """Lives left in the simulation."""
        ...


class Environment(Protocol):
    """A game being played; time is counted in frames."""

    action_names: tuple[str, ...]  # empty where actions are continuous
    observation_shape: tuple[int, ...]

    @property
    def over(self) -> bool:
        """Whether the episode has ended, by itself or cut off."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether it was cut off."""
        ...

    @property
    def frames(self) -> int:
        """Frames of this episode so far."""
        ...

    @property
    def lives(self) -> int:
        """Lives left; 0 where the game has none."""
        ...

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks; a blind agent saves the making of screens."""
        ...

    # An action is an index into action_names, or an array where actions are continuous.
    def random_action(self, rng: np.random.Generator) -> Any:
        """Return an action drawn at random."""
        ...

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        ...

    def step(self, action: Any) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        ...

    def observe(self) -> Seen:
        """Return what the agent sees now."""
        ...

    def model(self, rng: np.random.Generator) -> Model:
        """Return a forward model of the game, whose noise comes from the generator."""
        ...
