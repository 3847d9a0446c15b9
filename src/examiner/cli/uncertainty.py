"""Everything `examiner scores` tells, computed once, and as JSON values."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from examiner.cli.progress import ProgressCallback
from examiner.results import Results
from examiner.scores import (
    AGGREGATES,
    AggregateIntervals,
    DecisionStudy,
    Difference,
    ImprovementMatrix,
    RankProbabilities,
    Significance,
    improvement_matrix,
    intervals,
    significance,
)
from examiner.scores import (
    decision as decision_study,
)
from examiner.scores import (
    ranks as rank_probabilities,
)
from examiner.scores.differences import difference_of
from examiner.scores.significance import PostHoc
from examiner.scores.uncertainty.bootstrap import Interval
from examiner.scores.uncertainty.resampling import Unit
from examiner.scores.uncertainty.strata import run_scores
from examiner.wording import InputError

MOST_COMPARED = 30
"""Agents of whom every pair is compared; of more, only neighbours in rank."""
MOST_TESTED = 100


class Uncertain(NamedTuple):
    """What is known about agents, and how surely; None where there is nothing to compare."""

    aggregates: AggregateIntervals
    improvement: ImprovementMatrix | None
    pairs: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    ranks: RankProbabilities | None
    tests: Significance | None
    decision: DecisionStudy
    seed: int
    notes: tuple[str, ...]


def uncertain(
    results: Results,
    aggregates: tuple[str, ...],
    *,
    reps: int,
    unit: Unit,
    interval: Interval,
    level: float,
    posthoc: PostHoc,
    seed: int,
    progress: ProgressCallback,
) -> Uncertain:
    """Compute all of it; each part starts from the seed itself, as the sections of a report do.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 5)))
    >>> made = uncertain(results, ("iqm",), reps=100, unit="runs", interval="rescaled", level=0.95,
    ...                  posthoc="nemenyi", seed=0, progress=lambda *_: None)
    >>> len(made.pairs), made.ranks.probability.shape
    (3, (3, 3))
    """
    if seed < 0:
        raise InputError(f"The seed is {seed}. Give a whole number from 0 on.")
    made = intervals(
        results,
        aggregates,
        rng=np.random.default_rng(seed),
        reps=reps,
        unit=unit,
        interval=interval,
        level=level,
        progress=progress,
    )
    pairs = _pairs(results, made)
    other: Interval = "rescaled" if interval == "bca" else interval
    improvement = ranks = None
    if pairs:
        improvement = improvement_matrix(
            results,
            rng=np.random.default_rng(seed),
            pairs=pairs,
            reps=reps,
            unit=unit,
            interval=other,
            level=level,
            progress=progress,
        )
    if len(results.agents) > 1 and np.isfinite(made.value[:, 0]).all():
        by = aggregates[0]
        ranks = rank_probabilities(
            results,
            by,
            rng=np.random.default_rng(seed),
            reps=reps,
            unit=unit,
            interval=other,
            progress=progress,
        )
    tests, why = _tests(results, posthoc, 1 - level)
    decision = decision_study(results)
    told = [*made.notes, *(improvement.notes if improvement else ()), *why]
    told += decision.components.notes
    if interval == "bca" and pairs:
        told.append("Comparisons and ranks have no 'bca' interval: theirs are 'rescaled'.")
    if len(results.agents) > MOST_COMPARED:
        told.append(
            f"With more than {MOST_COMPARED} agents, only neighbours in rank are compared in pairs."
        )
    scores, games = run_scores(results), np.array(results.task_names)
    differences = tuple(difference_of(scores.of(a), scores.of(b), games, level) for a, b in pairs)
    notes = tuple(dict.fromkeys(told))
    return Uncertain(made, improvement, pairs, differences, ranks, tests, decision, seed, notes)


def content_of(made: Uncertain) -> dict[str, Any]:  # Any: JSON values
    """Return all of it as JSON values.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 5)))
    >>> made = uncertain(results, ("iqm",), reps=100, unit="runs", interval="rescaled", level=0.95,
    ...                  posthoc="nemenyi", seed=0, progress=lambda *_: None)
    >>> sorted(content_of(made)["improvement"][0])
    ['a', 'b', 'high', 'low', 'one_sided', 'probability']
    """
    aggregates = made.aggregates
    return {
        "unit": aggregates.unit,
        "interval": aggregates.interval,
        "level": aggregates.level,
        "reps": aggregates.reps,
        "seed": made.seed,
        "aggregates": aggregates.rows(),
        "improvement": [_improvement(made, a, b) for a, b in made.pairs],
        "differences": [one._asdict() for one in made.differences],
        "ranks": _ranks(made.ranks),
        "tests": None if made.tests is None else _tests_content(made.tests),
        "variance": _variance(made.decision),
        "null_means": "not known from these data; the notes say why",
        "notes": list(made.notes),
    }


def _pairs(results: Results, made: AggregateIntervals) -> tuple[tuple[str, str], ...]:
    """All pairs of agents, or of many agents the neighbours in rank; only those that share a task."""
    seen = np.flatnonzero(np.isfinite(made.value[:, 0]))
    if len(seen) > MOST_COMPARED:
        best = AGGREGATES.get(made.aggregates[0])
        sign = -1.0 if best is None or best.higher_is_better else 1.0
        order = seen[np.argsort(sign * made.value[seen, 0], kind="stable")]
        places = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    else:
        places = list(combinations(seen.tolist(), 2))
    met = np.zeros((len(results.agents), len(results.tasks)), dtype=bool)
    observed = ~np.isnan(results.measure())
    met[results.agent_codes[observed], results.task_codes[observed]] = True
    return tuple(
        (results.agents[a], results.agents[b]) for a, b in places if (met[a] & met[b]).any()
    )


def _tests(
    results: Results, posthoc: PostHoc, alpha: float
) -> tuple[Significance | None, tuple[str, ...]]:
    if not 1 < len(results.agents) <= MOST_TESTED:
        many = len(results.agents) > MOST_TESTED
        return None, (f"No tests of more than {MOST_TESTED} agents.",) if many else ()
    try:
        tests = significance(results, posthoc, alpha)
    except InputError as problem:
        return None, (f"No tests: {problem}",)
    return tests, tests.notes


def _improvement(made: Uncertain, a: str, b: str) -> dict[str, Any]:  # Any: JSON values
    matrix = made.improvement
    assert matrix is not None
    place = matrix.agents.index(a), matrix.agents.index(b)
    probability = float(matrix.probability[place])
    return {
        "a": a,
        "b": b,
        "probability": probability,
        "low": float(matrix.low[place]),
        "high": float(matrix.high[place]),
        "one_sided": probability in (0.0, 1.0),
    }


def _ranks(ranks: RankProbabilities | None) -> list[dict[str, Any]]:  # Any: JSON values
    if ranks is None:
        return []
    return [
        {
            "agent": agent,
            "aggregate": ranks.aggregate,
            "expected": float(mean),
            "probabilities": row,
        }
        for agent, mean, row in zip(
            ranks.agents, ranks.expected, ranks.probability.tolist(), strict=True
        )
    ]


def _tests_content(tests: Significance) -> dict[str, Any]:  # Any: JSON values
    return {
        "friedman": {"statistic": tests.statistic, "p": tests.p_value, "tasks": len(tests.tasks)},
        "posthoc": tests.posthoc,
        "alpha": tests.alpha,
        "critical_difference": tests.critical,
        "mean_ranks": dict(zip(tests.agents, tests.mean_rank.tolist(), strict=True)),
        "pairs": [
            {
                "a": tests.agents[a],
                "b": tests.agents[b],
                "p": float(tests.p[a, b]),
                "tasks": int(tests.common[a, b]),
            }
            for a, b in combinations(range(len(tests.agents)), 2)
        ],
        "cliques": [[tests.agents[agent] for agent in clique] for clique in tests.cliques],
    }


def _variance(decision: DecisionStudy) -> dict[str, Any]:  # Any: JSON values
    found = decision.components
    return {
        "agent": found.agent,
        "task": found.task,
        "agent_task": found.interaction,
        "run": found.run,
        "shares": found.shares(),
        "truncated": list(found.truncated),
        "tasks": found.tasks,
        "runs": found.runs,
        "error_of_difference": decision.now,
        "answer": decision.answer,
    }
