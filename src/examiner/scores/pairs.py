"""One agent against others, pair by pair: difference, improvement, a test over tasks, and each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, error, name, number, text
from examiner.messages import InputError, joined, shorten
from examiner.results import Results, reads_results
from examiner.scores.cells import judged_runs
from examiner.scores.differences import (
    Difference,
    Discordance,
    clusters_of,
    difference_of,
    discordance,
    mcnemar_p,
    newcombe,
    single_binary_trials,
)
from examiner.scores.improvement import Improvement, improvement
from examiner.scores.normalise import score_unit
from examiner.scores.runs import RunScores, Unit, run_scores, same_sign, shared_rows, usual_unit
from examiner.scores.significance import LEVEL, holm
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, read_only, seed_of

NOT_DIFFERENT = "not significantly different from"
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


class ComparedPairs(Table):
    """One agent compared with each of some others, over their common tasks."""

    a: tuple[str, ...] = name("Agent that is compared")
    b: tuple[str, ...] = name("Agent it is compared with", title="against")
    difference: Floats = number("Mean of a less the mean of b", unit="score")
    difference_low: Floats = bound("difference", "low")
    difference_high: Floats = bound("difference", "high")
    difference_error: Floats = error("difference", "Standard error over the unit of the test")
    probability: Floats = number("Probability that a run of a beats one of b", title="beats")
    probability_low: Floats = bound("probability", "low")
    probability_high: Floats = bound("probability", "high")
    p: Floats = number("P-value of the difference", title="p of the pair")
    p_adjusted: Floats = number("P-value, adjusted by Holm where several are compared", title="p")
    test: tuple[str, ...] = text("Test of the difference")
    unit: tuple[str, ...] = text("What another sample would vary")
    tasks: NDArray[np.int64] = count("Tasks that both have")
    error_paired: Floats = error("difference", "Standard error over tasks")
    error_clustered: Floats = error("difference", "Standard error over games with several tasks")
    error_of_runs: Floats = error("difference", "Standard error over runs on these tasks")
    detectable: Floats = number(
        "True difference over other tasks that would be detected four times in five", unit="score"
    )
    detectable_fixed: Floats = number(
        "True difference on these tasks that would be detected four times in five", unit="score"
    )
    both: Floats = count("Tasks that both solved, of single trials", default=None)
    only_a: Floats = count("Tasks that a alone solved", default=None)
    only_b: Floats = count("Tasks that b alone solved", default=None)
    neither: Floats = count("Tasks that neither solved", default=None)


class ComparedTasks(Table):
    """Two agents task by task, from where the first is furthest ahead."""

    b: tuple[str, ...] = name("Agent that a is compared with")
    task: tuple[str, ...] = name("Task")
    mean_a: Floats = number("Mean score of a", unit="score", title="a")
    mean_b: Floats = number("Mean score of b", unit="score", title="b")
    difference: Floats = number("Mean of a less the mean of b", unit="score")
    probability: Floats = number("Probability that a run of a beats one of b", title="a beats b")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Answer):
    """An agent compared with each of some others: `compare`."""

    kind = "compare"

    compared: tuple[PairedComparison, ...]
    score_unit: str = ""

    @property
    def agent(self) -> str:
        """The agent that is compared."""
        return self.compared[0].difference.a

    @property
    def headline(self) -> str:
        """Whether the agent is significantly better or worse than each other."""
        verdicts: dict[str, list[str]] = {}
        for pair in self.compared:
            ahead = "better" if pair.difference.value > 0 else "worse"
            significant = pair.adjusted < LEVEL
            word = f"significantly {ahead} than" if significant else NOT_DIFFERENT
            verdicts.setdefault(word, []).append(pair.difference.b)
        parts = [f"{word} {joined(names)}" for word, names in verdicts.items()]
        if len(self.compared) > 1:
            return f"{self.agent} is {'; '.join(parts)}."
        pair = self.compared[0]
        size = f"difference {pair.difference.value:.3g}"
        if not np.isnan(pair.low):
            level = 100 * pair.improvement.level
            size += f", {level:g} % interval {pair.low:.3g} to {pair.high:.3g}"
        return f"{self.agent} is {parts[0]} ({size}, p = {pair.adjusted:.2g})."

    @cached_property
    def pairs(self) -> ComparedPairs:
        """One row per pair."""
        gaps = [pair.difference for pair in self.compared]
        better = [pair.improvement for pair in self.compared]
        items: dict[str, Any] = {}  # Any: counts
        if any(pair.items is not None for pair in self.compared):
            unknown = (np.nan,) * 4
            rows = zip(*(pair.items or unknown for pair in self.compared), strict=True)
            items = dict(zip(Discordance._fields, map(list, rows), strict=True))
        return ComparedPairs(
            a=[gap.a for gap in gaps],
            b=[gap.b for gap in gaps],
            difference=[gap.value for gap in gaps],
            difference_low=[pair.low for pair in self.compared],
            difference_high=[pair.high for pair in self.compared],
            difference_error=[gap.error for gap in gaps],
            probability=[one.probability for one in better],
            probability_low=[one.low for one in better],
            probability_high=[one.high for one in better],
            p=[pair.p for pair in self.compared],
            p_adjusted=[pair.adjusted for pair in self.compared],
            test=[pair.test for pair in self.compared],
            unit=[gap.unit for gap in gaps],
            tasks=[gap.tasks for gap in gaps],
            error_paired=[gap.paired for gap in gaps],
            error_clustered=[gap.clustered for gap in gaps],
            error_of_runs=[gap.runs for gap in gaps],
            detectable=[gap.detectable for gap in gaps],
            detectable_fixed=[gap.detectable_fixed for gap in gaps],
            **items,
            level=better[0].level,
            score_unit=self.score_unit,
            caption=f"{self.agent} less each other",
        )

    @cached_property
    def tasks(self) -> ComparedTasks:
        """One row per pair and common task."""
        columns: dict[str, Any] = {
            name: [] for name in ComparedTasks.declared
        }  # Any: names, numbers
        for pair in self.compared:
            gaps = pair.mean_a - pair.mean_b
            order = np.argsort(-gaps, kind="stable").tolist()
            by_task = pair.improvement.tasks
            beats = dict(zip(by_task.task, by_task.probability.tolist(), strict=True))
            columns["b"] += [pair.difference.b] * len(order)
            columns["task"] += [pair.tasks[row] for row in order]
            columns["mean_a"] += pair.mean_a[order].tolist()
            columns["mean_b"] += pair.mean_b[order].tolist()
            columns["difference"] += gaps[order].tolist()
            columns["probability"] += [beats.get(pair.tasks[row], np.nan) for row in order]
        return ComparedTasks(**columns, score_unit=self.score_unit)

    @property
    def tables(self) -> Mapping[str, Table]:
        """The pairs, and each of their tasks."""
        return {"pairs": self.pairs, "tasks": self.tasks}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """How runs or tasks were resampled, and the level of intervals."""
        return self.compared[0].improvement.settings

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What a reader should know about these numbers."""
        return tuple(dict.fromkeys(note for pair in self.compared for note in pair.notes))


