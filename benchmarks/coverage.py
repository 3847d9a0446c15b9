"""Claim: intervals hold the truth as often as they say, and tests err as rarely, with groups of tasks too.

Every row of `ROWS` is one claim: a function that simulates a table, analyses it as a user would, and
returns which of its statements were right. Standard errors are over tables. A new row is a function and one
line in `ROWS`; a quick version of all rows is in `tests/scores/test_grouped_coverage.py`.

Run: python benchmarks/coverage.py [--rows 'pair*'] [--tables 200] [--markdown] [--list]
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import examiner as ex

Floats = NDArray[np.float64]
Simulate = Callable[[np.random.Generator], "bool | float"]

EQUAL = (10,) * 10
UNEQUAL = (60, 30, 5, 5, 5, 5, 5, 5)
FAMILIES = (15, 12, 10, 9, 8, 8, 6, 6, 5, 5, 4, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, *(1,) * 13)
"""Tasks of 36 families, as METR's: a few large ones, and many of one task."""
GRID = np.linspace(-6, 6, 601)


class Row(NamedTuple):
    """A claim: how often a statement should be right (or wrong), and one table's share of them."""

    simulate: Simulate
    least: float = 0.90
    most: float = 0.98


def wrong(simulate: Simulate) -> Row:
    """A test of something that is not there: at most 7 % may find it."""
    return Row(simulate, 0.0, 0.07)


def results_of(
    scores: Floats, sizes: Sequence[int] | None = None, name: str = "repo"
) -> ex.Results:
    """A table of scores [agents, tasks] or [agents, tasks, runs]; tasks in groups of these sizes."""
    cells = scores if scores.ndim == 3 else scores[:, :, None]
    agent, task, run = (index.ravel() for index in np.indices(cells.shape))
    columns: dict[str, list[object]] = {
        "agent": [f"a{row}" for row in agent],
        "task": [f"t{row}" for row in task],
        "run": run.tolist(),
        "score": cells.ravel().tolist(),
    }
    if sizes is not None:
        group = np.repeat(np.arange(len(sizes)), sizes)
        columns[name] = [f"g{group[row]}" for row in task]
    return ex.Results.from_dict(columns)


def chances(
    rng: np.random.Generator, agents: int, sizes: Sequence[int], spread: float, level: float = 0.0
) -> Floats:
    """Chances of success [agents, tasks] of equal agents: each has its own strength on every group."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    strength = rng.normal(0, spread, (agents, len(sizes)))
    easiness = rng.normal(level, 1, len(group))
    return 1 / (1 + np.exp(-(strength[:, group] + easiness)))


def expected_chance(spread: float, level: float = 0.0) -> float:
    """The mean of `chances` over all groups and tasks."""
    deviation = np.sqrt(spread**2 + 1)
    density = np.exp(-((GRID / deviation) ** 2) / 2)
    return float((density / (1 + np.exp(-(GRID + level)))).sum() / density.sum())


def pair_test(rng: np.random.Generator, sizes: Sequence[int], spread: float, runs: int = 1) -> bool:
    """Two equal agents: whether the comparison finds a difference."""
    chance = chances(rng, 2, sizes, spread)[:, :, None]
    won = (rng.random((*chance.shape[:2], runs)) < chance).astype(float).mean(axis=2)
    return bool(
        ex.scores.compare(results_of(won, sizes), "a0", "a1", reps=2, normalise=None).pairs.p[0]
        < 0.05
    )


def difference_interval(rng: np.random.Generator, sizes: Sequence[int], spread: float) -> bool:
    """Scores on a scale, all agents equal: whether the interval of a difference holds 0."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    scores = rng.normal(0, spread, (2, len(sizes)))[:, group] + rng.normal(size=(2, len(group)))
    pairs = ex.scores.compare(results_of(scores, sizes), "a0", "a1", reps=2, normalise=None).pairs
    return bool(pairs.difference_low[0] <= 0 <= pairs.difference_high[0])


