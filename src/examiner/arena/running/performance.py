"""One job as a worker plays it: episodes as they end, and now and then what a learner has saved."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from examiner.arena.play.episodes import Episode, Playing
from examiner.arena.play.job import Job
from examiner.ledger.checkpoints import Checkpoint

_LEAST_SECONDS = 1.0
_SHARE_OF_RUN = 0.01
_COST_SHARE = (
    0.007  # seen from the worker; the driver, which writes the file, takes half as much again
)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a job begins: its checkpoint, or the episodes it has; `folders` are searched for its agent.

    `seconds` is the time that the job has taken before; `episodes` are those the ledger has.
    """

    job: Job
    folders: tuple[str, ...] = ()
    episodes: int = 0
    frames: int = 0
    evaluated: int = 0
    stateless: bool | None = None
    checkpoint: Checkpoint | None = None
    data: bytes | None = None
    seconds: float = 0.0


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
    learns = callable(getattr(playing._agent, "learn", None))
    yield playing.stateless and not learns
    if playing.stateless:  # a learner that cannot be saved is played from its beginning again
        yield from playing
        return
    begun = last = _Clock.now()
    cost = _Clock(0.0, 0.0)
    episode, evaluated, kept = None, _evaluated_before(start), True
    for episode in playing:
        evaluated += episode.phase == "evaluation"
        kept = False
        yield episode
        now = _Clock.now()
        run = start.seconds + now.wall - begun.wall
        passed = now.since(last)
        if (
            passed.wall >= max(_LEAST_SECONDS, _SHARE_OF_RUN * run, cost.wall / _COST_SHARE)
            and passed.cpu >= cost.cpu / _COST_SHARE
        ):
            yield _saved(playing, episode, evaluated)
            kept = True
            last = _Clock.now()
            cost = last.since(now)
    if episode is not None and not kept:
        yield _saved(playing, episode, evaluated)


def _playing(start: Start) -> Playing:
    if start.stateless and start.episodes:
        return Playing.resume(
            start.job,
            episodes_done=start.episodes,
            frames_done=start.frames,
            evaluated=start.evaluated,
            checkpoint=None,
        )
    if start.checkpoint is not None and start.data is not None:
        return Playing.resume(
            start.job,
            episodes_done=start.checkpoint.episodes,
            frames_done=start.checkpoint.frames,
            evaluated=start.checkpoint.evaluated,
            checkpoint=start.data,
        )
    return Playing.begin(start.job)


def _evaluated_before(start: Start) -> int:
    return 0 if start.checkpoint is None or start.data is None else start.checkpoint.evaluated


def _saved(playing: Playing, episode: Episode, evaluated: int) -> Saved:
    data = playing.checkpoint()
    assert data is not None, "only agents that save are asked to"
    return Saved(Checkpoint(episode.number + 1, episode.frames, evaluated), data)
