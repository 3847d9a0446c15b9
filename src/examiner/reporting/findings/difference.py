"""Agents compared in pairs: by how much one is ahead, how surely, and on which tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from examiner.messages import counted
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Name, Prose, three_digits
from examiner.reporting.table import Column, Piece, Record, Table
from examiner.scores import PairedComparison
from examiner.scores.pairs import MCNEMAR, T_OF_RUNS, T_OVER_TASKS
from examiner.scores.significance import LEVEL

_ASSUMED = {
    MCNEMAR: (
        "McNemar's exact test compares the items that one of the two alone solved; it assumes that items "
        "are independent of each other."
    ),
    T_OVER_TASKS: (
        "The test and the interval are Student's t of the mean difference over tasks; they assume that "
        "tasks are independent of each other, and enough for their mean to be nearly normal."
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
    T_OF_RUNS: "by Welch's t over runs of the common tasks",
}


def tell(made: Sequence[PairedComparison], *, seed: int = 0) -> Finding:
    """Tell differences with their intervals, tests with what they assume, and every common task.

    >>> from examiner.results import Results
    >>> from examiner.scores import compare_pairs
    >>> from examiner.reporting.prose import said
    >>> results = Results.from_numpy([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0]], agents=["new", "old"])
    >>> said(tell(compare_pairs(results, "new", ["old"], rng=0)).lead)[:44]
    'new is ahead of old by 0.778 (95 % interval '
    """
    first = made[0]
    how = first.improvement.how
    corrected = " p is corrected by Holm for all pairs." if len(made) > 1 else ""
    tests = [_ASSUMED[name] for name in dict.fromkeys(pair.test for pair in made)]
    told = [_record(pair) for pair in made]
    pairs = _pairs(told, f"{first.difference.a} less each other")
    blocks: list[Piece] = [pairs, Text(" ".join(tests) + corrected), Text(_power(first))]
    blocks += [_tasks(pair, row["by_task"]) for pair, row in zip(made, told, strict=True)]
    about = (
        f"{_level(first)} intervals, of differences {_METHODS[first.test]}, of `beats` by {how.reps:,} "
        f"resamples of {how.unit}, seed {seed}"
    )
    data: Record = {"pairs": told, "level": how.level}
    return Finding(lead=_lead(made), blocks=tuple(blocks), data=data, about=about)


def _level(pair: PairedComparison) -> str:
    return f"{100 * pair.improvement.how.level:g} %"


def _lead(made: Sequence[PairedComparison]) -> Prose:
    parts: list[str | Name] = []
    for pair in made:
        gap = pair.difference
        ahead, behind = (gap.a, gap.b) if gap.value >= 0 else (gap.b, gap.a)
        ends = sorted((abs(pair.low), abs(pair.high))) if pair.low * pair.high > 0 else None
        size = three_digits(abs(gap.value))
        told = (
            f"{three_digits(ends[0])} to {three_digits(ends[1])}"
            if ends
            else f"{three_digits(pair.low)} to {three_digits(pair.high)} for {gap.a} less {gap.b}"
        )
        if np.isnan(pair.low):
            told = "not known"
        if gap.value == 0:
            parts += ["" if not parts else " ", Name(gap.a), " and ", Name(gap.b)]
            parts.append(
                f" are level on average, within {three_digits(pair.high)} ({_level(pair)} interval)."
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


def _pairs(rows: Sequence[Record], caption: str) -> Table:
    columns = (
        Column("against", "name", key="b"),
        Column("difference", "number", "mean over common tasks"),
        *(Column("low", "number"), Column("high", "number")),
        Column("beats", "number", "probability that a run beats one of the other", "probability"),
        Column("p", "number", "after Holm where several are compared", "p_corrected"),
        Column("tasks", "count", "that both have"),
    )
    records = [
        {name: row[name] for name in row if name not in ("items", "by_task")} for row in rows
    ]
    return replace(Table.of(rows, columns, caption), records=tuple(records))


def _record(pair: PairedComparison) -> Record:
    gap, better = pair.difference, pair.improvement
    return {
        "a": gap.a,
        "b": gap.b,
        "difference": gap.value,
        "low": pair.low,
        "high": pair.high,
        "error_paired": gap.paired,
        "error_clustered": gap.clustered,
        "error_of_runs": gap.runs,
        "probability": better.probability,
        "probability_low": better.low,
        "probability_high": better.high,
        "unit": gap.unit,
        "test": pair.test,
        "p": pair.p,
        "p_corrected": pair.adjusted,
        "detectable": gap.detectable,
        "detectable_with_tasks_fixed": gap.detectable_fixed,
        "tasks": gap.tasks,
        "items": None if pair.items is None else pair.items._asdict(),
        "by_task": _by_task(pair),
    }


def _by_task(pair: PairedComparison) -> list[Record]:
    gaps = pair.mean_a - pair.mean_b
    order = np.argsort(-gaps, kind="stable").tolist()
    beats = dict(
        zip(pair.improvement.tasks.task, pair.improvement.tasks.probability.tolist(), strict=True)
    )
    return [
        {
            "task": pair.tasks[task],
            "a": float(pair.mean_a[task]),
            "b": float(pair.mean_b[task]),
            "difference": float(gaps[task]),
            "a beats b": beats.get(pair.tasks[task], float("nan")),
        }
        for task in order
    ]


def _tasks(pair: PairedComparison, rows: list[Record]) -> Table:
    """Every task, from where the first is furthest ahead; of zeros and ones, the items that differ."""
    gap = pair.difference
    caption = f"{gap.a} (a) and {gap.b} (b), task by task"
    if pair.items is not None:
        both, only_a, only_b, neither = pair.items
        rows = [row for row in rows if row["difference"]]
        caption = (
            f"Items that one of {gap.a} (a) and {gap.b} (b) alone solved: a {only_a:,}, b {only_b:,}; both "
            f"{both:,}, neither {neither:,}, of {counted(sum(pair.items), 'item')}"
        )
    names = (
        ("a", "b", "difference")
        if pair.items is not None
        else ("a", "b", "difference", "a beats b")
    )
    columns = (Column("task", "name"), *(Column(name, "number") for name in names))
    return Table.of(rows, columns, caption)
