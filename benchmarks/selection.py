"""Claim: tasks chosen by covariances predict held-out agents better than random sets with ridge do.

Each split holds out a quarter of the agents; everything else happens on the others. An error is a share of
that of random sets of the same size with ridge regression (mean of 20 sets), paired over splits, with its
standard error; `rest` is the same for the mean of the tasks *not* chosen, since a mean contains its parts.
Where results are shares, curves predict beside ridge regression; what they bring to random sets is shown.
Splits in time train on the older agents. Every split is a line of a file, so that a run can be broken off
and taken up again.
Run: python benchmarks/selection.py FILE [--data ../shared/data] [--tables Rasch,noise] [--splits 100]
     python benchmarks/selection.py OTHER_FILE --methods regression,information_gain
     python benchmarks/selection.py FILE --show
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import examiner as ex
from examiner.selection import METHODS, Benchmark, fold_of
from examiner.selection.methods.random import random as draw_at_random
from examiner.selection.proof.folds import FoldJob, judge_fold
from examiner.selection.proof.holdout import Split
from examiner.selection.proof.sets import Contest, predict_draws
from examiner.validation import Floats

DRAWS = 20
HELD_OUT = 0.25
QUICK = ("covariance", "anchors", "clusters", "spread", "fisher", "discrimination")
ALL = (*QUICK[:1], "regression", *QUICK[1:])
"""Regression takes three quarters of the time of all; it enters where a quarter of an hour is enough."""


class Table(NamedTuple):
    """What is chosen from: how it is made, sizes of sets, methods, and whether agents come in time."""

    make: Callable[[Path], Benchmark]
    sizes: tuple[int, ...]
    methods: tuple[str, ...] = QUICK
    in_time: bool = False


def of_values(values: Floats, **options: object) -> Benchmark:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        return ex.selection.benchmark(ex.Results.from_numpy(values), ex.Recipe(), **options)  # type: ignore[arg-type]


def given(name: str, **options: object) -> Callable[[Path], Benchmark]:
    """A table beside the checkout, agents in the order of their names: some begin with a date."""

    def make(folder: Path) -> Benchmark:
        results = ex.read(folder / name)
        whole = ex.selection.benchmark(results, **options)  # type: ignore[arg-type]
        return whole.on_agents(sorted(whole.agents))

    return make


def bundled(name: str) -> Callable[[Path], Benchmark]:
    return lambda _: ex.selection.benchmark(ex.load(name))  # type: ignore[arg-type, call-overload]


def factors(count: int, agents: int, tasks: int, seed: int, trend: float = 0.0) -> Floats:
    """Agents with so many abilities, the first of which all tasks need, and noise of the task's own."""
    rng = np.random.default_rng(seed)
    loadings = 0.5 * rng.normal(size=(count, tasks))
    loadings[0] += 0.5
    ability = rng.normal(size=(agents, count)) + trend * np.linspace(-1, 1, agents)[:, None]
    return ability @ loadings + rng.normal(size=(agents, tasks)) * rng.uniform(0.5, 1.5, tasks)


def logistic(
    count: int, agents: int, tasks: int, seed: int, *, trials: int = 1, trend: float = 0.0
) -> Floats:
    """Shares of successes under a logistic model; with no factor all tasks discriminate alike (Rasch)."""
    rng = np.random.default_rng(seed)
    slope = np.abs(rng.normal(size=(count, tasks))) if count else np.ones((1, tasks))
    ability = rng.normal(size=(agents, max(count, 1)))
    ability += trend * np.linspace(-1, 1, agents)[:, None]
    chance = 1 / (1 + np.exp(1.5 * rng.normal(size=tasks) - ability @ slope))
    return np.asarray(rng.binomial(trials, chance) / trials)


