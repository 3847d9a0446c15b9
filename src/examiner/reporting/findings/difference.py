"""Agents compared in pairs: by how much one is ahead, how surely, and on which tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.messages import counted
from examiner.reporting.finding import Finding, Piece, ShownTable, Text, shown_table
from examiner.reporting.prose import Name, Prose, three_digits
from examiner.scores import (
    LEVEL,
    MCNEMAR,
    T_OF_RUNS,
    T_OVER_GROUPS,
    T_OVER_TASKS,
    Comparison,
    PairedComparison,
)

SHOWN = (
    "b",
    "difference",
    "difference_low",
    "difference_high",
    "probability",
    "p_adjusted",
    "tasks",
)
_ASSUMED = {
    MCNEMAR: (
        "McNemar's exact test compares the items that one of the two alone solved; it assumes that items "
        "are independent of each other."
    ),
    T_OVER_TASKS: (
        "The test and the interval are Student's t of the mean difference over tasks; they assume that "
        "tasks are independent of each other, and enough for their mean to be nearly normal."
    ),
    T_OVER_GROUPS: (
        "The test and the interval are Student's t of the mean difference over groups of tasks (CR2, with "
        "Bell and McCaffrey's degrees of freedom); they assume that groups are independent of each other."
    ),
    T_OF_RUNS: (
        "The test and the interval are Welch's t of the mean difference over runs, with these tasks held "
        "fixed; they assume that runs are independent of each other. `--unit tasks` gives those over "
        "other tasks."
    ),
}
_METHODS = {
    MCNEMAR: "by Newcombe's method for pairs",
    T_OVER_TASKS: "by Student's t over common tasks",
    T_OVER_GROUPS: "by Student's t over groups of common tasks",
    T_OF_RUNS: "by Welch's t over runs of the common tasks",
}


def render_comparison(made: Comparison, *, seed: int = 0) -> Finding:
    """Show differences with their intervals, tests with what they assume, and every common task.

    >>> from examiner.results import Results
    >>> from examiner.scores import compare
    >>> from examiner.reporting.prose import said
    >>> results = Results.from_numpy([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0]], agents=["new", "old"])
    >>> said(render_comparison(compare(results, "new", "old")).lead)[:44]
    'new is ahead of old by 0.778 (95 % interval '
    """
    compared, first = made.compared, made.compared[0]
    how = first.improvement.how
    adjusted = " p is adjusted by Holm for all pairs." if len(compared) > 1 else ""
    tests = [_ASSUMED[name] for name in dict.fromkeys(pair.difference.test for pair in compared)]
    blocks: list[Piece] = [shown_table(made.pairs, SHOWN)]
    blocks += [Text(" ".join(tests) + adjusted), Text(_power(first))]
    blocks += [_tasks(made, pair) for pair in compared]
    about = (
        f"{_level(first)} intervals, of differences {_METHODS[first.difference.test]}, of `beats` by "
        f"{how.reps:,} resamples of {how.unit}, seed {seed}"
    )
    return Finding(
        lead=_lead(compared),
        blocks=tuple(blocks),
        about=about,
        answer=made,
    )


def _level(pair: PairedComparison) -> str:
    return f"{100 * pair.improvement.how.level:g} %"


def _lead(made: Sequence[PairedComparison]) -> Prose:
    parts: list[str | Name] = []
    for pair in made:
        gap = pair.difference
        ahead, behind = (gap.a, gap.b) if gap.value >= 0 else (gap.b, gap.a)
        ends = sorted((abs(gap.low), abs(gap.high))) if gap.low * gap.high > 0 else None
        size = three_digits(abs(gap.value))
        told = (
            f"{three_digits(ends[0])} to {three_digits(ends[1])}"
            if ends
            else f"{three_digits(gap.low)} to {three_digits(gap.high)} for {gap.a} less {gap.b}"
        )
        if np.isnan(gap.low):
            told = "not known"
        if gap.value == 0:
            parts += ["" if not parts else " ", Name(gap.a), " and ", Name(gap.b)]
            parts.append(
                f" are level on average, within {three_digits(gap.high)} ({_level(pair)} interval)."
            )
            continue
        p = f"p = {pair.adjusted:.2g}{'' if pair.adjusted < LEVEL else ': not significant'}"
        if np.isnan(pair.adjusted):
            p = "and with one common task and one run no test is possible"
        parts += ["" if not parts else " ", Name(ahead), " is ahead of ", Name(behind)]
        parts.append(f" by {size} ({_level(pair)} interval {told}), {p}.")
    return tuple(parts)


def _power(pair: PairedComparison) -> str:
    gap = pair.difference
    if np.isnan(gap.detectable):
        return "With one common task nothing can be said about what these data could have shown."
    fixed = (
        ""
        if np.isnan(gap.detectable_fixed)
        else f", with these tasks held fixed {three_digits(gap.detectable_fixed)}"
    )
    return (
        f"The smallest true difference whose interval over tasks like these would exclude 0 four times in "
        f"five is {three_digits(gap.detectable)}{fixed}."
    )


def _tasks(made: Comparison, pair: PairedComparison) -> ShownTable:
    """Every task, from where the first is furthest ahead; of zeros and ones, the tasks that differ."""
    gap, table = pair.difference, made.tasks
    rows = [row for row, other in enumerate(table.b) if other == gap.b]
    columns = ["task", "mean_a", "mean_b", "difference", "probability"]
    caption = f"{gap.a} (a) and {gap.b} (b), task by task"
    if gap.items is not None:
        both, only_a, only_b, neither = gap.items
        rows, columns = [row for row in rows if table.difference[row]], columns[:-1]
        caption = (
            f"Items that one of {gap.a} (a) and {gap.b} (b) alone solved: a {only_a:,}, b {only_b:,}; both "
            f"{both:,}, neither {neither:,}, of {counted(sum(gap.items), 'item')}"
        )
    return shown_table(table.take(rows), columns, caption)
