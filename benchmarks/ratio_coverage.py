"""Claim: ratios and differences of the means of two or three runs have intervals that are not too short.

Runs are normal around means of 0.8 and 1, so that 80 % is left. Counted are intervals of 95 % that hold
the truth: of differences (Welch), of ratios (Fieller, with Welch's degrees of freedom) where those without
ends count as holding it, of ratios that have ends alone, and how many have none. Spreads are deviations
over runs in shares of the mean, of the score above and of the score below.
Run: python benchmarks/ratio_coverage.py [--draws 4000] [--ratio 0.8]
"""

from __future__ import annotations

import argparse

import numpy as np

from examiner.arena.play.means import difference_of_runs, ratio_of_runs

RUNS = (2, 3, 5)
SPREADS = (
    *((0.05, 0.05), (0.1, 0.1), (0.2, 0.2), (0.4, 0.4)),
    *((0.2, 0.02), (0.02, 0.1), (0.02, 0.2), (0.02, 0.4)),
)


def covered(
    ratio: float, runs: int, spreads: tuple[float, float], draws: int, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Shares that hold the truth: differences, ratios, ratios with ends; and of ratios without ends."""
    differences, ends, held = (np.zeros(draws, dtype=bool) for _ in range(3))
    for draw in range(draws):
        above = ratio * rng.normal(1.0, spreads[0], runs)
        below = rng.normal(1.0, spreads[1], runs)
        apart, left = difference_of_runs(below, above), ratio_of_runs(above, below)
        differences[draw] = apart.low <= 1.0 - ratio <= apart.high
        ends[draw] = np.isfinite(left.low)
        held[draw] = left.low <= ratio <= left.high
    told = held[ends].mean() if ends.any() else np.nan
    return float(differences.mean()), float((held | ~ends).mean()), float(told), 1.0 - ends.mean()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--draws", type=int, default=4000)
    options.add_argument("--ratio", type=float, default=0.8)
    given = options.parse_args()
    print("runs  above  below  difference  ratio  with ends  without ends")
    for runs in RUNS:
        for spreads in SPREADS:
            rng = np.random.default_rng(runs)
            shares = covered(given.ratio, runs, spreads, given.draws, rng)
            found = "{:11.1%} {:6.1%} {:10.1%} {:13.1%}".format(*shares)
            print(f"{runs:4} {spreads[0]:6.0%} {spreads[1]:6.0%} {found}")


if __name__ == "__main__":
    main()
