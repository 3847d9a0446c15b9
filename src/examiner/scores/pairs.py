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
from examiner.scores.bootstrap import Bootstrap, Resampling
from examiner.scores.cells import judged_runs
from examiner.scores.differences import Difference, Discordance, difference_of
from examiner.scores.improvement import Improvement, improvement_of
from examiner.scores.normalise import score_unit
from examiner.scores.runs import Unit, shared_rows
from examiner.scores.significance import LEVEL, holm
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, read_only, seed_of

NOT_DIFFERENT = "not significantly different from"


class PairedComparison(NamedTuple):
    """Agent a against agent b over their common tasks; `adjusted` is p after Holm over all pairs asked for.

    `mean_a` and `mean_b` have shape [tasks].
    """

    difference: Difference
    improvement: Improvement
    adjusted: float
    tasks: tuple[str, ...]
    mean_a: Floats
    mean_b: Floats
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
    error_grouped: Floats = error("difference", "Standard error over groups of tasks")
    effective_tasks: Floats = number("Independent tasks that would have the same error over tasks")
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
        gap = pair.difference
        if not np.isnan(gap.low):
            level = 100 * pair.improvement.level
            size += f", {level:g} % interval {gap.low:.3g} to {gap.high:.3g}"
        return f"{self.agent} is {parts[0]} ({size}, p = {pair.adjusted:.2g})."

    @cached_property
    def pairs(self) -> ComparedPairs:
        """One row per pair."""
        gaps = [pair.difference for pair in self.compared]
        better = [pair.improvement for pair in self.compared]
        items: dict[str, Any] = {}  # Any: counts
        if any(gap.items is not None for gap in gaps):
            unknown = (np.nan,) * 4
            rows = zip(*(gap.items or unknown for gap in gaps), strict=True)
            items = dict(zip(Discordance._fields, map(list, rows), strict=True))
        return ComparedPairs(
            a=[gap.a for gap in gaps],
            b=[gap.b for gap in gaps],
            difference=[gap.value for gap in gaps],
            difference_low=[gap.low for gap in gaps],
            difference_high=[gap.high for gap in gaps],
            difference_error=[gap.error for gap in gaps],
            probability=[one.probability for one in better],
            probability_low=[one.low for one in better],
            probability_high=[one.high for one in better],
            p=[gap.p for gap in gaps],
            p_adjusted=[pair.adjusted for pair in self.compared],
            test=[gap.test for gap in gaps],
            unit=[gap.unit for gap in gaps],
            tasks=[gap.tasks for gap in gaps],
            error_paired=[gap.paired for gap in gaps],
            error_grouped=[gap.grouped for gap in gaps],
            effective_tasks=[gap.effective for gap in gaps],
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
    group: str | None = None,
) -> Comparison:
    """Compare an agent with another, or with each of some others; several tests are adjusted by Holm.

    `unit` is what another sample would vary, "runs" or "tasks": without it, runs where every cell has
    several, else tasks (`usual_unit`). Over runs, tasks are fixed; `total` defines how tasks are averaged,
    `group` the column of the groups in which tasks are drawn (`task_groups`).

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
    bootstrap = Bootstrap.of(
        results, measure, Resampling(reps, unit, "rescaled", level, group=group), total
    )
    scores, unit = bootstrap.scores, bootstrap.how.unit
    seed = seed_of(rng)
    pairs = []
    for other in others:
        gap = difference_of(scores.of(agent), scores.of(other), level, unit)
        if unit == "runs" and np.isnan(gap.runs):
            raise InputError(
                f"Some cells of {shorten(gap.a)} and {shorten(gap.b)} hold a single run, so nothing is "
                f"known about other runs. Compare them over tasks (the unit 'tasks')."
            )
        first, second = scores.of(agent), scores.of(other)
        rows_a, rows_b = shared_rows(first, second)
        x, y = first.means[rows_a], second.means[rows_b]
        read_only(x, y)
        better = improvement_of(bootstrap, agent, other, seed)
        tasks = tuple(scores.tasks[task] for task in first.tasks[rows_a].tolist())
        notes = (*better.notes, *_interval_alone(gap, level))
        pairs.append(PairedComparison(gap, better, gap.p, tasks, x, y, notes))
    adjusted = holm(np.array([pair.difference.p for pair in pairs]))
    compared = [pair._replace(adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]
    return Comparison(tuple(compared), score_unit(results, measure))


def _interval_alone(gap: Difference, level: float) -> tuple[str, ...]:
    """Say so where Newcombe's interval excludes 0 but McNemar's exact test is not significant."""
    if gap.items is None or gap.p < 1 - level or gap.low <= 0 <= gap.high:
        return ()
    return (
        f"The interval of {shorten(gap.a)} and {shorten(gap.b)} excludes 0 although the difference is not "
        f"significant (p = {gap.p:.2g}): the exact test is the stricter of the two. Go by the test.",
    )
