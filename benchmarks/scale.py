"""How time and memory of fits grow with agents, tasks, density and workers, by engine.

    python benchmarks/scale.py growth              # small tables that grow; writes benchmarks/growth.csv
    python benchmarks/scale.py --engine gpu        # 5,000 × 20,000 and memory, and one billion responses
    python benchmarks/scale.py shards 50000 20000  # that many agents × tasks from Parquet, within 4 GB
    python benchmarks/scale.py ceiling 0.35        # decoded bytes four times the GB of memory allowed
    python benchmarks/scale.py rest 5000 20000     # everything but fits: scores, bits, clusters, selection
    python benchmarks/scale.py rows 100000000      # results of so many rows read, and made a matrix
    python benchmarks/scale.py sparse 5000 20000   # fits of which 98 % is missing, by lists of cells
    python benchmarks/scale.py commands 5000 20000 0.6  # commands on Parquet files with cells missing

Every line is one fit in a process of its own, so that its largest memory is its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import examiner as ex

BASE = (1000, 1000, 0.0)
GROWN = [
    *((agents, 1000, 0.0) for agents in (2000, 4000, 8000)),
    *((1000, tasks, 0.0) for tasks in (2000, 4000, 8000)),
    *((1000, 1000, missing) for missing in (0.6, 0.9, 0.98)),
]
"""Agents, tasks and the share that is missing: from a small table one of them grows at a time."""


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


def scanned(path: Path) -> dict[str, float]:
    """Time that polars takes to scan the same files, all columns; the second time, when all is warm."""
    for _ in range(2):
        before, cpu = time.perf_counter(), time.process_time()
        for shard in sorted(path.iterdir()):
            pl.scan_parquet(shard).collect(engine="streaming")
    return {
        "scan_seconds": time.perf_counter() - before,
        "scan_cpu_seconds": time.process_time() - cpu,
    }


def decoded(scan: dict[str, float], seconds: float, cpu_seconds: float) -> dict[str, float]:
    """Time of the decoding pass, and how many times that of scanning it is."""
    return {
        "decoding_seconds": seconds,
        "decoding_cpu_seconds": cpu_seconds,
        "decoding_to_scan": seconds / scan["scan_seconds"],
        "decoding_to_scan_cpu": cpu_seconds / scan["scan_cpu_seconds"],
    }


def forget_peak() -> None:
    """Let the largest memory begin anew, where the system allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_gigabytes() -> float:
    """The largest memory so far; where the system does not tell it, that of the parent may be in it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e9
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def one(engine: str, agents: int, tasks: int, missing: float) -> dict[str, float]:
    """Time and memory of one fit, without making the table."""
    ex.engines.sharded  # noqa: B018  (imported before anything is timed)
    matrix: ex.ResponseMatrix | None = table(agents, tasks, missing, np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as folder:
        path = shards(matrix, Path(folder)) if engine in ("shards", "ray") else None
        found: dict[str, float] = {}
        before, cpu = time.perf_counter(), time.process_time()
        forget_peak()
        if engine == "memory":
            fit = ex.irt.fit(matrix, errors=False, starts=1)
        else:
            if path is not None:
                matrix = None
                found |= scanned(path)
                forget_peak()
                before, cpu = time.perf_counter(), time.process_time()
                source = getattr(ex.engines, "sharded" if engine == "shards" else engine)(path)
                found |= decoded(found, time.perf_counter() - before, time.process_time() - cpu)
            else:
                source = ex.engines.gpu(matrix, device=None if engine == "gpu" else "cpu")
            fit = ex.irt.fit(source, starts=1, errors=False)
        return found | {
            "seconds": time.perf_counter() - before,
            "cpu_seconds": time.process_time() - cpu,
            "gigabytes": peak_gigabytes(),
            "iterations": fit.iterations,
            "log_likelihood": fit.log_likelihood,
        }


def alone(*job: object) -> dict[str, float]:
    """The same in a process of its own, with one thread for products."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    done = subprocess.run(
        [sys.executable, __file__, *map(str, job)],
        env=os.environ | dict.fromkeys(names, "1"),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def ceiling(memory: float, times: float = 4.0) -> dict[str, float]:
    """The largest memory of a fit of decoded bytes that are so many times it."""
    tasks, rows = 10_000, 500
    turns = int(np.ceil(times * memory * 1e9 / (tasks * rows)))
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            part = table(rows, tasks, 0.0, np.random.default_rng(turn))
            names = [f"agent {turn * rows + row}" for row in range(rows)]
            part = ex.ResponseMatrix.from_counts(part.successes, part.trials, names, part.tasks)
            part.save(Path(folder) / f"agents-{turn:06}.parquet")
        found = alone("capped", folder, memory)
        return found | {"decoded_gigabytes": turns * rows * tasks / 1e9}


