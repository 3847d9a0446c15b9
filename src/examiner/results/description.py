"""What a table of results holds, before any analysis; and tables as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number, scalar, text
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

    source: str = field(metadata=scalar("Where the results were read from"))
    format: str = field(metadata=scalar("Format of the source"))
    agents: int = field(metadata=scalar("Number of agents"))
    tasks: int = field(metadata=scalar("Number of tasks"))
    runs: int = field(metadata=scalar("Largest number of runs in a cell"))
    trials: int = field(metadata=scalar("Largest number of trials in a run of a cell"))
    rows: int = field(metadata=scalar("Number of rows"))
    missing_cells: int = field(metadata=scalar("Cells (agent, task) without any observation"))
    measures: tuple[str, ...] = field(metadata=scalar("Names of the measures"))
    item: tuple[str, ...] = field(metadata=scalar("Columns that identify a task"))
    attributes: tuple[str, ...] = field(metadata=scalar("Other columns"))
    agent_names: tuple[str, ...] = field(metadata=scalar("Names of the agents"))
    task_names: tuple[str, ...] = field(metadata=scalar("Names of the tasks"))
    tasks_with_scale: int = field(
        metadata=scalar("Tasks with a known scale, such as random and human scores")
    )
    task_attributes: tuple[str, ...] = field(metadata=scalar("Columns of attributes of tasks"))
    agent_attributes: tuple[str, ...] = field(metadata=scalar("Columns of attributes of agents"))
    training_log: bool = field(
        metadata=scalar("Whether rows are evaluations or episodes during training")
    )
    reduction: str | None = field(metadata=scalar("How each run was reduced to one value"))
    steps: tuple[str, ...] = field(metadata=scalar("What was done to the table before"))
    column_meanings: ColumnMeanings
    measure_ranges: MeasureRanges
    plays: AgentPlays
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What was read, in one sentence."""
        shape = f"{counted(self.agents, 'agent')} × {counted(self.tasks, 'task')}"
        rows = f"{counted(self.rows, 'row')}; measures: {listed(self.measures)}"
        return f"{self.source} ({self.format}): {shape}, {rows}."


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


_STYLE = "text-align:left;overflow-wrap:anywhere;max-width:24em;padding:.15em .6em"


def html_table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    notes: Sequence[str] = (),
    *,
    more: int = 0,
) -> str:
    """Return an HTML table with a caption, the notes above it and the number of rows not shown.

    >>> "&lt;script&gt;" in html_table("x", ["agent"], [["<script>"]])
    True
    """
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    head = "".join(f'<th style="{_STYLE}"><bdi>{_cell(name)}</bdi></th>' for name in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_STYLE}"><bdi>{_cell(cell)}</bdi></td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    more_rows = f"<p>… and {more:,} more rows</p>" if more > 0 else ""
    return (
        f"<div><p><strong>{escape(caption)}</strong></p>"
        + (f"<ul>{items}</ul>" if items else "")
        + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more_rows}</div>"
    )


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    # A name may be a whole question.
    return escape(text if len(text) <= 200 else text[:199] + "…")
