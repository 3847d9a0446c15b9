"""One agent against others, pair by pair: difference, improvement, a test over tasks, and each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, count, error, name, number, text
from examiner.messages import InputError, joined, shorten
from examiner.results import Results, reads_results
from examiner.scores.bootstrap import Bootstrap, ByResampling, Resampling
from examiner.scores.comparable import OwnFunction
from examiner.scores.differences import Difference, Discordance, difference_of
from examiner.scores.improvement import improvement_of
from examiner.scores.normalise import comparable_runs, score_unit
from examiner.scores.runs import Pair, Unit
from examiner.scores.significance import LEVEL, holm
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, seed_of

NOT_DIFFERENT = "not significantly different from"


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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Comparison(ByResampling):
    """An agent compared with each of some others: `compare`."""

    kind = "compare"

    pairs: ComparedPairs
    tasks: ComparedTasks

    @property
    def headline(self) -> str:
        """Whether the agent is significantly better or worse than each other."""
        verdicts: dict[str, list[str]] = {}
        for pair in self.pairs:
            ahead = "better" if pair.difference > 0 else "worse"
            significant = pair.p_adjusted < LEVEL
            word = f"significantly {ahead} than" if significant else NOT_DIFFERENT
            verdicts.setdefault(word, []).append(pair.b)
        parts = [f"{word} {joined(names)}" for word, names in verdicts.items()]
        pair = self.pairs[0]
        if len(self.pairs) > 1:
            return f"{pair.a} is {'; '.join(parts)}."
        size = f"difference {pair.difference:.3g}"
        if not np.isnan(pair.difference_low):
            ends = f"{pair.difference_low:.3g} to {pair.difference_high:.3g}"
            size += f", {100 * self.level:g} % interval {ends}"
        return f"{pair.a} is {parts[0]} ({size}, p = {pair.p_adjusted:.2g})."


@reads_results
def compare(
    results: Results,
    agent: str,
    others: str | Sequence[str],
    *,
    rng: Randomness = 0,
    level: float = 0.95,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
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
    results = comparable_runs(results, normalise, measure)
    bootstrap = Bootstrap.of(
        results, measure, Resampling(reps, unit, "rescaled", level, group=group), total
    )
    scores, unit, seed = bootstrap.scores, bootstrap.how.unit, seed_of(rng)
    gaps = [difference_of(scores.of(agent), scores.of(other), level, unit) for other in others]
    adjusted = holm(np.array([gap.p for gap in gaps]))
    items = any(gap.items is not None for gap in gaps)
    pairs: list[dict[str, Any]] = []  # Any: as the columns declare
    tasks: list[dict[str, Any]] = []
    notes: list[str] = []
    for gap, p in zip(gaps, adjusted.tolist(), strict=True):
        if unit == "runs" and np.isnan(gap.error_of_runs):
            raise InputError(
                f"Some cells of {shorten(gap.a)} and {shorten(gap.b)} hold a single run, so nothing is "
                f"known about other runs. Compare them over tasks (the unit 'tasks')."
            )
        better = improvement_of(bootstrap, gap.a, gap.b, seed)
        values: dict[str, Any] = gap._asdict() | {"p_adjusted": p}
        values |= {
            "probability": better.probability,
            "probability_low": better.low,
            "probability_high": better.high,
        }
        if items:
            values |= (
                gap.items._asdict() if gap.items else dict.fromkeys(Discordance._fields, np.nan)
            )
        pairs.append({name: values[name] for name in ComparedPairs.declared if name in values})
        x, y = Pair.of(scores.of(gap.a), scores.of(gap.b)).means
        tasks += [
            {
                "b": gap.b,
                "task": better.tasks.task[row],
                "mean_a": x[row],
                "mean_b": y[row],
                "difference": x[row] - y[row],
                "probability": better.tasks.probability[row],
            }
            for row in np.argsort(y - x, kind="stable").tolist()
        ]
        notes += [*better.notes, *_interval_alone(gap, level)]
    unit_of_scores = score_unit(results, measure)
    caption = f"{agent} less each other"
    return Comparison(
        pairs=ComparedPairs.from_rows(
            pairs, level=level, score_unit=unit_of_scores, caption=caption
        ),
        tasks=ComparedTasks.from_rows(tasks, score_unit=unit_of_scores),
        how=bootstrap.how,
        seed=seed,
        notes=tuple(dict.fromkeys(notes)),
    )


def _interval_alone(gap: Difference, level: float) -> tuple[str, ...]:
    """Say so where Newcombe's interval excludes 0 but McNemar's exact test is not significant."""
    if gap.items is None or gap.p < 1 - level or gap.difference_low <= 0 <= gap.difference_high:
        return ()
    return (
        f"The interval of {shorten(gap.a)} and {shorten(gap.b)} excludes 0 although the difference is not "
        f"significant (p = {gap.p:.2g}): the exact test is the stricter of the two. Go by the test.",
    )
