"""Claim: a rebuilt house is as fast as the one before: least CPU seconds of seven, side by side.

Every call runs in processes of their own, in both trees in turn, on one thread of BLAS, so that a busy
machine disturbs both alike.
Run: python benchmarks/house_speed.py --before CHECKOUT [--tree CHECKOUT] [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

TURNS = 7
NEW = "hasattr(ex, 'open')"


def _tasks(count: int) -> str:
    """Code that makes 2PL tasks, and names what fits and simulates in either tree.

    Fits take the prior of the house before, so that the same is computed; what the newer prior costs
    is told by `benchmarks/irt.py`.
    """
    return f"""
from functools import partial
fit = partial(ex.irt.fit, priors="fixed") if {NEW} else ex.fit_irt
items = ex.irt.ItemParameters if {NEW} else ex.ItemParameters
simulate = ex.irt.simulate if {NEW} else ex.simulate
rng = np.random.default_rng(0)
names = [f"t{{n}}" for n in range({count})]
tasks = items.of(names, rng.lognormal(0, 0.3, {count}), rng.normal(size={count}))
"""


CALLS = {
    "fit 2PL, 1000 × 500": f"""
{_tasks(500)}
matrix = simulate(tasks, 1000, rng=1)
def call(): fit(matrix, starts=1, errors=False)
""",
    "fit 2PL with errors, 300 × 100": f"""
{_tasks(100)}
matrix = simulate(tasks, 300, rng=1)
def call(): fit(matrix, starts=1)
""",
    "fit 2PL, 1000 × 500, 60 % missing": f"""
{_tasks(500)}
values = np.where(rng.random((1000, 500)) < 0.6, np.nan, simulate(tasks, 1000, rng=1).to_numpy())
matrix = ex.ResponseMatrix.from_array(values)
def call(): fit(matrix, starts=1, errors=False)
""",
    "fit beta-binomial, 23 × 49 × 25": f"""
{_tasks(49)}
matrix = simulate(tasks, 23, trials=25, rng=1)
def call(): fit(matrix, starts=1, errors=False)
""",
    "intervals of the IQM, 12 × 27 × 5, 2,000 resamples": f"""
intervals = ex.scores.intervals if {NEW} else ex.aggregate_intervals
results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(12, 27, 5)))
def call(): intervals(results, "iqm", rng=np.random.default_rng(0))
""",
    "improvement of all pairs, 12 × 27 × 5": f"""
matrix = ex.scores.improvement_matrix if {NEW} else ex.improvement_matrix
results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(12, 27, 5)))
def call(): matrix(results, rng=np.random.default_rng(0))
""",
    "normalise by rank, 200 × 500 × 5": """
results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(200, 500, 5)))
def call(): ex.normalise(results, "rank")
""",
    "choose 5 of 40 tasks, best of, 24 agents, z-score": f"""
rng = np.random.default_rng(0)
scores = rng.normal(size=(24, 1)) * rng.uniform(0.4, 1.6, 40) + 0.6 * rng.normal(size=(24, 40))
results = ex.Results.from_numpy(scores)
if {NEW}:
    def call(): ex.selection.choose(results, 5, rng=0)
else:
    def call(): ex.select(results, 5, rng=np.random.default_rng(0))
""",
    "compare 3 methods, leave one out, 24 × 40": f"""
rng = np.random.default_rng(0)
scores = rng.normal(size=(24, 1)) * rng.uniform(0.4, 1.6, 40) + 0.6 * rng.normal(size=(24, 40))
results = ex.Results.from_numpy(scores)
names = ["regression", "spread", "anchors"]
if {NEW}:
    def call(): ex.selection.judge(results, [3, 5], names, rng=0)
else:
    def call(): ex.judge_methods(results, [3, 5], names, rng=np.random.default_rng(0))
""",
    "information, 27 × 108": f"""
gain = ex.information.gain if {NEW} else ex.information_gain
best = ex.information.best_set if {NEW} else ex.informative_set
channels = ex.information.channels if {NEW} else ex.channels
seen = channels(ex.Results.from_numpy(np.random.default_rng(0).normal(size=(27, 108, 5))))
def call(): gain(seen), best(seen, 10)
""",
    "simulate 300 examinations of 100 tasks": f"""
items = ex.irt.ItemParameters if {NEW} else ex.ItemParameters
simulate = ex.adaptive.simulate if {NEW} else ex.simulate_examinations
rng = np.random.default_rng(0)
tasks = items.of([f"t{{n}}" for n in range(100)], rng.lognormal(0, 0.3, 100), rng.normal(size=100))
def call(): simulate(tasks, rng.normal(size=300), rng=np.random.default_rng(1))
""",
    "read CSV, 1 M rows": """
import tempfile, polars as pl
path = tempfile.mkdtemp() + "/x.csv"
rng = np.random.default_rng(0)
rows = 1_000_000
names = {name: rng.integers(0, 100, rows).astype(str) for name in ("agent", "task")}
others = {"run": rng.integers(0, 10, rows), "trial": np.arange(rows), "score": rng.normal(size=rows)}
pl.DataFrame(names | others).write_csv(path)
def call(): ex.read(path)
""",
    "read 200 monitor files": """
import pathlib, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
for n in range(200):
    (folder / f"agent{n % 5}_{n}").mkdir()
    lines = ['#{"t_start": 0, "env_id": "CartPole-v1"}', "r,l,t"]
    lines += [f"{k}.0,{k + 1},{k}.5" for k in range(300)]
    (folder / f"agent{n % 5}_{n}" / "0.monitor.csv").write_text("\\n".join(lines) + "\\n")
def call(): ex.read(folder)
""",
    "play 20 episodes of Pong at random": """
import importlib
arena = importlib.import_module("examiner.arena")
job = arena.Job("random", "random", game="pong", episodes=20)
def call(): list(arena.Playing(job))
""",
    "report, 7 agents × 55 games": """
results = ex.load("atari-dqn-family")
def call(): ex.report(results).html
""",
}
_TIMED = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import examiner as ex
{setting}
call()
began = time.process_time()
call()
print(json.dumps(time.process_time() - began))
"""


def seconds(tree: Path, setting: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(setting=setting)],
        env={"PYTHONPATH": str(tree / "src"), "PATH": "", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"A call failed in {tree}:\n{done.stderr}")
    found: float = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--before", type=Path, required=True)
    options.add_argument("--tree", type=Path, default=Path(__file__).parents[1])
    options.add_argument("--only", default="")
    given = options.parse_args()
    print(f"{'':52} {'before':>8} {'now':>8} {'ratio':>6}")
    for name, setting in CALLS.items():
        if given.only not in name:
            continue
        times = [
            [seconds(tree.resolve(), setting) for tree in (given.before, given.tree)]
            for _ in range(TURNS)
        ]
        before, now = (min(turn[tree] for turn in times) for tree in range(2))
        print(f"{name:52} {before:8.3f} {now:8.3f} {now / before:6.2f}", flush=True)


if __name__ == "__main__":
    main()