@reads_results
def compare(
    results: Results,
    agent: str,
    others: str | Sequence[str],
    *,
    rng: Randomness = 0,
    level: float = 0.95,
    measure: str | None = None,
    reps: int | None = None,
    total: Total | None = None,
    unit: Unit | None = None,
) -> Comparison:
    """Compare an agent with another, or with each of some others; several tests are adjusted by Holm.

    `unit` is what another sample would vary, "runs" or "tasks": without it, runs where every cell has
    several, else tasks (`usual_unit`). Over runs, tasks are fixed; `total` defines how tasks are averaged.

    References: Holm (1979); McNemar (1947); Newcombe (1998), method 10; Student (1908); Welch (1947).

    >>> results = Results.from_numpy([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0]], agents=["new", "old"])
    >>> found = compare(results, "new", "old").pairs["new", "old"]
    >>> found.test, round(found.p, 4), found.only_a
    ("McNemar's exact test", 0.0391, 8)
    """
    others = [others] if isinstance(others, str) else others
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
    compared = [pair._replace(adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]
    return Comparison(tuple(compared), score_unit(results, measure))


def _check_unit(gap: Difference) -> None:
    if gap.unit == "runs" and np.isnan(gap.runs):
        raise InputError(
            f"Some cells of {shorten(gap.a)} and {shorten(gap.b)} hold a single run, so nothing is known "
            f"about other runs. Compare them over tasks (the unit 'tasks')."
        )


class TestedDifference(NamedTuple):
    """The interval of a difference and its test; `items` counts single trials, None without them."""

    low: float
    high: float
    test: str
    p: float
    items: Discordance | None


def tested_difference(
    scores: RunScores, gap: Difference, level: float = 0.95, *, single: bool
) -> TestedDifference:
    """Test a difference of two agents; `single` says that both have single trials of 0 or 1."""
    if single and (scores.total is None or scores.total.plain):
        first, second = scores.of(gap.a), scores.of(gap.b)
        rows_a, rows_b = shared_rows(first, second)
        items = discordance(first.means[rows_a], second.means[rows_b])
        p = mcnemar_p(items.only_a, items.only_b)
        return TestedDifference(*newcombe(items, level), MCNEMAR, p, items)
    test = T_OF_RUNS if gap.unit == "runs" else T_OVER_TASKS
    return TestedDifference(gap.low, gap.high, test, gap.p, None)


def _compared(
    scores: RunScores, gap: Difference, better: Improvement, level: float, *, single: bool
) -> PairedComparison:
    first, second = scores.of(gap.a), scores.of(gap.b)
    rows_a, rows_b = shared_rows(first, second)
    x, y = first.means[rows_a], second.means[rows_b]
    low, high, test, p, items = tested_difference(scores, gap, level, single=single)
    read_only(x, y)
    return PairedComparison(
        *(gap, better, low, high, test, p, p),
        tasks=tuple(scores.tasks[task] for task in first.tasks[rows_a].tolist()),
        mean_a=x,
        mean_b=y,
        items=items,
        notes=better.notes,
    )
