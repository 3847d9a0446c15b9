"""How a run stands: jobs, episodes, frames, speed, and when it will be over."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from examiner.arena.play.job import Job
from examiner.ledger import Account

_WINDOW_SECONDS = 30.0  # speed is that of the last half minute: jobs differ
_SCORES = 100  # as many as performance is usually averaged over


@dataclass(frozen=True, slots=True)
class JobStanding:
    """How a job that is being played stands; `score` is the mean of its last 100 episodes here."""

    agent: str
    game: str
    seed: int
    episodes: int
    frames: int
    share: float
    score: float


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands: jobs that wait, play, are done and failed; frames a second; seconds to go."""

    jobs: int
    done: int
    failed: int
    playing: tuple[JobStanding, ...]
    episodes: int
    frames: int
    frames_per_second: float
    share: float
    seconds_left: float


Watcher = Callable[[Standing], None]


def share_done(job: Job, episodes: int, frames: int) -> float:
    """The share of a job that is done, by whichever of its budgets is nearer its end.

    >>> share_done(Job("a", "random", game="pong", episodes=10), 5, 1000)
    0.5
    """
    shares = [0.0]
    if job.episodes is not None:
        shares.append(episodes / job.episodes)
    if job.last_frame is not None:
        shares.append(frames / job.last_frame)
    return min(1.0, max(shares))


@dataclass(slots=True)
class Scoreboard:
    """Keeps count while a run goes on; jobs and their accounts are known by their index."""

    jobs: Sequence[Job]
    accounts: Sequence[Account]
    playing: dict[int, deque[float]] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    episodes: int = 0
    frames: int = 0
    _shares: float = 0.0
    _counted: dict[int, tuple[int, int, float]] = field(default_factory=dict)
    _history: deque[tuple[float, int, float]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        for index in range(len(self.jobs)):
            self.count(index)
        self._history.append((time.monotonic(), self.frames, self._shares))

    def count(self, index: int) -> None:
        """Take in what an account gained since it was last counted."""
        episodes, frames, share = self._counted.get(index, (0, 0, 0.0))
        account = self.accounts[index]
        now = account.episodes, account.frames, self._share(index)
        self.episodes += now[0] - episodes
        self.frames += now[1] - frames
        self._shares += now[2] - share
        self._counted[index] = now

    def standing(self) -> Standing:
        """Sum up."""
        now = time.monotonic()
        self._history.append((now, self.frames, self._shares))
        while len(self._history) > 2 and now - self._history[0][0] > _WINDOW_SECONDS:
            self._history.popleft()
        then, frames, shares = self._history[0]
        seconds = max(now - then, 1e-9)
        speed = (self._shares - shares) / seconds
        left = len(self.jobs) - self.failed - self._shares
        return Standing(
            jobs=len(self.jobs),
            done=self.done,
            failed=self.failed,
            playing=tuple(self._of_job(index) for index in sorted(self.playing)),
            episodes=self.episodes,
            frames=self.frames,
            frames_per_second=(self.frames - frames) / seconds,
            share=self._shares / max(1, len(self.jobs)),
            seconds_left=max(0.0, left) / speed if speed > 0 else float("nan"),
        )

    def begin(self, index: int) -> None:
        """Take note that a job is being played."""
        self.playing[index] = deque(maxlen=_SCORES)

    def end(self, index: int, *, failed: bool) -> None:
        """Take note that a job has ended."""
        self.playing.pop(index, None)
        if failed:  # what it played is no part of what there is to do any more
            self._shares -= self._counted[index][2]
        self.failed += failed
        self.done += not failed

    def _share(self, index: int) -> float:
        account = self.accounts[index]
        trained = account.episodes - account.evaluated
        return share_done(self.jobs[index], trained, account.frames)

    def _of_job(self, index: int) -> JobStanding:
        job, account, scores = self.jobs[index], self.accounts[index], self.playing[index]
        return JobStanding(
            *(job.agent, job.game, job.seed, account.episodes, account.frames),
            self._share(index),
            sum(scores) / len(scores) if scores else float("nan"),
        )
