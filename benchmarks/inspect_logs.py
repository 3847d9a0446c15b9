"""Claim: inspect_ai's logs are read 15 times faster than by its own data frames, in linear time.

200 `.eval` logs of 1,000 samples each, with transcripts that neither reader opens; before, a quarter and a
half of them, to see that time is linear in logs and memory flat but for the rows. inspect_ai is no
dependency: `--inspect` names a Python that has it (`samples_df`, in one process and in several).
Each reading runs in a fresh process, the readers in turn; the median counts. `peak` is VmHWM less what the
imports took, of the process that reads.

Run: python benchmarks/inspect_logs.py --inspect VENV/bin/python [--logs 200] [--samples 1000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CHILD = """
import json, sys, time, warnings
who, path = sys.argv[1:]
warnings.simplefilter("ignore")

def peak_bytes():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024

def main():
    if who == "examiner":
        import numpy, polars, examiner as ex
        ex.Results, ex.read
        def read(path):
            return ex.read(path)
    else:
        from inspect_ai.analysis import samples_df
        def read(path):
            return samples_df(path, quiet=True, parallel=who == "inspect in processes")
    before = peak_bytes()
    start = time.perf_counter()
    held = read(path)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "peak": peak_bytes() - before, "rows": len(held)}))

if __name__ == "__main__":
    main()
"""


def sample(number: int, model: str, rng: random.Random) -> dict[str, object]:
    words = [f"word{rng.randrange(5000)}" for _ in range(60)]
    usage = {"input_tokens": 300, "output_tokens": 40, "total_tokens": 340}
    return {
        "id": number,
        "epoch": 1,
        "input": " ".join(words),
        "target": "A",
        "metadata": {"subject": f"s{number % 7}"},
        "scores": {
            "choice": {
                "value": rng.choice("CI"),
                "answer": "A",
                "explanation": " ".join(words[:20]),
            }
        },
        "model_usage": {model: usage},
        "total_time": 2.5,
        "working_time": 2.0,
        "uuid": f"{rng.randrange(2**64):016x}",
        "retries": 0,
        "completed": True,
    }


def write_logs(folder: Path, logs: int, samples: int) -> None:
    rng = random.Random(19)
    transcript = json.dumps({"messages": [f"turn {rng.randrange(10**9)} " * 40 for _ in range(10)]})
    for number in range(logs):
        model = f"maker/model-{number}"
        about = {
            "eval_id": f"e{number}",
            "run_id": f"r{number}",
            "task_id": f"t{number}",
            "created": "2026-01-01T00:00:00+00:00",
            "task": "quiz",
            "task_version": 0,
            "model": model,
            "dataset": {"name": "quiz", "samples": samples, "shuffled": False},
            "config": {"epochs": 1},
        }
        plan = {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}}
        results = {"total_samples": samples, "completed_samples": samples, "scores": []}
        times = dict.fromkeys(("started_at", "completed_at"), "2026-01-01T00:00:00+00:00")
        header = {
            "version": 2,
            "status": "success",
            "eval": about,
            "plan": plan,
            "results": results,
        }
        path = folder / f"2026-01-01T00-00-00+00-00_quiz_{number:05d}.eval"
        with zipfile.ZipFile(
            path, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1
        ) as archive:
            archive.writestr(
                "_journal/start.json", json.dumps({"version": 2, "eval": about, "plan": plan})
            )
            for at in range(1, samples + 1):
                archive.writestr(f"samples/{at}_epoch_1.json", transcript)
            summaries = [sample(at, model, rng) for at in range(1, samples + 1)]
            archive.writestr("summaries.json", json.dumps(summaries))
            archive.writestr("header.json", json.dumps(header | {"stats": times}))


def measured(python: str, who: str, folder: Path) -> dict[str, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(CHILD)
        script.flush()
        done = subprocess.run(
            [python, script.name, who, str(folder)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        sys.exit(f"{who} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inspect", help="a Python that has inspect_ai")
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    readers = [("examiner", sys.executable)]
    if options.inspect:
        readers += [("inspect", options.inspect), ("inspect in processes", options.inspect)]
    with tempfile.TemporaryDirectory() as name:
        for part in (4, 2, 1):
            folder = Path(name) / f"part{part}"
            folder.mkdir()
            logs = options.logs // part
            write_logs(folder, logs, options.samples)
            times: dict[str, list[dict[str, float]]] = {}
            for _ in range(options.repeats):
                for who, python in readers if part == 1 else readers[:1]:
                    times.setdefault(who, []).append(measured(python, who, folder))
            for who, found in times.items():
                seconds = statistics.median(one["seconds"] for one in found)
                peak = statistics.median(one["peak"] for one in found) / 2**20
                print(
                    f"{logs:4d} logs  {who:22s} {seconds:8.2f} s  {1000 * seconds / logs:7.1f} ms a log  "
                    f"{peak:7.0f} MiB  {found[0]['rows']:,.0f} rows"
                )


if __name__ == "__main__":
    main()
