"""Claims: the 2PL at 1000 × 500 fits 40 times as fast as PyPI mirt, 1000 times py-irt, 2000 times girth.

With standard errors it is 40 times as fast as mirt with its own too; the 3PL is 24 times as fast, and
9 times with standard errors.

Simulated 2PL data: S 45 × 41, M 1000 × 500, L 5000 × 2000, XL 5000 × 20000 (uint8), and M with 20 %
of its cells missing; one thread, warm (S: the first call of a fresh process), maximum likelihood, one
start, no standard errors (those are timed apart). Every log-likelihood is evaluated again on one fine
grid from the parameters found. XL is measured against one float32 matrix-vector product over the same
matrix, and its memory against the number of responses. The other models are timed at M beside it.

Peers run in environments of their own, made once in a cache folder: PyPI mirt (Rust), girth, and
py-irt with its default settings (it needs a Python below 3.12 and torch; give --py-irt PYTHON).
Run: python benchmarks/irt.py [--sizes S,M,M-missing,L,XL] [--peers mirt,girth,py-irt] [--repeats 5]
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

SIZES = {
    "S": (45, 41, 0.0),
    "M": (1000, 500, 0.0),
    "M-missing": (1000, 500, 0.2),
    "L": (5000, 2000, 0.0),
    "XL": (5000, 20000, 0.0),
}
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}

COMMON = """
import json, sys, time
import numpy as np
path, repeats = sys.argv[1], int(sys.argv[2])
responses = np.load(path)  # 0, 1, and 255 where nothing was observed
def peak_bytes():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
def timed(fit):
    first = None
    seconds, cpu = [], []
    for _ in range(repeats + 1):
        wall, used = time.perf_counter(), time.process_time()
        made = fit()
        seconds.append(time.perf_counter() - wall)
        cpu.append(time.process_time() - used)
    return made, seconds, cpu
def told(slope, intercept, seconds, cpu, peak):
    np.save(sys.argv[3], np.stack([slope, intercept]))
    print(json.dumps({"first": seconds[0], "seconds": seconds[1:], "cpu": cpu[1:], "peak": peak}))
"""

OURS = (
    COMMON
    + """
import examiner as ex
from examiner.irt import fit as fit_irt
if (responses == 255).any():
    seen = (responses != 255).astype(np.uint8)
    matrix = ex.ResponseMatrix.from_counts(np.where(seen, responses, 0).astype(np.uint8), seen)
else:
    matrix = ex.ResponseMatrix.from_array(responses)
del responses
before = peak_bytes()
options = {"model": "2pl", "estimator": "ml", "starts": 1, "errors": False, **json.loads(sys.argv[4])}
fit, seconds, cpu = timed(lambda: fit_irt(matrix, **options))
assert not fit.dropped, fit.dropped
told(fit.items.slope, fit.items.intercept, seconds, cpu, peak_bytes() - before)
"""
)

THEIRS = {
    "mirt": COMMON
    + """
import mirt
table = np.where(responses == 255, -1, responses.astype(int))
before = peak_bytes()
fit, seconds, cpu = timed(lambda: mirt.fit_mirt(table, model="2PL", compute_standard_errors=False))
a = np.ravel(fit.model.parameters["discrimination"])
b = np.ravel(fit.model.parameters["difficulty"])
told(a, -a * b, seconds, cpu, peak_bytes() - before)
""",
    "girth": COMMON
    + """
import girth
table = np.where(responses == 255, girth.INVALID_RESPONSE, responses.astype(int)).T
before = peak_bytes()
fit, seconds, cpu = timed(lambda: girth.twopl_mml(table))
told(fit["Discrimination"], -fit["Discrimination"] * fit["Difficulty"], seconds, cpu,
     peak_bytes() - before)
""",
    "py-irt": COMMON
    + """
import tempfile
from pathlib import Path
from py_irt.config import IrtConfig
from py_irt.training import IrtModelTrainer
folder = Path(tempfile.mkdtemp())
with open(folder / "data.jsonlines", "w") as lines:
    for agent, row in enumerate(responses):
        cells = {f"t{task}": int(value) for task, value in enumerate(row) if value != 255}
        lines.write(json.dumps({"subject_id": f"a{agent}", "responses": cells}) + "\\n")
before = peak_bytes()
def fit():
    trainer = IrtModelTrainer(config=IrtConfig(model_type="2pl"), data_path=folder / "data.jsonlines")
    trainer.train(device="cpu")
    return trainer
trainer, seconds, cpu = timed(fit)
found = trainer.best_params
place = {int(index): int(name[1:]) for index, name in found["item_ids"].items()}
a, b = np.empty(len(place)), np.empty(len(place))
for index, task in place.items():
    a[task], b[task] = found["disc"][index], found["diff"][index]
