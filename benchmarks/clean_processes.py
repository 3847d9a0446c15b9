"""Claim: a clean process for each job, forked from a worker that has loaded the arena, costs under 50 ms.

CPU milliseconds of a job that plays 20 frames: in a process that all jobs share (`shared`: an agent could
change the next one's episodes), in a fork of a worker (`forked`: how runs are played on Linux), and in a
process that is started for it (`started`: how they are played elsewhere).
Run: python benchmarks/clean_processes.py [--jobs 50] [--turns 3]
"""

from __future__ import annotations

import argparse
import resource
import statistics
from functools import partial

from examiner.arena import Job, Protocol, packages_of, perform_job
from examiner.arena.episodes import Start
from examiner.workers import ProcessCrew, oversee


class Silent:
    """Has jobs done and hears nothing of them."""

    def __init__(self, jobs: list[Job]) -> None:
        self.jobs = jobs

    def begin(self, job: int) -> object:
        return Start(self.jobs[job])

    def hear(self, job: int, message: object) -> None:
        return

    def end(self, job: int, reason: str | None) -> None:
        assert reason is None, reason

    def breathe(self) -> None:
        return


def seconds(jobs: list[Job], *, clean: bool) -> float:
    """CPU seconds of a crew of one that performs all jobs, its start included."""
    begun = _cpu_seconds()
    with ProcessCrew(perform_job, 1, clean=clean, modules=packages_of(jobs)) as crew:
        oversee(crew, range(len(jobs)), Silent(jobs))
    return _cpu_seconds() - begun


def _cpu_seconds() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def milliseconds(jobs: list[Job], *, clean: bool) -> float:
    """CPU milliseconds of a job on a worker that has been started already."""
    more = seconds(jobs, clean=clean) - seconds(jobs[:1], clean=clean)
    return 1000 * more / (len(jobs) - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    protocol = Protocol(frame_skip=1, max_episode_frames=20)
    for environment, game in (("gymnasium", "CartPole-v1"), ("ale", "pong")):
        where = {"environment": environment, "game": game, "protocol": protocol}
        jobs = [
            Job("random", "random", seed=seed, episodes=1, **where) for seed in range(asked.jobs)
        ]
        kinds = {
            "shared": partial(milliseconds, jobs, clean=False),
            "forked": partial(milliseconds, jobs, clean=True),
            "started": lambda jobs=jobs: 1000 * seconds(jobs[:1], clean=False),
        }
        for name, measured in kinds.items():
            times = sorted(measured() for _ in range(asked.turns))
            middle = statistics.median(times)
            print(
                f"{game:12} {name:8} {middle:6.1f} ms per job ({times[0]:.1f} to {times[-1]:.1f})"
            )


if __name__ == "__main__":
    main()
