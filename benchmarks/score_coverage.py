"""Claim: default intervals of `scores` hold their estimate, and cover with 3 to 10 runs on 5 to 60 tasks.

For each kind of runs, many tables are simulated and each is an agent of its own: the share whose 95 %
interval holds the truth, the share whose interval holds its estimate, and the width beside that of the
percentile interval, as rliable makes it. Truth is what endless runs on the same tasks would give.
Standard errors are over sets of tasks, drawn anew for every hundred tables. "atari-arena" draws runs
from the episodes that agents of that data set played; it was seen in trials while the method was
chosen, and is no independent judge.

`--items` asks of another choice of tasks (`unit="tasks"`) instead: 5 to 200 items that are solved or not,
in one group or a macro-average of 3 or 12, alike or unlike (logits with a deviation of 1.5), with one run
or five.
Run: python benchmarks/score_coverage.py [--tables 1000] [--reps 1000] [--kinds normal,gamma] [--quick]
     python benchmarks/score_coverage.py --items [--tables 1000] [--reps 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import examiner as ex
from examiner.scores import interquartile_mean

Draw = Callable[[int, int], Any]  # tables and runs to scores [tables, tasks, runs]
AGGREGATES = ("mean", "iqm", "median")
TABLES_OF_ONE_SET = 100
ENDLESS = 20_000
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.95)


def simulated(kind: str, tasks: int, rng: np.random.Generator) -> Draw:
    """Return runs of a kind, on tasks whose levels are drawn."""
    level = rng.normal(size=(tasks, 1))
    spread = np.exp(rng.normal(size=(tasks, 1)))
    share = 1 / (1 + np.exp(-1.5 * level))
    return {
        "normal": lambda tables, runs: level + rng.normal(size=(tables, tasks, runs)),
        "uneven": lambda tables, runs: level + spread * rng.normal(size=(tables, tasks, runs)),
        "beta": lambda tables, runs: rng.beta(4 * share, 4 - 4 * share, (tables, tasks, runs)),
        "gamma": lambda tables, runs: np.exp(level) * rng.gamma(2, 0.5, (tables, tasks, runs)),
        "lognormal": lambda tables, runs: np.exp(level + rng.normal(size=(tables, tasks, runs))),
    }[kind]


def atari_arena() -> list[list[Any]]:
    """Return the episodes of each agent on each game, games between their worst and best agent's mean."""
    results = ex.load("atari-arena")
    scores = np.asarray(results.measure(), dtype=np.float64)
    cells: list[list[Any]] = [[] for _ in results.agents]
    for task in range(len(results.tasks)):
        each = [
            scores[(results.task_codes == task) & (results.agent_codes == agent)]
            for agent in range(len(results.agents))
        ]
        means = [float(played.mean()) for played in each]
        for agent, played in enumerate(each):
            cells[agent].append((played - min(means)) / (max(means) - min(means)))
    return cells


def played(cells: list[list[Any]], tasks: int, rng: np.random.Generator) -> Draw:
    """Return runs drawn from the episodes of one agent on some games."""
    agent = cells[rng.integers(len(cells))]
    games = [agent[game] for game in rng.choice(len(agent), tasks, replace=tasks > len(agent))]

    def draw(tables: int, runs: int) -> Any:
        picked = [game[rng.integers(0, len(game), size=(tables, runs))] for game in games]
        return np.stack(picked, axis=1)

    return draw


def truths(draw: Draw) -> list[float]:
    """Return the aggregates of endless runs."""
    endless = draw(1, ENDLESS)[0]
    means = endless.mean(axis=1)
    return [float(means.mean()), interquartile_mean(endless.ravel()), float(np.median(means))]


def measured(draws: list[Draw], runs: int, reps: int, rng: np.random.Generator) -> list[str]:
    """Return a cell of the table for each aggregate."""
    held = []
    for draw in draws:
        results = ex.Results.from_numpy(draw(TABLES_OF_ONE_SET, runs))
        made, usual = (
            ex.scores.intervals(
                results, AGGREGATES, rng=rng, reps=reps, interval=interval, normalise=None
            )
            for interval in ("studentised", "percentile")
        )
        truth = np.array(truths(draw))
        with np.errstate(invalid="ignore"):
            parts = [
                (made.low <= truth) & (truth <= made.high),
                (usual.low <= truth) & (truth <= usual.high),
                (made.low <= made.value) & (made.value <= made.high),
                (made.high - made.low) / (usual.high - usual.low),
            ]
        some = np.isfinite(made.low) & np.isfinite(usual.low)
        held.append([np.nanmean(np.where(some, part, np.nan), axis=0) for part in parts])
    mean = np.nanmean(held, axis=0)
    error = np.nanstd(np.array(held)[:, 0], axis=0, ddof=1) / np.sqrt(len(held))
    return [
        f"{mean[0, n]:6.1%} ± {error[n]:.1%} ({mean[1, n]:.1%}; holds {mean[2, n]:.0%}; × {mean[3, n]:.2f})"
        for n in range(len(AGGREGATES))
    ]


