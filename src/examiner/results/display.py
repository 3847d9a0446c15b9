"""How tables show themselves: what is in them, and as plain HTML with every name escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.messages import counted
from examiner.results.codes import Codes, above, count_distinct
from examiner.validation import to_record

if TYPE_CHECKING:
    from examiner.results.table import Results

_STYLE = "text-align:left;overflow-wrap:anywhere;max-width:24em;padding:.15em .6em"
_LONGEST_CELL = 200  # letters; a name may be a whole question
_SHOWN = 12
"""Rows that fit beside what a notebook says of them."""


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
    said = "".join(f"<li>{escape(note)}</li>" for note in notes)
    head = "".join(f'<th style="{_STYLE}"><bdi>{_cell(name)}</bdi></th>' for name in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_STYLE}"><bdi>{_cell(cell)}</bdi></td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    rest = f"<p>… and {more:,} more rows</p>" if more > 0 else ""
    return (
        f"<div><p><strong>{escape(caption)}</strong></p>"
        + (f"<ul>{said}</ul>" if said else "")
        + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
    )


def html_columns(
    caption: str, columns: Mapping[str, Iterable[object]], notes: Sequence[str] = ()
) -> str:
    """Return an HTML table of columns, its first rows only.

    >>> "… and 8 more rows" in html_columns("x", {"task": [f"t{n}" for n in range(20)]})
    True
    """
    rows = list(zip(*columns.values(), strict=True))
    return html_table(caption, list(columns), rows[:_SHOWN], notes, more=len(rows) - _SHOWN)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…")


@dataclass(frozen=True, slots=True)
class MeasureRange:
    """How many rows have a measure, and what lies between the least and the most of it."""

    measure: str
    observed: int
    least: float
    mean: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class AgentPlays:
    """How many rows an agent has in which something was observed, on how many tasks."""

    agent: str
    plays: int
    tasks: int
    plays_a_task: float


@dataclass(frozen=True, slots=True, repr=False)
class Description:
    """What a table of results holds, before anything is made of it.

    `runs` and `trials` are the most that any cell (agent, item) has; `missing_cells` have no
    observation. `plays` tells of each agent what papers/004, Table I, does. `reduction` says how runs were
    reduced to one value each, if they were.

    >>> from examiner.results import Results
    >>> Results.from_numpy([[1.0, 2.0]]).describe()
    Description: 1 agent × 2 tasks, 2 rows; measures: score
    """

    source: str
    format: str
    agents: int
    tasks: int
    runs: int
    trials: int
    rows: int
    missing_cells: int
    measures: tuple[str, ...]
    measure_ranges: tuple[MeasureRange, ...]
    item: tuple[str, ...]
    attributes: tuple[str, ...]
    agent_names: tuple[str, ...]
    plays: tuple[AgentPlays, ...]
    task_names: tuple[str, ...]
    tasks_with_scale: int
    task_attributes: tuple[str, ...]
    agent_attributes: tuple[str, ...]
    training_log: bool
    reduction: str | None
    steps: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return everything as plain values, for JSON; notes are called warnings there.

        >>> from examiner.results import Results
        >>> Results.from_numpy([[1.0, 2.0]]).describe().to_dict()["missing_cells"]
        0
        """
        record: dict[str, Any] = to_record(self)
        record["warnings"] = record.pop("notes")
        return record

    def __repr__(self) -> str:
        return (
            f"Description: {counted(self.agents, 'agent')} × {counted(self.tasks, 'task')}, "
            f"{counted(self.rows, 'row')}; measures: {', '.join(self.measures)}"
        )

    def _repr_html_(self) -> str:
        header = [field.name for field in fields(MeasureRange)]
        rows = [[getattr(row, name) for name in header] for row in self.measure_ranges]
        return html_table(repr(self), header, rows, self.notes)


def description(results: Results) -> Description:
    """Describe results: `Results.describe`.

    >>> from examiner.results import Results
    >>> description(Results.from_numpy([[1.0, 2.0]])).measure_ranges[0].most
    2.0
    """
    unscaled = set(results.scales.aligned(results.task_names, results.measures[0]).unscaled)
    history = results.provenance
    return Description(
        source=history.source,
        format=history.format,
        **results.counts(),
        measures=results.measures,
        measure_ranges=tuple(_range(name, results.measure(name)) for name in results.measures),
        item=("task", *results.item),
        attributes=results.attributes,
        agent_names=results.agents,
        plays=_plays(results),
        task_names=results.tasks,
        tasks_with_scale=sum(name not in unscaled for name in results.task_names),
        task_attributes=results.task_attributes.columns,
        agent_attributes=results.agent_attributes.columns,
        training_log=history.training,
        reduction=history.reduction,
        steps=history.steps,
        notes=history.notes,
    )


