"""Claim: intervals of abilities, slopes and generality hold as often as they say, and tests err as rarely.

Every row of `ROWS` is one claim: a function that simulates a table, analyses it as a user would, and
returns which of its statements were right (or wrong). Standard errors are over tables. Quick versions are
in `tests/irt`.

Run: python benchmarks/irt_coverage.py [--rows 'generality*'] [--tables 200] [--list]
"""

from __future__ import annotations

import argparse
import fnmatch
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import examiner as ex

Floats = NDArray[np.float64]
Simulate = Callable[[np.random.Generator], "bool | float"]


class Row(NamedTuple):
    """A claim: one table's share of right (or wrong) statements, and the range its mean should be in."""

    simulate: Simulate
    least: float = 0.90
    most: float = 0.985


def wrong(simulate: Simulate, most: float = 0.07) -> Row:
    """A test of something that is not there: at most 7 % of tables may find it."""
    return Row(simulate, 0.0, most)


def chances(slope: Floats, ability: Floats, difficulty: Floats) -> Floats:
    """Chances of success of agents on tasks."""
    return 1.0 / (1.0 + np.exp(-slope * (ability - difficulty)))


class GeneralityTable(NamedTuple):
    """Results of agents with slopes of their own, and the truth about these."""

    estimates: ex.irt.GeneralityEstimates
    log_generality: Floats


def generality_table(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    deviation: float = 0.0,
    specialist: float = 0.0,
) -> GeneralityTable:
    """Agents × tasks × trials; the first agent's ability is ± `specialist` on random halves of tasks."""
    agents, tasks, trials = shape
    ability = rng.normal(size=(agents, 1))
    log_slope = deviation * rng.normal(size=(agents, 1))
    slope, difficulty = 1.5 * np.exp(0.3 * rng.normal(size=tasks)), rng.normal(size=tasks)
    chance = chances(np.exp(log_slope) * slope, ability, difficulty)
    if specialist:
        side = np.where(rng.permutation(tasks) < tasks // 2, specialist, -specialist)
        chance[0] = chances(slope, ability[0] + side, difficulty)
    matrix = ex.ResponseMatrix.from_counts(
        rng.binomial(trials, chance), np.full(chance.shape, trials)
    )
    return GeneralityTable(ex.irt.generality(matrix), (log_slope - log_slope.mean()).ravel())


def generality_interval(
    rng: np.random.Generator, shape: tuple[int, int, int], deviation: float
) -> float:
    """The share of intervals of log generality that hold the truth."""
    estimates, truth = generality_table(rng, shape, deviation)
    rows = [estimates.agents[agent] for agent in estimates.names]
    inside = [
        row.log_generality_low <= value <= row.log_generality_high
        for row, value in zip(rows, truth, strict=True)
    ]
    return float(np.mean(inside))


def specialist_named(rng: np.random.Generator, shape: tuple[int, int, int]) -> bool:
    """Whether a planted specialist is called uneven."""
    estimates, _ = generality_table(rng, shape, specialist=1.0)
    return bool(estimates.agents[estimates.names[0]].uneven)


def anybody_uneven(rng: np.random.Generator, shape: tuple[int, int, int]) -> bool:
    """Whether any agent is called uneven where none is."""
    return bool(generality_table(rng, shape).estimates.agents.uneven.any())


def anybody_more_general(rng: np.random.Generator, shape: tuple[int, int, int]) -> bool:
    """Whether any agent is called more or less general where all are equal."""
    return any(map(len, generality_table(rng, shape).estimates.agents.significance))


ROWS: dict[str, Row] = {
    **{
        f"generality interval {a} x {t} x {n}, deviation {spread}": Row(
            partial(generality_interval, shape=(a, t, n), deviation=spread)
        )
        for a, t, n in ((30, 60, 5), (12, 60, 5), (23, 49, 25), (30, 60, 1))
        for spread in (0.3, 0.6)
    },
    **{
        f"specialist named {a} x {t} x {n}": Row(
            partial(specialist_named, shape=(a, t, n)), 0.8, 1.0
        )
        for a, t, n in ((30, 60, 5), (12, 60, 5))
    },
    **{
        f"{title} {a} x {t} x {n}": wrong(partial(test, shape=(a, t, n)), 0.05)
        for a, t, n in ((30, 60, 5), (12, 60, 5))
        for title, test in (
            ("nobody is uneven", anybody_uneven),
            ("equally general", anybody_more_general),
        )
    },
}


class Measured(NamedTuple):
    """The mean over tables and its standard error."""

    mean: float
    error: float
    seconds: float


def measure(name: str, tables: int, seed: int = 0) -> Measured:
    """Simulate and analyse tables of one row."""
    start = time.process_time()
    values = []
    for table in range(tables):
        key = [seed, table, *map(ord, name)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values.append(float(ROWS[name].simulate(np.random.default_rng(key))))
    error = float(np.std(values, ddof=1) / np.sqrt(tables)) if tables > 1 else float("nan")
    return Measured(float(np.mean(values)), error, (time.process_time() - start) / tables)


def main() -> None:
    """Print one line per row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="*")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    for name in fnmatch.filter(ROWS, asked.rows):
        if asked.list:
            print(name)
            continue
        row, found = ROWS[name], measure(name, asked.tables)
        inside = "" if row.least <= found.mean <= row.most else "   OUTSIDE"
        print(
            f"{name:55s} {found.mean:6.3f} ± {found.error:.3f}  ({row.least:g} to {row.most:g}) "
            f"{found.seconds:6.2f} s{inside}",
            flush=True,
        )


if __name__ == "__main__":
    main()
