"""What commands take on large Parquet files, complete, with cells missing or repeated.

    python benchmarks/scale.py commands 5000 20000              # complete
    python benchmarks/scale.py commands 5000 20000 0.6          # 60 % missing at random
    python benchmarks/scale.py commands 2000 8000 0 2           # two trials a cell
    python benchmarks/scale.py commands 500 4000 0.6 1 scores   # one command alone

Each command runs in a process of its own, with one thread for products. A line has its CPU seconds and
largest memory, reading among them, and what it said beforehand on standard error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

TOGETHER = 50
"""Agents written at a time."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "describe": (),
    "scores": (),
    "compare": ("organisation-0/model-00000", "organisation-1/model-00001"),
    "information": (),
    "cluster": (),
    "select": ("--size", "100", "--output", "{folder}/chosen.json"),
    "distil": ("--size", "100", "--output", "{folder}/tiny.json"),
    "audit": (),
    "report": ("--output", "{folder}/report.html"),
}
"""What is asked, after the file."""


class Taken(NamedTuple):
    """CPU seconds and largest memory of a process, how it ended, and its last words."""

    cpu_seconds: float
    gigabytes: float
    code: int
    said: str


def written(path: Path, agents: int, tasks: int, missing: float, trials: int) -> int:
    """Write a 2PL's zeros and ones of which cells are missing at random, and return how many rows."""
    from pyarrow import parquet

    rng = np.random.default_rng(1)
    ability, difficulty = rng.normal(size=agents), rng.normal(size=tasks)
    slope = np.exp(0.3 * rng.normal(size=tasks))
    names = pl.Series([f"benchmark_{n % 57}/item-{n:06d}" for n in range(tasks)])
    writer, rows = None, 0
    for first in range(0, agents, TOGETHER):
        count = min(TOGETHER, agents - first)
        cell = np.flatnonzero(rng.random(count * tasks) >= missing)
        row, column = np.divmod(np.repeat(cell, trials), tasks)
        chance = 1 / (1 + np.exp(-slope[column] * (ability[first + row] - difficulty[column])))
        here = pl.Series(
            [f"organisation-{n % 97}/model-{n:05d}" for n in range(first, first + count)]
        )
        columns = {
            "agent": here.gather(row),
            "task": names.gather(column),
            "score": (rng.random(len(row)) < chance).astype(np.float64),
        }
        if trials > 1:
            columns["trial"] = np.tile(np.arange(trials), len(cell))
        part = pl.DataFrame(columns).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or parquet.ParquetWriter(path, part.schema)
        writer.write_table(part)
        rows += len(row)
    if writer is not None:
        writer.close()
    return rows


def taken(words: list[str], folder: Path) -> Taken:
    """Run a command of its own, and tell what it took."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
    program = [sys.executable, "-c", "from examiner.cli import main; main()", *words]
    error = folder / "error.txt"
    actions = [
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(error), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    environment = os.environ | dict.fromkeys(names, "1")
    process = os.posix_spawn(sys.executable, program, environment, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    lines = error.read_text(encoding="utf-8").splitlines()
    code = os.waitstatus_to_exitcode(status)
    told = [line for line in lines if "are expected for" in line] if not code else lines[-1:]
    return Taken(
        used.ru_utime + used.ru_stime,
        used.ru_maxrss * 1024 / 1e9,
        code,
        " ".join(told),
    )


def commands(agents: int, tasks: int, missing: float, trials: int, names: list[str]) -> None:
    """Print one line a command."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = folder / "results.parquet"
        rows = written(path, agents, tasks, missing, trials)
        size = f"{agents:,} × {tasks:,}, {missing:.0%} missing, {rows:,} rows"
        print(f"{size} ({path.stat().st_size / 1e6:.0f} MB) | CPU seconds | GB | said", flush=True)
        for name in names or COMMANDS:
            asked = [word.format(folder=folder) for word in COMMANDS[name]]
            beside = _coverage(missing) if name in ("select", "distil") else ()
            found = taken([name, str(path), *asked, *beside, *_quietly(name)], folder)
            ended = f"exit code {found.code}: " if found.code else ""
            print(
                f"{name} | {found.cpu_seconds:.1f} | {found.gigabytes:.2f} | {ended}{found.said}",
                flush=True,
            )


def _coverage(missing: float) -> tuple[str, ...]:
    """Judge agents that have half as many tasks as they have on average; by default, all that have 90 %."""
    return ("--coverage", str((1 - missing) / 2)) if missing else ()


def _quietly(name: str) -> tuple[str, ...]:
    """Print JSON where a command would draw tables."""
    return () if name in ("select", "distil", "report") else ("--json",)
