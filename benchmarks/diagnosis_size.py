"""Claim: `irt.diagnose` finds odd agents, dependent pairs or a second ability in one sound table of twenty.

Tables are drawn from a 2PL with log-normal slopes, fitted and diagnosed; counted are those with any odd
agent, with any pair of tasks that shares more than ability, and with a second ability. Beside them: how
often an agent that solves the hard half and fails the easy one is found, and how often two abilities are.
Run: python benchmarks/diagnosis_size.py [--tables 100] [--draws 59] [--shape 23x40x1]
"""

from __future__ import annotations

import argparse

import numpy as np

import examiner as ex
from examiner.irt import Diagnosis, ItemParameters, simulate
from examiner.results import ResponseMatrix

SHAPES = ("12x25x5", "23x40x1", "100x20x1", "300x12x1")


def tasks(count: int, rng: np.random.Generator) -> ItemParameters:
    """Return tasks with log-normal slopes and normal difficulties."""
    slope, difficulty = np.exp(0.5 * rng.normal(size=count)), rng.normal(size=count)
    return ItemParameters.of([f"t{n}" for n in range(count)], slope, difficulty=difficulty)


def diagnosed(matrix: ResponseMatrix, draws: int, rng: np.random.Generator) -> Diagnosis:
    """Fit a table the quick way, and diagnose it."""
    fit = ex.irt.fit(matrix, starts=1, errors=False, response="binomial")
    return ex.irt.diagnose(fit, replicates=draws, rng=rng, overdispersion=False)


def with_an_odd_agent(matrix: ResponseMatrix, items: ItemParameters) -> ResponseMatrix:
    """Let the first agent solve the harder half and fail the easier one."""
    won = matrix.successes.copy()
    hard = items.difficulty > np.median(items.difficulty)
    won[0] = np.where(hard, matrix.trials[0], 0)
    return ResponseMatrix.from_counts(won, matrix.trials, matrix.agents, matrix.tasks)


def measured(
    shape: tuple[int, int, int], tables: int, draws: int
) -> tuple[list[float], list[float]]:
    """Return the shares of sound tables with any finding, and of unsound ones in which it is found."""
    agents, count, trials = shape
    sound, found = [], []
    for seed in range(tables):
        rng = np.random.default_rng([agents, count, seed])
        items = tasks(count, rng)
        matrix = simulate(items, agents, trials=trials, rng=rng)
        told = diagnosed(matrix, draws, rng)
        beyond = not told.dimensions.one_dimension
        sound.append([bool(told.agents.unexpected.any()), len(told.pairs) > 0, beyond])
        if seed < tables // 4:
            odd = diagnosed(with_an_odd_agent(matrix, items), draws, rng)
            halves = [
                simulate(items.take(part), agents, trials=trials, rng=rng)
                for part in (range(count // 2), range(count // 2, count))
            ]
            both = ResponseMatrix.from_counts(
                np.hstack([half.successes for half in halves]),
                np.hstack([half.trials for half in halves]),
                matrix.agents,
                items.tasks,
            )
            second = diagnosed(both, draws, rng).dimensions
            found.append([bool(odd.agents[matrix.agents[0]].unexpected), not second.one_dimension])
    return list(np.mean(sound, axis=0)), list(np.mean(found, axis=0))


def main() -> None:
    """Print one line a shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--draws", type=int, default=59)
    parser.add_argument("--shape", default=",".join(SHAPES))
    options = parser.parse_args()
    print(
        "agents x tasks x trials: sound tables with an odd agent, a pair, a second ability; found"
    )
    for shape in options.shape.split(","):
        agents, count, trials = (int(part) for part in shape.split("x"))
        sound, found = measured((agents, count, trials), options.tables, options.draws)
        told = "  ".join(
            f"{share:6.1%} ± {np.sqrt(share * (1 - share) / options.tables):.1%}" for share in sound
        )
        power = f"odd agent {found[0]:.0%}, two abilities {found[1]:.0%}"
        print(f"{shape:10} {told}   {power}", flush=True)


if __name__ == "__main__":
    main()
