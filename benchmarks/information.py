"""Claim: choosing 10 of 108 tasks for 27 agents takes at most a hundredth of the time of plain loops.

The plain loops are papers/004, equations 1, 3 and 4, over numpy's numbers. Beyond that size the time of a
pick is shown to grow as tasks · agents² / 2 (one exponential for each pair of agents), and memory to stay
bounded: the log-likelihoods of all pairs on all tasks are never held at once.
Run: python benchmarks/information.py [--picks 10] [--large]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from examiner.information import Channels, best_set


def simulated(agents: int, tasks: int, seed: int = 0) -> Channels:
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(2, agents, tasks))
    deviation = rng.uniform(0.5, 3.0, size=mean.shape)
    names = [
        [f"{kind} {number}" for number in range(count)]
        for kind, count in (("a", agents), ("t", tasks))
    ]
    return Channels(tuple(names[0]), tuple(names[1]), ("win", "score"), mean, deviation)


def plain_bits(table: np.ndarray) -> float:
    agents = len(table)
    total = 0.0
    for first in range(agents):
        row = np.exp(table[first] - table[first].max())
        row /= row.sum()
        for p in row:
            if p > 0:
                total -= p * np.log2(p)
    return np.log2(agents) - total / agents


def plain_greedy(channels: Channels, picks: int) -> tuple[list[int], list[float]]:
    """Greedy choice with three loops: over tasks, agents, agents."""
    agents, tasks = len(channels.agents), len(channels.tasks)
    base = np.zeros((agents, agents))
    chosen: list[int] = []
    bits: list[float] = []
    for _ in range(picks):
        best, most, kept = -1, -1.0, base
        for task in range(tasks):
            if task in chosen:
                continue
            table = base.copy()
            for first in range(agents):
                for second in range(agents):
                    for mean, deviation in zip(channels.mean, channels.deviation, strict=True):
                        spread = deviation[first, task] + deviation[second, task]
                        distance = mean[first, task] - mean[second, task]
                        table[first, second] -= distance**2 / (2 * spread**2) + np.log(spread)
            gain = plain_bits(table)
            if gain > most:
                best, most, kept = task, gain, table
        base = kept
        chosen.append(best)
        bits.append(most)
    return chosen, bits


def seconds(channels: Channels, picks: int, repeats: int = 1) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        best_set(channels, picks)
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picks", type=int, default=10)
    parser.add_argument("--large", action="store_true", help="1000 agents on 1000 tasks too")
    parser.add_argument("--child", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        grown(*options.child)
        return
    small = simulated(27, 108)
    start = time.perf_counter()
    chosen, bits = plain_greedy(small, options.picks)
    plain = time.perf_counter() - start
    ours = best_set(small, options.picks)
    assert list(ours.columns) == chosen and np.allclose(ours.tasks.bits, bits, atol=1e-12)
    fast = seconds(small, options.picks, repeats=7)
    print(
        f"27 × 108, {options.picks} picks: plain loops {plain:.2f} s, examiner {fast * 1000:.1f} ms, "
        f"ratio {plain / fast:.0f}"
    )
    sizes = [(50, 1000, options.picks), (100, 1000, options.picks), (200, 1000, options.picks)]
    sizes += [(1000, 1000, options.picks)] if options.large else []
    print(f"{'agents × tasks':>16} {'picks':>6} {'seconds':>8} {'ns a pair':>10} {'peak MiB':>9}")
    for size in sizes:
        child = [sys.executable, __file__, "--child", *map(str, size)]
        print(subprocess.run(child, capture_output=True, check=True, text=True).stdout, end="")


def grown(agents: int, tasks: int, picks: int) -> None:
    """One size in a process of its own, so that its peak memory is its own."""
    channels = simulated(agents, tasks)
    taken = seconds(channels, picks)
    pairs = picks * tasks * agents**2 / 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{agents:>6} × {tasks:<7} {picks:>6} {taken:8.2f} {taken / pairs * 1e9:10.1f} {peak:9.0f}"
    )


if __name__ == "__main__":
    main()
