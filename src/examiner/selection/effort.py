"""Effort: in which folds a choice is proved, and about how long judging it on held-out agents takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from examiner.selection.benchmark import Benchmark
from examiner.selection.greedy import MOST_EXCHANGED
from examiner.selection.proof.holdout import PAIR_FOLDS

REPEATS, FEWER_REPEATS = 5, 2
"""How often pairs of agents are held out in five folds beside the proof; less often in large tables."""
FEWER_FOLDS = 10
MOST_AGENTS, MOST_CELLS = 100, 5_000
"""Up to so many agents, and agents · tasks, the proof leaves one out at a time."""


class Folds(NamedTuple):
    """In which folds agents are held out, how often pairs of them are beside, and why, if not as usual."""

    folds: Literal["loo"] | int
    repeats: int = REPEATS
    note: str | None = None


def folds_of_proof(material: Benchmark) -> Folds:
    """Leave one out of small tables, and make ten folds of large ones.

    Ten folds choose on nine tenths of the agents, a few less than there are: errors come out, if
    anything, too large.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> folds_of_proof(benchmark(Results.from_numpy(np.eye(8, 6)))).folds
    'loo'
    """
    agents, tasks = material.values.shape
    small = agents <= MOST_AGENTS and agents * tasks <= MOST_CELLS
    if small or len(set(material.families)) <= FEWER_FOLDS:
        return Folds("loo")
    note = (
        f"Judged in {FEWER_FOLDS} folds, since {agents:,} agents × {tasks:,} tasks are many; "
        f"`--folds loo` leaves out one at a time, which takes longer."
    )
    return Folds(FEWER_FOLDS, FEWER_REPEATS, note)


def expected_seconds(
    material: Benchmark,
    size: int | None,
    folds: Folds | None = None,
    methods: Sequence[str] | None = None,
) -> float:
    """About how many processor seconds judging takes: to be told before long work, and no more exact.

    At each step regression scans agents · tasks numbers for ten penalties and the information methods
    agents² · tasks; others do less. A fold chooses once, and five times in folds inside it. Without a
    size, as many tasks are reckoned with as the budget buys at the mean cost.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> expected_seconds(benchmark(Results.from_numpy(np.eye(8, 6))), 2) < 1
    True
    """
    agents, tasks = material.values.shape
    terms = material.terms
    if size is None:
        assert terms.budget is not None, "without a size there is a budget"
        size = 1 + int(min(terms.budget / terms.cost.mean(), len(material.tasks) - 1))
    how = folds_of_proof(material) if folds is None else folds
    steps = 2 * size + (size * (size + 1) / 2 if tasks <= MOST_EXCHANGED else 0)
    fitting = 5e-6 * agents * tasks
    work = {
        "regression": 1.7e-7 * agents * tasks * steps,
        "information_swap": 1.7e-9 * agents**2 * tasks * steps,
        "information_gain": 3e-9 * agents**2 * tasks * size,
        "fisher": fitting,
        "discrimination": fitting,
        "anchors": 4e-9 * tasks**2 * steps,
    }
    named = [name.replace("-", "_") for name in methods or ["best_of"]]
    searched = work if "best_of" in named else named
    each = 5e-7 * agents * tasks + sum(work.get(name, 0.0) for name in searched)
    count = len(set(material.families)) if how.folds == "loo" else how.folds
    seconds: float = (count + PAIR_FOLDS * how.repeats) * 6 * each
    return seconds
