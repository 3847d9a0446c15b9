"""Episodes of a job, one after the other: played, resumed, and told to the driver by a worker."""

from __future__ import annotations

import operator
import random
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from examiner.arena.agents import AGENTS
from examiner.arena.contract import Environment, Task, make_agent
from examiner.arena.job import Job, environment_of
from examiner.ledger import Account, Checkpoint, Episode, Phase
from examiner.messages import InputError, shorten
from examiner.validation import Floats


class Playing:
    """An iterator over the episodes of one job, in its own environment or in one that is given.

    `episodes` and `frames` are those played so far, `evaluated` how many episodes were evaluation.

    >>> job = Job("random", "random", game="pong", episodes=2)
    >>> [episode.number for episode in Playing.begin(job)]
    [0, 1]
    """

    def __init__(self, job: Job, environment: Environment | None = None) -> None:
        self.job = job
        self.agent = make_agent(job.entry, job.settings, AGENTS)
        if not self.stateless and not callable(getattr(self.agent, "load", None)):
            raise InputError(
                f"The agent {shorten(job.agent)} can save() what it learnt but not load(bytes) it again. "
                f"Give it both methods, or neither."
            )
        self.environment = environment_of(job) if environment is None else environment
        self.environment.watch(not getattr(self.agent, "blind", False))
        self.episodes, self.frames, self.evaluated = 0, 0, 0

    @classmethod
    def begin(cls, job: Job) -> Playing:
        """Start at the first episode.

        >>> next(Playing.begin(Job("random", "random", game="pong"))).number
        0
        """
        return cls(job)

    @classmethod
    def resume(
        cls,
        job: Job,
        *,
        episodes_done: int,
        frames_done: int,
        checkpoint: bytes | None,
        evaluated: int = 0,
    ) -> Playing:
        """Go on after so many episodes, `evaluated` of them evaluation, from what the agent saved then.

        >>> job = Job("random", "random", game="pong", episodes=2)
        >>> first, second = Playing.begin(job)
        >>> again = Playing.resume(job, episodes_done=1, frames_done=first.frames, checkpoint=None)
        >>> next(again).score == second.score
        True
        """
        playing = cls(job)
        if episodes_done and not playing.stateless:
            if checkpoint is None:
                raise InputError(
                    f"The agent {shorten(job.agent)} keeps what it learnt, but nothing of it was saved "
                    f"after {episodes_done} episodes. Play the job from its beginning."
                )
            playing.agent.load(checkpoint)
        playing.episodes, playing.frames, playing.evaluated = episodes_done, frames_done, evaluated
        return playing

    @property
    def stateless(self) -> bool:
        """Whether the agent keeps nothing between episodes: it can resume at any of them."""
        return not callable(getattr(self.agent, "save", None))

    def checkpoint(self) -> bytes | None:
        """Return what the agent has learnt so far; None for agents that keep nothing.

        >>> Playing.begin(Job("random", "random", game="pong")).checkpoint() is None
        True
        """
        if self.stateless:
            return None
        saved: object = self.agent.save()
        if not isinstance(saved, bytes | bytearray | memoryview):
            raise InputError(
                f"The agent {shorten(self.job.agent)} saved itself as a {type(saved).__name__}. Its method "
                f"save() must return bytes."
            )
        return bytes(saved)

    def __iter__(self) -> Iterator[Episode]:
        return self

    def __next__(self) -> Episode:
        phase = self._next_phase()
        if phase is None:
            raise StopIteration
        begun = time.process_time()
        try:
            score = _play(self.environment, self.agent, self._task(phase), self.job)
        except (StopIteration, GeneratorExit) as problem:  # else taken for the end of all episodes
            raise RuntimeError(f"the agent raised {type(problem).__name__}") from problem
        environment = self.environment
        if phase == "training":
            self.frames += environment.frames
        else:
            self.evaluated += 1
        self.episodes += 1
        return Episode(
            number=self.episodes - 1,
            frames=self.frames,
            length=environment.frames,
            score=score,
            lives=environment.lives,
            truncated=environment.truncated,
            cpu_seconds=time.process_time() - begun,
            phase=phase,
        )

    def _next_phase(self) -> Phase | None:
        job, protocol = self.job, self.job.protocol
        trained = self.episodes - self.evaluated
        enough_episodes = job.episodes is not None and trained >= job.episodes
        enough_frames = job.last_frame is not None and self.frames >= job.last_frame
        done = enough_episodes or enough_frames
        if protocol.evaluation_episodes:
            budget = protocol.training_frames if job.last_frame is None else job.last_frame
            reached = sum(self.frames >= share * budget for share in protocol.report_shares)
            # A job that ends between two report points is evaluated at its end.
            due = reached + (done and reached < len(protocol.report_shares))
            if self.evaluated < due * protocol.evaluation_episodes:
                return "evaluation"
        return None if done else "training"

    def _task(self, phase: Phase) -> Task:
        environment, job = self.environment, self.job
        plans = getattr(self.agent, "plans", False)
        return Task(
            actions=environment.action_names,
            observation_shape=environment.observation_shape,
            draw=environment.random_action,
            frame_skip=job.protocol.frame_skip,
            episode=self.episodes,
            frames=self.frames,
            training_frames=job.last_frame,
            learning=phase == "training",
            model=environment.model(job.generator(self.episodes, "model")) if plans else None,
        )


