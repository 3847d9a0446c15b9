"""How time and memory of fits grow with agents, tasks and density, by engine.

    python benchmarks/scale.py growth              # small tables, every engine there is: a table to read
    python benchmarks/scale.py gpu                 # one billion responses, complete and 60 % missing
    python benchmarks/scale.py shards 50000 20000  # that many agents × tasks from Parquet, within 4 GB
    python benchmarks/scale.py rest 5000 20000     # everything but fits: scores, bits, clusters, selection

Every line is one fit in a process of its own, so that its largest memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import examiner as ex

SMALL = [(250, 500), (500, 500), (1000, 500), (500, 1000), (500, 2000)]


def table(agents: int, tasks: int, missing: float, rng: np.random.Generator) -> ex.ResponseMatrix:
    """A 2PL's responses, a byte a cell, made in blocks."""
    ability = rng.normal(size=agents).astype(np.float32)
    slope = np.exp(0.3 * rng.normal(size=tasks)).astype(np.float32)
    difficulty = rng.normal(size=tasks).astype(np.float32)
    won = np.empty((agents, tasks), dtype=np.uint8)
    tried = np.broadcast_to(np.uint8(1), won.shape)
    if missing:
        tried = np.empty_like(won)
    for start in range(0, agents, 256):
        rows = slice(start, start + 256)
        eta = slope * (ability[rows, None] - difficulty)
        won[rows] = rng.random(eta.shape, dtype=np.float32) < 1 / (1 + np.exp(-eta))
        if missing:
            tried[rows] = rng.random(eta.shape, dtype=np.float32) >= missing
            won[rows] &= tried[rows]
    names = [f"agent {row}" for row in range(agents)], [f"task {column}" for column in range(tasks)]
    return ex.ResponseMatrix(tuple(names[0]), tuple(names[1]), (won, tried))


def shards(matrix: ex.ResponseMatrix, folder: Path, rows: int = 500) -> Path:
    for start in range(0, len(matrix.agents), rows):
        part = matrix.take(range(start, min(start + rows, len(matrix.agents))))
        part.save(folder / f"agents-{start:06}.parquet")
    return folder


def one(engine: str, agents: int, tasks: int, missing: float) -> dict[str, float]:
    """Time and memory of one fit, without making the table."""
    matrix: ex.ResponseMatrix | None = table(agents, tasks, missing, np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as folder:
        path = shards(matrix, Path(folder)) if engine in ("shards", "ray") else None
        before, cpu = time.perf_counter(), time.process_time()
        if engine == "memory":
            fit = ex.irt.fit(matrix, errors=False, starts=1)
        else:
            if path is not None:
                matrix = None
                source = getattr(ex.engines, "sharded" if engine == "shards" else engine)(path)
            else:
                source = ex.engines.gpu(matrix, device=None if engine == "gpu" else "cpu")
            fit = ex.irt.fit(source, starts=1)
        return {
            "seconds": time.perf_counter() - before,
            "cpu_seconds": time.process_time() - cpu,
            "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            "iterations": fit.iterations,
            "log_likelihood": fit.log_likelihood,
        }


def alone(*job: object) -> dict[str, float]:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "one", *map(str, job)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def growth(engines: list[str]) -> None:
    print("engine  agents × tasks, missing | seconds (CPU) | GB | iterations")
    for engine in engines:
        for agents, tasks in SMALL:
            for missing in (0.0, 0.6):
                found = alone(engine, agents, tasks, missing)
                print(
                    f"{engine:7} {agents:,} × {tasks:,}, {missing:.0%} | {found['seconds']:.2f} "
                    f"({found['cpu_seconds']:.2f}) | {found['gigabytes']:.2f} | {found['iterations']}",
                    flush=True,
                )


def on_gpu(agents: int = 50_000, tasks: int = 20_000) -> None:
    """One billion responses from bytes of the host, made on the GPU since the CPU would take minutes."""
    import torch

    for size in ((1_000, 500), (agents, tasks)):
        for missing in (0.0, 0.6):
            matrix = made_on_gpu(*size, missing)
            for turn in range(2):
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
                before = time.perf_counter()
                source = ex.engines.gpu(matrix)
                torch.cuda.synchronize()
                sent = time.perf_counter()
                fit = ex.irt.fit(source, starts=1)
                ended = time.perf_counter()
                peak = torch.cuda.max_memory_allocated() / 2**30
                print(
                    f"{size[0]:,} × {size[1]:,}, {missing:.0%} missing, turn {turn}: sent "
                    f"{sent - before:.3f} s, fitted {ended - sent:.3f} s, {fit.iterations} iterations, "
                    f"log-likelihood {fit.log_likelihood:.3f}, {peak:.1f} GB there; {fit.outcome.value}",
                    flush=True,
                )
                del source


def made_on_gpu(agents: int, tasks: int, missing: float) -> ex.ResponseMatrix:
    import torch

    drawn = torch.Generator(device="cuda").manual_seed(1)

    def normal(size: int) -> torch.Tensor:
        return torch.randn(size, device="cuda", generator=drawn)

    ability, slope, difficulty = normal(agents), torch.exp(0.3 * normal(tasks)), normal(tasks)
    won = np.empty((agents, tasks), dtype=np.uint8)
    tried = np.empty_like(won) if missing else np.broadcast_to(np.uint8(1), won.shape)
    for start in range(0, agents, 2000):
        rows = slice(start, min(start + 2000, agents))
        eta = slope * (ability[rows, None] - difficulty)
        chance = torch.rand(eta.shape, device="cuda", generator=drawn)
        here = (chance < torch.sigmoid(eta)).to(torch.uint8)
        if missing:
            seen = torch.rand(eta.shape, device="cuda", generator=drawn) >= missing
            tried[rows] = seen.to(torch.uint8).cpu().numpy()
            here *= seen
        won[rows] = here.cpu().numpy()
    names = (tuple(f"agent {n}" for n in range(agents)), tuple(f"task {n}" for n in range(tasks)))
    return ex.ResponseMatrix(*names, (won, tried))


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["growth"]
    if what == "one":
        print(json.dumps(one(rest[0], int(rest[1]), int(rest[2]), float(rest[3]))))
    elif what == "gpu":
        on_gpu(*map(int, rest))
    elif what == "rest":
        from scale_rest import rest as everything_else

        everything_else(*(int(size) for size in rest[:2] or (500, 4000)), rest[2:])
    elif what == "growth":
        growth(rest or ["memory", "shards"])
    else:
        print(json.dumps(alone(what, *(rest or ["2000", "4000"]), 0.0)))
