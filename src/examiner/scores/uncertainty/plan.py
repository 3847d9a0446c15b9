"""How intervals are to be made: how many replicates, of what, in which way, at which level."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.scores.uncertainty.bootstrap import Map, Progress, replicate
from examiner.scores.uncertainty.resampling import UNITS, Block, Unit
from examiner.scores.uncertainty.strata import RunScores
from examiner.wording import InputError, unknown_name

Interval = Literal["rescaled", "percentile", "bca"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
MOST_REPS = 10_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked choice of how to resample.

    >>> Plan(unit="games")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown unit 'games'. Known: 'both', 'runs', 'tasks'.
    """

    reps: int = 2000
    unit: Unit = "runs"
    interval: Interval = "rescaled"
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise unknown_name("unit", self.unit, UNITS)
        if self.interval not in INTERVALS:
            raise unknown_name("interval", self.interval, INTERVALS)
        if not 1 <= self.reps <= MOST_REPS:
            raise InputError(
                f"{self.reps} replicates were asked for. Give 1 to {MOST_REPS:,}; 2000 is usual."
            )
        if not 0 < self.level < 1:
            raise InputError(f"The level is {self.level}. Give a number between 0 and 1, as 0.95.")

    def replicates(
        self,
        scores: RunScores,
        evaluate: Callable[[Block], NDArray[np.float64]],
        rng: np.random.Generator,
        progress: Progress | None = None,
        map: Map = builtins.map,
    ) -> NDArray[np.float64]:
        """Evaluate a statistic on as many replicates, shape [..., reps]."""
        return replicate(
            scores,
            evaluate,
            rng=rng,
            reps=self.reps,
            unit=self.unit,
            less_one=self.interval == "rescaled",
            progress=progress,
            map=map,
        )


def uncorrected_plan(refusal: str, reps: int, unit: Unit, interval: Interval, level: float) -> Plan:
    """Return a plan for what has no 'bca' interval, or refuse one in the caller's words.

    >>> uncorrected_plan("No 'bca' here.", 100, "runs", "percentile", 0.9).reps
    100
    """
    if interval == "bca":
        raise InputError(f"{refusal} Use 'rescaled' or 'percentile'.")
    return Plan(reps, unit, interval, level)


def no_interval(scores: RunScores, unit: Unit) -> str | None:
    """Say why there can be no interval at all, or nothing where there can be one.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> no_interval(run_scores(Results.from_numpy([[1.0, 2.0]])), "runs")[:35]
    'There is one run in every cell: how'
    """
    if not scores.most_runs:
        return "No agent has any score, and there is nothing to resample."
    if unit == "tasks" and len(scores.tasks) < 2:
        return (
            "There is one task: how much another choice of tasks would change cannot be told, and no "
            "interval is given. The unit 'runs' asks for another set of runs instead."
        )
    if unit == "runs" and scores.most_runs < 2:
        return (
            "There is one run in every cell: how much another run would change cannot be told, and no "
            "interval is given. The unit 'tasks' gives one for another choice of tasks."
        )
    if unit == "both" and (scores.most_runs < 2 or len(scores.tasks) < 2):
        return (
            "Runs and tasks cannot both be resampled where there is one run in every cell, or one "
            "task, and no interval is given. Use the unit of which there are several."
        )
    return None
