"""How long a plan will take: each agent timed over a few frames, and what its jobs are at most."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from examiner.arena.job import Job, Plan
from examiner.arena.play.episodes import Playing

PROBED_FRAMES = 40
"""Frames an agent is timed over: ten decisions, each of which may take a planner a second."""
ENOUGH_SECONDS = 10.0
"""After so long the first frames are enough; others play again, without what loading and compiling cost."""


class Pace(NamedTuple):
    """How fast an agent plays, and how long all its jobs take at most on one core.

    The speed is NaN where it was not timed; `seconds` is None there, and where nothing bounds the frames.
    """

    agent: str
    jobs: int
    frames_per_second: float
    most_frames: int | None
    seconds: float | None


def paces(
    plan: Plan, clock: Callable[[], float] = time.perf_counter, *, own_code: bool = False
) -> tuple[Pace, ...]:
    """Time each agent of a plan on its first job, and say how long its jobs take at most.

    Agents and environments that a plan names as `module:…` are timed only with `own_code`: to time
    them is to run their code.

    >>> from examiner.arena.plans import plan_from_toml
    >>> plan = plan_from_toml('games = ["pong"]\\nepisodes = 2\\n[[agents]]\\nentry = "random"')
    >>> [(pace.agent, pace.jobs, pace.most_frames) for pace in paces(plan)]
    [('random', 1, 36000)]
    """
    if own_code and plan.folder is not None and str(plan.folder) not in sys.path:
        sys.path.insert(0, str(plan.folder))
    jobs: dict[str, list[Job]] = {}
    for job in plan.jobs():
        jobs.setdefault(job.agent, []).append(job)
    return tuple(_pace(agent, own, clock, own_code) for agent, own in jobs.items())


def _pace(agent: str, jobs: list[Job], clock: Callable[[], float], own_code: bool) -> Pace:
    if not own_code and any(":" in name for name in (jobs[0].entry, jobs[0].game)):
        return Pace(agent, len(jobs), math.nan, None, None)
    short = replace(jobs[0].protocol, max_episode_frames=PROBED_FRAMES)
    probed = replace(jobs[0], protocol=short, episodes=2, frames=None)
    playing = Playing.begin(probed)
    speed = 0.0
    for _ in range(2):  # the first also pays for what is compiled and loaded on the way
        begun = clock()
        episode = next(playing, None)
        took = max(clock() - begun, 1e-9)
        if episode is None:
            break
        speed = episode.length / took
        if took > ENOUGH_SECONDS:
            break
    budgets = [_most_frames(job) for job in jobs]
    if None in budgets or not speed:
        return Pace(agent, len(jobs), speed, None, None)
    most = sum(budget for budget in budgets if budget is not None)
    return Pace(agent, len(jobs), speed, most, most / speed)


def _most_frames(job: Job) -> int | None:
    """The frames of a job, of evaluation as well, at most; None where nothing bounds them."""
    longest = job.protocol.max_episode_frames
    if job.episodes is not None:
        return None if longest is None else job.episodes * longest
    if job.frames is not None:
        return job.frames + (longest or 0)
    return None
