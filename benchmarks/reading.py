"""Claim: ten million tidy rows become Results in at most 2x (CSV), 4x (Parquet) of polars' own time.

Peak memory stays within 4x the frame's size.
Each reading runs in a fresh process, the two kinds in turn, and the median of the ratios counts.
Run: python benchmarks/reading.py [--rows 10000000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, sys, time
what, path = sys.argv[1:]
import numpy, polars as pl, examiner as ex, warnings
warnings.simplefilter("ignore")
ex.read, ex.Results  # imports are not what is measured
def peak_bytes():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
before = peak_bytes()
start = time.perf_counter()
if what == "polars":
    held = pl.read_csv(path) if path.endswith("csv") else pl.read_parquet(path)
    size = held.estimated_size()
else:
    held = ex.read(path)
    size = len(held)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak": peak_bytes() - before, "size": size}))
"""

SHAPES = {
    "all keys": ["agent", "task", "run", "trial", "score"],
    "no trial": ["agent", "task", "run", "score"],
    "no run": ["agent", "task", "trial", "score"],
    "bare": ["agent", "task", "score"],
    "shuffled": ["agent", "task", "run", "trial", "score"],
    "with level": ["agent", "task", "level", "run", "trial", "score"],
}


def make(folder: Path, rows: int, shape: str) -> None:
    import numpy as np
    import polars as pl

    agents, tasks, levels, runs = 100, 100, 2, 5
    index = np.arange(rows)
    per = max(1, rows // (agents * tasks * levels * runs))
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "agent": pl.Series([f"agent_{a}" for a in range(agents)]).gather(
                index // (tasks * levels * runs * per) % agents
            ),
            "task": pl.Series([f"task_{t}" for t in range(tasks)]).gather(
                index // (levels * runs * per) % tasks
            ),
            "level": index // (runs * per) % levels,
            "run": index // per % runs,
            "trial": index % per + (index // (runs * per) % levels) * per * (shape != "with level"),
            "score": (rng.normal(size=rows) * 1000).round(2),
        }
    )
    if shape == "no run":
        frame = frame.with_columns(trial=pl.int_range(pl.len()).over("agent", "task"))
    if shape == "shuffled":
        frame = frame.sample(fraction=1.0, shuffle=True, seed=0)
    frame = frame.select(SHAPES[shape])
    frame.write_csv(folder / "table.csv")
    frame.write_parquet(folder / "table.parquet")


def measure(what: str, path: Path) -> dict[str, float]:
    child = [sys.executable, "-c", CHILD, what, str(path)]
    return json.loads(subprocess.run(child, capture_output=True, check=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{options.rows:,} rows; seconds are medians of {options.repeats} fresh processes")
    print(
        f"{'table':12} {'file':8} {'polars s':>9} {'examiner s':>11} {'ratio':>6} {'peak/frame':>11}"
    )
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make(folder, options.rows, shape)
            for kind in ("csv", "parquet"):
                path = folder / f"table.{kind}"
                pairs = [
                    (measure("polars", path), measure("examiner", path))
                    for _ in range(options.repeats)
                ]
                alone, ours = (
                    statistics.median(pair[side]["seconds"] for pair in pairs) for side in (0, 1)
                )
                ratio = statistics.median(b["seconds"] / a["seconds"] for a, b in pairs)
                peak = max(b["peak"] for _, b in pairs) / pairs[0][0]["size"]
                print(f"{shape:12} {kind:8} {alone:9.2f} {ours:11.2f} {ratio:6.2f} {peak:11.2f}")


if __name__ == "__main__":
    main()
