"""The wide table: one row per agent, one column per task, the mean of each cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from examiner.results.codes import run_mean_table
from examiner.results.storage import write_frame
from examiner.results.table import Results


def wide(results: Results, path: str | Path, *, for_spreadsheets: bool = False) -> Path:
    """Write the first measure with agents as rows; trials are averaged within runs, then runs.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> wide(Results.from_numpy([[[1.0, 2.0]]], ["a"], ["pong"]), path).read_text()
    'agent,pong\\na,1.5\\n'
    """
    runs = run_mean_table(results)
    cells = runs.group_by("agent", "task").agg(pl.col("value").mean())
    # One row a task here: numpy then hands polars each task's column without a copy.
    values = np.full((len(results.tasks), len(results.agents)), np.nan)
    values[cells["task"].to_numpy(), cells["agent"].to_numpy()] = cells["value"].to_numpy()
    first = "agent" if "agent" not in results.tasks else "agent name"
    columns = [
        pl.Series(name, column, nan_to_null=True)
        for name, column in zip(results.tasks, values, strict=True)
    ]
    frame = pl.DataFrame([pl.Series(first, results.agents), *columns])
    return write_frame(frame, path, for_spreadsheets=for_spreadsheets)
