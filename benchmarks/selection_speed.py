"""Claim: a full nested comparison of selection methods takes at most five minutes on two cores.

62 agents × 57 tasks, leave-one-out, sizes 1 to 10, all methods, 200 random sets of each size, and
best-of with five inner folds; orders judged in five times five folds beside. Then growth in agents, tasks
and size of one fold is shown. Times on a machine that does other things too are processor seconds.
Run: python benchmarks/selection_speed.py [--processes 2] [--growth-only]
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from functools import partial

import numpy as np

import examiner as ex
from examiner.selection import Benchmark
from examiner.selection.methods import able_methods
from examiner.selection.proof.folds import FoldJob, judge_fold
from examiner.selection.proof.holdout import leave_one_out
from examiner.selection.proof.sets import Contest
from examiner.workers import map_processes


def simulated(agents: int, tasks: int, seed: int = 0) -> Benchmark:
    """One factor and noise; kinds of task in nine groups."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(agents, 1)) * rng.uniform(0.3, 1.5, tasks)
    values += 0.6 * rng.normal(size=values.shape)
    groups = {f"task {place + 1}": f"kind {place % 9}" for place in range(tasks)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        return ex.selection.benchmark(
            ex.Results.from_numpy(values),
            ex.Recipe(),
            constraints=ex.selection.Constraints(groups=groups),
        )


def processor_seconds() -> float:
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(one.ru_utime + one.ru_stime for one in (own, others))


def full(processes: int) -> None:
    material = simulated(62, 57)
    began, used = time.perf_counter(), processor_seconds()
    found = ex.selection.judge(
        material,
        range(1, 11),
        rng=np.random.default_rng(0),
        map=partial(map_processes, processes=processes),
    )
    wall, cpu = time.perf_counter() - began, processor_seconds() - used
    print(
        f"62 × 57, leave-one-out, sizes 1–10, {len(found.methods)} methods: {wall:.0f} s on {processes} "
        f"processes, {cpu:.0f} processor seconds ({cpu / 2:.0f} s on two free cores); claimed: 300"
    )
    print(found.answer)


def one_fold(agents: int, tasks: int, size: int) -> float:
    """Processor seconds of one leave-one-out fold with all methods and five inner folds."""
    material = simulated(agents, tasks)
    able, _ = able_methods(material, size)
    contest = Contest(tuple(able.items()), tuple(range(1, size + 1)), (), 5, 0.9)
    job = FoldJob(leave_one_out(material.families)[0], np.random.default_rng(0))
    began = time.process_time()
    judge_fold(material, contest, job)
    return time.process_time() - began


def growth() -> None:
    one_fold(20, 20, 2)  # imports
    print("\nprocessor seconds of one fold, all methods, best-of with five inner folds")
    for what, shapes in {
        "agents": [(31, 57, 10), (62, 57, 10), (124, 57, 10), (248, 57, 10)],
        "tasks": [(62, 28, 10), (62, 57, 10), (62, 114, 10), (62, 228, 10)],
        "size": [(62, 57, 5), (62, 57, 10), (62, 57, 20)],
    }.items():
        for agents, tasks, size in shapes:
            print(
                f"{what:>7}  {agents:4d} agents {tasks:4d} tasks, up to {size:2d} chosen: "
                f"{one_fold(agents, tasks, size):7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--growth-only", action="store_true")
    given = options.parse_args()
    if not given.growth_only:
        full(given.processes)
    growth()