def any_pair(
    rng: np.random.Generator, agents: int, sizes: Sequence[int], posthoc: str = "t-holm"
) -> bool:
    """Equal agents: whether any pair is called different, after Holm."""
    won = (lambda chance: (rng.random(chance.shape) < chance).astype(float))(
        chances(rng, agents, sizes, 0.7)
    )
    tests = ex.scores.significance(results_of(won, sizes), posthoc, normalise=None)
    return bool((tests.p < 0.05).any())


def any_agent(rng: np.random.Generator, agents: int, sizes: Sequence[int]) -> bool:
    """Equal agents: whether Friedman's test finds that some differ."""
    chance = chances(rng, agents, sizes, 0.7)
    won = (rng.random(chance.shape) < chance).astype(float)
    return bool(ex.scores.significance(results_of(won, sizes), normalise=None).p_value < 0.05)


def mean_interval(
    rng: np.random.Generator,
    sizes: Sequence[int],
    spread: float,
    aggregate: str = "mean",
    by: bool = False,
    level: float = 0.0,
) -> float:
    """Agents on tasks in groups: the share of intervals that hold what endless groups would give."""
    chance = chances(rng, 12, sizes, spread, level)
    won = (rng.random(chance.shape) < chance).astype(float)
    results = results_of(won, sizes)
    total = ex.scores.total(results, by="repo") if by else None
    made = ex.scores.intervals(results, aggregate, total=total, reps=200, normalise=None)
    truth = expected_chance(spread, level)
    return float(((made.low <= truth) & (truth <= made.high)).mean())


def scale_interval(
    rng: np.random.Generator, sizes: Sequence[int] | int, kind: str, aggregate: str
) -> float:
    """Scores on a scale: the share of intervals over tasks that hold the truth."""
    if isinstance(sizes, int):
        latent, grouped = rng.normal(size=(12, sizes)), None
    else:
        group = np.repeat(np.arange(len(sizes)), sizes)
        latent = rng.normal(size=(12, len(sizes)))[:, group] + rng.normal(size=(12, len(group)))
        latent, grouped = latent / np.sqrt(2), sizes
    scores = np.exp(latent) if kind == "lognormal" else latent
    truth = {"normal": 0.0, "lognormal": np.exp(0.5) if aggregate != "median" else 1.0}[kind]
    made = ex.scores.intervals(results_of(scores, grouped), aggregate, reps=400, normalise=None)
    return float(((made.low <= truth) & (truth <= made.high)).mean())


def attempts_interval(
    rng: np.random.Generator, tasks: int, shape: float, count: int, hat: bool
) -> float:
    """Chances of tasks from a beta distribution: the share of intervals of pass^k (or pass@k) that hold."""
    chance = rng.beta(shape, shape, (1, tasks, 1))
    won = (rng.random((1, tasks, count)) < chance).astype(float)
    made = ex.scores.attempts(results_of(won)).passed
    truths = np.cumprod([(shape + k) / (2 * shape + k) for k in range(count)])
    low, high = (getattr(made, f"pass_{'hat' if hat else 'at'}_k_{end}") for end in ("low", "high"))
    truths = truths if hat else 1 - truths  # the distribution is symmetric
    return float(((low <= truths) & (truths <= high)).mean())


def grouped_attempts(rng: np.random.Generator, sizes: Sequence[int], count: int) -> float:
    """The same with tasks in groups that are easy or hard together."""
    chance = chances(rng, 1, sizes, 1.0)[:, :, None]
    won = (rng.random((1, chance.shape[1], count)) < chance).astype(float)
    made = ex.scores.attempts(results_of(won, sizes)).passed
    density = np.exp(-(GRID**2) / 4)
    curve = 1 / (1 + np.exp(-GRID))
    truths = np.array([(density * curve**k).sum() / density.sum() for k in range(1, count + 1)])
    held = (made.pass_hat_k_low <= truths) & (truths <= made.pass_hat_k_high)
    return float(held.mean())


