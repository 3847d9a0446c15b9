"""How a run stands: jobs, episodes, frames, speed, and when it will be over."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from examiner.arena.play.job import Job
from examiner.ledger.accounts import Account

_WINDOW_SECONDS = 30.0
_SCORES = 100


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
    """Keeps count while a run goes on."""

    accounts: Sequence[Account]
    playing: dict[int, deque[float]] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    _shares: dict[int, float] = field(default_factory=dict)
    _done_shares: float = 0.0
    _episodes: int = 0
    _frames: int = 0
    _history: deque[tuple[float, int, float]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        for account in self.accounts:
            self.count(account, 0, 0)
        self._history.append((time.monotonic(), self._frames, self._done_shares))

    def count(self, account: Account, episodes_before: int, frames_before: int) -> None:
        """Take in what an account gained since it had so many episodes and frames."""
        self._episodes += account.episodes - episodes_before
        self._frames += account.frames - frames_before
        before = self._shares.get(account.number, 0.0)
        now = share_done(account.job, account.episodes - account.evaluated, account.frames)
        self._shares[account.number] = now
        self._done_shares += now - before

    def standing(self) -> Standing:
        """Sum up."""
        now = time.monotonic()
        self._history.append((now, self._frames, self._done_shares))
        while len(self._history) > 2 and now - self._history[0][0] > _WINDOW_SECONDS:
            self._history.popleft()
        then, frames, shares = self._history[0]
        seconds = max(now - then, 1e-9)
        speed = (self._done_shares - shares) / seconds
        left = len(self.accounts) - self.failed - self._done_shares
        return Standing(
            jobs=len(self.accounts),
            done=self.done,
            failed=self.failed,
            playing=tuple(self._of_job(place) for place in sorted(self.playing)),
            episodes=self._episodes,
            frames=self._frames,
            frames_per_second=(self._frames - frames) / seconds,
            share=self._done_shares / max(1, len(self.accounts)),
            seconds_left=max(0.0, left) / speed if speed > 0 else float("nan"),
        )

    def begin(self, place: int) -> None:
        """Take note that a job is being played."""
        self.playing[place] = deque(maxlen=_SCORES)

    def end(self, place: int, *, failed: bool) -> None:
        """Take note that a job has ended."""
        self.playing.pop(place, None)
        if failed:  # what it played is no part of what there is to do any more
            self._done_shares -= self._shares.pop(self.accounts[place].number, 0.0)
        self.failed += failed
        self.done += not failed

    def _of_job(self, place: int) -> JobStanding:
        account, scores = self.accounts[place], self.playing[place]
        job = account.job
        return JobStanding(
            *(job.agent, job.game, job.seed, account.episodes, account.frames),
            share_done(job, account.episodes - account.evaluated, account.frames),
            sum(scores) / len(scores) if scores else float("nan"),
        )
