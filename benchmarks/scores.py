"""Claims: intervals 60 times (IQM) and 500 times (improvement) as fast as rliable's, and they cover.

IQM of 26 tasks × 5 runs × 5 agents with 2,000 and 50,000 replicates; probability of improvement of
5 runs × 57 tasks with 2,000. Bounds agree within Monte-Carlo error; memory is bounded in blocks;
default intervals cover at 26 tasks and 3, 5, 10 runs; `score_coverage.py` measures that on more tables.

rliable runs in an environment of its own, made once in a cache folder (or given), on the same
scores, in turn with examiner; every measurement is a fresh process, seconds are medians.
Run: python benchmarks/scores.py [--peer-python PATH] [--repeats 3] [--coverage 1000] [--quick]
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

SHAPES = {"iqm": (5, 26, 5), "improvement": (2, 57, 5)}  # agents, tasks, runs

OURS = """
import json, sys, time, warnings
import numpy as np, examiner as ex
what, path, reps = sys.argv[1], sys.argv[2], int(sys.argv[3])
scores = np.load(path)
results = ex.Results.from_numpy(scores, [f"a{n}" for n in range(len(scores))])
ex.scores.intervals, ex.scores.improvement  # imports are not what is measured
def peak_bytes():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
before = peak_bytes()
start = time.perf_counter()
if what == "iqm":
    made = ex.scores.intervals(results, "iqm", rng=np.random.default_rng(0), reps=reps,
                                  interval=sys.argv[4])
    ends = [made.value[:, 0].tolist(), made.low[:, 0].tolist(), made.high[:, 0].tolist()]
else:
    made = ex.scores.improvement(results, "a0", "a1", rng=np.random.default_rng(0), reps=reps,
                                         interval=sys.argv[4])
    ends = [[made.probability], [made.low], [made.high]]
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak": peak_bytes() - before, "ends": ends}))
"""

THEIRS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from rliable import library, metrics
what, path, reps = sys.argv[1], sys.argv[2], int(sys.argv[3])
scores = np.load(path).transpose(0, 2, 1)  # rliable wants [runs, tasks]
np.random.seed(0)
def peak_bytes():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
before = peak_bytes()
start = time.perf_counter()
if what == "iqm":
    table = {str(n): one for n, one in enumerate(scores)}
    function = lambda x: np.array([metrics.aggregate_iqm(x)])
else:
    table = {"0": (scores[0], scores[1])}
    function = metrics.probability_of_improvement
points, bounds = library.get_interval_estimates(table, function, reps=reps)
seconds = time.perf_counter() - start
ends = [[float(np.ravel(v)[0]) for v in points.values()]]
ends += [[float(np.ravel(v)[side]) for v in bounds.values()] for side in (0, 1)]
print(json.dumps({"seconds": seconds, "peak": peak_bytes() - before, "ends": ends}))
"""


