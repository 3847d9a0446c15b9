"""Atari games on the Arcade Learning Environment, with every setting of the protocol set explicitly."""

from __future__ import annotations

import numpy as np

from examiner.arena.environments.console import Console, ConsoleState
from examiner.arena.environments.contract import Seen
from examiner.arena.environments.games import playable_game
from examiner.arena.play.job import OBSERVATIONS, Job
from examiner.arena.protocol import Protocol
from examiner.wording import unknown_name


class AtariEnvironment:
    """A game as the protocol wants it played.

    >>> environment = AtariEnvironment("pong", protocol=Protocol())
    >>> environment.reset(np.random.default_rng(0))
    >>> environment.step(0), environment.frames, environment.observe().shape
    (0.0, 5, (210, 160))
    """

    def __init__(
        self,
        game: str,
        *,
        protocol: Protocol,
        mode: int | None = None,
        difficulty: int | None = None,
        observation: str = "raw",
    ) -> None:
        if observation not in OBSERVATIONS:
            raise unknown_name("observation", observation, OBSERVATIONS)
        self.game, self.protocol = playable_game(game), protocol
        self.mode = protocol.mode if mode is None else mode
        self.difficulty = protocol.difficulty if difficulty is None else difficulty
        self._observation = observation
        self._console = self._new_console()
        self.mode, self.difficulty = self._console.variant
        self._imagined: Console | None = None
        self._rng = np.random.default_rng(0)  # replaced at every reset
        self.action_names = tuple(action.name for action in self._console.actions)
        self._console.start()
        self.observation_shape = self.observe().shape

    @classmethod
    def of_job(cls, job: Job) -> AtariEnvironment:
        """Return the environment that a job plays in."""
        return cls(
            job.game,
            protocol=job.protocol,
            mode=job.mode,
            difficulty=job.difficulty,
            observation=job.observation,
        )

    @property
    def over(self) -> bool:
        """Whether the episode has ended, by itself or cut off."""
        return self._console.over

    @property
    def truncated(self) -> bool:
        """Whether it was cut off by the protocol's cap."""
        return self._console.truncated

    @property
    def frames(self) -> int:
        """Frames of this episode so far."""
        return self._console.frames

    @property
    def lives(self) -> int:
        """Lives left, where the game has any."""
        return self._console.lives

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks: for a blind agent no screens are merged."""
        self._console.watch(watched)

    def random_action(self, rng: np.random.Generator) -> int:
        """Return one of the actions."""
        return int(rng.integers(len(self.action_names)))

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        self._rng = rng
        self._console.start()
        most = self.protocol.max_start_no_ops
        if most:
            self._console.idle(int(rng.integers(most + 1)), rng)

    def step(self, action: int) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        return self._console.act(action, self._rng)

    def observe(self) -> Seen:
        """Return what the agent sees now."""
        return self._console.observe()

    def model(self, rng: np.random.Generator) -> AtariModel:
        """Return a forward model of the game, whose noise comes from the generator."""
        if self._imagined is None:
            self._imagined = self._new_console()
        self._imagined.watched = self._console.watched  # the blind do not look ahead either
        return AtariModel(self._console, self._imagined, rng)

    def _new_console(self) -> Console:
        return Console(
            self.game,
            mode=self.mode,
            difficulty=self.difficulty,
            protocol=self.protocol,
            observation=self._observation,
        )


class AtariModel:
    """A second console on which a planner tries things out.

    >>> environment = AtariEnvironment("pong", protocol=Protocol())
    >>> environment.reset(np.random.default_rng(0))
    >>> model = environment.model(np.random.default_rng(1))
    >>> model.restore(model.root())
    >>> model.advance(1), model.frames, environment.frames
    (0.0, 5, 0)
    """

    def __init__(self, played: Console, imagined: Console, rng: np.random.Generator) -> None:
        self._played, self._console, self._rng = played, imagined, rng
        self.frames = 0

    @property
    def over(self) -> bool:
        """Whether the simulated episode has ended."""
        return self._console.over

    @property
    def lives(self) -> int:
        """Lives left in the simulation."""
        return self._console.lives

    def root(self) -> ConsoleState:
        """Return the state of the game that is played."""
        return self._played.clone()

    def clone(self) -> ConsoleState:
        """Return the state the simulation is in."""
        return self._console.clone()

    def restore(self, state: ConsoleState) -> None:
        """Put the simulation into a state."""
        self._console.restore(state)

    def advance(self, action: int) -> float:
        """Take an action for as long as the agent's actions last; return the reward."""
        before = self._console.frames
        reward = self._console.act(action, self._rng)
        self.frames += self._console.frames - before
        return reward

    def observe(self) -> Seen:
        """Return what an agent would see."""
        return self._console.observe()
