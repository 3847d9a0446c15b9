"""Claim: ratios and differences of the means of two or three runs have intervals that are not too short.

Runs are normal around means of 0.8 and 1, so that 80 % is left. Counted are intervals of 95 % that hold
the truth: of differences (Welch), of ratios (Fieller, with Welch's degrees of freedom) where those without
ends count as holding it, of ratios that have ends alone, and how many have none. Spreads are deviations
over runs in shares of the mean, of the score above and of the score below. `--table1` takes ratios and
spreads of the data sets atari-table1 and atari-table1-deterministic, as if they were the truth.
Run: python benchmarks/ratio_coverage.py [--draws 4000] [--ratio 0.8] [--table1]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from examiner.arena.means import difference_of_runs, means_of_runs, ratio_of_runs
from examiner.datasets import load

RUNS = (2, 3, 5)
SPREADS = (
    *((0.05, 0.05), (0.1, 0.1), (0.2, 0.2), (0.4, 0.4)),
    *((0.2, 0.02), (0.02, 0.1), (0.02, 0.2), (0.02, 0.4)),
)


class Cell(NamedTuple):
    """What is true: the ratio, the runs on either side, and how far apart they are."""

    name: str
    ratio: float
    runs: int
    spreads: tuple[float, ...]


def covered(cell: Cell, draws: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Shares that hold the truth: differences, ratios, ratios with ends; and of ratios without ends."""
    differences, ends, held = (np.zeros(draws, dtype=bool) for _ in range(3))
    for draw in range(draws):
        above = cell.ratio * rng.normal(1.0, cell.spreads[0], cell.runs)
        below = rng.normal(1.0, cell.spreads[1], cell.runs)
        apart, left = difference_of_runs(below, above), ratio_of_runs(above, below)
        differences[draw] = apart.low <= 1.0 - cell.ratio <= apart.high
        ends[draw] = np.isfinite(left.low)
        held[draw] = left.low <= cell.ratio <= left.high
    told = held[ends].mean() if ends.any() else np.nan
    return float(differences.mean()), float((held | ~ends).mean()), float(told), 1.0 - ends.mean()


def simulated(ratio: float) -> list[Cell]:
    return [Cell("", ratio, runs, spreads) for runs in RUNS for spreads in SPREADS]


def played() -> list[Cell]:
    """Lines of Table 1 where something was scored without sticky actions."""
    sticky, still = (
        means_of_runs(load(name), 100) for name in ("atari-table1", "atari-table1-deterministic")
    )
    cells = []
    for (agent, game, *rest), runs in still.items():
        above, below = (np.array(list(one.values())) for one in (sticky[agent, game, *rest], runs))
        if agent != "random" and below.any():
            spreads = tuple(float(one.std(ddof=1) / one.mean()) for one in (above, below))
            cells.append(Cell(f"{agent}, {game}", above.mean() / below.mean(), len(above), spreads))
    return cells


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--draws", type=int, default=4000)
    options.add_argument("--ratio", type=float, default=0.8)
    options.add_argument("--table1", action="store_true")
    given = options.parse_args()
    print("runs  above  below  difference  ratio  with ends  without ends")
    for cell in played() if given.table1 else simulated(given.ratio):
        rng = np.random.default_rng(cell.runs)
        found = "{:11.1%} {:6.1%} {:10.1%} {:13.1%}".format(*covered(cell, given.draws, rng))
        above, below = cell.spreads
        print(f"{cell.runs:4} {above:6.0%} {below:6.0%} {found}  {cell.name}".rstrip())


if __name__ == "__main__":
    main()