def capped(folder: str, memory: float) -> dict[str, float]:
    """Time and memory of a few passes: every pass takes the same."""
    ex.engines.sharded  # noqa: B018
    begun, cpu = peak_gigabytes(), time.process_time()
    source = ex.engines.sharded(folder, memory=memory, cache=Path(folder) / "decoded")
    ex.irt.fit(source, starts=1, errors=False, most_iterations=2)
    return {
        "memory": memory,
        "gigabytes_at_the_start": begun,
        "gigabytes": peak_gigabytes(),
        "agents_a_block": source.agents_together,
        "passes": source.passes,
        "cpu_seconds_a_pass": (time.process_time() - cpu) / source.passes,
    }


def growth(engines: list[str]) -> None:
    """Print how CPU seconds and memory grow, and write them to growth.csv beside this file."""
    lines = ["engine,agents,tasks,missing,workers,cpu_seconds,busiest_seconds,gigabytes,iterations"]

    def add(
        engine: str, size: tuple[int, int, float], workers: str, found: dict[str, float]
    ) -> None:
        taken = (found["cpu_seconds"], found.get("busiest_seconds", found["cpu_seconds"]))
        told = f"{taken[0]:.2f},{taken[1]:.2f},{found['gigabytes']:.3f},{found['iterations']}"
        lines.append(f"{engine},{','.join(map(str, size))},{workers},{told}")
        print(lines[-1], flush=True)

    for engine in engines:
        for size in (BASE, *GROWN):
            add(engine, size, "", alone("one", engine, *size))
    from scale_workers import SHARED_OUT, WORKERS

    for engine, workers in WORKERS:
        add(engine, SHARED_OUT, str(workers), alone("shared", engine, workers))
    path = Path(__file__).with_name("growth.csv")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def on_gpu(agents: int = 50_000, tasks: int = 20_000) -> None:
    """Seconds, log-likelihoods, and differences from the fit in memory where that takes seconds.

    Tables are made on the GPU, since the CPU would take minutes, and sent from bytes of the host.
    """
    import torch

    for size in ((1_000, 500), (5_000, 20_000), (agents, tasks)):
        for missing in (0.0, 0.6):
            matrix = made_on_gpu(*size, missing)
            here = None
            if size[0] * size[1] <= 100_000_000:
                before = time.perf_counter()
                here = ex.irt.fit(matrix, starts=1, errors=False)
                print(f"    in memory {time.perf_counter() - before:.3f} s", flush=True)
            for turn in range(2):
                try:
                    turn_on_gpu(matrix, here, f"{missing:.0%} missing, turn {turn}")
                except torch.cuda.OutOfMemoryError as problem:
                    print(f"{size}: does not fit, {problem}", flush=True)


