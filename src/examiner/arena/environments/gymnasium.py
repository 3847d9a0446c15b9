"""Any Gymnasium environment; one of its steps is one frame."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from examiner.arena.contract import Environment, ForwardModel, Seen, extra_package
from examiner.arena.protocol import Protocol
from examiner.messages import InputError, first_line, shorten


class GymnasiumEnvironment(Environment):
    """An environment by its Gymnasium id, under the protocol's sticky actions, frame skip and cap.

    >>> environment = GymnasiumEnvironment("CartPole-v1", protocol=Protocol(frame_skip=1))
    >>> environment.reset(np.random.default_rng(0))
    >>> environment.step(1), environment.frames, environment.observation_shape
    (1.0, 1, (4,))
    >>> model = environment.model(np.random.default_rng(1))
    >>> model.restore(model.root())
    >>> model.advance(1), model.frames, environment.frames
    (1.0, 1, 1)
    """

    world: _World

    def __init__(
        self,
        game: str,
        *,
        protocol: Protocol,
        mode: int | None = None,
        difficulty: int | None = None,
        observation: str = "raw",
    ) -> None:
        if observation != "raw":
            raise InputError(
                f"The environment {shorten(game)} has no observation {observation!r}. Set "
                f'observation = "raw", which is what the environment itself shows.'
            )
        if mode is not None or difficulty is not None:
            raise InputError(
                f"The environment {shorten(game)} has no modes and difficulties. Leave them out."
            )
        super().__init__(_World(_made(game), protocol))
        self.game, self.protocol = game, protocol
        space = self.world.env.action_space
        self._discrete = isinstance(space, gymnasium_package().spaces.Discrete)
        self.action_names = (
            tuple(str(number) for number in range(int(space.n))) if self._discrete else ()
        )
        if protocol.starts:
            raise InputError(
                f"Recorded starts are of Atari games, and {shorten(game)} is none. Set starts to []."
            )
        if protocol.max_start_no_ops:
            raise InputError(
                f"The protocol begins with up to {protocol.max_start_no_ops} frames of doing nothing, "
                f"but {shorten(game)} has no action for it. Set max_start_no_ops to 0."
            )
        self.world.begin(self._rng)
        self.observation_shape = self.observe().shape

    def random_action(self, rng: np.random.Generator) -> Any:
        """Return an action drawn as the action space draws it."""
        if self._discrete:
            return super().random_action(rng)
        space = self.world.env.action_space
        space.seed(int(rng.integers(2**31)))
        return space.sample()

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        self._rng = rng
        self.world.begin(rng)

    def model(self, rng: np.random.Generator) -> ForwardModel:
        """Return a forward model that works on copies, where the environment can be copied."""
        try:
            imagined = self.world.clone()
        except Exception as error:
            raise InputError(
                f"The environment {shorten(self.game)} cannot be copied ({error}), so there is no "
                f"forward model of it. Choose an agent that does not plan."
            ) from error
        return ForwardModel(self.world, imagined, rng)


class _World:
    """An environment with its clock, and the action that sticky actions repeat."""

    lives = 0  # Gymnasium knows no lives

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
        least, most = self.protocol.frame_skip, self.protocol.max_frame_skip
        for _ in range(least if most is None else int(rng.integers(least, most + 1))):
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

    def clone(self) -> _World:
        other = copy.copy(self)
        other.env, other._shown = copy.deepcopy((self.env, self._shown))
        return other

    def restore(self, state: _World, rng: np.random.Generator) -> None:
        vars(self).update(vars(state.clone()))
        # With the copied generator a planner would foresee the environment's own noise.
        self.env.unwrapped.np_random = rng


def gymnasium_package() -> ModuleType:
    """Return gymnasium.

    >>> gymnasium_package().__name__
    'gymnasium'
    """
    return extra_package("gymnasium", "Playing Gymnasium environments needs gymnasium")


def game_with_settings(game: str, settings: Mapping[str, object]) -> str:
    """Name an environment made with keyword arguments: how plans, ledgers and results call it.

    >>> game_with_settings("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False})
    'FrozenLake-v1(is_slippery=false, map_name="8x8")'
    """
    parts = ", ".join(f"{name}={json.dumps(settings[name])}" for name in sorted(settings))
    return f"{game}({parts})" if parts else game


def settings_of_game(game: str) -> tuple[str, dict[str, Any]]:  # Any: TOML values
    """Return the id of an environment, and the keyword arguments that stand in brackets behind it.

    >>> settings_of_game('FrozenLake-v1(is_slippery=false, map_name="8x8")')
    ('FrozenLake-v1', {'is_slippery': False, 'map_name': '8x8'})
    """
    name, bracket, text = game.partition("(")
    if not bracket:
        return game, {}
    try:
        if not text.endswith(")"):
            raise ValueError
        return name.strip(), dict(tomllib.loads(f"settings = {{ {text[:-1]} }}")["settings"])
    except ValueError:
        raise InputError(
            f"The settings of {shorten(game, 200)} cannot be read. Write them as in TOML, for example "
            f"FrozenLake-v1(is_slippery=false)."
        ) from None


def _made(game: str) -> Any:
    gymnasium = gymnasium_package()
    name, settings = settings_of_game(game)
    spec = gymnasium.registry.get(name)
    # Not by its name alone: Gymnasium has a Blackjack that is no Atari game.
    if name.startswith("ALE/") or str(getattr(spec, "entry_point", "")).startswith("ale_py"):
        raise InputError(
            f'{shorten(name)} is an Atari game. Play it with environment = "ale", which sets every '
            f"part of the protocol itself."
        )
    try:
        return gymnasium.make(name, disable_env_checker=True, **settings)
    except Exception as error:
        registered_names = sorted(
            registered for registered in gymnasium.registry if not registered.startswith("ALE/")
        )
        raise InputError(
            f"Gymnasium cannot make {shorten(game)}: {first_line(error)}. Registered: "
            f"{', '.join(registered_names)}. Give module:Name-v0 for an "
            f"environment of another package."
        ) from error
