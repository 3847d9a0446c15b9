"""Claims: a run's ledger and checkpoints cost under 3 % of playing; a second process costs no CPU time.

ledger      CPU seconds beyond those of the episodes, in driver and workers, for the random agent and for a
            learner that saves ten megabytes; starting processes is taken off. Claimed: under 3 %.
processes   CPU seconds a frame on two processes over those on one, in turns. Claimed: at most 1.1.
scheduling  10,000 jobs of one short episode each, on two processes: all that is not playing, each.
            Claimed: under 25 ms, most of it a clean process for each (`clean_processes.py`).
Run: python benchmarks/arena_runs.py [ledger] [processes] [scheduling] [--frames 200000] [--turns 3]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examiner.arena import Job, Protocol, run
from examiner.ledger import ledger_results

STATE_BYTES = 10_000_000


class Saving:
    """The random agent with ten megabytes to save."""

    blind = True

    def __init__(self) -> None:
        self.state = np.zeros(STATE_BYTES // 8)

    def begin(self, task, rng):
        self.draw, self.rng = task.draw, rng

    def act(self, observation):
        return self.draw(self.rng)

    def save(self) -> bytes:
        return self.state.tobytes()

    def load(self, data: bytes) -> None:
        self.state = np.frombuffer(data).copy()


class Cost(NamedTuple):
    """CPU seconds of a run: all of it, and of its episodes; its frames, and its time on the clock."""

    total: float
    playing: float
    frames: int
    wall: float


def cost_of(jobs: list[Job], workers: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.sqlite"
        before, wall = cpu_seconds(), time.perf_counter()
        outcome = run(jobs, ledger, workers=workers)
        total, wall = cpu_seconds() - before, time.perf_counter() - wall
        assert not outcome.failures, outcome.failures
        results = ledger_results(ledger)
        return Cost(total, sum(results.column("cpu_seconds")), outcome.frames, wall)


def cpu_seconds() -> float:
    """Of this process and of all that it started and that have ended."""
    ours = time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ours + children.ru_utime + children.ru_stime


def atari(entry: str, frames: int, seed: int = 0) -> Job:
    return Job(entry.rpartition(":")[2], entry, game="pong", seed=seed, frames=frames)


def measure_ledger(frames: int, turns: int) -> None:
    for entry in ("random", "arena_runs:Saving"):
        shares = []
        for turn in range(turns):
            # One episode is at least 700 decisions of pong: what is left is starting the process.
            start = cost_of([atari(entry, 1, turn)], 1)
            run = cost_of([atari(entry, frames, turn)], 1)
            more = (run.total - run.playing) - (start.total - start.playing)
            shares.append(more / run.playing)
        share = statistics.median(shares)
        print(
            f"ledger, {entry}: {share:.2%} of playing {frames:,} frames; claimed: under 3 %: "
            f"{'holds' if share < 0.03 else 'FAILS'}   ({', '.join(f'{one:.2%}' for one in shares)})",
            flush=True,
        )


def measure_processes(frames: int, turns: int) -> None:
    ratios = []
    for turn in range(turns):
        jobs = [atari("random", frames // 2, 10 * turn + seed) for seed in range(2)]
        one, two = cost_of(jobs, 1), cost_of(jobs, 2)
        ratios.append((two.playing / two.frames) / (one.playing / one.frames))
    ratio = statistics.median(ratios)
    print(
        f"processes: CPU seconds a frame on two processes are {ratio:.3f} × those on one; claimed: at most "
        f"1.1: {'holds' if ratio <= 1.1 else 'FAILS'}   ({', '.join(f'{one:.3f}' for one in ratios)})",
        flush=True,
    )


def measure_scheduling(jobs: int) -> None:
    protocol = Protocol(frame_skip=1, max_episode_frames=5)
    tiny = [
        Job(
            *("random", "random"),
            environment="gymnasium",
            game="CartPole-v1",
            seed=seed,
            protocol=protocol,
            episodes=1,
        )
        for seed in range(jobs)
    ]
    cost = cost_of(tiny, 2)
    cpu, wall = 1e3 * (cost.total - cost.playing) / jobs, 1e3 * cost.wall / jobs
    print(
        f"scheduling: {jobs:,} jobs cost {cpu:.2f} ms of CPU time each in driver and workers, making agent "
        f"and environment included ({wall:.2f} ms on the clock); claimed: under 25 ms: "
        f"{'holds' if cpu < 25 else 'FAILS'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["ledger", "processes", "scheduling"])
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=10_000)
    options = parser.parse_args()
    if "scheduling" in options.parts:
        measure_scheduling(options.jobs)
    if "processes" in options.parts:
        measure_processes(options.frames, options.turns)
    if "ledger" in options.parts:
        measure_ledger(options.frames, options.turns)


if __name__ == "__main__":
    main()
