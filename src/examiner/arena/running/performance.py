"""One job as a worker plays it: episodes as they end, and now and then what a learner has saved."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from examiner.arena.play.episodes import Playing
from examiner.arena.play.job import Job
from examiner.ledger import Account, Checkpoint, Episode

_LEAST_SECONDS = 1.0  # a job shorter than that is played again sooner than it is saved
_SHARE_OF_RUN = 0.01  # what is played again after an interruption, at most
_COST_SHARE = (
    0.007  # seen from the worker; the driver, which writes the file, takes half as much again
)


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


class _Clock(NamedTuple):
    """Time on the clock, and of the processor: on a busy machine the two are far apart."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> _Clock:
        return cls(time.perf_counter(), time.process_time())

    def since(self, before: _Clock) -> _Clock:
        return _Clock(self.wall - before.wall, self.cpu - before.cpu)


def perform_job(start: Start) -> Iterator[bool | Episode | Saved]:
    """Yield whether the agent is stateless, then every episode, and what a learner saves in between.

    A learner is saved when one per cent of the time it has taken has passed since the last time, but
    so that saving takes at most two per cent of the time; and when it is done.

    >>> messages = list(perform_job(Start(Job("random", "random", game="pong", episodes=1))))
    >>> messages[0], messages[1].number
    (True, 0)
    """
    for folder in start.folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    playing = _playing(start)
    yield playing.stateless and not callable(getattr(playing.agent, "learn", None))
    if playing.stateless:  # a learner that cannot be saved is played from its beginning again
        yield from playing
        return
    seconds = 0.0 if start.account is None else start.account.cpu_seconds
    begun = last = _Clock.now()
    cost, kept = _Clock(0.0, 0.0), True
    for episode in playing:
        kept = False
        yield episode
        now = _Clock.now()
        run = seconds + now.wall - begun.wall
        passed = now.since(last)
        if (
            passed.wall >= max(_LEAST_SECONDS, _SHARE_OF_RUN * run, cost.wall / _COST_SHARE)
            and passed.cpu >= cost.cpu / _COST_SHARE
        ):
            yield _saved(playing)
            kept = True
            last = _Clock.now()
            cost = last.since(now)
    if not kept:
        yield _saved(playing)


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
