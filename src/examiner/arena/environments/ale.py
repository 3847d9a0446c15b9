"""Atari games on the Arcade Learning Environment, with every setting of the protocol set explicitly."""

from __future__ import annotations

from typing import Any

import numpy as np

from examiner.arena.environment import Model, Seen
from examiner.arena.extras import ale_package
from examiner.arena.games import game_variant, playable_game
from examiner.arena.job import Job
from examiner.arena.protocol import Protocol

_NO_OP = 0


class AtariEnvironment:
    """A game as the protocol wants it played."""

    def __init__(
        self,
        game: str,
        *,
        protocol: Protocol,
        mode: int | None = None,
        difficulty: int | None = None,
        observation: str = "raw",
    ) -> None:
        self.game = playable_game(game)
        self.protocol = protocol
        self.observation = observation
        self.mode, self.difficulty = game_variant(
            self.game,
            protocol.mode if mode is None else mode,
            protocol.difficulty if difficulty is None else difficulty,
        )
        self.emulator = _emulator(self.game, self.mode, self.difficulty)
        self._start = self.emulator.cloneState()
        legal = protocol.action_set == "full"
        actions = (
            self.emulator.getLegalActionSet() if legal else self.emulator.getMinimalActionSet()
        )
        self.actions = tuple(actions)
        self.action_names = tuple(action.name for action in actions)
        self.over, self.truncated, self.frames, self.lives = True, False, 0, 0
        self._previous: Any = actions[0]

    @classmethod
    def of_job(cls, job: Job) -> AtariEnvironment:
        """Return the environment a job plays in."""
        return cls(
            job.game,
            protocol=job.protocol,
            mode=job.mode,
            difficulty=job.difficulty,
            observation=job.observation,
        )

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of what agents see."""
        return tuple(self.observe().shape)

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        # reset_game alone leaves traces of the last game in a dozen games (assault, beam_rider, …),
        # restoring alone leaves the counters that ale-py does not store (qbert): both are needed.
        self.emulator.reset_game()
        self.emulator.restoreState(self._start)
        self._rng = rng
        self._previous = self.actions[_NO_OP]
        self.over, self.truncated, self.frames = False, False, 0
        self.lives = self.emulator.lives()
        for _ in range(int(rng.integers(self.protocol.max_start_no_ops + 1))):
            self._frame(self.actions[_NO_OP])

    def step(self, action: int) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        chosen, reward = self.actions[action], 0.0
        for _ in range(self.protocol.frame_skip):
            reward += self._frame(chosen)
            if self.over:
                break
        self.lives = self.emulator.lives()
        return reward

    def _frame(self, action: Any) -> float:
        if self._rng.random() >= self.protocol.sticky_probability:
            self._previous = action
        reward = float(self.emulator.act(self._previous))
        self.frames += 1
        cap = self.protocol.max_episode_frames
        if self.emulator.game_over():
            self.over = True
        elif cap is not None and self.frames >= cap:
            self.over = self.truncated = True
        return reward

    def observe(self) -> Seen:
        """Return what the agent sees now."""
        if self.observation == "ram":
            return np.asarray(self.emulator.getRAM())
        return np.asarray(self.emulator.getScreen())

    def model(self, rng: np.random.Generator) -> Model:
        """Return a forward model of the game as it stands."""
        raise NotImplementedError


def _emulator(game: str, mode: int, difficulty: int) -> Any:  # ale_py comes only with an extra
    ale = ale_package()
    emulator = ale.ALEInterface()
    emulator.setInt("random_seed", 0)
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.setInt("frame_skip", 1)
    emulator.setInt("max_num_frames_per_episode", 0)
    emulator.setBool("color_averaging", False)
    emulator.loadROM(ale.roms.get_rom_path(game))
    emulator.setMode(mode)
    emulator.setDifficulty(difficulty)
    emulator.reset_game()
    return emulator
