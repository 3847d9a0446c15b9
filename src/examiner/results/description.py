"""Description: what a table of results holds, before any analysis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, number, text
from examiner.messages import counted, listed
from examiner.results.keys import TIMES
from examiner.validation import Floats

if TYPE_CHECKING:
    from examiner.results.table import Results

Counts = NDArray[np.int64]


class MeasureRanges(Table):
    """How many rows have each measure, and the range of its values."""

    measure: tuple[str, ...] = name("Measure")
    observed: Counts = count("Rows in which the measure was observed")
    least: Floats = number("Smallest value")
    mean: Floats = number("Mean over all rows")
    median: Floats = number("Median over all rows")
    most: Floats = number("Largest value")


class AgentPlays(Table):
    """How many rows each agent has, on how many tasks, fewest first (papers/004, Table I)."""

    agent: tuple[str, ...] = name("Agent")
    plays: Counts = count("Rows in which something was observed")
    tasks: Counts = count("Tasks on which the agent was observed")
    plays_per_task: Floats = number("Plays per observed task")


class ColumnMeanings(Table):
    """How each column of the source was interpreted."""

    column: tuple[str, ...] = name("Column of the source")
    interpretation: tuple[str, ...] = text("What the column is in the results")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Description(Answer):
    """What a table of results holds: `Results.describe`.

    `runs` and `trials` are the most that any cell (agent, item) has; `missing_cells` have no
    observation. `reduction` says how runs were reduced to one value each, if they were.

    >>> from examiner.results import Results
    >>> Results.from_numpy([[1.0, 2.0]]).describe().headline
    "memory (numpy): 1 agent × 2 tasks, 2 rows; measures: 'score'."
    """

    kind = "describe"

    source: str
    format: str
    agents: int
    tasks: int
    runs: int
    trials: int
    rows: int
    missing_cells: int
    measures: tuple[str, ...]
    measure_ranges: MeasureRanges
    item: tuple[str, ...]
    attributes: tuple[str, ...]
    agent_names: tuple[str, ...]
    plays: AgentPlays
    task_names: tuple[str, ...]
    tasks_with_scale: int
    task_attributes: tuple[str, ...]
    agent_attributes: tuple[str, ...]
    column_meanings: ColumnMeanings
    training_log: bool
    reduction: str | None
    steps: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What was read, in one sentence."""
        shape = f"{counted(self.agents, 'agent')} × {counted(self.tasks, 'task')}"
        rows = f"{counted(self.rows, 'row')}; measures: {listed(self.measures)}"
        return f"{self.source} ({self.format}): {shape}, {rows}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """How columns were interpreted, the ranges of measures, and the plays of agents."""
        return {
            "column_meanings": self.column_meanings,
            "measure_ranges": self.measure_ranges,
            "plays": self.plays,
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Counts, names of columns, agents and tasks, and what was done to the table before."""
        return {field: Scalar(getattr(self, field), text) for field, text in MEANINGS.items()}


MEANINGS = {
    "source": "Where the results were read from",
    "format": "Format of the source",
    "agents": "Number of agents",
    "tasks": "Number of tasks",
    "runs": "Largest number of runs in a cell",
    "trials": "Largest number of trials in a run of a cell",
    "rows": "Number of rows",
    "missing_cells": "Cells (agent, task) without any observation",
    "measures": "Names of the measures",
    "item": "Columns that identify a task",
    "attributes": "Other columns",
    "agent_names": "Names of the agents",
    "task_names": "Names of the tasks",
    "tasks_with_scale": "Tasks with a known scale, such as random and human scores",
    "task_attributes": "Columns of attributes of tasks",
    "agent_attributes": "Columns of attributes of agents",
    "training_log": "Whether rows are evaluations or episodes during training",
    "reduction": "How each run was reduced to one value",
    "steps": "What was done to the table before",
}


def description(results: Results) -> Description:
    """Describe results: `Results.describe`.

    >>> from examiner.results import Results
    >>> description(Results.from_numpy([[1.0, 2.0]])).measure_ranges["score"].most
    2.0
    """
    unscaled = set(results.scales.aligned(results.task_names, results.measures[0]).unscaled)
    history = results.provenance
    return Description(
        source=history.source,
        format=history.format,
        **results.counts(),
        measures=results.measures,
        measure_ranges=_ranges(results),
        item=("task", *results.item),
        attributes=results.attributes,
        agent_names=results.agents,
        plays=_plays(results),
        task_names=results.tasks,
        tasks_with_scale=sum(name not in unscaled for name in results.task_names),
        task_attributes=results.task_attributes.columns,
        agent_attributes=results.agent_attributes.columns,
        column_meanings=_columns(results),
        training_log=history.training,
        reduction=history.reduction,
        steps=history.steps,
        notes=history.notes,
    )


def _columns(results: Results) -> ColumnMeanings:
    main, *others = results.measures
    names = ("agent", "task", *results.item, "run", "trial", *results.measures, *results.attributes)
    columns = results.provenance.columns or tuple((column, column) for column in names)
    meanings = {"agent": "agent", "task": "task", "run": "run", "trial": "trial"}
    meanings |= dict.fromkeys(results.attributes, "attribute")
    meanings |= dict.fromkeys(results.item, "part of the task")
    meanings |= {time: f"time, in {time}" for time in TIMES if time in results.attributes}
    meanings |= dict.fromkeys(others, "measure") | {main: "main measure"}
    if "seed" in results.attributes and "run" not in {new for _, new in columns}:
        meanings["seed"] = "run"
    return ColumnMeanings(
        column=tuple(column for column, _ in columns),
        interpretation=tuple(meanings.get(new, "left out") for _, new in columns),
    )


def _plays(results: Results) -> AgentPlays:
    observed = np.zeros(len(results), dtype=bool)
    for measure in results.measures:
        observed |= ~np.isnan(results.measure(measure))
    agents, tasks = results.agent_codes[observed].astype(np.int64), results.task_codes[observed]
    plays = np.bincount(agents, minlength=len(results.agents))
    cells = np.sort(agents * len(results.tasks) + tasks)  # much faster than np.unique's table
    cells = cells[np.diff(cells, prepend=-1) > 0]
    played = np.bincount(cells // len(results.tasks), minlength=len(results.agents))
    per_task = np.where(played > 0, plays / np.maximum(played, 1), np.nan)
    return AgentPlays(
        agent=results.agents, plays=plays, tasks=played, plays_per_task=per_task
    ).sorted_by("plays")


def _ranges(results: Results) -> MeasureRanges:
    ranges = np.array([_range(results.measure(measure)) for measure in results.measures])
    observed, least, mean, median, most = ranges.T
    return MeasureRanges(
        measure=results.measures,
        observed=observed,
        least=least,
        mean=mean,
        median=median,
        most=most,
    )


def _range(values: Floats) -> tuple[float, ...]:
    observed = values[~np.isnan(values)]
    if not len(observed):  # all that is left of a table may be what was not observed
        return (0.0, math.nan, math.nan, math.nan, math.nan)
    least, most = float(observed.min()), float(observed.max())
    unit = 2.0**64 if max(-least, most) > 1e300 else 1.0  # sums of the largest numbers overflow
    mean, median = np.mean(observed / unit) * unit, np.median(observed / unit) * unit
    return (len(observed), least, float(mean), float(median), most)
