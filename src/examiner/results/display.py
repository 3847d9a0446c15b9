"""How tables show themselves: what is in them, and as plain HTML with every name escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import Codes, above, count_distinct

_STYLE = "text-align:left;overflow-wrap:anywhere;max-width:24em;padding:.15em .6em"
_LONGEST_CELL = 200  # letters; a name may be a whole question


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
    return escape(text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…")


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