def turn_on_gpu(matrix: ex.ResponseMatrix, here: ex.irt.IRTFit | None, words: str) -> None:
    """One fit without errors, and one with them."""
    import torch

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = time.perf_counter()
    source = ex.engines.gpu(matrix)
    torch.cuda.synchronize()
    sent = time.perf_counter()
    fit = ex.irt.fit(source, starts=1, errors=False)
    ended = time.perf_counter()
    peak = torch.cuda.max_memory_allocated() / 2**30
    agents, tasks = matrix.shape
    print(
        f"{agents:,} × {tasks:,}, {words}: sent {sent - before:.3f} s, fitted {ended - sent:.3f} s, "
        f"together {ended - before:.3f} s, {fit.iterations} iterations, log-likelihood "
        f"{fit.log_likelihood:.3f}, {peak:.1f} GB there; {fit.outcome.value}",
        flush=True,
    )
    if here is not None:
        slope = np.abs(fit.items.slope - here.items.slope).max()
        intercept = np.abs(fit.items.intercept - here.items.intercept).max()
        ability = np.abs(fit.abilities.ability - here.abilities.ability).max()
        apart = abs(fit.log_likelihood / here.log_likelihood - 1)
        print(
            f"    from memory: log-likelihood {apart:.1e} of its size, slopes {slope:.1e}, intercepts "
            f"{intercept:.1e}, abilities {ability:.1e}",
            flush=True,
        )
    torch.cuda.reset_peak_memory_stats()
    before = time.perf_counter()
    fit = ex.irt.fit(source, starts=1)
    taken = time.perf_counter() - before - (ended - sent)
    peak = torch.cuda.max_memory_allocated() / 2**30
    method = "none" if fit.errors is None else fit.errors.method
    print(f"    errors {taken:.3f} s more, {peak:.1f} GB there: {method}", flush=True)


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


def sparse(agents: int, tasks: int, missing: float, *, errors: bool) -> dict[str, float]:
    """Time and memory of one fit of observed cells drawn at random, which are never laid out."""
    rng = np.random.default_rng(1)
    cells = np.unique(rng.integers(0, agents * tasks, int((1 - missing) * agents * tasks)))
    row, column = np.divmod(cells, tasks)
    slope, difficulty = np.exp(0.3 * rng.normal(size=tasks)), rng.normal(size=tasks)
    eta = slope[column] * (rng.normal(size=agents)[row] - difficulty[column])
    won = (rng.random(len(cells)) < 1 / (1 + np.exp(-eta))).astype(np.uint8)
    names = [f"agent {n}" for n in range(agents)], [f"task {n}" for n in range(tasks)]
    matrix = ex.ResponseMatrix.from_cells(row, column, won, agents=names[0], tasks=names[1])
    forget_peak()
    begun = time.process_time()
    fit = ex.irt.fit(matrix, starts=1, errors=errors)
    return {
        "observed": len(cells),
        "cpu_seconds": time.process_time() - begun,
        "gigabytes": peak_gigabytes(),
        "iterations": fit.iterations,
    }


if __name__ == "__main__":
    what, *rest = [word for word in sys.argv[1:] if word != "--engine"] or ["growth"]
    if what == "one":
        print(json.dumps(one(rest[0], int(rest[1]), int(rest[2]), float(rest[3]))))
    elif what == "shared":
        from scale_workers import shared_out

        print(json.dumps(shared_out(rest[0], int(rest[1]))))
    elif what == "capped":
        print(json.dumps(capped(rest[0], float(rest[1]))))
    elif what == "ceiling":
        print(json.dumps(ceiling(*map(float, rest or ["0.35"]))))
    elif what == "gpu":
        on_gpu(*map(int, rest))
    elif what == "rest":
        from scale_rest import rest as everything_else

        everything_else(*(int(size) for size in rest[:2] or (500, 4000)), rest[2:])
    elif what.startswith("rows"):
        from scale_rows import measured, rows, written

        if what == "rows-written":
            written(Path(rest[0]), int(rest[1]), rest[2])
            print("{}")
        elif what == "rows-read":
            print(json.dumps(measured(Path(rest[0]), peak_gigabytes, forget_peak)))
        else:
            print(json.dumps(rows(int(rest[0]), *(rest[1:] or ["file"]), alone)))
    elif what == "sparse":
        agents, tasks, missing = (*rest, *("5000", "20000", "0.98")[len(rest) :])
        for errors in (False, True):
            print(json.dumps(sparse(int(agents), int(tasks), float(missing), errors=errors)))
    elif what == "commands":
        from scale_commands import commands

        size = (*rest[:4], *("5000", "20000", "0", "1")[len(rest) :])
        commands(int(size[0]), int(size[1]), float(size[2]), int(size[3]), rest[4:])
    elif what == "growth":
        growth(rest or ["memory", "shards"])
    else:
        print(json.dumps(alone("one", what, *(rest or ["2000", "4000"]), 0.0)))
