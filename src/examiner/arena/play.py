"""Episodes of a job, one after the other, from the beginning or from where they were left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from examiner.arena.agent import Task, make_agent
from examiner.arena.agents import AGENTS
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.job import Job
from examiner.results.checks import unknown_name


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole game: from its start to game over or to the protocol's cap.

    `number` counts from 0 over both phases. `frames` are the training frames of the run at the
    episode's end: evaluation adds none. `length` is this episode's, in frames.
    """

    number: int
    frames: int
    length: int
    score: float
    lives: int
    truncated: bool
    cpu_seconds: float
    phase: Literal["training", "evaluation"] = "training"


class Playing:
    """An iterator over the episodes of one job.

    >>> job = Job("random", "random", game="pong", episodes=2)
    >>> [episode.number for episode in Playing.begin(job)]
    [0, 1]
    """

    def __init__(self, job: Job) -> None:
        if job.environment not in ENVIRONMENTS:
            raise unknown_name("environment", job.environment, ENVIRONMENTS)
        self.job = job
        self._agent = make_agent(job.entry, job.settings, AGENTS)
        self._environment = ENVIRONMENTS[job.environment](job)
        self._number, self._frames, self._evaluated = 0, 0, 0

    @classmethod
    def begin(cls, job: Job) -> Playing:
        """Start at the first episode."""
        return cls(job)

    @classmethod
    def resume(
        cls,
        job: Job,
        *,
        episodes_done: int,
        frames_done: int,
        evaluated: int = 0,
        checkpoint: bytes | None,
    ) -> Playing:
        """Go on after so many episodes, `evaluated` of them evaluation, from what the agent saved then."""
        playing = cls(job)
        playing._number, playing._frames, playing._evaluated = episodes_done, frames_done, evaluated
        if checkpoint is not None:
            playing._agent.load(checkpoint)
        return playing

    @property
    def stateless(self) -> bool:
        """Whether the agent keeps nothing between episodes: it can resume at any of them."""
        return not hasattr(self._agent, "save")

    def checkpoint(self) -> bytes | None:
        """What the agent has learnt so far; None for agents that learn nothing."""
        return None if self.stateless else self._agent.save()

    def __iter__(self) -> Iterator[Episode]:
        return self

    def __next__(self) -> Episode:
        job = self.job
        trained = self._number - self._evaluated
        if job.episodes is not None and trained >= job.episodes:
            raise StopIteration
        if job.last_frame is not None and self._frames >= job.last_frame:
            raise StopIteration
        begun = time.process_time()
        score = self._play(learning=True)
        environment = self._environment
        self._frames += environment.frames
        episode = Episode(
            number=self._number,
            frames=self._frames,
            length=environment.frames,
            score=score,
            lives=environment.lives,
            truncated=environment.truncated,
            cpu_seconds=time.process_time() - begun,
        )
        self._number += 1
        return episode

    def _play(self, *, learning: bool) -> float:
        environment, agent, number = self._environment, self._agent, self._number
        environment.reset(self.job.generator(number, "environment"))
        if hasattr(agent, "begin"):
            task = Task(
                environment.action_names,
                environment.observation_shape,
                self.job.protocol.frame_skip,
                number,
                self._frames,
                learning,
            )
            agent.begin(task, self.job.generator(number, "agent"))
        learn = getattr(agent, "learn", None)
        blind = getattr(agent, "blind", False)
        score, seen = 0.0, None if blind else environment.observe()
        while not environment.over:
            reward = environment.step(agent.act(seen))
            score += reward
            seen = None if blind else environment.observe()
            if learn is not None and learning:
                learn(
                    reward,
                    seen,
                    environment.over and not environment.truncated,
                    environment.truncated,
                )
        return score
