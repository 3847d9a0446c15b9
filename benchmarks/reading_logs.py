"""Claim: logs are read at least 5x faster than by a pandas loop over the same files.

Peak memory is bounded: for JSONL within three times the size of the file, for small logs (where the
parser's own memory weighs most) as much as the pandas loop takes.

Two tasks: 2,000 Monitor folders of 500 episodes, and a tidy JSONL of 5 million lines. Each reading
runs in a fresh process, the two kinds in turn; the median of the ratios counts. `peak` is VmHWM less
what the imports took.

Run: python benchmarks/reading_logs.py [--folders 2000] [--lines 5000000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, sys, time, warnings
who, what, path = sys.argv[1:]
warnings.simplefilter("ignore")
def peak_bytes():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024

def pandas_logs(path):
    frames = []
    for log in sorted(Path(path).glob("*/*/*.monitor.csv")):
        with log.open() as stream:
            about = json.loads(stream.readline()[1:])
            frame = pd.read_csv(stream)
        task, _, run = log.parent.name.rpartition("_")
        frame = frame.assign(agent=log.parent.parent.name, task=about["env_id"], run=int(run))
        frames.append(frame.assign(trial=range(len(frame)), frames=frame["l"].cumsum()))
    return pd.concat(frames, ignore_index=True)

def pandas_lines(path):
    chunks = pd.read_json(path, lines=True, chunksize=200_000)
    return pd.concat(list(chunks), ignore_index=True)

if who == "pandas":
    from pathlib import Path
    import pandas as pd
    read = pandas_logs if what == "logs" else pandas_lines
else:
    import numpy, polars, examiner as ex
    ex.Results, ex.read
    template = "{agent}/{task}_{run}/" if what == "logs" else None
    def read(path):
        return ex.read(path, path=template)
before = peak_bytes()
start = time.perf_counter()
held = read(path)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak": peak_bytes() - before, "rows": len(held)}))
"""


def make_logs(folder: Path, count: int, episodes: int = 500) -> int:
    rng = random.Random(0)
    size = 0
    for number in range(count):
        place = folder / f"agent{number % 10}" / f"PongNoFrameskip-v4_{number // 10}"
        place.mkdir(parents=True)
        lines = [
            f"{rng.gauss(0, 100):.6f},{rng.randint(100, 3000)},{episode * 1.3:.6f}\r\n"
            for episode in range(episodes)
        ]
        text = '#{"t_start": 1700000000.5, "env_id": "PongNoFrameskip-v4"}\nr,l,t\n' + "".join(
            lines
        )
        size += (place / "0.monitor.csv").write_text(text, newline="")
    return size


def make_lines(path: Path, count: int) -> int:
    rng = random.Random(0)
    size = 0
    with path.open("w") as stream:
        for start in range(0, count, 50_000):
            block = (
                f'{{"agent": "model_{n % 500}", "task": "item_{n // 500}", '
                f'"correct": {rng.getrandbits(1)}}}\n'
                for n in range(start, min(start + 50_000, count))
            )
            size += stream.write("".join(block))
    return size


def measure(who: str, what: str, path: Path) -> dict[str, float]:
    child = [sys.executable, "-c", CHILD, who, what, str(path)]
    return json.loads(subprocess.run(child, capture_output=True, check=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", type=int, default=2_000)
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"seconds are medians of {options.repeats} fresh processes; peak is over the files' size")
    print(
        f"{'what':8} {'rows':>10} {'MB':>6} {'pandas s':>9} {'examiner s':>11} {'times':>6} "
        f"{'pandas peak':>12} {'examiner peak':>14}"
    )
    with tempfile.TemporaryDirectory() as name:
        logs, lines = Path(name) / "logs", Path(name) / "lines.jsonl"
        sizes = {
            "logs": make_logs(logs, options.folders),
            "lines": make_lines(lines, options.lines),
        }
        for what, path in (("logs", logs), ("lines", lines)):
            pairs = [
                (measure("pandas", what, path), measure("examiner", what, path))
                for _ in range(options.repeats)
            ]
            assert all(one["rows"] == two["rows"] for one, two in pairs)
            alone, ours = (
                statistics.median(pair[side]["seconds"] for pair in pairs) for side in (0, 1)
            )
            ratio = statistics.median(one["seconds"] / two["seconds"] for one, two in pairs)
            peaks = [max(pair[side]["peak"] for pair in pairs) / sizes[what] for side in (0, 1)]
            print(
                f"{what:8} {int(pairs[0][1]['rows']):10,} {sizes[what] / 1e6:6.0f} {alone:9.2f} "
                f"{ours:11.2f} {ratio:6.1f} {peaks[0]:12.1f} {peaks[1]:14.1f}"
            )


if __name__ == "__main__":
    main()
