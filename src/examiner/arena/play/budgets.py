"""How many frames a plan may play: of training and of evaluation, for each agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from examiner.arena.job import Job, Plan


class FrameBudget(NamedTuple):
    """The most frames that all jobs of an agent play; None where nothing bounds them."""

    agent: str
    jobs: int
    training_frames: int | None
    evaluation_frames: int | None


def frame_budgets(plan: Plan) -> tuple[FrameBudget, ...]:
    """Return how many frames each agent of a plan plays at most, without playing any.

    >>> from examiner.arena.plans import plan_from_toml
    >>> plan = plan_from_toml('games = ["pong"]\\nepisodes = 2\\n[[agents]]\\nentry = "random"')
    >>> frame_budgets(plan)
    (FrameBudget(agent='random', jobs=1, training_frames=36000, evaluation_frames=0),)
    """
    jobs: dict[str, list[Job]] = {}
    for job in plan.jobs():
        jobs.setdefault(job.agent, []).append(job)
    return tuple(
        FrameBudget(
            agent,
            len(its_jobs),
            _sum(_training_frames(job) for job in its_jobs),
            _sum(_evaluation_frames(job) for job in its_jobs),
        )
        for agent, its_jobs in jobs.items()
    )


def _sum(frames: Iterable[int | None]) -> int | None:
    total = 0
    for count in frames:
        if count is None:
            return None
        total += count
    return total


def _training_frames(job: Job) -> int | None:
    """The last episode begins before the last frame and may go on after it: only its length limits it."""
    longest = job.protocol.max_episode_frames
    if longest is None:
        return None
    by_episodes = None if job.episodes is None else job.episodes * longest
    by_frames = None if job.last_frame is None else job.last_frame + longest
    bounds = [bound for bound in (by_episodes, by_frames) if bound is not None]
    return min(bounds, default=None)


def _evaluation_frames(job: Job) -> int | None:
    protocol = job.protocol
    episodes = protocol.evaluation_episodes * len(protocol.report_shares)
    if not episodes:
        return 0
    return None if protocol.max_episode_frames is None else episodes * protocol.max_episode_frames
