"""Claim: what a tiny version says of itself holds for agents that it never saw, newer ones too.

Each split makes a tiny version of SWE-bench Verified (134 agents × 500 tasks) from three quarters of the
agents, or from the older ones; the others are judged. Shown are the error as a share of that of random sets
with ridge regression, how many agents lie inside their 90 % intervals, and how often a drop of 1, 2 and 5
points is cried wrongly or missed between two of them, beside what the record of the tiny version stated.
Of newer agents it is that for the best third of its own. Splits share their agents: the error shown beside
what was seen is that over agents, of both numbers together, and not over splits.
Every split is a line of a file, so that a run can be broken off and taken up again.
Run: python benchmarks/distil.py FILE [--splits 20] [--sizes 50,100]
     python benchmarks/distil.py FILE --show
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

import examiner as ex
from examiner.selection import fold_of
from examiner.selection.methods.random import random as draw_at_random
from examiner.selection.proof.holdout import Split
from examiner.selection.proof.sets import predict_sets
from examiner.selection.record import DROPS, alarm_at

DRAWS = 20
HELD_OUT = 0.25
HEADER = (
    *("split", "tasks", "splits", "error of random", "inside 90 %", "drop"),
    *("cried, not there: stated", "seen", "missed: stated", "seen"),
)


def split_of(agents: int, in_time: bool, rng: np.random.Generator) -> Split:
    if in_time:
        first = int(rng.uniform(0.5, 0.8) * agents)
        return Split(
            np.sort(rng.choice(first, int(0.9 * first), replace=False)), np.arange(first, agents)
        )
    order = rng.permutation(agents)
    held = int(HELD_OUT * agents)
    return Split(np.sort(order[held:]), np.sort(order[:held]))


def one_split(
    whole: ex.selection.Benchmark, size: int, in_time: bool, number: int
) -> dict[str, object]:
    rng = np.random.default_rng([size, in_time, number])
    split = split_of(len(whole.agents), in_time, rng)
    train = whole.on_agents([whole.agents[row] for row in split.train])
    holdout = ex.selection.Holdout(10, draws=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        tiny = ex.selection.distil(train, size, rng=rng, holdout=holdout)
    values = whole.values[split.test]
    truth = values.mean(axis=1)
    columns = [whole.tasks.index(task) for task in tiny.tasks.task]
    said = tiny.predictor.aggregate(values[:, columns])
    fold = fold_of(whole, split.train, ())._replace(curves=None)
    sets = [draw_at_random(fold.evidence, size, rng).columns for _ in range(DRAWS)]
    random = [
        np.abs(one.value - truth).mean()
        for one in predict_sets(fold, values, sets, remainders=False)
    ]
    assert tiny.record is not None
    record = tiny.record
    stated = record.alarms_of_best if in_time else record.alarms
    seen = [alarm_at(said.value - truth, drop) for drop in DROPS]
    return {
        "in_time": in_time,
        "size": size,
        "split": number,
        "agents": len(truth),
        "error": float(np.abs(said.value - truth).mean()),
        "random": float(np.mean(random)),
        "inside": int(((said.low <= truth) & (truth <= said.high)).sum()),
        "stated": [[one.false, one.missed, one.error] for one in stated],
        "seen": [[one.false, one.missed, one.error] for one in seen],
    }


def show(file: Path) -> None:
    found = [json.loads(line) for line in file.read_text().splitlines()]
    print(f"| {' | '.join(HEADER)} |\n{'|---' * len(HEADER)}|")
    for in_time in (False, True):
        for size in sorted({line["size"] for line in found}):
            own = [line for line in found if line["in_time"] == in_time and line["size"] == size]
            if len(own) < 2:
                continue
            error, random = (np.array([line[key] for line in own]) for key in ("error", "random"))
            share = error.mean() / random.mean()
            doubt = (error - share * random).std(ddof=1) / random.mean() / np.sqrt(len(own))
            inside = sum(line["inside"] for line in own) / sum(line["agents"] for line in own)
            kind_of = "in time" if in_time else "at random"
            told = f"| {kind_of} | {size} | {len(own)} | {share:.2f} ± {doubt:.2f} | {inside:.1%} |"
            stated, seen = (np.array([line[key] for line in own]) for key in ("stated", "seen"))
            for at, drop in enumerate(DROPS):
                cells = [f"{drop:.2f}"]
                for kind in range(2):
                    error_of = np.hypot(seen[:, at, 2], stated[:, at, 2]).mean()
                    cells += [
                        f"{stated[:, at, kind].mean():.3f}",
                        f"{seen[:, at, kind].mean():.3f} ± {error_of:.3f}",
                    ]
                print(told, " | ".join(cells), "|")
                told = "| | | | | |"


def run(file: Path, sizes: list[int], splits: int) -> None:
    whole = ex.selection.benchmark(ex.load("swebench-verified"))
    whole = whole.on_agents(sorted(whole.agents))  # names begin with the date of the entry
    lines = file.read_text().splitlines() if file.exists() else []
    known = {(one["in_time"], one["size"], one["split"]) for one in map(json.loads, lines)}
    for number in range(splits):
        for in_time in (False, True):
            for size in sizes:
                if (in_time, size, number) not in known:
                    with file.open("a") as out:
                        out.write(json.dumps(one_split(whole, size, in_time, number)) + "\n")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--sizes", default="50,100")
    options.add_argument("--splits", type=int, default=20)
    options.add_argument("--show", action="store_true")
    asked = options.parse_args()
    if not asked.show:
        run(asked.file, [int(size) for size in asked.sizes.split(",")], asked.splits)
    show(asked.file)
