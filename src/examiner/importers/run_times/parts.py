"""Rows that do not fit one run: copies, other logs of the run, runs that have no name, and other orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.run_times.rows import (
    FEWEST_TIMES,
    AboutRows,
    Flags,
    Floats,
    Rows,
    RunRows,
    differing_columns,
    first_times,
    group_numbers,
    lower_median,
    time_numbers,
    time_text,
    typical_gaps,
)
from examiner.importers.run_times.spacing import EVEN
from examiner.messages import shorten
from examiner.results import number_within

MIXED = 0.9
"""The share of turning points above which values come from two logs. Of noise it is two thirds."""
BEYOND_CHANCE = 4.5
"""Standard deviations: noise reaches them in 3 of a million runs."""


def without_second_copy(frame: pl.DataFrame) -> tuple[Rows, int]:
    """The rows of a table to which a copy of itself was appended, once."""
    rows, half = np.arange(len(frame)), len(frame) // 2
    if len(frame) % 2 or half < FEWEST_TIMES:
        return rows, 0
    first, second = frame.slice(0, half), frame.slice(half)
    return (rows[:half], half) if first.equals(second, null_equal=True) else (rows, 0)


def with_named_runs(rows: RunRows, about: AboutRows) -> tuple[RunRows, int]:
    """Number the runs that have no name: one for each row of a time, or for each new beginning.

    A time that has more rows than others of its agent and task fits no run, unless these are copies.
    """
    cells = int(rows.run.max()) + 1
    times = time_numbers(rows)
    count = np.bincount(times)
    of_time = rows.run[np.unique(times, return_index=True)[1]]
    usual = lower_median(count.astype(np.float64), of_time, cells)
    dropped = 0
    if (count > np.where(usual > 1, usual, np.inf)[of_time]).any():
        rows, dropped = _drop_excess(rows, times, np.where(usual > 1, usual, np.inf), about)
    single = usual[rows.run] == 1
    falls = rows.falls
    begins = rows.time == first_times(rows)
    stacked = np.bincount(rows.run[falls], minlength=cells)[rows.run] > 0
    odd = falls & ~begins & ~single
    if odd.any():
        place = int(np.flatnonzero(odd)[0])
        what = f"falls from {time_text(rows, place - 1)} to {time_text(rows, place)}"
        raise about.problem(what, rows.place[place - 1], rows.place[place])
    starts = np.append(0, np.flatnonzero(~rows.same) + 1)
    piece = np.cumsum(falls) - np.cumsum(falls)[starts][np.cumsum(np.append(False, ~rows.same))]
    number = np.where(single, 0, np.where(stacked, piece, number_within(time_numbers(rows))))
    codes = np.unique(rows.run * (int(number.max()) + 1) + number, return_inverse=True)[1]
    return RunRows.of(rows.place, codes.astype(np.int64), rows.time), dropped


def _drop_excess(
    rows: RunRows, group: NDArray[np.int64], usual: Floats, about: AboutRows
) -> tuple[RunRows, int]:
    """Leave out rows beyond the usual number of their group, where they are copies of others there."""
    allowed = usual[rows.run]
    number, count = number_within(group), np.bincount(group)[group]
    crowded = np.flatnonzero(count > allowed)
    part = about.frame[rows.place[crowded]]
    copy = ~part.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    excess = np.zeros(len(rows.run), dtype=bool)
    ranked = number_within(group[crowded][copy])
    surplus = (count - allowed)[crowded][copy]
    excess[crowded[copy][ranked < surplus]] = True
    left = np.bincount(group[~excess], minlength=int(group.max()) + 1)[group] > allowed
    if left.any():
        place = int(np.flatnonzero(left & (number >= allowed) & ~excess)[0])
        first = rows.place[(group == group[place]) & (number == 0)][0]
        differing = differing_columns(about.frame, int(first), int(rows.place[place]))
        what = (
            f"has the value {time_text(rows, place)} twice, with different values of {differing},"
        )
        start = int(np.flatnonzero((group == group[place]) & (number == 0))[0])
        restarted = bool(rows.falls[start + 1 : place + 1].any())
        raise about.problem(what, first, rows.place[place], restarted=restarted)
    return RunRows(rows.place[~excess], rows.run[~excess], rows.time[~excess]), int(excess.sum())


def without_replaced(
    rows: RunRows, clear: Flags, about: AboutRows, *, named: bool
) -> tuple[RunRows, str | None]:
    """Leave out earlier rows of times that come again after a run fell back, as in a restart.

    One name is one run, so the later of two rows of a time counts. Return also the note on them. Two whole
    logs of one name may be two runs, and a column that counts by one, or begins again several times, may
    count the steps of episodes: such rows stay, and are refused, unless the user has `named` the column.
    """
    starts = np.searchsorted(rows.run, np.arange(len(clear)))
    falls = np.cumsum(rows.falls)
    piece: NDArray[np.int64] = falls - falls[starts][rows.run]
    times = time_numbers(rows)
    last = np.zeros(int(times.max()) + 1, dtype=np.int64)
    np.maximum.at(last, times, piece)
    code = rows.run * (int(piece.max()) + 1) + piece
    shortest = np.full(len(clear), np.inf)
    np.minimum.at(shortest, rows.run, np.bincount(code)[code])
    candidates = clear & (shortest >= FEWEST_TIMES) & (typical_gaps(rows.at_times())[0] > 1)
    begins = rows.falls & (rows.time == first_times(rows))
    begun, in_first, in_all = (
        np.bincount(rows.run[flags], minlength=len(clear))
        for flags in (begins, piece == 0, piece >= 0)
    )
    candidates &= (begun == 0) | ((begun == 1) & (2 * in_first != in_all))
    if named:
        candidates |= clear & ~_tagged(rows, about)
    replaced = (piece < last[times]) & candidates[rows.run]
    later = (piece > 0) & np.isin(times, times[replaced])
    first, second = (about.frame[rows.place[flags]] for flags in (replaced, later))
    if not len(first) or not len(
        second.join(first, on=second.columns, how="anti", nulls_equal=True)
    ):
        return rows, None  # copies
    kept = RunRows(rows.place[~replaced], rows.run[~replaced], rows.time[~replaced])
    note = about.replaced(rows.place[later], rows.place[replaced])
    return kept, note


def _tagged(rows: RunRows, about: AboutRows) -> Flags:
    """Whether a run has several texts in a column: its rows may be of different things."""
    texts = pl.selectors.by_dtype(pl.String, pl.Categorical, pl.Enum) - pl.selectors.by_name(
        about.keys
    )
    part = about.frame[rows.place].select(texts, run_number=pl.Series(rows.run))
    if part.width == 1:
        return np.zeros(int(rows.run.max()) + 1, dtype=bool)
    several = part.group_by("run_number").agg(
        pl.max_horizontal(pl.exclude("run_number").n_unique())
    )
    ordered = several.sort("run_number").drop("run_number").to_series()
    return np.asarray((ordered > 1).to_numpy())


def refuse_tagged_rows(
    rows: RunRows, checked: Flags, about: AboutRows, values: Sequence[str]
) -> None:
    """Refuse rows of one time that another column tells apart throughout: a metric, a setting.

    Such a column has as many values in a run as the run has rows at a time, and no two rows of a time have
    the same. `values` are columns that cannot be one: measures, and what numbers episodes.
    """
    times = time_numbers(rows)
    count = np.bincount(times)[times]
    shared = (count > 1) & checked[rows.run]
    known = {*about.keys, about.column, *values}
    names = [name for name in about.frame.columns if name not in known]
    if not shared.any() or not names:
        return
    part = about.frame[rows.place[shared]].select(names)
    part = part.with_columns(run_number=rows.run[shared], time_number=times[shared])
    size = pl.len().over("time_number")
    of_time = [(pl.col(name).n_unique().over("time_number") == size).all() for name in names]
    most = pl.len().over("time_number").max().over("run_number")
    of_run = [(pl.col(name).n_unique().over("run_number") == most).all() for name in names]
    tells = part.select(
        (first & second).alias(name)
        for name, first, second in zip(names, of_time, of_run, strict=True)
    ).row(0, named=True)
    tag = next((name for name in names if tells[name]), None)
    if tag is not None:
        place = int(np.flatnonzero(shared)[0])
        other = int(np.flatnonzero(times == times[place])[1])
        what = f"has several rows at {time_text(rows, place)}, with different values of {shorten(tag)},"
        raise about.problem(what, rows.place[place], rows.place[other])


def without_copies(
    rows: RunRows, checked: Flags, about: AboutRows, labels: Sequence[str]
) -> tuple[RunRows, int]:
    """Leave out copies of rows; refuse other rows of a time that comes again, or that others have once.

    Times of `checked` runs stand for one evaluation each. Its rows may be several, one after the other, or
    in any order where every evaluation has several that `labels` tell apart.
    """
    runs = int(rows.run.max()) + 1
    block, times = rows.block, time_numbers(rows)
    of_block = np.unique(block, return_index=True)[1]
    usual = lower_median(np.bincount(block).astype(np.float64), rows.run[of_block], runs)
    # Where an evaluation is usually several rows, their number may vary; a new block is another log.
    again = np.bincount(times[of_block])[times] > 1
    crowded = checked[rows.run] & (
        again | ((usual == 1)[rows.run] & (np.bincount(times)[times] > 1))
    )
    if not crowded.any():
        return rows, 0
    group, count = times, np.bincount(times)
    if labels:
        of_time = rows.run[np.unique(times, return_index=True)[1]]
        several = lower_median(count.astype(np.float64), of_time, runs) > 1
        label = np.where(several[rows.run], group_numbers(about.frame, labels)[rows.place], 0)
        group = np.unique(times * (int(label.max()) + 1) + label, return_inverse=True)[1]
    allowed = np.where(np.bincount(rows.run[crowded], minlength=runs) > 0, 1.0, np.inf)
    plain = ~np.isin(times, times[crowded])
    group = np.where(plain, int(group.max()) + 1 + np.arange(len(group)), group)
    group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    return _drop_excess(rows, group, allowed, about)


def refuse_mixed_logs(rows: RunRows, about: AboutRows, measures: Sequence[str]) -> None:
    """Refuse runs whose values rise and fall in turn, as those of two logs at alternating times do.

    Of noise, two thirds of the inner values are turning points, with the variance (16 n - 29) / 90 of their
    number among n values (Bienayme 1874); learning curves have fewer.
    """
    ordered = rows.sorted()
    for name in measures:
        values = about.frame[name].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        change = np.diff(values[ordered.place])
        inner = ordered.same[1:] & ordered.same[:-1] & (change[1:] * change[:-1] != 0)
        turns = inner & (change[1:] * change[:-1] < 0)
        run = ordered.run[1:-1]
        count, turned = (np.bincount(run[flags]) for flags in (inner, turns))
        count, turned = count[: len(turned)], turned.astype(np.float64)
        deviation = np.sqrt(np.maximum(16 * (count + 2) - 29, 1) / 90)
        alternates = (turned > MIXED * count) & (turned - 2 * count / 3 > BEYOND_CHANCE * deviation)
        if alternates.any():
            which = int(np.flatnonzero(alternates)[0])
            first, second = ordered.place[ordered.run == which][:2]
            raise about.mixed(name, first, second)


def check_order(rows: RunRows, free: Flags, about: AboutRows, *, named: bool) -> int:
    """Count the runs that have to be sorted; refuse those that are no single run in another order."""
    falls = rows.falls
    for place in np.flatnonzero(falls & ~free[rows.run]).tolist():
        if not named:
            fall = f"falls from {time_text(rows, place - 1)} to {time_text(rows, place)}"
            what = f"is not evenly spaced and {fall}"
            raise about.problem(what, rows.place[place - 1], rows.place[place])
    unsorted = np.unique(rows.run[falls])
    bounds = np.searchsorted(rows.run, [unsorted, unsorted + 1]).T.tolist()
    for start, stop in bounds:
        inside = np.arange(start, stop)
        time, starts = rows.time[inside], np.flatnonzero(falls[inside])
        pieces = np.split(time, starts)
        rises = [gap for piece in pieces for gap in np.diff(piece) if gap > 0]
        gaps = np.diff(np.unique(time))
        if min(map(len, pieces)) >= FEWEST_TIMES and gaps.min() < (1 - EVEN) * min(
            rises, default=0
        ):
            place = inside[starts[0]]
            what = f"begins again at {time_text(rows, place)} after {time_text(rows, place - 1)}"
            raise about.problem(what, rows.place[place - 1], rows.place[place])
    return len(unsorted)