def items_measured(
    groups: int, items: int, unlike: float, runs: int, tables: int, reps: int
) -> tuple[list[float], list[float]]:
    """Return coverage and mean width at each of `SHARES`, of items that are solved or not."""
    held, widths = [], []
    each = items // groups
    names = [f"g{n // each}" for n in range(groups * each)]
    for share in SHARES:
        rng = np.random.default_rng([groups, items, runs, int(100 * share)])
        logit = np.log(share / (1 - share)) + unlike * rng.normal(size=groups)
        chance = np.repeat(1 / (1 + np.exp(-logit)), each)
        solved = np.broadcast_to(chance, (tables, chance.size))
        if runs > 1:
            solved = rng.beta(2 * solved, 2 - 2 * solved)
        won = (rng.random((tables, chance.size, runs)) < solved[:, :, None]).astype(float)
        results = ex.Results.from_numpy(won)
        total = None
        if groups > 1:
            total = ex.scores.Total(results.tasks, ("group",), (tuple(names),), "macro")
        made = ex.scores.intervals(
            results, "mean", rng=rng, reps=reps, unit="tasks", total=total, normalise=None
        )
        low, high, value = made.low[:, 0], made.high[:, 0], made.value[:, 0]
        inside = (low <= value) & (value <= high + 1e-12) & (low >= 0) & (high <= 1)
        assert inside[~np.isnan(low)].all()
        truth = chance.mean()
        held.append(float(((low <= truth) & (truth <= high)).mean()))
        widths.append(float(np.nanmean(high - low)))
    return held, widths


def of_items(tables: int, reps: int) -> None:
    """Print one line for each number of items, groups and runs."""
    print(f"lowest, mean and highest coverage over shares of {SHARES}, and mean width at 0.9")
    for groups, unlike in ((1, 0.0), (3, 0.0), (3, 1.5), (12, 0.0), (12, 1.5)):
        for items in (5, 10, 20, 50, 200):
            for runs in (1, 5):
                if items < 2 * groups:
                    continue
                held, widths = items_measured(groups, items, unlike, runs, tables, reps)
                print(
                    f"{items:3} items in {groups:2} groups {unlike:3.1f} apart, {runs} runs: "
                    f"{min(held):6.1%} {np.mean(held):6.1%} {max(held):6.1%}   width {widths[-2]:.3f}",
                    flush=True,
                )


def main() -> None:
    """Print one line a kind, number of tasks and number of runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--reps", type=int, default=1000)
    parser.add_argument("--kinds", default="normal,uneven,beta,gamma,lognormal,atari-arena")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--items", action="store_true", help="another choice of tasks")
    options = parser.parse_args()
    if options.items:
        of_items(options.tables, options.reps)
        return
    tables, sizes, counts = options.tables, (5, 12, 26, 60), (3, 5, 10)
    if options.quick:
        tables, sizes, counts = 300, (5, 26), (3,)
    print(
        "coverage ± error (percentile's; how often the estimate is held; width beside percentile's)"
    )
    for kind in options.kinds.split(","):
        cells = atari_arena() if kind == "atari-arena" else []
        for tasks in sizes:
            for runs in counts:
                rng = np.random.default_rng([tasks, runs])
                sets = range(max(2, tables // TABLES_OF_ONE_SET))
                draws = [
                    played(cells, tasks, rng) if cells else simulated(kind, tasks, rng)
                    for _ in sets
                ]
                found = measured(draws, runs, options.reps, rng)
                told = "  ".join(
                    f"{name} {cell}" for name, cell in zip(AGGREGATES, found, strict=True)
                )
                print(f"{kind:11} {tasks:3} tasks {runs:3} runs  {told}", flush=True)


if __name__ == "__main__":
    main()