def with_gaps(values: Floats, share: float, seed: int) -> Floats:
    """Leave out cells of a third of the agents at random: many of theirs, none of the others."""
    rng = np.random.default_rng(seed)
    gone = rng.random(values.shape) < share
    gone[len(values) // 3 :] = False
    return np.where(gone, np.nan, values)


SWE, ALE = "swebench_verified_responses.jsonl", "ale_published_scores_2018.csv"
TABLES: dict[str, Table] = {
    "SWE-bench Verified": Table(given(SWE), (3, 10, 30, 100, 166), ("covariance", "spread")),
    "ALE 2018": Table(given(ALE), (3, 5, 10, 16), ALL),
    "ALE 2018 (median)": Table(given(ALE, target="median"), (3, 5, 10, 16)),
    "atari-arena": Table(bundled("atari-arena"), (3, 5, 9)),
    "1 factor": Table(lambda _: of_values(factors(1, 40, 45, 11)), (3, 8, 15)),
    "2 factors": Table(lambda _: of_values(factors(2, 40, 45, 12)), (3, 8, 15)),
    "5 factors": Table(lambda _: of_values(factors(5, 60, 45, 13)), (3, 8, 15)),
    "Rasch": Table(lambda _: of_values(logistic(0, 60, 45, 14)), (3, 8, 15)),
    "5 logistic factors": Table(lambda _: of_values(logistic(5, 60, 45, 15)), (3, 8, 15)),
    "counts of 10": Table(lambda _: of_values(logistic(2, 40, 45, 16, trials=10)), (3, 8, 15)),
    "gaps": Table(lambda _: of_values(with_gaps(factors(2, 60, 45, 17), 0.4, 18)), (3, 8, 15)),
    "few agents": Table(lambda _: of_values(logistic(1, 20, 60, 19)), (3, 10, 20)),
    "noise": Table(
        lambda _: of_values(np.random.default_rng(20).normal(size=(50, 45))), (3, 8, 15)
    ),
    "SWE-bench Verified in time": Table(given(SWE), (3, 10, 30, 100), ("covariance",), True),
    "Rasch in time": Table(
        lambda _: of_values(logistic(0, 90, 60, 21, trend=1.0)), (3, 10, 20), ("covariance",), True
    ),
    "2 factors in time": Table(
        lambda _: of_values(factors(2, 90, 60, 22, trend=1.0)), (3, 10, 20), ("covariance",), True
    ),
}


def split_of(whole: Benchmark, in_time: bool, rng: np.random.Generator) -> Split:
    agents = len(whole.agents)
    if in_time:
        first = int(rng.uniform(0.45, 0.8) * agents)
        train = np.sort(rng.choice(first, int(0.9 * first), replace=False))
        return Split(train, np.arange(first, agents))
    order = rng.permutation(agents)
    held = order[: max(int(HELD_OUT * agents), 2)]
    return Split(np.setdiff1d(order, held), held[whole.judged[held]])


def one_split(name: str, whole: Benchmark, number: int) -> dict[str, object]:
    """Judge all methods and random sets on one split."""
    table = TABLES[name]
    rng = np.random.default_rng([sorted(TABLES).index(name), number])
    split = split_of(whole, table.in_time, rng)
    part = fold_of(whole, split.train, (), lenient=True)
    drawn = [draw_at_random(part.evidence, max(table.sizes), rng).columns for _ in range(DRAWS)]
    draws = tuple(tuple(one[:size] for one in drawn) for size in table.sizes)
    entered = tuple((method, METHODS[method]) for method in table.methods)
    best_of = len(entered) > 1 and "covariance" in table.methods  # a contest has the default in it
    contest = Contest(entered, table.sizes, draws, 5, 0.9, best_of)
    fold = judge_fold(whole, contest, FoldJob(split, rng))
    guess, alike, truth = fold.guess, fold.random, fold.truth
    raw = whole.comparable(split.test, part.scale)
    random = predict_draws(
        part._replace(curves=None), raw, contest
    )  # lines alone: ridge regression
    return {
        "table": name,
        "split": number,
        "methods": contest.names,
        "sizes": table.sizes,
        "agents": len(truth),
        "error": np.abs(guess.value - truth).mean(axis=2).tolist(),
        "rest": np.abs(guess.remainder - guess.remainder_truth).mean(axis=2).tolist(),
        "inside": ((guess.low <= truth) & (truth <= guess.high)).sum(axis=2).tolist(),
        "random": np.abs(random.value - truth).mean(axis=(0, 2)).tolist(),
        "alike": np.abs(alike.value - truth).mean(axis=(0, 2)).tolist(),
        "random_rest": np.abs(random.remainder - random.remainder_truth).mean(axis=(0, 2)).tolist(),
    }


def run(file: Path, folder: Path, names: list[str], splits: int) -> None:
    """Add the splits that the file does not hold yet."""
    known = {(line["table"], line["split"]) for line in lines(file)}
    for name in names:
        whole: Benchmark | None = None
        for number in range(splits):
            if (name, number) in known:
                continue
            whole = whole or TABLES[name].make(folder)
            with file.open("a") as out:
                out.write(json.dumps(one_split(name, whole, number)) + "\n")


def lines(file: Path) -> Iterator[dict]:  # type: ignore[type-arg]  # JSON values
    if file.exists():
        for line in file.read_text().splitlines():
            yield json.loads(line)


def share(errors: Floats, random: Floats) -> tuple[float, float]:
    """Error as a share of the random sets', and its standard error, paired over splits."""
    ratio = errors.mean() / random.mean()
    return float(ratio), float(
        (errors - ratio * random).std(ddof=1) / random.mean() / np.sqrt(len(errors))
    )


def show(file: Path) -> None:
    """Print one table in Markdown for each table of results, and how often intervals hold."""
    found = list(lines(file))
    pooled: dict[bool, list[float]] = {False: [], True: []}
    for name in TABLES:
        own = [line for line in found if line["table"] == name]
        if not own:
            continue
        sizes, methods = own[0]["sizes"], own[0]["methods"]
        print(f"\n{name}, {len(own)} splits\n\n| method | {' | '.join(map(str, sizes))} |")
        print("|---" * (len(sizes) + 1) + "|")
        arrays = {key: np.array([line[key] for line in own]) for key in ("error", "rest")}
        chance = {key: np.array([line[key] for line in own]) for key in ("random", "random_rest")}
        for index, method in enumerate(methods):
            for key, base in (("error", "random"), ("rest", "random_rest")):
                cells = [
                    "{:.2f} ± {:.2f}".format(*share(arrays[key][:, index, at], chance[base][:, at]))
                    for at in range(len(sizes))
                ]
                label = method if key == "error" else f"{method}, rest"
                print(f"| {label} | {' | '.join(cells)} |")
        if all("alike" in line for line in own):
            alike = np.array([line["alike"] for line in own])
            cells = [
                "{:.2f} ± {:.2f}".format(*share(alike[:, at], chance["random"][:, at]))
                for at in range(len(sizes))
            ]
            print(f"| random sets, predicted as ours | {' | '.join(cells)} |")
        agents = sum(line["agents"] for line in own)
        inside = np.array([line["inside"] for line in own])[:, 0].sum(axis=0) / agents
        print(f"| inside 90 % | {' | '.join(f'{one:.1%}' for one in inside)} |")
        pooled[TABLES[name].in_time].append(float(inside.mean()))
    for in_time, each in pooled.items():
        if each:
            told = "in time" if in_time else "at random"
            print(f"\nSplits {told}: {np.mean(each):.1%} inside on average over tables and sizes")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--tables", default=",".join(TABLES))
    options.add_argument("--methods", help="instead of each table's own; then give another file")
    options.add_argument("--splits", type=int, default=100)
    options.add_argument("--show", action="store_true")
    asked = options.parse_args()
    if asked.methods:
        for name, table in TABLES.items():
            TABLES[name] = table._replace(methods=tuple(asked.methods.split(",")))
    if not asked.show:
        run(asked.file, asked.data, asked.tables.split(","), asked.splits)
    show(asked.file)
