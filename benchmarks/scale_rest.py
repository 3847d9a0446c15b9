"""How time and memory of everything but fits grow: `python benchmarks/scale.py rest 5000 20000`.

Each analysis runs in a process of its own on simulated zeros and ones, one trial a cell (`trials`: three),
and tells the CPU seconds and the memory it took beyond the table itself.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import polars as pl

import examiner as ex
from examiner.results import name_column


def simulated(agents: int, tasks: int, trials: int = 1) -> ex.Results:
    """A 2PL's zeros and ones, a byte each until they are results."""
    rng = np.random.default_rng(1)
    ability = rng.normal(size=agents).astype(np.float32)
    slope = np.exp(0.3 * rng.normal(size=tasks)).astype(np.float32)
    difficulty = rng.normal(size=tasks).astype(np.float32)
    won = np.empty((agents, tasks, trials), dtype=np.uint8)
    for row in range(agents):
        chance = 1 / (1 + np.exp(-slope * (ability[row] - difficulty)))
        won[row] = rng.random((tasks, trials), dtype=np.float32) < chance[:, None]
    names = {
        "agent": [f"agent {row}" for row in range(agents)],
        "task": [f"task {column}" for column in range(tasks)],
    }
    codes = {
        "agent": np.repeat(np.arange(agents, dtype=np.uint16), tasks * trials),
        "task": np.tile(np.repeat(np.arange(tasks, dtype=np.uint16), trials), agents),
    }
    columns = [name_column(key, names[key], code) for key, code in codes.items()]
    if trials > 1:
        run = np.tile(np.arange(trials, dtype=np.uint8), agents * tasks)
        columns += [pl.Series("run", run)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        return ex.Results.from_frame(pl.DataFrame([*columns, pl.Series("win", won.ravel())]))


def _difference(results: ex.Results) -> object:
    return ex.scores.compare_pairs(results, results.agents[0], results.agents[1:4], rng=0)


def _selected(results: ex.Results) -> object:
    """Choose 100 tasks, learn to predict from them, and judge that, as `examiner select` does."""
    return ex.selection.select_and_judge(results, 100)


def _ability_bits(results: ex.Results) -> object:
    """Bits about ability, as `examiner information` tells them of single successes."""
    fit = ex.irt.fit(ex.responses(results), "2pl")
    return ex.irt.ability_information(fit, rng=0, size=10)


REST: dict[str, tuple[int, Callable[[ex.Results], object]]] = {
    "scores": (1, lambda results: ex.scores.overview(results, rng=0)),
    "differences": (1, _difference),
    "bits": (1, lambda results: ex.information.analyse(results, rng=0)),
    "bits, 3 trials": (3, lambda results: ex.information.analyse(results, rng=0)),
    "clusters": (1, ex.information.clusters),
    "similarity": (1, lambda results: ex.information.similarity(results, rng=0)),
    "selection": (1, lambda results: ex.selection.select(results, 100, rng=0)),
    "selection, judged": (1, _selected),
    "ability bits": (1, _ability_bits),
    "distil": (1, lambda results: ex.selection.distil(results, 100, rng=0)),
}
"""Trials of a cell, and what is asked of the table."""


def measured(what: str, agents: int, tasks: int) -> dict[str, float]:
    """Seconds and memory of one analysis."""
    trials, analysis = REST[what]
    results = simulated(agents, tasks, trials)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    before, cpu = time.perf_counter(), time.process_time()
    analysis(results)
    return {
        "seconds": time.perf_counter() - before,
        "cpu_seconds": time.process_time() - cpu,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "gigabytes_of_the_table": held,
    }


def rest(agents: int, tasks: int, names: list[str]) -> None:
    """Print one line an analysis."""
    print(f"{agents:,} × {tasks:,} | CPU seconds | GB in all | of which to make the table")
    for name in names or REST:
        found = _alone(name, agents, tasks)
        if isinstance(found, str):
            print(f"{name} | {found}", flush=True)
            continue
        print(
            f"{name} | {found['cpu_seconds']:.1f} | {found['gigabytes']:.2f} | "
            f"{found['gigabytes_of_the_table']:.2f}",
            flush=True,
        )


def _alone(name: str, agents: int, tasks: int) -> dict[str, float] | str:
    """What one analysis takes in a process of its own, or why it did not end."""
    done = subprocess.run(
        [sys.executable, __file__, name, str(agents), str(tasks)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
