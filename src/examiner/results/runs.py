"""One row for each run: what is left of a table when the trials of every run become one value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import Codes, by_first_appearance, packed_keys


def run_numbers(frame: pl.DataFrame, item: Sequence[str]) -> NDArray[np.int64]:
    """Number the runs of each agent on each item by first appearance; shape [rows].

    >>> from examiner.results.keys import complete_keys
    >>> frame = pl.DataFrame({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 5], "trial": [0, 1, 0]})
    >>> run_numbers(complete_keys(frame, []).frame, ["task"])
    array([0, 0, 1])
    """
    keys = ["agent", *item, "run"]
    packed = packed_keys(frame, keys)
    if packed is None:
        ranked = frame.select(pl.struct(keys).rank("dense")).to_series().to_numpy()
        return np.unique(ranked, return_inverse=True)[1].astype(np.int64)
    return by_first_appearance(*packed)[0].astype(np.int64)


def one_row_a_run(
    frame: pl.DataFrame, rows: NDArray[np.intp], item: Sequence[str], attributes: Sequence[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Keep one row of each run, its trial numbered 0, without the columns that change within runs.

    `frames` stays: it is then that of the row kept. Returns the frame and the columns left out.

    >>> from examiner.results.keys import complete_keys
    >>> frame = pl.DataFrame({"agent": ["a"] * 2, "task": ["t"] * 2, "run": [7, 7], "trial": [0, 1],
    ...                       "frames": [10, 30], "length": [10, 20]})
    >>> kept, dropped = one_row_a_run(complete_keys(frame, []).frame, np.array([1]), ["task"],
    ...                               ["frames", "length"])
    >>> kept["frames"].to_list(), dropped
    ([30], ('length',))
    """
    numbers = run_numbers(frame, item)
    row_of_run = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    row_of_run[numbers[rows]] = rows
    like_kept = pl.Series(row_of_run[numbers])
    dropped = tuple(
        name
        for name in attributes
        if name != "frames" and not frame[name].eq_missing(frame[name].gather(like_kept)).all()
    )
    kept = frame.drop(dropped)[rows]
    return kept.with_columns(trial=pl.lit(0, dtype=pl.Int64)), dropped


def run_mean_table(
    agent: Codes, task: Codes, run: NDArray[np.int64], value: NDArray[np.float64]
) -> pl.DataFrame:
    """Return one row for each agent, task and run, in this order, with the mean of its trials.

    >>> codes = np.zeros(2, dtype=np.uint8)
    >>> run_mean_table(codes, codes, np.zeros(2, dtype=np.int64), np.array([1.0, 2.0]))["value"].to_list()
    [1.5]
    """
    values = pl.Series(value).fill_nan(None)
    rows = pl.DataFrame({"agent": agent, "task": task, "run": run, "value": values}).drop_nulls()
    means = rows.group_by("agent", "task", "run").agg(pl.col("value").mean())
    return means.sort("agent", "task", "run")