def discordant(
    rng: np.random.Generator, tasks: int, difference: float, runs: int, sizes: Sequence[int] | None
) -> Floats:
    """Results of a new and an old agent [2, tasks, runs]: 20 % of tasks differ, with this difference."""
    mean = np.full((tasks, 1), difference)
    if sizes is not None:  # some groups favour the new agent, others the old one
        mean += np.repeat(rng.choice([-0.08, 0.08], len(sizes)), sizes)[:, None]
    drawn = rng.random((tasks, runs))
    new_alone = drawn < (0.2 + mean) / 2
    old_alone = drawn > 1 - (0.2 - mean) / 2
    both = rng.random((tasks, runs)) < 0.5
    return np.stack([new_alone | (both & ~old_alone), old_alone | (both & ~new_alone)]).astype(
        float
    )


def gate_verdict(
    rng: np.random.Generator,
    tasks: int,
    difference: float,
    verdict: str,
    runs: int = 1,
    sizes: Sequence[int] | None = None,
) -> bool:
    """Whether the gate with a margin of 0.05 gives this verdict."""
    results = results_of(discordant(rng, tasks, difference, runs, sizes), sizes)
    made = ex.scores.gate(results, "a0", "a1", margin=0.05, unit="tasks", normalise=None)
    return made.verdict == verdict


def sequential_verdict(
    rng: np.random.Generator,
    tasks: int,
    difference: float,
    verdict: str,
    looks: int = 20,
    sizes: Sequence[int] | None = None,
) -> bool:
    """Whether the sequential gate, looked at again and again, first gives this verdict."""
    won = discordant(rng, tasks, difference, 1, sizes)
    group = np.arange(tasks) if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(rng.permutation(int(group.max()) + 1)[group], kind="stable")
    for look in np.linspace(tasks / looks, tasks, looks).round().astype(int):
        given = won.copy()
        given[0, order[look:]] = np.nan
        made = ex.scores.gate(
            results_of(given, sizes), "a0", "a1", margin=0.05, sequential=True, normalise=None
        ).verdict
        if made != "undecided":
            return made == verdict
    return False


ROWS: dict[str, Row] = {
    **{
        f"pair test, {kind} groups, spread {spread}": wrong(
            partial(pair_test, sizes=sizes, spread=spread)
        )
        for kind, sizes in (("equal", EQUAL), ("unequal", UNEQUAL), ("36", FAMILIES))
        for spread in (0.0, 0.7, 1.5)
    },
    "pair test, unequal groups, 3 attempts": wrong(
        partial(pair_test, sizes=UNEQUAL, spread=0.7, runs=3)
    ),
    **{
        f"interval of a difference, {kind} groups": Row(
            partial(difference_interval, sizes=sizes, spread=1.0)
        )
        for kind, sizes in (("equal", EQUAL), ("unequal", UNEQUAL), ("36", FAMILIES))
    },
    **{
        f"any pair of {agents} equal agents, {kind} groups": wrong(
            partial(any_pair, agents=agents, sizes=sizes)
        )
        for agents in (12, 23, 45, 130)
        for kind, sizes in (("equal", EQUAL), ("unequal", UNEQUAL))
    },
    **{
        f"Friedman's test of {agents} equal agents, {kind} groups": wrong(
            partial(any_agent, agents=agents, sizes=sizes)
        )
        for agents in (12, 45)
        for kind, sizes in (("equal", EQUAL), ("36", FAMILIES))
    },
    **{
        f"mean, {kind} groups, spread {spread}": Row(
            partial(mean_interval, sizes=sizes, spread=spread)
        )
        for kind, sizes in (("equal", EQUAL), ("unequal", UNEQUAL), ("36", FAMILIES))
        for spread in (0.7, 1.5)
    },
    "mean of easy tasks, 36 groups": Row(
        partial(mean_interval, sizes=FAMILIES, spread=0.7, level=2.0)
    ),
    "mean by family, 36 families": Row(partial(mean_interval, sizes=FAMILIES, spread=1.5, by=True)),
    **{
        f"{aggregate} of scores, {kind} groups": Row(
            partial(scale_interval, sizes=sizes, kind="normal", aggregate=aggregate)
        )
        for aggregate in ("mean", "iqm", "median")
        for kind, sizes in (("equal", EQUAL), ("unequal", UNEQUAL), ("36", FAMILIES))
    },
    **{
        f"median over {tasks} tasks, {kind}": Row(
            partial(scale_interval, sizes=tasks, kind=kind, aggregate="median")
        )
        for tasks in (5, 7, 10, 20, 50)
        for kind in ("normal", "lognormal")
    },
    **{
        f"mean of skewed scores over {tasks} tasks": Row(
            partial(scale_interval, sizes=tasks, kind="lognormal", aggregate="mean"),
            least=0.83 if tasks <= 10 else 0.90,  # a note says that so few fall short
        )
        for tasks in (5, 10, 20, 50)
    },
    **{
        f"pass{'^' if hat else '@'}k of {count} attempts at {tasks} tasks, beta({shape:g})": Row(
            partial(attempts_interval, tasks=tasks, shape=shape, count=count, hat=hat)
        )
        for tasks in (20, 50, 200)
        for shape in (0.3, 1.0, 4.0)
        for count in (4,)
        for hat in (True, False)
    },
    **{
        f"pass^k of 4 attempts, {kind} groups": Row(partial(grouped_attempts, sizes=sizes, count=4))
        for kind, sizes in (("equal", EQUAL), ("unequal", UNEQUAL), ("36", FAMILIES))
    },
    **{
        f"gate, {design}, {words}": wrong(
            partial(gate_verdict, tasks=tasks, difference=truth, verdict=verdict, **more)
        )
        for design, tasks, more in (
            ("100 tasks", 100, {}),
            ("500 tasks", 500, {}),
            ("100 tasks, 3 attempts", 100, {"runs": 3}),
            ("36 families", sum(FAMILIES), {"sizes": FAMILIES}),
        )
        for words, truth, verdict in (
            ("false alarms at no difference", 0.0, "fail"),
            ("misses at the margin", -0.05, "pass"),
        )
    },
    **{
        f"sequential gate, {design}, {words}": wrong(
            partial(sequential_verdict, tasks=tasks, difference=truth, verdict=verdict, **more)
        )
        for design, tasks, more in (
            ("200 tasks", 200, {}),
            ("40 groups of 5", 200, {"sizes": (5,) * 40}),
        )
        for words, truth, verdict in (
            ("false alarms at no difference", 0.0, "fail"),
            ("misses at the margin", -0.05, "pass"),
        )
    },
    **{
        f"mean of normal scores over {tasks} tasks": Row(
            partial(scale_interval, sizes=tasks, kind="normal", aggregate="mean")
        )
        for tasks in (5, 10, 50)
    },
}


