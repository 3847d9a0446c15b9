"""How long, and in how much memory, long tables of results are read from Parquet and made a matrix.

    python benchmarks/scale.py rows 100000000          # one file
    python benchmarks/scale.py rows 100000000 folder   # a partitioned folder of files of a million rows
    python benchmarks/scale.py rows 100000000 trial    # one file, with a column of trials

Agents × 20,000 tasks, complete, names as text. The file is made in one process and read in another.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import examiner as ex

TASKS, TOGETHER = 20_000, 50


def frames(rows: int, *, trial: bool) -> list[Callable[[], pl.DataFrame]]:
    """Tables of 50 agents each, made when asked for."""
    tasks = pl.Series([f"benchmark_{n % 57}/item-{n:06d}" for n in range(TASKS)])

    def made(first: int, count: int) -> pl.DataFrame:
        rng = np.random.default_rng(first)
        agents = pl.Series(
            [f"organisation-{n % 97}/model-{n:05d}" for n in range(first, first + count)]
        )
        columns = {
            "agent": agents.gather(np.repeat(np.arange(count), TASKS)),
            "task": tasks.gather(np.tile(np.arange(TASKS), count)),
            "score": rng.integers(0, 2, count * TASKS).astype(np.float64),
        }
        return pl.DataFrame(columns | ({"trial": np.zeros(count * TASKS, int)} if trial else {}))

    agents = rows // TASKS
    return [
        lambda first=first: made(first, min(TOGETHER, agents - first))
        for first in range(0, agents, TOGETHER)
    ]


def written(path: Path, rows: int, how: str) -> None:
    """Write one file, or a partitioned folder."""
    from pyarrow import parquet

    tables = frames(rows, trial=how == "trial")
    if how == "folder":
        for number, table in enumerate(tables):
            day = path / f"day={number % 10}"
            day.mkdir(parents=True, exist_ok=True)
            table().write_parquet(day / f"{number}.parquet")
        return
    writer = None
    for table in tables:
        part = table().to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or parquet.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def measured(path: Path, peak: Callable[[], float], forget: Callable[[], None]) -> dict[str, float]:
    """CPU seconds and largest memory of reading, of telling what was read, and of making the matrix."""
    warnings.simplefilter("ignore")
    found: dict[str, float] = {}

    def timed(name: str, job: Callable[[], object]) -> object:
        forget()
        begun = time.process_time()
        done = job()
        found[f"{name}_cpu_seconds"] = time.process_time() - begun
        found[f"{name}_gigabytes"] = peak()
        return done

    results = timed("read", lambda: ex.read(path))
    assert isinstance(results, ex.Results)
    timed("repr", lambda: repr(results))
    timed("matrix", lambda: ex.responses(results))
    return found


def rows(count: int, how: str, alone: Callable[..., dict[str, float]]) -> dict[str, float]:
    """Make the file in one process, and read it in another."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("parts" if how == "folder" else "rows.parquet")
        alone("rows-written", path, count, how)
        return alone("rows-read", path)