told(a, -a * b, seconds, cpu, peak_bytes() - before)
""",
}

JUDGE = """
import json, sys
import numpy as np, examiner as ex
responses, grid = np.load(sys.argv[1]), np.linspace(-7, 7, 4001)
seen = responses != 255
won = np.where(seen, responses, 0).astype(np.float32)
log_weights = -0.5 * grid**2 - 0.5 * np.log(2 * np.pi) + np.log(grid[1] - grid[0])
answers = {}
for name, path in json.loads(sys.argv[2]).items():
    slope, intercept = np.load(path)
    if not seen.all():
        plus = np.logaddexp(0, np.outer(slope, grid) + intercept[:, None])
    else:
        plus = np.zeros(grid.size)
        for first in range(0, slope.size, 200):
            some = slice(first, first + 200)
            plus += np.logaddexp(0, np.outer(slope[some], grid) + intercept[some, None]).sum(axis=0)
    total = 0.0
    for first in range(0, len(won), 200):
        rows = won[first:first + 200].astype(float)
        joint = np.outer(rows @ slope, grid) + (rows @ intercept)[:, None] + log_weights
        joint -= plus if seen.all() else seen[first:first + 200].astype(float) @ plus
        top = joint.max(axis=1, keepdims=True)
        total += float((top[:, 0] + np.log(np.exp(joint - top).sum(axis=1))).sum())
    answers[name] = total
print(json.dumps(answers))
"""

MATVEC = """
import sys, time
import numpy as np
matrix = np.load(sys.argv[1]).astype(np.float32)
vector = np.ones(matrix.shape[1], dtype=np.float32)
seconds = []
for _ in range(7):
    start = time.process_time()
    matrix @ vector
    seconds.append(time.process_time() - start)
print(sorted(seconds)[3])
"""


def simulated(agents: int, tasks: int, missing: float, seed: int = 1):  # type: ignore[no-untyped-def]
    """Abilities and difficulties N(0, 1), discriminations log-normal; 255 where not observed."""
    import numpy as np

    rng = np.random.default_rng(seed)
    ability = rng.normal(size=agents)
    slope, difficulty = rng.lognormal(0, 0.3, tasks), rng.normal(size=tasks)
    table = np.empty((agents, tasks), dtype=np.uint8)
    for agent in range(agents):
        chance = 1 / (1 + np.exp(-slope * (ability[agent] - difficulty)))
        table[agent] = rng.random(tasks) < chance
        if missing:
            table[agent, rng.random(tasks) < missing] = 255
    return table


def environment(name: str, needs: list[str]) -> Path:
    """Make a peer's environment, outside the repository, unless it is there already."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "examiner-benchmarks" / name
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making an environment for {name} in {folder}")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *needs], check=True)
    return python


def run(python: Path | str, script: str, *arguments: str, limit: int) -> dict[str, object] | None:
    """Run a script in a fresh process with one thread; None when it takes too long or fails."""
    try:
        made = subprocess.run(
            [str(python), "-c", script, *arguments],
            env={**os.environ, **ONE_THREAD},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"    stopped after {limit} s")
        return None
    if made.returncode:
        print(f"    failed: {made.stderr.strip().splitlines()[-1:]}")
        return None
    start = made.stdout.rfind('{"')  # py-irt talks too, on the same line
    if start < 0:
        print(f"    said nothing: {made.stdout[-200:]!r} {made.stderr[-200:]!r}")
        return None
    answer: dict[str, object] = json.JSONDecoder().raw_decode(made.stdout[start:])[0]
    return answer