class Measured(NamedTuple):
    """The share over tables, its standard error, how many tables had one, and the time of one."""

    share: float
    error: float
    tables: int
    seconds: float


def measured(row: Row, tables: int, seed: int = 0) -> Measured:
    """Simulate tables of a row; those that the answer itself declares untrustworthy do not count."""
    began, shares = time.process_time(), []
    for table in range(tables):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares.append(float(row.simulate(np.random.default_rng([seed, table]))))
    kept = np.array(shares)[~np.isnan(shares)]
    mean = float(kept.mean()) if len(kept) else float("nan")
    error = float(kept.std(ddof=1) / np.sqrt(len(kept))) if len(kept) > 1 else float("nan")
    return Measured(mean, error, len(kept), (time.process_time() - began) / tables)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each row with its share, and whether it is where it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", default="*", help="names of rows, with * for any letters")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    names = [name for name in ROWS if fnmatch.fnmatch(name, options.rows)]
    if options.list:
        print("\n".join(names))
        return 0
    if options.markdown:
        print("| row | stated | measured | tables |\n|---|---|---|---|")
    outside = 0
    for name in names:
        row = ROWS[name]
        found = measured(row, options.tables, options.seed)
        good = np.isnan(found.share) or (
            row.least - 2 * found.error <= found.share <= row.most + 2 * found.error
        )
        outside += not good
        stated = f"{100 * row.least:.0f} to {100 * row.most:.0f} %"
        share = f"{100 * found.share:.1f} ± {100 * found.error:.1f} %"
        cells = (name, stated, share, str(found.tables))
        if options.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
        else:
            mark = "" if good else "  <-- outside"
            print(f"{name:55s}{stated:>14s}{share:>18s}{found.tables:6d}"
                  f"{found.seconds:8.2f} s{mark}", flush=True)  # fmt: skip
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