def _play(environment: Environment, agent: Any, task: Task, job: Job) -> float:
    """Play one episode; return its score."""
    environment.reset(job.generator(task.episode, "environment"))
    if callable(getattr(agent, "begin", None)):
        agent.begin(task, job.generator(task.episode, "agent"))
    blind = getattr(agent, "blind", False)
    learn = getattr(agent, "learn", None) if task.learning else None
    lives_matter = job.protocol.training_ends_at == "life loss" and learn is not None
    actions = len(task.actions)
    score, lives = 0.0, environment.lives
    seen = None if blind else environment.observe()
    over = environment.over
    while not over:
        action = agent.act(seen)
        if actions:
            action = _position(action, actions, job)
        reward = environment.step(action)
        score, over = score + reward, environment.over
        if not blind:
            seen = environment.observe()
        if learn is not None:
            lost = lives_matter and environment.lives < lives
            lives = environment.lives
            truncated = environment.truncated
            learn(reward, seen, lost or (over and not truncated), truncated)
    return score


def _position(action: object, actions: int, job: Job) -> int:
    """An action as a whole number, whichever kind of whole number the agent has."""
    try:
        position = operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        position = -1
    if 0 <= position < actions:
        return position
    raise InputError(
        f"The agent {shorten(job.agent)} chose action {repr(action)[:100]}. There are {actions} "
        f"actions, whole numbers counted from 0."
    )


_LEAST_SECONDS = 1.0  # a job shorter than that is played again sooner than it is saved
_SHARE_OF_RUN = 0.01  # what is played again after an interruption, at most
# Seen from the worker; the driver, which writes the file, takes half as much again.
_COST_SHARE = 0.007


@dataclass(frozen=True, slots=True)
class Start:
    """Where a job begins: at what the ledger holds of it; `folders` are searched for its agent.

    `saved` are the bytes of the account's checkpoint.
    """

    job: Job
    account: Account | None = None
    saved: bytes | None = None
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """What a learner saved, and after which episode."""

    checkpoint: Checkpoint
    data: bytes


def _clocks() -> Floats:
    """Time on the clock, and of the processor: on a busy machine the two are far apart."""
    return np.array([time.perf_counter(), time.process_time()])


def perform_job(start: Start) -> Iterator[bool | Episode | Saved]:
    """Yield whether the agent is stateless, then every episode, and what a learner saves in between.

    Global generators are seeded by the job: an agent that draws from them repeats itself too. A
    learner is saved when one per cent of the time it has taken has passed since the last time, but
    so that saving takes at most two per cent of the time; and when it is done.

    >>> messages = list(perform_job(Start(Job("random", "random", game="pong", episodes=1))))
    >>> messages[0], messages[1].number
    (True, 0)
    """
    for folder in start.folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    _seed_process(start)
    playing = _playing(start)
    yield playing.stateless and not callable(getattr(playing.agent, "learn", None))
    if playing.stateless:  # a learner that cannot be saved is played from its beginning again
        yield from playing
        return
    seconds = 0.0 if start.account is None else start.account.cpu_seconds
    begun = last = _clocks()
    cost, kept = np.zeros(2), True
    for episode in playing:
        kept = False
        yield episode
        now = _clocks()
        run = seconds + now[0] - begun[0]
        least = max(_LEAST_SECONDS, _SHARE_OF_RUN * run), 0.0
        if np.all(now - last >= np.maximum(least, cost / _COST_SHARE)):
            yield _saved(playing)
            kept = True
            last = _clocks()
            cost = last - now
    if not kept:
        yield _saved(playing)


_PACKAGES = {"ale": "ale_py", "gymnasium": "gymnasium", "dqn": "stable_baselines3"}
"""What environments and agents of the arena take long to import, by their names."""


def packages_of(jobs: Iterable[Job]) -> tuple[str, ...]:
    """Return what a worker should import before it forks a process for each of these jobs.

    >>> packages_of([Job("random", "random", game="pong")])
    ('ale_py',)
    """
    names = {name for job in jobs for name in (job.environment, job.entry)}
    return tuple(sorted(_PACKAGES[name] for name in names & _PACKAGES.keys()))


def _seed_process(start: Start) -> None:
    """Seed the generators that all code of this process shares."""
    episodes = 0 if start.account is None else start.account.episodes
    seed = int(start.job.generator(episodes, "process").integers(2**32))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  agents may draw from it


def _playing(start: Start) -> Playing:
    account = start.account
    reached: Account | Checkpoint | None = account
    if account is not None and not account.stateless:
        reached = None if start.saved is None else account.checkpoint
    if reached is None or not reached.episodes:
        return Playing.begin(start.job)
    return Playing.resume(
        start.job,
        episodes_done=reached.episodes,
        frames_done=reached.frames,
        evaluated=reached.evaluated,
        checkpoint=start.saved,
    )


def _saved(playing: Playing) -> Saved:
    data = playing.checkpoint()
    assert data is not None, "only agents that save are asked to"
    return Saved(Checkpoint(playing.episodes, playing.frames, playing.evaluated), data)