def main() -> None:
    """Measure and print."""
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="S,M,M-missing,L,XL")
    parser.add_argument("--peers", default="mirt,girth,py-irt")
    parser.add_argument("--py-irt", help="a Python that has py-irt")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=int, default=900, help="seconds a peer may take")
    parser.add_argument("--models", action="store_true", help="also time the other models at M")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="examiner-irt-"))
    peers: dict[str, Path] = {}
    for name in filter(None, chosen.peers.split(",")):
        if name == "py-irt" and chosen.py_irt:
            peers[name] = Path(chosen.py_irt)
            continue
        needs = {"mirt": ["mirt"], "girth": ["girth"], "py-irt": ["py-irt", "torch==2.13.0"]}[name]
        peers[name] = environment(name, needs)
    for size in filter(None, chosen.sizes.split(",")):
        agents, tasks, missing = SIZES[size]
        path = folder / f"{size}.npy"
        np.save(path, simulated(agents, tasks, missing))
        print(f"{size}: {agents} × {tasks}" + (f", {missing:.0%} missing" if missing else ""))
        found: dict[str, str] = {}
        ours = run(
            sys.executable, OURS, str(path), str(chosen.repeats), str(folder / f"{size}-ours.npy"),
            "{}", limit=3600,
        )  # fmt: skip
        assert ours is not None
        found["examiner"] = str(folder / f"{size}-ours.npy")
        mine = statistics.median(ours["cpu"])  # type: ignore[arg-type]
        print(
            f"    examiner  first {ours['first']:.3f} s, then {mine:.4f} s of CPU; "
            f"memory {ours['peak'] / (agents * tasks):.1f} bytes a response"  # type: ignore[operator]
        )
        if size == "XL":
            product = float(
                subprocess.run(
                    [sys.executable, "-c", MATVEC, str(path)],
                    env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True,
                ).stdout
            )  # fmt: skip
            print(
                f"    one product {product:.4f} s of CPU: the fit is {mine / product:.1f} products"
            )
            continue
        for name, python in peers.items():
            if (name != "mirt" and size in ("L", "M-missing")) or (name == "girth" and missing):
                continue
            repeats = {"S": 3, "M": 1, "M-missing": 1, "L": 0}[size] if name == "mirt" else 0
            place = folder / f"{size}-{name}.npy"
            theirs = run(
                python, THEIRS[name], str(path), str(repeats), str(place), limit=chosen.limit
            )
            if theirs is None:
                continue
            found[name] = str(place)
            later = theirs["cpu"] or [theirs["first"]]
            other = statistics.median(later)  # type: ignore[call-overload]
            print(
                f"    {name:<9} first {theirs['first']:.3f} s, then {other:.4f} s: "
                f"{other / mine:.0f} times ours"
            )
        judged = run(sys.executable, JUDGE, str(path), json.dumps(found), limit=3600)
        assert judged is not None
        for name, value in judged.items():
            print(f"    log-likelihood of {name:<9} on one fine grid {value:.4f}")
    if chosen.models:
        _other_models(folder, peers.get("mirt"), chosen.repeats)


def _other_models(folder: Path, mirt: Path | None, repeats: int) -> None:
    """Standard errors and the other models at M, on the data each is made for, best of some runs each."""
    script = """
import json, sys, time
import numpy as np, examiner as ex
from examiner.irt import ItemParameters, fit as fit_irt, simulate
rng = np.random.default_rng(1)
tasks = [f"t{n}" for n in range(500)]
slope, intercept = rng.lognormal(0, 0.3, 500), rng.normal(size=500)
def items(**more):
    return ItemParameters.of(tasks, slope, intercept, **more)
plain, guessed = simulate(items(), 1000, rng=1), simulate(items(guessing=0.2), 1000, rng=2)
fit_irt(plain, estimator="ml", starts=1)
for name, matrix, options in (
    ("2pl with standard errors", plain, {"model": "2pl", "errors": True}),
    ("2pl with weak priors and errors", plain, {"model": "2pl", "estimator": "map", "errors": True}),
    ("rasch", plain, {"model": "rasch"}),
    ("3pl", guessed, {"model": "3pl"}),
    ("3pl with standard errors", guessed, {"model": "3pl", "errors": True}),
    ("4pl", simulate(items(guessing=0.2, ceiling=0.95), 1000, rng=3), {"model": "4pl"}),
    ("2pl, 5 trials, beta-binomial",
     simulate(items(precision=5.0, response="beta-binomial"), 1000, trials=5, rng=4), {"model": "2pl"}),
    ("beta", simulate(items(precision=8.0, response="beta"), 1000, rng=5), {"model": "beta"}),
):
    if name in ("rasch", "3pl", "4pl"):
        np.save(f"{sys.argv[1]}/{name}.npy", matrix.successes)
    seconds = np.inf
    for _ in range(int(sys.argv[2])):
        start = time.process_time()
        fit = fit_irt(matrix, **{"estimator": "ml", "starts": 1, "errors": False, **options})
        seconds = min(seconds, time.process_time() - start)
    print(f"    {name:<30} {seconds:8.2f} s, {fit.iterations} iterations. {fit.outcome.value}")
"""
    print("Other models at M, seconds of CPU, one thread:")
    alone = {**os.environ, **ONE_THREAD}
    told = [str(folder), str(repeats)]
    subprocess.run([sys.executable, "-c", script, *told], env=alone, check=True)
    theirs = """
import sys, time
import numpy as np, mirt
for name, data, errors in (
    ("2pl", "rasch", True), ("3pl", "3pl", False), ("3pl", "3pl", True), ("4pl", "4pl", False)
):
    table = np.load(f"{sys.argv[1]}/{data}.npy").astype(int)
    seconds = np.inf
    for _ in range(min(3, int(sys.argv[2]))):
        start = time.process_time()
        mirt.fit_mirt(table, model=name.upper(), compute_standard_errors=errors)
        seconds = min(seconds, time.process_time() - start)
    print(f"    mirt's {name}{' with standard errors' * errors}: {seconds:.2f} s")
"""
    if mirt is not None:
        subprocess.run([str(mirt), "-c", theirs, *told], env=alone, check=True)


if __name__ == "__main__":
    main()
