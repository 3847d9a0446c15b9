"""How tables show themselves: what is in them, and as plain HTML with every name escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import Codes

_STYLE = "text-align:left;overflow-wrap:anywhere;max-width:24em;padding:.15em .6em"
_LONGEST_CELL = 200


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
    cells = frame["agent"].to_physical().to_numpy().astype(np.int64) * shape[1] + task_codes
    columns = {"cell": cells, "run": frame["run"], "trial": frame["trial"]}
    per_cell = pl.DataFrame(columns).group_by("cell").agg(pl.col("run", "trial").n_unique())
    filled = np.zeros(shape[0] * shape[1], dtype=bool)
    filled[cells[observed]] = True
    return {
        "agents": shape[0],
        "tasks": shape[1],
        "runs": int(per_cell["run"].max()),  # type: ignore[arg-type]
        "trials": int(per_cell["trial"].max()),  # type: ignore[arg-type]
        "rows": len(frame),
        "missing_cells": int(len(filled) - filled.sum()),
    }
