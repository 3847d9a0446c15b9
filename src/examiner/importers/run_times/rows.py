"""Rows grouped by run in the order of a table, and what errors say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.options import UNTIMED
from examiner.messages import InputError, counted, listed, shorten

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FEWEST_TIMES = 3
"""Two values rise by chance in half of all runs."""


class UnclearTimeError(InputError):
    """A column by a known name of time cannot be used as one; no file is skipped because of it."""


class TooFewTimesError(UnclearTimeError):
    """No run has the three rows that show whether a column is time; other files of a folder may do."""

    column = ""


class RunRows(NamedTuple):
    """Rows grouped by run in the order of the table; `place` is their row there."""

    place: Rows
    run: NDArray[np.int64]
    time: Floats

    @classmethod
    def of(cls, place: Rows, run: NDArray[np.int64], time: Floats) -> RunRows:
        """Group rows by run; within a run they stay in their order."""
        order = np.argsort(run, kind="stable")
        return cls(place[order], run[order], time[order])

    @property
    def same(self) -> Flags:
        """Whether a row is of the run of the row before; shape [rows - 1]."""
        return np.asarray(self.run[1:] == self.run[:-1])

    @property
    def falls(self) -> Flags:
        """Whether the time of a row is below that of the row before it in its run."""
        return np.append([False], self.same & (np.diff(self.time) < 0))

    @property
    def block(self) -> NDArray[np.int64]:
        """A number for each stretch of rows of one run at one time."""
        new = ~(self.same & (np.diff(self.time) == 0))
        return np.cumsum(np.append(False, new)).astype(np.int64)

    def sorted(self) -> RunRows:
        """The rows of each run by time; rows of one time stay in their order."""
        if not self.falls.any():
            return self
        order = np.lexsort((self.time, self.run))
        return RunRows(self.place[order], self.run[order], self.time[order])

    def at_times(self) -> RunRows:
        """One row for each time of a run, sorted."""
        rows = self.sorted()
        first = np.append(True, np.diff(rows.block) > 0)[: len(rows.run)]
        return RunRows(rows.place[first], rows.run[first], rows.time[first])


class AboutRows(NamedTuple):
    """What errors name: the column, and the run of a row."""

    frame: pl.DataFrame
    column: str
    keys: Sequence[str]

    def run_of(self, row: int) -> str:
        """Name the run of a row by its keys."""
        named = [f"{key} {shorten(self.frame[key][row], 40)}" for key in self.keys]
        return ", ".join(named)

    def replaced(self, later: Rows, earlier: Rows) -> str:
        """Return a note on earlier rows that later ones of the same run and time replace."""
        runs = self.frame[later].select(self.keys).unique().height
        example = f"that of {self.run_of(int(later[0]))} in row {later[0] + 1:,}"
        return (
            f"{counted(runs, 'run')} {'falls' if runs == 1 else 'fall'} back to an earlier "
            f"{shorten(self.column)}, such as {example}, as after a restart: the later rows replace "
            f"{counted(len(earlier), 'earlier row')} of the same run and {shorten(self.column)}."
        )

    def mixed(self, measure: str, first: np.intp, second: np.intp) -> UnclearTimeError:
        """Return the error for a run whose values alternate along time: two logs under one name."""
        return UnclearTimeError(
            f"In the run of {self.run_of(int(first))}, {shorten(measure)} rises and falls in turn along "
            f"{shorten(self.column)} from rows {first + 1:,} and {second + 1:,} on, as in two logs at "
            f"alternating times. If these are two runs, name them in a column 'run'; if they are one, add "
            f"`--time {self.column}`.",
            row=int(second),
        )

    def problem(
        self, what: str, first: np.intp, second: np.intp, *, restarted: bool = False
    ) -> UnclearTimeError:
        """Return the error: what is wrong with the time of a run in two rows, and what to add.

        `restarted` says that later rows may replace earlier ones of the same time.
        """
        one, other = self.frame.row(int(first), named=True), self.frame.row(int(second), named=True)
        texts = [
            name for name, value in one.items() if isinstance(value, str) and value != other[name]
        ]
        tag = next(iter(texts), "COLUMN")
        replace = f"if later rows replace earlier ones, add `--time {self.column}`; "
        replace = replace if restarted and not texts else ""
        rows = f"rows {first + 1:,} and {second + 1:,}"
        names = "" if {"run", "seed"} & set(self.keys) else " (no column names runs)"
        return UnclearTimeError(
            f"The column {shorten(self.column)} cannot be used as time: in the run of "
            f"{self.run_of(int(second))}{names}, it {what} in {rows}. If these are different runs, name "
            f"them in a column 'run'; if a column makes them different tasks, add `--item task,{tag}`; "
            f"{replace}if a row is wrong, remove it; if this is not the time in training, but such as the "
            f"length of an episode, add `--time {UNTIMED}`.",
            row=int(second),
        )


def time_text(rows: RunRows, place: int) -> str:
    """Return the time at a place as messages show it."""
    return f"{rows.time[place]:,.15g}"


def differing_columns(frame: pl.DataFrame, first: int, second: int) -> str:
    """Name the columns in which two rows differ.

    >>> differing_columns(pl.DataFrame({"a": [1, 1], "b": [1, 2]}), 0, 1)
    "'b'"
    """
    one, other = frame.row(int(first), named=True), frame.row(int(second), named=True)
    return listed([name for name in one if one[name] != other[name]], limit=4)


def group_numbers(frame: pl.DataFrame, keys: Sequence[str]) -> NDArray[np.int64]:
    """For each row a number of its run, or of its cell where runs have no name."""
    groups = frame.select(keys).unique(maintain_order=True).with_row_index("group number")
    joined = frame.select(keys).join(
        groups, on=list(keys), how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["group number"].cast(pl.Int64).to_numpy()


def lower_median(values: Floats, group: NDArray[np.int64], groups: int) -> Floats:
    """The lower median of each group's values; NaN where it has none."""
    order = np.lexsort((values, group))
    counts = np.bincount(group, minlength=groups)
    middle = np.cumsum(counts) - counts + (np.maximum(counts, 1) - 1) // 2
    found = np.full(groups, np.nan)
    found[counts > 0] = values[order][middle[counts > 0]]
    return found


def typical_gaps(times: RunRows) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The typical gap of each run; each gap, and its run."""
    gaps, run = np.diff(times.time)[times.same], times.run[1:][times.same]
    return lower_median(gaps, run, int(times.run.max()) + 1), gaps, run


def time_numbers(rows: RunRows) -> NDArray[np.int64]:
    """A number for each time of a run, in order."""
    if not rows.falls.any():
        return rows.block
    order = np.lexsort((rows.time, rows.run))
    run, time = rows.run[order], rows.time[order]
    new = np.append(False, (np.diff(run) != 0) | (np.diff(time) != 0))
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def first_times(rows: RunRows) -> Floats:
    """Return for each row the first time of its run, in the order of the table."""
    starts = np.append(0, np.flatnonzero(~rows.same) + 1)
    return np.asarray(rows.time[starts][np.cumsum(np.append(False, ~rows.same))])