def _plays(results: Results) -> tuple[AgentPlays, ...]:
    seen = np.zeros(len(results), dtype=bool)
    for name in results.measures:
        seen |= ~np.isnan(results.measure(name))
    agents, tasks = results.agent_codes[seen].astype(np.int64), results.task_codes[seen]
    plays = np.bincount(agents, minlength=len(results.agents))
    cells = np.sort(agents * len(results.tasks) + tasks)  # much faster than np.unique's table
    cells = cells[np.diff(cells, prepend=-1) > 0]
    played = np.bincount(cells // len(results.tasks), minlength=len(results.agents))
    rows = zip(results.agents, plays.tolist(), played.tolist(), strict=True)
    return tuple(
        AgentPlays(name, count, on, count / on if on else math.nan) for name, count, on in rows
    )


def _range(name: str, values: NDArray[np.float64]) -> MeasureRange:
    seen = values[~np.isnan(values)]
    if not len(seen):  # all that is left of a table may be what was not observed
        return MeasureRange(name, 0, math.nan, math.nan, math.nan, math.nan)
    least, most = float(seen.min()), float(seen.max())
    unit = 2.0**64 if max(-least, most) > 1e300 else 1.0  # sums of the largest numbers are none
    mean, median = np.mean(seen / unit) * unit, np.median(seen / unit) * unit
    return MeasureRange(name, len(seen), least, float(mean), float(median), most)


def count_table(
    frame: pl.DataFrame, task_codes: Codes, shape: tuple[int, int], observed: NDArray[np.bool_]
) -> dict[str, int]:
    """Count a table of `shape` [agents, tasks] whose rows were `observed`, or not.

    >>> frame = pl.DataFrame({"agent": ["a"], "run": [0], "trial": [0]}, schema_overrides={
    ...     "agent": pl.Enum(["a"])})
    >>> count_table(frame, np.array([0]), (1, 2), np.array([True]))["missing_cells"]
    1
    """
    size = shape[0] * shape[1]
    kind: type[np.signedinteger] = np.int32 if size < 2**31 else np.int64
    cells: NDArray[np.integer] = frame["agent"].to_physical().to_numpy().astype(kind)
    np.multiply(cells, shape[1], out=cells)
    np.add(cells, task_codes, out=cells, casting="unsafe")
    filled = count_distinct(cells if observed.all() else cells[observed], size)
    runs = _most_of_a_cell(cells, frame["run"])
    return {
        "agents": shape[0],
        "tasks": shape[1],
        "runs": runs,
        "trials": _most_of_a_run(cells, frame)
        if runs > 1
        else _most_of_a_cell(cells, frame["trial"]),
        "rows": len(frame),
        "missing_cells": size - filled,
    }


def _most_of_a_run(cells: NDArray[np.integer], frame: pl.DataFrame) -> int:
    """The most different trials of a run of a cell."""
    run, trial = frame["run"].to_physical(), frame["trial"].to_physical()
    if run.dtype == trial.dtype and run.equals(trial):
        return 1  # each trial is a run of its own, as many tables have it
    of_runs = pl.DataFrame({"cell": cells, "run": run}).select(
        pl.struct("cell", "run").rank("dense")
    )
    return _most_of_a_cell(of_runs.to_series().to_numpy(), trial)


def _most_of_a_cell(cells: NDArray[np.integer], labels: pl.Series) -> int:
    """The most different labels of a cell, which are found by sorting both together."""
    labels = labels.to_physical()
    low, high = int(labels.min()), int(labels.max())  # type: ignore[arg-type]
    span = high - low + 1
    if span == 1:
        return 1
    if span > 2**62 // (int(cells.max(initial=0)) + 1):  # labels far apart, such as seeds
        return _most_of_a_cell(cells, labels.rank("dense"))
    keys = cells.astype(np.int64) * span
    keys += above(labels.to_numpy(), low)
    if not (keys[1:] >= keys[:-1]).all():
        keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])] // span
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return int(np.diff(begins, append=len(keys)).max())
