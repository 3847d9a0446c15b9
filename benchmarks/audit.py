"""What `irt.audit` finds of planted faults, and how often it finds what is not there.

Run: python benchmarks/audit.py [tables]
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

import numpy as np

import examiner as ex

SIZES = ((12, 60), (45, 200), (134, 500))
KINDS = ("wrong key", "impossible", "copy", "environment", "flat")
ABILITY = 1.5


class Planted(NamedTuple):
    """A table of zeros and ones with faults in it, and which tasks have which."""

    table: np.ndarray
    faults: dict[str, list[int]]
    telling_little: set[int]


def planted(
    agents: int, tasks: int, rng: np.random.Generator, *, healthy: bool, spread: float = 0.3
) -> Planted:
    """Draw a 2PL table; 1 task in 30 of each kind, copies in pairs, one environment of a tenth.

    Slopes are lognormal, abilities have deviation 1.5, difficulties 1.6. A copy repeats another task
    but for 5 % of results. An environment is broken for a third of the agents, who fail three quarters of
    its tasks, whatever they can.
    """
    slope = np.exp(rng.normal(0, spread, tasks))
    ability, difficulty = rng.normal(0, ABILITY, agents), rng.normal(0, 1.6, tasks)
    chance = 1 / (1 + np.exp(-slope * (ability[:, None] - difficulty)))
    table = (rng.random((agents, tasks)) < chance).astype(float)
    faults: dict[str, list[int]] = {kind: [] for kind in KINDS}
    little = set(np.flatnonzero(slope < 0.5 * slope.mean()).tolist())
    if healthy:
        return Planted(table, faults, little)
    order, each = rng.permutation(tasks).tolist(), max(2, tasks // 30)
    # faults that show at all: tasks of middling difficulty
    order.sort(key=lambda task: abs(difficulty[task]) > 1.2)
    wrong, nothing, flat = (order[n * each : (n + 1) * each] for n in range(3))
    copies = order[3 * each : 5 * each]
    shared = order[5 * each : 5 * each + max(4, tasks // 10)]
    table[:, wrong] = 1 - table[:, wrong]
    table[:, nothing] = 0
    table[:, flat] = rng.random((agents, len(flat))) < 0.5
    for first, second in zip(copies[::2], copies[1::2], strict=False):
        other = rng.random(agents) < 0.05
        table[:, second] = np.where(other, 1 - table[:, first], table[:, first])
    broken = rng.random(agents) < 1 / 3
    lost = broken[:, None] & (rng.random((agents, len(shared))) < 0.75)
    table[:, shared] = np.where(lost, 0, table[:, shared])
    pairs = copies[: len(copies) // 2 * 2]
    made = dict(zip(KINDS, (wrong, nothing, pairs, shared, flat), strict=True))
    return Planted(table, made, little)


def judged(made: Planted, seed: int) -> dict[str, tuple[float, float]]:
    """Return what share of each kind is found, and how many others are suspected of the same."""
    results = ex.Results.from_numpy(made.table)
    found = ex.irt.audit(results, rng=seed)
    place = {task: column for column, task in enumerate(results.tasks)}
    low = {place[t] for kind in ("negative", "flat") for t in found.of_kind(kind)}
    of = {
        "wrong key": low,
        "flat": low,
        "impossible": {place[t] for t in found.of_kind("nobody")},
        "copy": {place[t] for t in found.of_kind("repeat")},
        "environment": {place[t] for group in found.groups for t in group.members},
    }
    excused = {  # tasks that the fault of another kind really makes so
        "wrong key": {*made.faults["wrong key"], *made.faults["flat"], *made.telling_little},
        "flat": {*made.faults["wrong key"], *made.faults["flat"], *made.telling_little},
        "impossible": set(made.faults["impossible"]),
        "copy": {*made.faults["copy"], *made.faults["environment"]},
        "environment": {*made.faults["environment"], *made.faults["copy"]},
    }
    told = {}
    for kind in KINDS:
        planted_here = made.faults[kind]
        share = len(of[kind] & set(planted_here)) / len(planted_here) if planted_here else np.nan
        told[kind] = share, float(len(of[kind] - excused[kind]))
    return told


def alike(agents: int, tasks: int, tables: int) -> dict[str, float]:
    """Return in what share of healthy tables of one slope anything is suspected, by kind."""
    rng = np.random.default_rng(21)
    rows = [
        judged(planted(agents, tasks, rng, healthy=True, spread=0.0), seed)
        for seed in range(tables)
    ]
    return {kind: float(np.mean([row[kind][1] > 0 for row in rows])) for kind in KINDS}


def main(tables: int) -> None:
    """Print a table for each size, of planted and of healthy tables."""
    print(
        "| agents × tasks | kind | found | false, of 100 tasks | healthy tables with any | the same, one "
        "slope for all |"
    )
    print("|---|---|--:|--:|--:|--:|")
    for agents, tasks in SIZES:
        rng, begun = np.random.default_rng(20), time.perf_counter()
        rows = {
            sound: [
                judged(planted(agents, tasks, rng, healthy=sound), seed) for seed in range(tables)
            ]
            for sound in (False, True)
        }
        even = alike(agents, tasks, tables)
        for kind in KINDS:
            found = np.mean([row[kind][0] for row in rows[False]])
            false = 100 * np.mean([row[kind][1] for row in rows[False]]) / tasks
            anything = np.mean([row[kind][1] > 0 for row in rows[True]])
            healthy = f"{anything:.0%} | {even[kind]:.0%}"
            print(f"| {agents} × {tasks} | {kind} | {found:.0%} | {false:.2f} | {healthy} |")
        seconds = (time.perf_counter() - begun) / (3 * tables)
        print(f"{agents} × {tasks}: {seconds:.2f} s a table", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
