"""Claims: 1000 simulated agents are examined 50 times as fast as by catsim, and as accurately.

One bank of 500 tasks (2PL), agents drawn from N(0, 1), the next task by maximum information. Two ways to
stop: after 20 tasks, and at a standard error of 0.3. catsim (PyPI) runs in its own environment, with its
default estimator (maximum likelihood by bounded search); its first guess is 0. Ours is the posterior mean.
Both run in one thread; time is CPU time of the examinations alone, without imports and without reading the
bank; that of ours includes building the tables. Accuracy is the root of the mean squared error. Then: tasks
needed against random order, and how the time grows with agents and tasks.
Run: python benchmarks/adaptive.py [--peer-python PATH] [--agents 1000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}

THEIRS = """
import json, sys, time, warnings
import numpy as np
from catsim.estimation import NumericalSearchEstimator
from catsim.initialization import FixedPointInitializer
from catsim.item_bank import ItemBank
from catsim.selection import MaxInfoSelector
from catsim.simulation import Simulator
from catsim.stopping import MinErrorStopper, TestLengthStopper

warnings.simplefilter("ignore")
given = np.load(sys.argv[1])
slope, difficulty, ability = given["slope"], given["difficulty"], given["ability"]
error = float(sys.argv[2])
stopper = MinErrorStopper(error) if error else TestLengthStopper(max_items=int(sys.argv[3]))
zeros = np.zeros_like(slope)
bank = ItemBank(np.stack([slope, difficulty, zeros, zeros + 1], axis=1))
run = Simulator(bank, ability.copy(), seed=0)
begun = time.process_time()
run.simulate(FixedPointInitializer(0), MaxInfoSelector(), NumericalSearchEstimator(), stopper)
seconds = time.process_time() - begun
found = np.array(run.latest_estimations)
count = np.array([len(one) for one in run.administered_items])
print(json.dumps({"seconds": seconds, "rmse": float(np.sqrt(((found - ability) ** 2).mean())),
                  "mae": float(np.abs(found - ability).mean()), "tasks": float(count.mean())}))
"""

OURS = """
import json, sys, time
import numpy as np
from examiner.adaptive import TaskBank, Stop, simulate
from examiner.irt import ItemParameters
import scipy.special

given = np.load(sys.argv[1])
slope, difficulty, ability = given["slope"], given["difficulty"], given["ability"]
error, most = float(sys.argv[2]), int(sys.argv[3])
rule = sys.argv[4]
items = ItemParameters.of([f"task {n}" for n in range(slope.size)], slope, difficulty=difficulty)
stop = Stop(error=error) if error else Stop(most=most)
begun = time.process_time()
rng = np.random.default_rng(0)
run = simulate(TaskBank.of(items), ability, choosing=rule, stop=stop, rng=rng)
seconds = time.process_time() - begun
print(json.dumps({"seconds": seconds, "rmse": run.rmse, "mae": float(np.abs(run.ability - ability).mean()),
                  "tasks": float(run.count.mean()), "coverage": run.coverage}))
"""

BANK = """
import sys
import numpy as np

rng = np.random.default_rng(7)
tasks, agents = int(sys.argv[2]), int(sys.argv[3])
np.savez(sys.argv[1], slope=np.exp(rng.normal(0.2, 0.3, tasks)), difficulty=rng.normal(size=tasks),
         ability=rng.normal(size=agents))
"""


def peer_python() -> Path:
    """Make catsim's environment, outside the repository, unless it is there already."""
    folder = Path(
        os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "examiner-benchmarks", "catsim"
    )
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "catsim"], check=True)
    return python


def measured(python: str, code: str, *words: object) -> dict[str, float]:
    done = subprocess.run(
        [python, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | ONE_THREAD,
    )
    return json.loads(done.stdout) if done.stdout else {}


def shown(name: str, one: dict[str, float]) -> None:
    cover = f", coverage {one['coverage']:.1%}" if "coverage" in one else ""
    print(
        f"  {name:24} {one['seconds']:8.3f} s CPU, {one['tasks']:5.1f} tasks, "
        f"root mean squared error {one['rmse']:.3f}, mean absolute {one['mae']:.3f}{cover}"
    )


def against_catsim(peer: str, bank: str, error: float, most: int, repeats: int) -> bool:
    title = f"until a standard error of {error}" if error else f"{most} tasks each"
    print(f"maximum information, {title}")
    theirs = measured(peer, THEIRS, bank, error, most)
    runs = [
        measured(sys.executable, OURS, bank, error, most, "information") for _ in range(repeats)
    ]
    ours = runs[0] | {"seconds": statistics.median(run["seconds"] for run in runs)}
    shown("catsim", theirs)
    shown("examiner", ours)
    ratio = theirs["seconds"] / ours["seconds"]
    # A share of the squared error is chance: two runs of 1000 agents differ by a few percent.
    good = ratio >= 50 and ours["rmse"] <= theirs["rmse"] * 1.05
    print(f"  {ratio:.0f} times as fast: {'holds' if good else 'DOES NOT HOLD'}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="a Python that can import catsim")
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    peer = options.peer_python or str(peer_python())
    with tempfile.TemporaryDirectory() as folder:
        bank = str(Path(folder) / "bank.npz")
        measured(sys.executable, BANK, bank, 500, options.agents)
        good = [
            against_catsim(peer, bank, 0.0, 20, options.repeats),
            against_catsim(peer, bank, 0.3, 0, options.repeats),
        ]
        print("tasks needed until a standard error of 0.3, by rule")
        rules = ("information", "posterior-information", "posterior-variance")
        rules += ("kullback-leibler", "mutual-information", "random")
        found = {rule: measured(sys.executable, OURS, bank, 0.3, 0, rule) for rule in rules}
        for rule, one in found.items():
            shown(rule, one)
        share = found["information"]["tasks"] / found["random"]["tasks"]
        good.append(share <= 0.6)
        print(f"  {share:.0%} of random order: {'holds' if good[-1] else 'DOES NOT HOLD'}")
        print("growth, maximum information, 20 tasks each")
        for agents, tasks in ((1_000, 500), (10_000, 500), (1_000, 5_000), (1_000, 20_000)):
            measured(sys.executable, BANK, bank, tasks, agents)
            shown(
                f"{agents:,} × {tasks:,}",
                measured(sys.executable, OURS, bank, 0.0, 20, "information"),
            )
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
