"""Rows of runs arranged by time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.run_times.parts import (
    check_order,
    refuse_mixed_logs,
    refuse_tagged_rows,
    with_named_runs,
    without_copies,
    without_replaced,
    without_second_copy,
)
from examiner.importers.run_times.rows import (
    FEWEST_TIMES,
    AboutRows,
    Flags,
    Floats,
    Rows,
    RunRows,
    TooFewTimesError,
    group_numbers,
    time_numbers,
    time_text,
)
from examiner.importers.run_times.spacing import episode_runs, evenly_spaced, on_grid
from examiner.importers.vocabulary import LENGTHS
from examiner.messages import counted, shorten
from examiner.results import number_within


class Arranged(NamedTuple):
    """What a time says of the rows that are kept; all arrays but `kept` are of these.

    `order` counts the rows of a run by time. `checkpoint` numbers the evaluations of a run, NaN where its
    rows are episodes; None where nothing was inferred. `unclear` tells that some rows may be either.
    """

    kept: Rows
    run: NDArray[np.int64]
    order: NDArray[np.int64]
    checkpoint: Floats | None
    unclear: bool
    notes: tuple[str, ...]


def arrange(
    frame: pl.DataFrame,
    time: Floats,
    column: str,
    keys: Sequence[str],
    *,
    labels: Sequence[str] = (),
    measures: Sequence[str] = (),
    named: bool = False,
) -> Arranged | None:
    """Order the rows of each run by time, and tell evaluations from episodes; None where time stands still.

    Within a run the typical gap is the median difference of its times. A run is evenly spaced where half of
    its gaps are typical, and on a grid where half of its times are those of a neighbouring run as well.
    Rows of an evenly spaced run, or of one on a grid, may stand in any order; those of another run must
    rise, unless the user has `named` the column. `labels` tell rows of one time apart. Raises
    `UnclearTimeError` with the row where times do not fit one run.

    >>> table = pl.DataFrame({"agent": ["a"] * 4, "task": ["t"] * 4, "score": [4, 1, 2, 3]})
    >>> arrange(table, np.array([50.0, 20, 30, 40]), "step", ["agent", "task"]).order
    array([3, 0, 1, 2])
    """
    cell = group_numbers(frame, keys)
    kept, copies = without_second_copy(frame)
    rows = RunRows.of(kept, cell[kept], time[kept])
    if not (rows.same & (np.diff(rows.time) != 0)).any() and not named:
        return None
    if 2 * rows.falls.sum() > (rows.same & (np.diff(rows.time) != 0)).sum():
        # The table stands from its last row to its first.
        rows = RunRows.of(kept[::-1], cell[kept[::-1]], time[kept[::-1]])
    about = AboutRows(frame, column, keys)
    if not {"run", "seed"} & set(keys):
        rows, dropped = with_named_runs(rows, about)
        copies += dropped
    times = rows.at_times()
    even = evenly_spaced(times)
    grid = on_grid(times, frame["task"])
    known = np.bincount(times.run) >= FEWEST_TIMES
    stated = "checkpoint" in frame.columns
    replaced: str | None = None
    if not stated:
        refuse_tagged_rows(rows, even | grid | ~known, about, (*labels, *measures, *LENGTHS))
        rows, replaced = without_replaced(rows, even | grid, about, named=named)
        rows, dropped = without_copies(rows, even | grid | ~known, about, labels)
        copies += dropped
    moved = check_order(rows, even | grid, about, named=named)
    if not stated and not named:
        refuse_mixed_logs(rows, about, measures)
    if not (known.any() or grid.any() or named or stated):
        first = int(np.flatnonzero(rows.same & (np.diff(rows.time) != 0))[0])
        what = (
            f"has only two values, here {time_text(rows, first)} and {time_text(rows, first + 1)},"
        )
        problem = about.problem(what, rows.place[first], rows.place[first + 1])
        few = TooFewTimesError(str(problem), row=problem.row)
        few.column = column
        raise few
    arranged = _arranged(frame, rows, (even, grid), column, (moved, copies), infer=not stated)
    return arranged._replace(notes=(*arranged.notes, *([replaced] if replaced else ())))


def _arranged(
    frame: pl.DataFrame,
    rows: RunRows,
    spacing: tuple[Flags, Flags],
    column: str,
    changes: tuple[int, int],
    *,
    infer: bool,
) -> Arranged:
    even, grid = spacing
    runs, (moved, copies) = len(even), changes
    ordered = rows.sorted()
    number = number_within(ordered.run)
    point = time_numbers(ordered)
    starts = np.append(0, np.flatnonzero(~ordered.same) + 1)
    point = point - point[starts][ordered.run]
    episodes, unclear = episode_runs(frame, rows, column, even, grid)
    checkpoint = np.where(episodes[ordered.run], np.nan, point.astype(np.float64))
    back = np.argsort(ordered.place, kind="stable")
    notes = []
    several = len(np.unique(ordered.run[1:][ordered.same & (np.diff(ordered.time) == 0)]))
    if several and infer and not episodes.all():
        notes.append(
            f"{counted(several, 'run')} have several rows at one {shorten(column)}: they are read as one "
            f"evaluation, and their mean counts."
        )
    if moved:
        notes.append(
            f"The rows of {moved:,} of {counted(runs, 'run')} are not in the order of {shorten(column)}: "
            f"they are sorted by it."
        )
    if copies:
        rows_are = "1 row is a copy" if copies == 1 else f"{copies:,} rows are copies"
        notes.append(f"{rows_are} of others of the same run and {shorten(column)}, and excluded.")
    return Arranged(
        ordered.place[back],
        ordered.run[back],
        number[back],
        checkpoint[back] if infer and not episodes.all() else None,
        infer and unclear,
        tuple(notes),
    )
