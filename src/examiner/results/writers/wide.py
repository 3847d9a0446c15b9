"""The wide table: one row per agent, one column per task, the mean of each cell."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from examiner.results.frames import write_frame
from examiner.results.table import Results


def wide(results: Results, path: str | Path) -> Path:
    """Write the first measure with agents as rows; trials are averaged within runs, then runs.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> wide(Results.from_numpy([[[1.0, 2.0]]], ["a"], ["pong"]), path).read_text()
    'agent,pong\\na,1.5\\n'
    """
    rows = pl.DataFrame(
        {
            "agent": results.agent_codes,
            "task": results.task_codes,
            "run": results.run_codes,
            "value": pl.Series(results.measure()).fill_nan(None),
        }
    ).drop_nulls()
    runs = rows.group_by("agent", "task", "run").agg(pl.col("value").mean())
    cells = runs.group_by("agent", "task").agg(pl.col("value").mean())
    first = "agent" if "agent" not in results.tasks else "agent name"
    columns = [pl.Series(first, results.agents)]
    for task, name in enumerate(results.tasks):
        column = cells.filter(pl.col("task") == task)
        place = dict(zip(column["agent"], column["value"], strict=True))
        values = [place.get(agent) for agent in range(len(results.agents))]
        columns.append(pl.Series(name, values, dtype=pl.Float64))
    return write_frame(pl.DataFrame(columns), path)
