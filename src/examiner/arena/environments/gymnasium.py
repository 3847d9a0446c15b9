"""Any Gymnasium environment; one of its steps is one frame."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from examiner.arena.environments.contract import Seen
from examiner.arena.environments.extras import gymnasium_package
from examiner.arena.play.job import Job
from examiner.arena.protocol import Protocol
from examiner.wording import InputError, shorten


class GymnasiumEnvironment:
    """An environment by its Gymnasium id, under the protocol's sticky actions, frame skip and cap.

    >>> environment = GymnasiumEnvironment("CartPole-v1", protocol=Protocol(frame_skip=1))
    >>> environment.reset(np.random.default_rng(0))
    >>> environment.step(1), environment.frames, environment.observation_shape
    (1.0, 1, (4,))
    """

    def __init__(self, game: str, *, protocol: Protocol) -> None:
        self.game, self.protocol = game, protocol
        self._world = _World(_made(game), protocol)
        space = self._world.env.action_space
        self._discrete = isinstance(space, gymnasium_package().spaces.Discrete)
        self.action_names = (
            tuple(str(number) for number in range(int(space.n))) if self._discrete else ()
        )
        if protocol.max_start_no_ops:
            raise InputError(
                f"The protocol begins with up to {protocol.max_start_no_ops} frames of doing nothing, "
                f"but {shorten(game)} has no action for it. Set max_start_no_ops to 0."
            )
        self._rng = np.random.default_rng(0)  # replaced at every reset
        self._world.begin(self._rng)
        self.observation_shape = self._world.observe().shape

    @classmethod
    def of_job(cls, job: Job) -> GymnasiumEnvironment:
        """Return the environment that a job plays in."""
        if job.observation != "raw":
            raise InputError(
                f"The environment {shorten(job.game)} has no observation {job.observation!r}. Set "
                f'observation = "raw", which is what the environment itself shows.'
            )
        if job.mode is not None or job.difficulty is not None:
            raise InputError(
                f"The environment {shorten(job.game)} has no modes and difficulties. Leave them out."
            )
        return cls(job.game, protocol=job.protocol)

    @property
    def over(self) -> bool:
        """Whether the episode has ended, by itself or cut off."""
        return self._world.over

    @property
    def truncated(self) -> bool:
        """Whether it was cut off, by the protocol's cap or by the environment's own limit."""
        return self._world.truncated

    @property
    def frames(self) -> int:
        """Steps of this episode so far."""
        return self._world.frames

    @property
    def lives(self) -> int:
        """Always 0: Gymnasium knows no lives."""
        return 0

    def watch(self, watched: bool) -> None:
        """Do nothing: observations come with every step."""

    def random_action(self, rng: np.random.Generator) -> Any:
        """Return an action drawn as the action space draws it."""
        if self._discrete:
            return int(rng.integers(len(self.action_names)))
        space = self._world.env.action_space
        space.seed(int(rng.integers(2**31)))
        return space.sample()

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        self._rng = rng
        self._world.begin(rng)

    def step(self, action: Any) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        return self._world.act(action, self._rng)

    def observe(self) -> Seen:
        """Return what the environment shows, as one array."""
        return self._world.observe()

    def model(self, rng: np.random.Generator) -> GymnasiumModel:
        """Return a forward model that works on copies, where the environment can be copied."""
        try:
            copy.deepcopy(self._world)
        except Exception as error:
            raise InputError(
                f"The environment {shorten(self.game)} cannot be copied ({error}), so there is no "
                f"forward model of it. Choose an agent that does not plan."
            ) from error
        return GymnasiumModel(self._world, rng)


class GymnasiumModel:
    """Copies of the environment on which a planner tries things out.

    >>> environment = GymnasiumEnvironment("CartPole-v1", protocol=Protocol(frame_skip=1))
    >>> environment.reset(np.random.default_rng(0))
    >>> model = environment.model(np.random.default_rng(1))
    >>> model.restore(model.root())
    >>> model.advance(1), model.frames, environment.frames
    (1.0, 1, 0)
    """

    def __init__(self, played: _World, rng: np.random.Generator) -> None:
        self._played, self._world, self._rng = played, copy.deepcopy(played), rng
        self.frames = 0

    @property
    def over(self) -> bool:
        """Whether the simulated episode has ended."""
        return self._world.over

    @property
    def lives(self) -> int:
        """Always 0: Gymnasium knows no lives."""
        return 0

    def root(self) -> Any:
        """Return the state of the environment that is played."""
        return copy.deepcopy(self._played)

    def clone(self) -> Any:
        """Return the state the simulation is in."""
        return copy.deepcopy(self._world)

    def restore(self, state: Any) -> None:
        """Put the simulation into a state."""
        self._world = copy.deepcopy(state)
        # With the copied generator a planner would foresee the environment's own noise.
        self._world.env.unwrapped.np_random = self._rng

    def advance(self, action: Any) -> float:
        """Take an action for as long as the agent's actions last; return the reward."""
        before = self._world.frames
        reward = self._world.act(action, self._rng)
        self.frames += self._world.frames - before
        return reward

    def observe(self) -> Seen:
        """Return what an agent would see."""
        return self._world.observe()


