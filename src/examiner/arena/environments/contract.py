"""What play needs of an environment, and what planning agents get of it: a forward model.

A new kind of environment brings a `World`; `Environment` and `Model` are the same for all.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from examiner.wording import InputError

Seen = NDArray[np.generic]
"""What an agent sees: a screen, a stack of screens, a memory, a vector."""


class World(Protocol):
    """A game with its clock; actions put it forward, with random numbers that are given."""

    over: bool
    truncated: bool
    frames: int

    @property
    def lives(self) -> int:
        """Lives left; 0 where the game has none."""
        ...

    # An action is an index into the names of actions, or an array where actions are continuous.
    def act(self, action: Any, rng: np.random.Generator) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        ...

    def observe(self) -> Seen:
        """Return what an agent sees now."""
        ...

    # States are whatever the world makes them: others only keep them and hand them back.
    def clone(self) -> Any:
        """Return the state of the game."""
        ...

    def restore(self, state: Any, rng: np.random.Generator) -> None:
        """Go back to a state; whatever noise the world has of its own comes from the generator."""
        ...


class Model:
    """A forward model: what actions would lead to, tried on a second world.

    The game that is played is not touched. Noise (sticky actions, the environment's own) is drawn anew in
    every simulation: a planner does not foresee it. `frames` counts all simulated frames of the episode,
    so that a budget can be kept.
    """

    def __init__(self, played: World, imagined: World, rng: np.random.Generator) -> None:
        self.world, self.frames = imagined, 0
        self._played, self._rng = played, rng

    @property
    def over(self) -> bool:
        """Whether the simulated episode has ended."""
        return self.world.over

    @property
    def lives(self) -> int:
        """Lives left in the simulation."""
        return self.world.lives

    def root(self) -> Any:
        """Return the state of the game that is played."""
        return self._played.clone()

    def clone(self) -> Any:
        """Return the state the simulation is in."""
        return self.world.clone()

    def restore(self, state: Any) -> None:
        """Put the simulation into a state."""
        self.world.restore(state, self._rng)

    def advance(self, action: Any) -> float:
        """Take an action for as long as the agent's actions last; return the reward."""
        before = self.world.frames
        reward = self.world.act(action, self._rng)
        self.frames += self.world.frames - before
        return reward

    def observe(self) -> Seen:
        """Return what an agent would see."""
        return self.world.observe()


class Environment:
    """A game being played; time is counted in frames. Without `action_names`, actions are continuous."""

    action_names: tuple[str, ...]
    observation_shape: tuple[int, ...]

    def __init__(self, world: World) -> None:
        self.world = world
        self._rng = np.random.default_rng(0)  # replaced at every reset

    @property
    def over(self) -> bool:
        """Whether the episode has ended, by itself or cut off."""
        return self.world.over

    @property
    def truncated(self) -> bool:
        """Whether it was cut off, by the protocol's cap or by a limit of the environment's own."""
        return self.world.truncated

    @property
    def frames(self) -> int:
        """Frames of this episode so far."""
        return self.world.frames

    @property
    def lives(self) -> int:
        """Lives left; 0 where the game has none."""
        return self.world.lives

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks: a blind agent saves the making of screens, where they cost time."""

    def random_action(self, rng: np.random.Generator) -> Any:
        """Return an action drawn at random."""
        return int(rng.integers(len(self.action_names)))

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        raise NotImplementedError(f"{type(self).__name__} does not say how an episode begins")

    def step(self, action: Any) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        return self.world.act(action, self._rng)

    def observe(self) -> Seen:
        """Return what the agent sees now."""
        return self.world.observe()

    def model(self, rng: np.random.Generator) -> Model:
        """Return a forward model of the game, whose noise comes from the generator."""
        raise NotImplementedError(f"{type(self).__name__} has no forward model")


def extra_package(name: str, need: str) -> ModuleType:
    """Import a package that only playing needs, or say how to install it.

    >>> extra_package("numpi", "Counting needs numpi")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Counting needs numpi: pip install 'examiner[atari]'.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{need}: pip install 'examiner[atari]'.") from None
