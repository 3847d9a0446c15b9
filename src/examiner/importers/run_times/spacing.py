"""Spacing of the rows of runs: evenly spaced, on a grid with other runs, and which rows are episodes."""

from __future__ import annotations

import numpy as np
import polars as pl

from examiner.importers.options import FRAMES_PER_STEP
from examiner.importers.run_times.rows import (
    FEWEST_TIMES,
    Flags,
    RunRows,
    lower_median,
    typical_gaps,
)
from examiner.importers.vocabulary import LENGTHS
from examiner.results import number_within

EVEN = 0.1
"""How far a gap may be from the typical one, as a share of it: an evaluation may wait for the end of an
episode. Half of the gaps between episodes are rarely that much alike."""
_FIRST_TIMES = 200
"""Times of a run that are compared with those of another: enough to know, and quick in long logs."""
_CLEARLY_EPISODES = 1_000
"""Rows of a run from which its last 100 are its end, whatever a row is."""


def evenly_spaced(times: RunRows) -> Flags:
    """Whether most gaps of a run are multiples of the typical one, or all are of the smallest.

    The second holds of a log on a lattice that misses many rows. It says something only where the smallest
    gap is large compared with a rounding error of 1, and not small compared with the typical gap.
    False of two times or fewer.
    """
    typical, gaps, run = typical_gaps(times)
    count = np.bincount(run, minlength=len(typical))
    smallest = np.full(len(typical), np.inf)
    np.minimum.at(smallest, run, gaps)
    shares = []
    for unit in (typical, smallest):
        multiple = np.maximum(np.round(gaps / unit[run]), 1)
        like = np.abs(gaps / unit[run] - multiple) <= EVEN
        shares.append(np.bincount(run, weights=like, minlength=len(typical)))
    lattice = (smallest > 1 / EVEN) & (typical < smallest / EVEN) & (shares[1] == count)
    return np.asarray((count >= FEWEST_TIMES - 1) & ((2 * shares[0] > count) | lattice))


def on_grid(times: RunRows, tasks: pl.Series) -> Flags:
    """Whether half of the first times of a run are those of the run before or after it on its task."""
    runs = int(times.run.max()) + 1
    early = number_within(times.run) < _FIRST_TIMES
    times = RunRows(times.place[early], times.run[early], times.time[early])
    codes = tasks.cast(pl.String).fill_null("").rank("dense").to_numpy()
    first = np.unique(times.run, return_index=True)[1]
    order = np.lexsort((np.arange(runs), codes[times.place[first]]))
    position = np.empty(runs, dtype=np.int64)
    position[order] = np.arange(runs)
    counts = np.bincount(times.run, minlength=runs)
    shares = []
    here = pl.DataFrame(
        {"run": position[times.run], "task": codes[times.place], "time": times.time}
    )
    for other in (-1, 1):
        there = here.with_columns(pl.col("run") + other)
        both = here.join(there, on=["run", "task", "time"], how="semi")
        shared = np.bincount(both["run"].to_numpy(), minlength=runs)[position]
        shares.append(shared / counts)
    return np.asarray((np.maximum(*shares) >= 0.5) & (counts > 1))


def episode_runs(
    frame: pl.DataFrame, rows: RunRows, column: str, even: Flags, grid: Flags
) -> tuple[Flags, bool]:
    """Which runs hold episodes, and whether some hold either; runs of one or two rows are as the others.

    Rows are episodes where they come no less often than episodes of the length they state end. Else they
    are evaluations where they are evenly spaced, or on a grid.
    """
    times = rows.at_times()
    typical, _, _ = typical_gaps(times)
    known = np.bincount(times.run, minlength=len(even)) >= FEWEST_TIMES
    length = np.full(len(even), np.nan)
    for name in LENGTHS:
        if name in frame.columns and frame[name].dtype.is_numeric():
            values = frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()[rows.place]
            seen = ~np.isnan(values)
            length = lower_median(values[seen], rows.run[seen], len(even))
            break
    stated = ~np.isnan(length)
    counts_them = stated.all() or "episode" in frame.columns
    skipped = FRAMES_PER_STEP if "frame" in column.lower() else 1  # lengths may be in steps
    often = stated & (typical <= length * skipped * (1 + EVEN))
    episodes = often | ~(even | grid)
    decided = known | grid
    if decided.any():
        episodes = np.where(decided, episodes, np.mean(episodes[decided]) > 0.5)
    short = np.bincount(rows.run, minlength=len(even)) < _CLEARLY_EPISODES
    return episodes, not counts_them and bool((episodes & ~stated & known & short).any())
