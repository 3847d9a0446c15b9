"""Coverage of 95 % intervals of `ex.irt.explain` and `ex.irt.on_difficulty` by simulation.

Effects of two attributes and the difficulty of new tasks, at 12, 45 and 130 agents × 60 and 200 tasks, with
families of five tasks and without; then abilities and generality on a given difficulty.
Run: python benchmarks/explained.py [--scale 1.0]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit

import examiner as ex
from examiner.results import Attributes

MINUTES, RUST = 0.4, 0.6


def attributes(rng: np.random.Generator, tasks: int, families: bool) -> tuple[np.ndarray, ...]:
    """Length and language of tasks; tasks of a family are alike in length."""
    minutes = 2.4 * rng.normal(size=tasks)
    if families:
        minutes = 0.6 * minutes + 1.9 * rng.normal(size=tasks // 5)[np.arange(tasks) // 5]
    return minutes, rng.permutation(tasks) < 0.4 * tasks


def named(minutes: np.ndarray, rust: np.ndarray, word: str) -> dict[str, dict[str, object]]:
    """Attributes of tasks by name."""
    rows = zip(minutes.tolist(), rust.tolist(), strict=True)
    return {
        f"{word} {n}": {"minutes": m, "language": "rust" if r else "c"}
        for n, (m, r) in enumerate(rows)
    }


def explained(seed: int, agents: int, tasks: int, families: bool) -> list[float]:
    """Whether effects are inside their intervals, and the share of new tasks inside theirs."""
    rng = np.random.default_rng([seed, agents, tasks])
    residual, family = (0.5, 0.8) if families else (0.8, 0.0)
    minutes, rust = attributes(rng, tasks, families)
    of_family = family * rng.normal(size=tasks // 5)[np.arange(tasks) // 5]
    difficulty = MINUTES * minutes + RUST * rust + residual * rng.normal(size=tasks) + of_family
    ability = 1.2 * rng.normal(size=(agents, 1))
    solved = (rng.random((agents, tasks)) < expit(ability - difficulty)).astype(float)
    about = named(minutes, rust, "task")
    matrix = ex.ResponseMatrix.from_array(solved, tasks=list(about))
    answer = ex.irt.explain(
        matrix,
        ["minutes", "language"],
        attributes=Attributes.from_dicts("task", [{"task": n, **a} for n, a in about.items()]),
        group={n: k // 5 for k, n in enumerate(about)} if families else None,
        folds=2,
    )
    new = attributes(rng, 100, families=False)
    truth = MINUTES * new[0] + RUST * new[1] + np.hypot(residual, family) * rng.normal(size=100)
    predicted = answer.predict(named(*new, "new"))
    rows = [predicted[f"new {n}"] for n in range(100)]
    inside = [
        row.predicted_low < x < row.predicted_high for row, x in zip(rows, truth, strict=True)
    ]
    first, second = answer.effects["minutes", "per unit"], answer.effects["language", "rust"]
    return [
        first.effect_low < MINUTES < first.effect_high,
        second.effect_low < RUST < second.effect_high,
        float(np.mean(inside)),
    ]


def given(seed: int, agents: int, tasks: int, residual: float) -> list[float]:
    """The shares of abilities and of log generality inside their intervals."""
    rng = np.random.default_rng([seed, agents, tasks])
    doublings, ability = rng.uniform(0, 8, tasks), rng.normal(4, 1.5, agents)
    steep = 0.3 * rng.normal(size=agents)
    steep -= steep.mean()
    off = ability[:, None] - doublings - residual * rng.normal(size=tasks)
    solved = (rng.random((agents, tasks)) < expit(0.9 * np.exp(steep)[:, None] * off)).astype(float)
    matrix = ex.ResponseMatrix.from_array(solved)
    about = [{"task": t, "doublings": x} for t, x in zip(matrix.tasks, doublings, strict=True)]
    answer = ex.irt.on_difficulty(
        matrix, "doublings", attributes=Attributes.from_dicts("task", about)
    )
    rows = [answer.agents[name] for name in matrix.agents]
    abilities = [r.ability_low < x < r.ability_high for r, x in zip(rows, ability, strict=True)]
    slopes = [
        r.log_generality_low < x < r.log_generality_high for r, x in zip(rows, steep, strict=True)
    ]
    return [float(np.mean(abilities)), float(np.mean(slopes))]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    scale = options.parse_args().scale
    for families in (False, True):
        for agents in (12, 45, 130):
            for tasks, reps in ((60, 300), (200, 100)):
                count = max(5, round(scale * reps))
                rows = [explained(seed, agents, tasks, families) for seed in range(count)]
                words = "families" if families else "no families"
                print("explain", agents, tasks, words, count, np.mean(rows, axis=0), flush=True)
    for agents, tasks, residual in ((12, 60, 0.0), (12, 60, 1.0), (45, 60, 1.0), (45, 200, 1.0)):
        count = max(5, round(scale * 60))
        rows = [given(seed, agents, tasks, residual) for seed in range(count)]
        print("given", agents, tasks, residual, count, np.mean(rows, axis=0), flush=True)


if __name__ == "__main__":
    main()