def peer_python() -> Path:
    """Make rliable's environment, outside the repository, unless it is there already."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "examiner-benchmarks" / "rliable"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making an environment for rliable in {folder}")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    check = [str(python), "-c", "import rliable.library"]
    if subprocess.run(check, check=False, capture_output=True).returncode:
        install = [str(python), "-m", "pip", "install", "--quiet", "rliable", "pandas<3"]
        subprocess.run(install, check=True)
    return python


def measure(python: str, code: str, *words: object) -> dict[str, object]:
    child = [python, "-c", code, *map(str, words)]
    done = subprocess.run(child, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"A measurement failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(
    peer: str, what: str, reps: int, repeats: int, peer_repeats: int, target: float
) -> None:
    import numpy as np

    scores = np.random.default_rng(1).normal(size=SHAPES[what])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.npy"
        np.save(path, scores)
        ours, theirs = [], []
        for turn in range(max(repeats, peer_repeats)):
            if turn < peer_repeats:
                theirs.append(measure(peer, THEIRS, what, path, reps))
            ours.append(measure(sys.executable, OURS, what, path, reps, "percentile"))
        default = [
            measure(sys.executable, OURS, what, path, reps, "studentised") for _ in range(repeats)
        ]
    slow, fast, usual = (
        statistics.median(one["seconds"] for one in many) for many in (theirs, ours, default)
    )
    our_ends, their_ends = np.array(ours[0]["ends"]), np.array(theirs[0]["ends"])
    width = their_ends[2] - their_ends[1]
    off = np.abs(our_ends[1:] - their_ends[1:]) / width
    # A quantile at 2.5 % of a normal: sqrt(p(1-p)/reps) / density, for two independent bootstraps
    error = float(np.sqrt(2 * 0.025 * 0.975 / reps) / 0.0584 / (2 * 1.96))
    point = float(np.abs(our_ends[0] - their_ends[0]).max())
    verdict = "met" if slow / usual >= target else "MISSED"
    print(
        f"{what:12} {reps:7,} {slow:9.2f} {fast * 1000:9.1f} {usual * 1000:9.1f} {slow / fast:8.0f} "
        f"{slow / usual:8.0f}  >= {target:.0f}: {verdict}"
    )
    ours_mb, theirs_mb = (max(o["peak"] for o in many) / 2**20 for many in (default, theirs))
    print(
        f"{'':12} points differ by {point:.1e}; bounds by {off.max():.4f} of the width at most "
        f"(one Monte-Carlo standard error: {error:.4f}); memory {ours_mb:.0f} against {theirs_mb:.0f} MB"
    )


def memory() -> None:
    """The same table with ever more replicates: only the replicates themselves may grow."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.npy"
        np.save(path, np.random.default_rng(1).normal(size=(5, 57, 10)))
        for reps in (2_000, 20_000, 100_000):
            found = measure(sys.executable, OURS, "iqm", path, reps, "studentised")
            print(
                f"5 agents, 57 tasks, 10 runs, {reps:7,} replicates: {found['peak'] / 2**20:.0f} MB"
            )


def coverage(simulations: int) -> None:
    import numpy as np

    import examiner as ex

    print(f"\ncoverage of 95 % intervals, {simulations:,} simulations, 26 tasks, 1000 replicates")
    print(f"{'runs':10} {'n':>3} {'interval':11} {'mean':>6} {'iqm':>6}")
    for kind in ("normal", "skewed"):
        for runs in (3, 5, 10):
            rng = np.random.default_rng(runs)
            level = rng.normal(size=(26, 1))

            def draw(*size: int, rng=rng, kind=kind, level=level) -> np.ndarray:
                if kind == "normal":
                    return level + rng.normal(size=size)
                return level + rng.lognormal(size=size) - np.exp(0.5)

            many = np.sort(draw(26, 400_000).ravel())
            truth = [level.mean(), many[len(many) // 4 : -(len(many) // 4)].mean()]
            results = ex.Results.from_numpy(draw(simulations, 26, runs))
            for interval in ("studentised", "percentile"):
                made = ex.scores.intervals(
                    results, ["mean", "iqm"], rng=rng, reps=1000, interval=interval, normalise=None
                )
                held = ((made.low <= truth) & (truth <= made.high)).mean(axis=0)
                print(f"{kind:10} {runs:3} {interval:11} {held[0]:6.3f} {held[1]:6.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="a Python that can import rliable")
    parser.add_argument("--repeats", type=int, default=5, help="fresh processes of examiner")
    parser.add_argument(
        "--peer-repeats", type=int, default=3, help="of rliable, at 2,000 replicates"
    )
    parser.add_argument("--coverage", type=int, default=1000, help="simulations; 0 for none")
    parser.add_argument("--quick", action="store_true", help="leave out what takes rliable minutes")
    options = parser.parse_args()
    peer = options.peer_python or str(peer_python())
    print(
        "seconds of rliable, milliseconds of examiner (percentile, as rliable's; and the default)"
    )
    print(
        f"{'what':12} {'reps':>7} {'rliable s':>9} {'perc. ms':>9} {'deflt ms':>9} {'x perc.':>8} "
        f"{'x deflt':>8}"
    )
    compare(peer, "iqm", 2_000, options.repeats, options.peer_repeats, 60)
    if not options.quick:
        compare(peer, "iqm", 50_000, options.repeats, 1, 60)
        compare(peer, "improvement", 2_000, options.repeats, 1, 500)
    memory()
    if options.coverage:
        coverage(options.coverage)


if __name__ == "__main__":
    main()
