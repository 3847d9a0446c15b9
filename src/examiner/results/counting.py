"""How much there is: agents, tasks, runs, trials, and cells without any observation."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import Codes


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
