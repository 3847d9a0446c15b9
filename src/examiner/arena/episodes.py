"""Episodes of a job, one after the other: played, resumed, and told to the driver by a worker."""

from __future__ import annotations

import operator
import random
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from examiner.arena.agents import AGENTS
from examiner.arena.contract import Environment, Task, make_agent
from examiner.arena.job import Job, environment_of
from examiner.ledger import Checkpoint, Episode, Phase
from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.validation import Floats
from examiner.workers import reason_of


class Playing:
    """An iterator over the episodes of one job, in its own environment or in one that is given.

    It goes on after `episodes` of the job, `evaluated` of them evaluation, with so many training `frames`,
    from what the agent `saved` then; these count on as it plays. `learnt` are training episodes of another
    job from which the agent comes.

    >>> job = Job("random", "random", game="pong", episodes=2)
    >>> first, second = Playing(job)
    >>> again = Playing(job, episodes=1, frames=first.frames)
    >>> next(again).score == second.score
    True
    """

    def __init__(
        self,
        job: Job,
        environment: Environment | None = None,
        *,
        episodes: int = 0,
        frames: int = 0,
        evaluated: int = 0,
        saved: bytes | None = None,
        learnt: int = 0,
    ) -> None:
        self.job, self._learnt = job, learnt
        self.episodes, self.frames, self.evaluated = episodes, frames, evaluated
        self.agent = make_agent(job.entry, job.settings, AGENTS)
        if not self.stateless and not callable(getattr(self.agent, "load", None)):
            raise InputError(
                f"The agent {shorten(job.agent)} can save() what it learnt but not load(bytes) it again. "
                f"Give it both methods, or neither."
            )
        self.environment = environment_of(job) if environment is None else environment
        self.environment.watch(not getattr(self.agent, "blind", False))
        if (episodes or learnt) and not self.stateless:
            if saved is None:
                raise InputError(
                    f"The agent {shorten(job.agent)} keeps what it learnt, but nothing of it was saved "
                    f"after {episodes or learnt} episodes. Play the job from its beginning."
                )
            self.agent.load(saved)

    @property
    def stateless(self) -> bool:
        """Whether the agent keeps nothing between episodes: it can resume at any of them."""
        return not callable(getattr(self.agent, "save", None))

    def checkpoint(self) -> bytes | None:
        """Return what the agent has learnt so far; None for agents that keep nothing.

        >>> Playing(Job("random", "random", game="pong")).checkpoint() is None
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
        started = time.process_time()
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
            cpu_seconds=time.process_time() - started,
            phase=phase,
        )

    def _next_phase(self) -> Phase | None:
        job, protocol = self.job, self.job.protocol
        trained = self._learnt + self.episodes - self.evaluated
        enough_episodes = job.episodes is not None and trained >= job.episodes
        enough_frames = job.last_frame is not None and self.frames >= job.last_frame
        finished = enough_episodes or enough_frames
        if protocol.evaluation_episodes:
            budget = protocol.training_frames if job.last_frame is None else job.last_frame
            reached = sum(self.frames >= share * budget for share in protocol.report_shares)
            # A job that ends between two report points is evaluated at its end.
            due = reached + (finished and reached < len(protocol.report_shares))
            if self.evaluated < due * protocol.evaluation_episodes:
                return "evaluation"
        return None if finished else "training"

    def _task(self, phase: Phase) -> Task:
        environment, job = self.environment, self.job
        plans = getattr(self.agent, "plans", False)
        number = self._learnt + self.episodes
        return Task(
            actions=environment.action_names,
            observation_shape=environment.observation_shape,
            draw=environment.random_action,
            frame_skip=job.protocol.frame_skip,
            episode=number,
            frames=self.frames,
            training_frames=job.last_frame,
            learning=phase == "training",
            model=environment.model(job.generator(number, "model")) if plans else None,
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
    observation = None if blind else environment.observe()
    over = environment.over
    while not over:
        action = agent.act(observation)
        if actions:
            action = _position(action, actions, job)
        reward = environment.step(action)
        score, over = score + reward, environment.over
        if not blind:
            observation = environment.observe()
        if learn is not None:
            lost = lives_matter and environment.lives < lives
            lives = environment.lives
            truncated = environment.truncated
            learn(reward, observation, lost or (over and not truncated), truncated)
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


def results_of(job: Job, measure: str = "score") -> Results:
    """Play a job here: its episodes of evaluation, or those of training where there are none.

    What the agent prints goes to standard error.

    >>> job = Job("r", "random", environment="gymnasium", game="CartPole-v1", episodes=2)
    >>> len(results_of(job))
    2
    """
    try:
        with redirect_stdout(sys.stderr):
            episodes = list(Playing(job))
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # an agent may call sys.exit: no answer of ours
        raise InputError(
            f"The agent {shorten(job.agent)} failed on {shorten(job.game)}: {reason_of(problem)}. "
            f"Correct the agent."
        ) from problem
    evaluated = [episode.score for episode in episodes if episode.phase == "evaluation"]
    scores = evaluated or [episode.score for episode in episodes]
    table: dict[str, list[Any]] = {  # Any: names, numbers
        "agent": [job.agent] * len(scores),
        "task": [job.game] * len(scores),
        "run": [job.seed] * len(scores),
        "trial": list(range(len(scores))),
        measure: scores,
    }
    return Results.from_dict(table)


_LEAST_SECONDS = 1.0  # a job shorter than that is played again sooner than it is saved
# Seen from the worker; the driver, which writes the file, takes half as much again.
_COST_SHARE = 0.007


BEGINNING = Checkpoint(0, 0, 0)
"""What is reached of a job that was not begun."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a job begins: after what was `reached` of it in so many CPU seconds.

    `saved` is what its agent saved then, or, after `learnt` training episodes, in another job; `folders`
    are searched for the agent.
    """

    job: Job
    reached: Checkpoint = BEGINNING
    saved: bytes | None = None
    learnt: int = 0
    cpu_seconds: float = 0.0
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
    reached = start.reached
    seed = int(start.job.generator(reached.episodes, "process").integers(2**32))
    random.seed(seed)  # all code of this process shares these two generators
    np.random.seed(seed)  # noqa: NPY002  agents may draw from it
    playing = Playing(
        start.job,
        episodes=reached.episodes,
        frames=reached.frames,
        evaluated=reached.evaluated,
        saved=start.saved,
        learnt=start.learnt,
    )
    yield playing.stateless and not callable(getattr(playing.agent, "learn", None))
    # A learner that cannot be saved is played from its beginning again, as is one that learns no more.
    if playing.stateless or start.learnt:
        yield from playing
        return
    beginning = last = _clocks()
    cost, kept = np.zeros(2), True
    for episode in playing:
        kept = False
        yield episode
        now = _clocks()
        run = start.cpu_seconds + now[0] - beginning[0]
        # At most a hundredth of a run is played again after an interruption.
        least = max(_LEAST_SECONDS, 0.01 * run), 0.0
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


def _saved(playing: Playing) -> Saved:
    data = playing.checkpoint()
    assert data is not None, "only agents that save are asked to"
    return Saved(Checkpoint(playing.episodes, playing.frames, playing.evaluated), data)
