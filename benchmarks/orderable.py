"""Claim: the smallest orderable difference is ordered right nine times of ten, with 8 to 100 agents.

Agents with true values, and predictions of them that err, give a smallest difference; then new pairs
that far apart are drawn and predicted, and the share ordered right is counted. Beside it stands what a
rising (isotonic) fit gives, the way it was estimated before. The method was settled on normal errors;
the others were looked at once.
Run: python benchmarks/orderable.py [--tables 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from examiner.selection.proof.ordering import Pairs, detectable, held_out_pairs

SLOPE = 0.8  # predictions draw agents together
NEW_PAIRS = 200


def by_rising_fit(pairs: Pairs) -> float:
    """Return where an isotonic fit of the share ordered right first reaches nine of ten."""
    from scipy.optimize import isotonic_regression

    reached = np.flatnonzero(isotonic_regression(pairs.right).x >= 0.9 - 1e-12)
    return float(pairs.difference[reached[0]]) if len(reached) else float("inf")


def errors(kind: str, rng: np.random.Generator) -> Callable[[Any], Any]:
    """Return errors of unit size at given true values."""
    return {
        "normal": lambda at: rng.normal(size=at.shape),
        "student": lambda at: rng.standard_t(3, size=at.shape) / np.sqrt(3),
        "skewed": lambda at: rng.exponential(size=at.shape) - 1,
        "uneven": lambda at: rng.normal(size=at.shape) * (0.3 + np.exp(-(at**2))),
    }[kind]


def measured(agents: int, size: float, kind: str, tables: int) -> list[str]:
    """Return the share ordered right, its error, and how often no difference is enough, by method."""
    rng = np.random.default_rng(agents)
    wrong = errors(kind, rng)
    right: list[list[float]] = [[], []]
    for _ in range(tables):
        truth = rng.normal(size=agents)
        said = SLOPE * truth + size * wrong(truth)
        pairs = held_out_pairs([np.arange(agents)], [truth], [said])
        for method, least in enumerate((float(detectable(pairs)), by_rising_fit(pairs))):
            if not np.isfinite(least):
                continue
            middle = np.sqrt(0.5) * rng.normal(size=NEW_PAIRS)
            better, worse = middle + least / 2, middle - least / 2
            ahead = SLOPE * (better - worse) + size * (wrong(better) - wrong(worse))
            right[method].append(float((ahead > 0).mean()))
    return [
        f"{np.mean(each):.1%} ± {np.std(each) / np.sqrt(len(each)):.1%} "
        f"(none: {1 - len(each) / tables:.0%})"
        for each in right
    ]


def main() -> None:
    """Print one line for each number of agents, size of errors and kind of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    options = parser.parse_args()
    print(f"{'agents':>6} {'error':>6} {'errors':8} {'examiner':>28} {'rising fit':>28}")
    for agents in (8, 12, 20, 40, 100):
        for size in (0.2, 0.5):
            for kind in ("normal", "student", "skewed", "uneven"):
                ours, before = measured(agents, size, kind, options.tables)
                print(f"{agents:6} {size:6} {kind:8} {ours:>28} {before:>28}", flush=True)


if __name__ == "__main__":
    main()
