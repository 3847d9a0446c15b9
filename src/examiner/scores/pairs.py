"""One agent against others, pair by pair: difference, improvement, a test over tasks, and each task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.scores.cells import judged_runs
from examiner.scores.differences import Difference, clusters_of, difference_of
from examiner.scores.exact_pairs import (
    Discordance,
    discordance,
    mcnemar_p,
    newcombe,
    single_binary_trials,
)
from examiner.scores.significance import holm
from examiner.scores.total import Total
from examiner.scores.uncertainty.improvement import Improvement, improvement
from examiner.scores.uncertainty.resampling import Unit, usual_unit
from examiner.scores.uncertainty.strata import RunScores, common_rows, run_scores, same_sign
from examiner.validation import Floats, Randomness, read_only, seed_of

MCNEMAR, T_OVER_TASKS, T_OF_RUNS = "McNemar's exact test", "t over tasks", "t over runs"
"""The tests of a pair: of single trials of 0 or 1, of paired means of tasks, and of runs on fixed tasks."""


class PairedComparison(NamedTuple):
    """Agent a against agent b over their common tasks; `adjusted` is p after Holm over all pairs asked for.

    `low` and `high` are of the difference, and `p` tests the same difference. `mean_a` and `mean_b` have
    shape [tasks]. Where each agent has one trial of 0 or 1 per task, `items` counts them, the test is
    McNemar's and the interval Newcombe's; else `items` is None, and test and interval are Student's t as
    in `difference`.
    """

    difference: Difference
    improvement: Improvement
    low: float
    high: float
    test: str
    p: float
    adjusted: float
    tasks: tuple[str, ...]
    mean_a: Floats
    mean_b: Floats
    items: Discordance | None
    notes: tuple[str, ...]


def compare_pairs(
    results: Results,
    agent: str,
    others: Sequence[str],
    *,
    rng: Randomness = 0,
    level: float = 0.95,
    measure: str | None = None,
    reps: int | None = None,
    total: Total | None = None,
    unit: Unit | None = None,
) -> tuple[PairedComparison, ...]:
    """Compare an agent with each of some others, several tests corrected by Holm.

    `unit` is what would be another sample, "runs" or "tasks": without it, runs where every cell has
    several, else tasks (`usual_unit`). Over runs, tasks are fixed; `total` says how tasks make a mean.

    References: Holm (1979); McNemar (1947); Newcombe (1998), method 10; Student (1908); Welch (1947).

    >>> results = Results.from_numpy([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0]], agents=["new", "old"])
    >>> found = compare_pairs(results, "new", ["old"], rng=0)[0]
    >>> found.test, round(found.p, 4), found.items
    ("McNemar's exact test", 0.0391, Discordance(both=0, only_a=8, only_b=1, neither=0))
    """
    if not others:
        raise InputError(f"Nobody is named to compare {shorten(agent)} with. Name another agent.")
    if agent in others or len(set(others)) < len(others):
        raise InputError("An agent is named twice. Name different agents.")
    results = judged_runs(results)
    same_sign(results, measure)
    scores = run_scores(results, measure, total)
    single = single_binary_trials(results, measure)
    unit = unit or usual_unit(scores)
    games = clusters_of(results.task_names)
    options: dict[str, Any] = {"reps": reps, "level": level, "measure": measure, "total": total}
    seed = seed_of(rng)
    pairs = []
    for other in others:
        gap = difference_of(scores.of(agent), scores.of(other), games, level, unit)
        _check_unit(gap)
        better = improvement(results, agent, other, rng=seed, unit=unit, **options)
        alone = bool(single[scores.row(agent)] and single[scores.row(other)])
        pairs.append(_compared(scores, gap, better, level, single=alone))
    adjusted = holm(np.array([pair.p for pair in pairs]))
    return tuple(pair._replace(adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True))


def _check_unit(gap: Difference) -> None:
    if gap.unit == "runs" and np.isnan(gap.runs):
        raise InputError(
            f"Some cells of {shorten(gap.a)} and {shorten(gap.b)} hold a single run, so nothing is known "
            f"about other runs. Compare them over tasks (the unit 'tasks')."
        )


def _compared(
    scores: RunScores, gap: Difference, better: Improvement, level: float, *, single: bool
) -> PairedComparison:
    first, second = scores.of(gap.a), scores.of(gap.b)
    rows_a, rows_b = common_rows(first, second)
    x, y = first.means[rows_a], second.means[rows_b]
    low, high, p, items = gap.low, gap.high, gap.p, None
    test = T_OF_RUNS if gap.unit == "runs" else T_OVER_TASKS
    if single and (scores.total is None or scores.total.plain):
        items = discordance(x, y)
        low, high = newcombe(items, level)
        test, p = MCNEMAR, mcnemar_p(items.only_a, items.only_b)
    read_only(x, y)
    return PairedComparison(
        *(gap, better, low, high, test, p, p),
        tasks=tuple(scores.tasks[task] for task in first.tasks[rows_a].tolist()),
        mean_a=x,
        mean_b=y,
        items=items,
        notes=better.notes,
    )
