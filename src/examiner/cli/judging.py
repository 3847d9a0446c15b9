"""How `select` and `compare` hold agents out: in which folds, on which processes, and for how long."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from examiner.cli.progress import ProgressCallback, clock
from examiner.wording import InputError, shorten

if TYPE_CHECKING:
    from examiner.selection import Benchmark

REPEATS, FEWER_REPEATS = 5, 2
"""How often pairs of agents are held out in five folds beside the proof; less often in large tables."""
FEWER_FOLDS = 10
MOST_AGENTS, MOST_CELLS = 100, 5_000
"""Up to so many agents, and agents · tasks, the proof leaves one out at a time."""
LONG_SECONDS = 20.0
"""Work from here on is announced."""
WORTH_PROCESSES_SECONDS = 10.0
"""Work from here on is given to several processes, which take a second or two to start."""
_MOST_DIGITS = 6


class Folds(NamedTuple):
    """In which folds agents are held out, how often pairs of them are beside, and why, if not as usual."""

    folds: Literal["loo"] | int
    repeats: int = REPEATS
    note: str | None = None


def folds_named(text: str) -> Folds:
    """Read 'loo' or a number of folds from an option.

    >>> folds_named("loo").folds, folds_named("5").folds
    ('loo', 5)
    """
    if text == "loo":
        return Folds("loo")
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 2:
        raise InputError(f"The folds are {shorten(text)}. Say 'loo', or a number of 2 or more.")
    return Folds(int(text))


def folds_of_proof(text: str | None, material: Benchmark) -> Folds:
    """Leave one out of small tables and make ten folds of large ones, unless an option says which.

    Ten folds choose on nine tenths of the agents, a few less than there are: errors come out, if
    anything, too large.
    """
    if text is not None:
        return folds_named(text)
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
    material: Benchmark, size: int, folds: Folds, methods: Sequence[str] | None
) -> float:
    """About how many processor seconds judging takes: to be told before long work, and no more exact.

    At each step regression scans agents · tasks numbers for ten penalties and the information methods
    agents² · tasks; others do less. A fold chooses once, and five times in folds inside it.
    """
    from examiner.selection.greedy import MOST_EXCHANGED
    from examiner.selection.holdout import PAIR_FOLDS

    agents, tasks = material.values.shape
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
    named = [one.replace("-", "_") for one in methods or ["best_of"]]
    searched = work if "best_of" in named else named
    each = 5e-7 * agents * tasks + sum(work.get(one, 0.0) for one in searched)
    count = len(set(material.families)) if folds.folds == "loo" else folds.folds
    seconds: float = (count + PAIR_FOLDS * folds.repeats) * 6 * each
    return seconds


def judging(
    workers: int | None, seconds: float, hint: str, progress: ProgressCallback
) -> dict[str, Any]:  # Any: options of `compare_selections`
    """Say how folds are judged: here, or on local processes where that pays; answers are the same.

    Work that takes long is announced on standard error, with a hint at what takes less.
    """
    here = workers == 1 or (workers is None and seconds < WORTH_PROCESSES_SECONDS)
    processes = 1 if here else workers or os.cpu_count() or 1
    if seconds >= LONG_SECONDS:
        on = "" if processes == 1 else f" on {processes} processes"
        sys.stderr.write(
            f"Judging on held-out agents will take about {clock(seconds / processes)}{on}, if they are "
            f"free. {hint}\n"
        )
        sys.stderr.flush()
    if here:
        return {"map": builtins.map, "progress": progress}
    from examiner.workers import map_processes

    return {
        "map": partial(map_processes, processes=workers, progress=progress, stage="judging folds")
    }
