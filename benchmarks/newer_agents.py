"""Claim: tasks selected for newer agents predict and order these no worse than simple ways do, at any size.

Of the agents of a table with dates, by default SWE-bench Verified, the older 60 % choose (85 % of them
drawn in each repeat), and the newer 40 % are predicted: from the tasks that `strata` (for newer agents) and
`covariance` (for the same) select, and from random sets of the same size under the plain mean, ridge
regression and the Rasch model. Printed are mean absolute errors, Spearman's correlations, the share of
agents inside 90 % intervals, and how far the selection for newer agents is behind the best of the simple
ways, in standard errors over agents.
Run: python benchmarks/newer_agents.py [FILE] [--repeats 6] [--sizes 5,10,20,50,100,200,300,400,500]
"""

from __future__ import annotations

import argparse

import numpy as np

import examiner as ex
from examiner.selection import METHODS, benchmark
from examiner.selection.proof.beyond import (
    SELECTED,
    agent_errors,
    predict_beyond,
    rank_correlation,
)
from examiner.selection.proof.sets import random_sets

OLDER, CHOSEN = 0.6, 0.85
LEVEL, DRAWS = 0.9, 5


def main() -> None:
    """Print one line per size and way, and the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", help="results with a column of dates of agents")
    parser.add_argument("--coverage", type=float, default=0.9, help="of tasks, for agents to count")
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--sizes", default="5,10,20,50,100,200,300,400,500")
    options = parser.parse_args()
    results = ex.read(options.file) if options.file else ex.load("swebench-verified")
    for size in map(int, options.sizes.split(",")):
        predictions: dict[str, list[np.ndarray]] = {}
        coverage: dict[str, list[float]] = {"newer": [], "same": []}
        for repeat in range(options.repeats):
            for examined, name in (("newer", "strata"), ("same", "covariance")):
                rng = np.random.default_rng([repeat, size])
                whole = benchmark(
                    results,
                    examined=examined,  # type: ignore[arg-type]
                    coverage=options.coverage,
                )
                order = np.argsort(np.array(whole.dates), kind="stable")
                older, newer = np.split(order, [int(OLDER * len(order))])
                train = np.sort(rng.choice(older, int(CHOSEN * len(older)), replace=False))
                sets = random_sets(whole, (size,), DRAWS, rng)[0]
                said, truth, inside = predict_beyond(
                    whole, METHODS[name], size, LEVEL, sets, train, np.sort(newer), rng
                )
                coverage[examined].append(inside)
                for way, values in said.items():
                    if way == SELECTED or examined == "newer":
                        key = f"{name} ({examined})" if way == SELECTED else way
                        predictions.setdefault(key, []).append(values)
        ways = {way: np.concatenate(values) for way, values in predictions.items()}
        show(size, ways, truth, coverage)


def show(
    size: int, ways: dict[str, np.ndarray], truth: np.ndarray, coverage: dict[str, list[float]]
) -> None:
    """Print the means of one size, and the selection for newer agents less the best simple way."""
    off = {way: agent_errors(predicted, truth) for way, predicted in ways.items()}
    ranks = {way: rank_correlation(said, truth) for way, said in ways.items()}
    for way in ways:
        print(
            f"{size:4d} tasks, {way:18s} error {off[way].mean():.4f}, rank correlation {ranks[way]:.4f}"
        )
    simple = [way for way in ways if "random" in way]
    nearest = min(simple, key=lambda way: float(off[way].mean()))
    ordering = max(simple, key=lambda way: ranks[way])
    behind = off["strata (newer)"] - off[nearest]
    error = behind.std(ddof=1) / np.sqrt(len(behind))
    without = [
        rank_correlation(np.delete(ways["strata (newer)"], agent, axis=1), np.delete(truth, agent))
        - rank_correlation(np.delete(ways[ordering], agent, axis=1), np.delete(truth, agent))
        for agent in range(len(truth))
    ]
    rank_error = np.sqrt((len(without) - 1) * np.var(without))  # the jackknife over agents
    rank_behind = ranks["strata (newer)"] - ranks[ordering]
    print(
        f"     newer less the best: error {behind.mean():+.4f} ± {error:.4f} ({nearest}), rank correlation "
        f"{rank_behind:+.4f} ± {rank_error:.4f} ({ordering}); inside intervals: newer "
        f"{np.mean(coverage['newer']):.2f}, same {np.mean(coverage['same']):.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
