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


def grouped_table(
    rng: np.random.Generator, agents: int, sizes: tuple[int, ...], spread: float
) -> tuple[ex.ResponseMatrix, dict[str, int], Floats]:
    """Agents with their own strength on each group of tasks; the first two are equally able."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    ability = rng.normal(size=agents)
    ability[1] = ability[0]
    strength = ability[:, None] + rng.normal(0, spread, (agents, len(sizes)))[:, group]
    slope, difficulty = np.exp(rng.normal(0.2, 0.3, len(group))), rng.normal(size=len(group))
    won = rng.random(strength.shape) < chances(slope, strength, difficulty)
    matrix = ex.ResponseMatrix.from_array(won.astype(float))
    return matrix, dict(zip(matrix.tasks, group.tolist(), strict=True)), ability


def equal_pair_called_different(
    rng: np.random.Generator, agents: int, sizes: tuple[int, ...], spread: float
) -> bool:
    """Whether two equally able agents are called different where tasks come in groups."""
    matrix, groups, _ = grouped_table(rng, agents, sizes, spread)
    difference, error = ex.irt.fit(matrix, starts=1, group=groups).abilities.differences()
    return bool(abs(difference[0, 1]) > 1.96 * error[0, 1])


def grouped_ability_interval(
    rng: np.random.Generator, agents: int, sizes: tuple[int, ...], spread: float
) -> float:
    """The share of intervals of abilities that hold the truth where tasks come in groups."""
    matrix, groups, ability = grouped_table(rng, agents, sizes, spread)
    found = ex.irt.fit(matrix, starts=1, group=groups).abilities
    return float(np.mean(np.abs(found.ability - ability) < 1.96 * found.error))


def edition_interval(
    rng: np.random.Generator, first: int, new: int, editions: int = 5, *, together: bool
) -> float:
    """The share of newcomers' intervals that hold after editions, each 0.5 deviations more able.

    All editions are fitted together, or added one after the other.
    """
    tasks = 40 + 10 * editions
    slope = np.exp(rng.normal(0.2, 0.3, tasks))
    level = np.concatenate([np.zeros(40), np.repeat(0.5 * np.arange(1, editions + 1), 10)])
    difficulty = level + rng.normal(size=tasks)
    edition = np.repeat(np.arange(editions + 1), [first] + [new] * editions)
    ability = rng.normal(0.5 * edition, 1)
    names = [f"edition {of} agent {agent}" for agent, of in enumerate(edition)]
    given = 10 * edition[:, None] <= np.arange(tasks)
    given &= np.arange(tasks) < 10 * edition[:, None] + 40
    won = rng.random(given.shape) < chances(slope, ability[:, None], difficulty)
    whole = ex.ResponseMatrix.from_array(
        np.where(given, won, np.nan), names, [f"t{task}" for task in range(tasks)]
    )
    if together:
        fit = ex.irt.fit(whole, starts=1, editions=dict(zip(names, edition.tolist(), strict=True)))
    for number in range(0 if together else editions + 1):
        rows, columns = np.flatnonzero(edition == number), range(10 * number, 10 * number + 40)
        part = whole.take(rows.tolist(), columns)
        fit = ex.irt.grow(fit, part).fit if number else ex.irt.fit(part, starts=1)
    found = fit.abilities
    return float(np.mean(np.abs(found.ability[-new:] - ability[-new:]) < 1.96 * found.error[-new:]))


def equal_families_differ(rng: np.random.Generator, families: int, copies: int, tasks: int) -> bool:
    """Whether families of near-copies, all equally able, are said to differ in ability."""
    chance = np.repeat(
        chances(np.ones(tasks), np.zeros((families, 1)), rng.normal(size=tasks)), copies, axis=0
    )
    shared = np.repeat(rng.random((families, tasks)), copies, axis=0)
    drawn = np.where(rng.random(chance.shape) < 0.1, rng.random(chance.shape), shared)
    won = ex.ResponseMatrix.from_array((drawn < chance).astype(float))
    return bool(ex.irt.audit(won, rng=0).evidence.shown)


def low_discrimination_in_clean_table(
    rng: np.random.Generator, agents: int, tasks: int, guessing: float
) -> bool:
    """Whether the audit finds low discrimination in a clean table with guessing."""
    slope, difficulty = np.exp(rng.normal(0.2, 0.3, tasks)), rng.normal(size=tasks)
    known = chances(slope, rng.normal(size=(agents, 1)), difficulty)
    won = rng.random(known.shape) < guessing + (1 - guessing) * known
    found = ex.irt.audit(ex.ResponseMatrix.from_array(won.astype(float)), rng=0)
    return bool(found.of_kind("flat"))


EQUAL, MANY, UNEQUAL = (10,) * 6, (8,) * 12, (60, 30, 5, 5, 5, 5, 5, 5)

ROWS: dict[str, Row] = {
    **{
        f"{title}, {a} agents, groups of {sizes}, spread {spread}": kind(
            partial(test, agents=a, sizes=sizes, spread=spread)
        )
        for a in (12, 23, 45, 130)
        for sizes, spread in ((EQUAL, 0.7), (MANY, 1.0), (UNEQUAL, 0.7), (EQUAL, 0.0))
        for title, test, kind in (
            ("equal pair", equal_pair_called_different, wrong),
            ("grouped abilities", grouped_ability_interval, Row),
        )
    },
    **{
        f"newcomers after five editions {how}, {a} then {n} agents": Row(
            partial(edition_interval, first=a, new=n, together=how == "together")
        )
        for a, n in ((60, 15), (130, 30))
        for how in ("together", "added")
    },
    **{
        f"equal families, {f} of {n}, {t} tasks": wrong(
            partial(equal_families_differ, families=f, copies=n, tasks=t)
        )
        for f, n, t in ((10, 5, 40), (4, 6, 60))
    },
    **{
        f"audit, clean, {a} agents, guessing {c}": wrong(
            partial(low_discrimination_in_clean_table, agents=a, tasks=60, guessing=c)
        )
        for a in (60, 130)
        for c in (0.0, 0.25)
    },
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