class _World:
    """An environment with its clock, and the action that sticky actions repeat."""

    def __init__(self, env: Any, protocol: Protocol) -> None:  # gymnasium comes only with an extra
        self.env, self.protocol = env, protocol
        self.over, self.truncated, self.frames = False, False, 0
        self._first = int(getattr(env.action_space, "start", 0))
        self._previous: Any = None
        self._shown: Any = None

    def begin(self, rng: np.random.Generator) -> None:
        self._shown, _ = self.env.reset(seed=int(rng.integers(2**31)))
        self.over, self.truncated, self.frames = False, False, 0
        self._previous = None

    def act(self, action: Any, rng: np.random.Generator) -> float:
        chosen = action + self._first if self._first else action
        sticky, reward = self.protocol.sticky_probability, 0.0
        for _ in range(self.protocol.frame_skip):
            # Before the first action there is no previous one, and no general action of doing nothing.
            if self._previous is None or not sticky or rng.random() >= sticky:
                self._previous = chosen
            self._shown, gained, ended, cut, _ = self.env.step(self._previous)
            reward += float(gained)
            self.frames += 1
            cut = bool(cut) or self.frames == self.protocol.max_episode_frames
            self.over, self.truncated = bool(ended) or cut, cut and not ended
            if self.over:
                break
        return reward

    def observe(self) -> Seen:
        space = self.env.observation_space
        if space.shape is None or isinstance(self._shown, dict | tuple):
            return np.asarray(gymnasium_package().spaces.flatten(space, self._shown))
        return np.asarray(self._shown)

    def __deepcopy__(self, memory: dict[int, Any]) -> _World:
        other = _World(copy.deepcopy(self.env, memory), self.protocol)
        other.over, other.truncated, other.frames = self.over, self.truncated, self.frames
        other._previous, other._shown = self._previous, copy.deepcopy(self._shown, memory)
        return other


def _made(game: str) -> Any:
    gymnasium = gymnasium_package()
    spec = gymnasium.registry.get(game)
    # Not by its name alone: Gymnasium has a Blackjack that is no Atari game.
    if game.startswith("ALE/") or str(getattr(spec, "entry_point", "")).startswith("ale_py"):
        raise InputError(
            f'{shorten(game)} is an Atari game. Play it with environment = "ale", which sets every '
            f"part of the protocol itself."
        )
    try:
        return gymnasium.make(game, disable_env_checker=True)
    except Exception as error:
        known = sorted(name for name in gymnasium.registry if not name.startswith("ALE/"))
        first = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"Gymnasium cannot make {shorten(game)}: {first}. Registered: "
            f"{', '.join(known)}. Give module:Name-v0 for an "
            f"environment of another package."
        ) from error
