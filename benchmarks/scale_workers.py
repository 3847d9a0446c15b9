"""How the time of a fit falls with workers: one process that reads shards, and workers of a Ray cluster.

Workers are counted by their CPU seconds, so that there may be more of them than cores. Threads of products
are not: on busy cores they count the time they wait for each other.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import examiner as ex
from examiner.irt import ResponseSource
from scale import forget_peak, peak_gigabytes, shards, table

SHARED_OUT = (8000, 2000, 0.6)
"""Agents, tasks and the share that is missing of the table that several workers fit."""
ITERATIONS = 4
WORKERS = (("shards", 1), ("ray", 1), ("ray", 2), ("ray", 4), ("ray", 8))


def shared_out(engine: str, workers: int) -> dict[str, float]:
    """Time and memory of a few iterations by several workers, once shards are decoded; the best of three.

    `busiest_seconds` is the CPU time of the worker that has most to do, and of what waits for it.
    """
    matrix = table(*SHARED_OUT, np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as folder:
        path = shards(matrix, Path(folder))
        del matrix
        source = (
            ex.engines.ray(path, shards=workers) if engine == "ray" else ex.engines.sharded(path)
        )
        forget_peak()
        return min((turn(source) for _ in range(3)), key=lambda found: found["busiest_seconds"])


def turn(source: ResponseSource) -> dict[str, float]:
    """Time and memory of as many iterations every time: all are alike."""
    early, before = workers_taken(source), (time.process_time(), time.thread_time())
    fit = ex.irt.fit(source, starts=1, errors=False, most_iterations=ITERATIONS)
    here = time.process_time() - before[0], time.thread_time() - before[1]
    late = workers_taken(source)
    others = [after[0] - first[0] for after, first in zip(late, early, strict=True)]
    return {
        "cpu_seconds": here[0] + sum(others),
        "busiest_seconds": here[1] + max(others, default=0.0),
        "gigabytes": peak_gigabytes() + sum(after[1] for after in late),
        "iterations": fit.iterations,
    }


def workers_taken(source: ResponseSource) -> list[tuple[float, float]]:
    """CPU seconds and the largest memory of every worker of a cluster; none where there is none."""
    workers = getattr(source, "workers", [])
    if not workers:
        return []
    import ray

    asked = (lambda _: time.process_time(), lambda _: peak_gigabytes())
    answers = [[worker.__ray_call__.remote(what) for what in asked] for worker in workers]
    return [tuple(ray.get(answer)) for answer in answers]
