"""The rows of runs along a time: their order, copies, runs that have no name, and their spacing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.wording import InputError, counted, listed, shorten

FRAMES_PER_STEP = 4
"""Emulator frames an Atari agent's action lasts in the usual wrappers."""
LENGTHS = ("length", "episode_length", "ep_length", "ep_len", "episode_len", "episode_lengths")
"""Columns that hold the length of an episode."""
EVEN = 0.1
"""How far a gap may be from the typical one, as a share of it: an evaluation may wait for the end of an
episode. Half of the gaps between episodes are rarely that much alike."""
UNTIMED = "none"
"""What `--time` says of a table that has no time."""
_FEWEST_TIMES = 3  # two values rise by chance in half of all runs
_CLEARLY_EPISODES = 1_000
"""Rows of a run from which its last 100 are its end, whatever a row is."""

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class UnclearTimeError(InputError):
    """A column by a known name of time cannot be used as one; no file is skipped because of it."""


class TooFewTimesError(UnclearTimeError):
    """No run has the three rows that show whether a column is time; other files of a folder may do."""

    column = ""


class Arranged(NamedTuple):
    """What a time says of the rows that are kept; all arrays but `kept` are of these.

    `order` counts the rows of a run by time. `checkpoint` numbers the evaluations of a run, NaN where its
    rows are episodes; None where nothing was inferred. `unclear` tells that some rows may be either.
    `restart` numbers the logs of a run that begins again, from 0; None where none does.
    """

    kept: Rows
    run: NDArray[np.int64]
    order: NDArray[np.int64]
    checkpoint: Floats | None
    unclear: bool
    notes: tuple[str, ...]
    restart: NDArray[np.int64] | None = None


class _Runs(NamedTuple):
    """Rows grouped by run in the order of the table; `place` is their row there."""

    place: Rows
    run: NDArray[np.int64]
    time: Floats

    @classmethod
    def of(cls, place: Rows, run: NDArray[np.int64], time: Floats) -> _Runs:
        order = np.argsort(run, kind="stable")
        return cls(place[order], run[order], time[order])

    @property
    def same(self) -> Flags:
        """Whether a row is of the run of the row before; shape [rows - 1]."""
        return np.asarray(self.run[1:] == self.run[:-1])

    @property
    def falls(self) -> Flags:
        return np.append([False], self.same & (np.diff(self.time) < 0))

    @property
    def block(self) -> NDArray[np.int64]:
        """A number for each stretch of rows of one run at one time."""
        new = ~(self.same & (np.diff(self.time) == 0))
        return np.cumsum(np.append(False, new)).astype(np.int64)

    def sorted(self) -> _Runs:
        order = np.lexsort((self.time, self.run))
        return _Runs(self.place[order], self.run[order], self.time[order])

    def at_times(self) -> _Runs:
        """One row for each time of a run, sorted."""
        rows = self.sorted()
        first = np.append(True, np.diff(rows.block) > 0)[: len(rows.run)]
        return _Runs(rows.place[first], rows.run[first], rows.time[first])


def arrange(
    frame: pl.DataFrame,
    time: Floats,
    column: str,
    keys: Sequence[str],
    *,
    labels: Sequence[str] = (),
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
    cell = _group_numbers(frame, keys)
    kept, copies = _without_second_copy(frame)
    rows = _Runs.of(kept, cell[kept], time[kept])
    if not (rows.same & (np.diff(rows.time) != 0)).any() and not named:
        return None
    if (
        rows.falls.sum() > (rows.same & (np.diff(rows.time) > 0)).sum()
    ):  # from the last to the first
        rows = _Runs.of(kept[::-1], cell[kept[::-1]], time[kept[::-1]])
    about = _About(frame, column, keys)
    if not {"run", "seed"} & set(keys):
        rows, dropped = _with_runs(rows, about)
        copies += dropped
    times = rows.at_times()
    even = _evenly_spaced(times)
    grid = _on_grid(times, frame["task"])
    known = np.bincount(times.run) >= _FEWEST_TIMES
    stated = "checkpoint" in frame.columns
    restarts: Floats = np.zeros(len(frame))
    if not stated:
        rows, restarts = _with_restarts(rows, even | grid, frame)
        more = int(rows.run.max()) + 1 - len(even)  # a new log of a run is spaced as the run is
        even, grid, known = (np.append(flags, np.ones(more, bool)) for flags in (even, grid, known))
        rows, dropped = _without_copies(rows, even | grid | ~known, about, labels)
        copies += dropped
    moved = _check_order(rows, even | grid, about, named=named)
    if not (known.any() or grid.any() or named or stated):
        first = int(np.flatnonzero(rows.same & (np.diff(rows.time) != 0))[0])
        what = f"has only two values, here {_said(rows, first)} and {_said(rows, first + 1)},"
        problem = about.problem(what, rows.place[first], rows.place[first + 1])
        few = TooFewTimesError(str(problem), row=problem.row)
        few.column = column
        raise few
    arranged = _arranged(frame, rows, (even, grid), column, (moved, copies), infer=not stated)
    if not restarts.any():
        return arranged
    return arranged._replace(
        restart=restarts[arranged.kept].astype(np.int64),
        notes=(*arranged.notes, about.restarted(np.flatnonzero(restarts))),
    )


class _About(NamedTuple):
    """What errors name: the column, and the run of a row."""

    frame: pl.DataFrame
    column: str
    keys: Sequence[str]

    def run_of(self, row: int) -> str:
        named = [f"{key} {shorten(self.frame[key][row], 40)}" for key in self.keys]
        return ", ".join(named)

    def restarted(self, rows: Rows) -> str:
        """Return a note on the runs that begin again, and the first row where one does."""
        runs = self.frame[rows].select(self.keys).unique().height
        return (
            f"{counted(runs, 'run')} {'begins' if runs == 1 else 'begin'} again at the first "
            f"{shorten(self.column)}, such as that of {self.run_of(int(rows[0]))} in row {rows[0] + 1:,}: "
            f"the rows from there are read as another run."
        )

    def problem(self, what: str, first: np.intp, second: np.intp) -> UnclearTimeError:
        """Return the error: what is wrong with the time of a run in two rows, and what to add."""
        rows = f"rows {first + 1:,} and {second + 1:,}"
        names = "" if {"run", "seed"} & set(self.keys) else " (no column names runs)"
        return UnclearTimeError(
            f"The column {shorten(self.column)} cannot be used as time: in the run of "
            f"{self.run_of(int(second))}{names}, it {what} in {rows}. If these are different runs, name "
            f"them in a column 'run'; if a row is wrong, remove it; if the column is not the time in "
            f"training, such as the length of an episode, add `--time {UNTIMED}`.",
            row=int(second),
        )


def _said(rows: _Runs, place: int) -> str:
    return f"{rows.time[place]:,.15g}"


def _group_numbers(frame: pl.DataFrame, keys: Sequence[str]) -> NDArray[np.int64]:
    """For each row a number of its run, or of its cell where runs have no name."""
    groups = frame.select(keys).unique(maintain_order=True).with_row_index("group number")
    joined = frame.select(keys).join(
        groups, on=list(keys), how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["group number"].cast(pl.Int64).to_numpy()


def _without_second_copy(frame: pl.DataFrame) -> tuple[Rows, int]:
    """The rows of a table to which a copy of itself was appended, once."""
    rows, half = np.arange(len(frame)), len(frame) // 2
    if len(frame) % 2 or half < _FEWEST_TIMES:
        return rows, 0
    first, second = frame.slice(0, half), frame.slice(half)
    return (rows[:half], half) if first.equals(second, null_equal=True) else (rows, 0)


def _lower_median(values: Floats, group: NDArray[np.int64], groups: int) -> Floats:
    """The lower median of each group's values; NaN where it has none."""
    order = np.lexsort((values, group))
    counts = np.bincount(group, minlength=groups)
    middle = np.cumsum(counts) - counts + (np.maximum(counts, 1) - 1) // 2
    found = np.full(groups, np.nan)
    found[counts > 0] = values[order][middle[counts > 0]]
    return found


def _typical_gaps(times: _Runs) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The typical gap of each run; each gap, and its run."""
    gaps, run = np.diff(times.time)[times.same], times.run[1:][times.same]
    return _lower_median(gaps, run, int(times.run.max()) + 1), gaps, run


def _evenly_spaced(times: _Runs) -> Flags:
    """Whether most gaps of a run are multiples of the typical one, or all are of the smallest.

    The second holds of a log on a lattice that misses many rows. It says something only where the smallest
    gap is large compared with a rounding error of 1, and not small compared with the typical gap.
    False of two times or fewer.
    """
    typical, gaps, run = _typical_gaps(times)
    count = np.bincount(run, minlength=len(typical))
    smallest = np.full(len(typical), np.inf)
    np.minimum.at(smallest, run, gaps)
    shares = []
    for unit in (typical, smallest):
        multiple = np.maximum(np.round(gaps / unit[run]), 1)
        like = np.abs(gaps / unit[run] - multiple) <= EVEN
        shares.append(np.bincount(run, weights=like, minlength=len(typical)))
    lattice = (smallest > 1 / EVEN) & (typical < smallest / EVEN) & (shares[1] == count)
    return np.asarray((count >= _FEWEST_TIMES - 1) & ((2 * shares[0] > count) | lattice))


def _on_grid(times: _Runs, tasks: pl.Series) -> Flags:
    """Whether half of the times of a run are those of the run before or after it on its task."""
    runs = int(times.run.max()) + 1
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


def _with_runs(rows: _Runs, about: _About) -> tuple[_Runs, int]:
    """Number the runs that have no name: one for each row of a time, or for each new beginning.

    A time that has more rows than others of its agent and task fits no run, unless these are copies.
    """
    cells = int(rows.run.max()) + 1
    times = _time_numbers(rows)
    count = np.bincount(times)
    of_time = rows.run[np.unique(times, return_index=True)[1]]
    usual = _lower_median(count.astype(np.float64), of_time, cells)
    dropped = 0
    if (count > np.where(usual > 1, usual, np.inf)[of_time]).any():
        rows, dropped = _drop_excess(rows, times, np.where(usual > 1, usual, np.inf), about)
    single = usual[rows.run] == 1
    falls = rows.falls
    begins = rows.time == _first_of(rows)
    stacked = np.bincount(rows.run[falls], minlength=cells)[rows.run] > 0
    odd = falls & ~begins & ~single
    if odd.any():
        place = int(np.flatnonzero(odd)[0])
        what = f"falls from {_said(rows, place - 1)} to {_said(rows, place)}"
        raise about.problem(what, rows.place[place - 1], rows.place[place])
    starts = np.append(0, np.flatnonzero(~rows.same) + 1)
    piece = np.cumsum(falls) - np.cumsum(falls)[starts][np.cumsum(np.append(False, ~rows.same))]
    number = np.where(single, 0, np.where(stacked, piece, _number_within(_time_numbers(rows))))
    codes = np.unique(rows.run * (int(number.max()) + 1) + number, return_inverse=True)[1]
    return _Runs.of(rows.place, codes.astype(np.int64), rows.time), dropped


def _time_numbers(rows: _Runs) -> NDArray[np.int64]:
    """A number for each time of a run, in order."""
    order = np.lexsort((rows.time, rows.run))
    run, time = rows.run[order], rows.time[order]
    new = np.append(False, (np.diff(run) != 0) | (np.diff(time) != 0))
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def _number_within(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows of each group from 0, in their order."""
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    numbers = np.empty(len(group), dtype=np.int64)
    numbers[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return numbers


def _first_of(rows: _Runs) -> Floats:
    starts = np.append(0, np.flatnonzero(~rows.same) + 1)
    return np.asarray(rows.time[starts][np.cumsum(np.append(False, ~rows.same))])


def _drop_excess(
    rows: _Runs, group: NDArray[np.int64], usual: Floats, about: _About
) -> tuple[_Runs, int]:
    """Leave out rows beyond the usual number of their group, where they are copies of others there."""
    allowed = usual[rows.run]
    number, count = _number_within(group), np.bincount(group)[group]
    crowded = np.flatnonzero(count > allowed)
    part = about.frame[rows.place[crowded]]
    copy = ~part.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    excess = np.zeros(len(rows.run), dtype=bool)
    ranked = _number_within(group[crowded][copy])
    surplus = (count - allowed)[crowded][copy]
    excess[crowded[copy][ranked < surplus]] = True
    left = np.bincount(group[~excess], minlength=int(group.max()) + 1)[group] > allowed
    if left.any():
        place = int(np.flatnonzero(left & (number >= allowed) & ~excess)[0])
        first = rows.place[(group == group[place]) & (number == 0)][0]
        differing = about_difference(about.frame, int(first), int(rows.place[place]))
        what = f"has the value {_said(rows, place)} twice, with different values of {differing},"
        raise about.problem(what, first, rows.place[place])
    return _Runs(rows.place[~excess], rows.run[~excess], rows.time[~excess]), int(excess.sum())


def about_difference(frame: pl.DataFrame, first: int, second: int) -> str:
    """Name the columns in which two rows differ.

    >>> about_difference(pl.DataFrame({"a": [1, 1], "b": [1, 2]}), 0, 1)
    "'b'"
    """
    one, other = frame.row(int(first), named=True), frame.row(int(second), named=True)
    return listed([name for name in one if one[name] != other[name]], limit=4)


def _with_restarts(rows: _Runs, clear: Flags, frame: pl.DataFrame) -> tuple[_Runs, Floats]:
    """Part runs that begin again at their first time: two logs of one run, appended.

    Return also the number of the log of each row of the table in its run, from 0. A column that counts by
    one, or begins again more than once in half of the runs or more, may count the steps of episodes: its
    runs stay whole, and are refused.
    """
    again = rows.falls & (rows.time == _first_of(rows))
    restarts = np.zeros(len(frame))
    if not again.any():
        return rows, restarts
    other = rows.falls & ~again
    candidates = np.setdiff1d(np.unique(rows.run[again]), np.unique(rows.run[other]))
    candidates = candidates[clear[candidates]]
    starts = np.searchsorted(rows.run, np.arange(len(clear)))
    piece = np.cumsum(again) - np.cumsum(again)[starts][rows.run]
    code = rows.run * (int(piece.max()) + 1) + piece
    shortest = np.full(len(clear), np.inf)
    np.minimum.at(shortest, rows.run, np.bincount(code)[code])
    later = np.flatnonzero((piece > 0) & np.isin(rows.run, candidates))
    copied = frame[rows.place[later]].join(
        frame[rows.place[piece == 0]], on=frame.columns, how="semi", nulls_equal=True
    )
    if len(copied) == len(later):  # a copy of a log is no other log
        return rows, restarts
    candidates = candidates[shortest[candidates] >= _FEWEST_TIMES]
    logs = np.zeros(len(clear), dtype=np.int64)
    np.maximum.at(logs, rows.run, piece + 1)
    typical = _typical_gaps(rows.at_times())[0]
    several = 2 * len(candidates) >= len(clear) and (logs[candidates] > 2).any()
    if not len(candidates) or several or (typical[candidates] <= 1).any():
        return rows, restarts
    piece = np.where(np.isin(rows.run, candidates), piece, 0)
    restarts[rows.place] = piece
    new = np.unique(code[piece > 0], return_inverse=True)[1]
    run = rows.run.copy()
    run[piece > 0] = len(clear) + new
    return _Runs.of(rows.place, run, rows.time), restarts


def _without_copies(
    rows: _Runs, checked: Flags, about: _About, labels: Sequence[str]
) -> tuple[_Runs, int]:
    """Leave out copies of rows; refuse other rows of a time that comes again, or that others have once.

    Times of `checked` runs stand for one evaluation each. Its rows may be several, one after the other.
    """
    runs = int(rows.run.max()) + 1
    block, times = rows.block, _time_numbers(rows)
    of_block = np.unique(block, return_index=True)[1]
    usual = _lower_median(np.bincount(block).astype(np.float64), rows.run[of_block], runs)
    # Where an evaluation is usually several rows, their number may vary; a new block is another log.
    again = np.bincount(times[of_block])[times] > 1
    crowded = checked[rows.run] & (
        again | ((usual == 1)[rows.run] & (np.bincount(times)[times] > 1))
    )
    if not crowded.any():
        return rows, 0
    group = times
    if labels:
        label = _group_numbers(about.frame, labels)[rows.place]
        group = np.unique(times * (int(label.max()) + 1) + label, return_inverse=True)[1]
    allowed = np.where(np.bincount(rows.run[crowded], minlength=runs) > 0, 1.0, np.inf)
    plain = ~np.isin(times, times[crowded])
    group = np.where(plain, int(group.max()) + 1 + np.arange(len(group)), group)
    group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    return _drop_excess(rows, group, allowed, about)


def _check_order(rows: _Runs, free: Flags, about: _About, *, named: bool) -> int:
    """Count the runs that have to be sorted; refuse those that are no single run in another order."""
    falls = rows.falls
    for place in np.flatnonzero(falls & ~free[rows.run]).tolist():
        if not named:
            what = f"is not evenly spaced and falls from {_said(rows, place - 1)} to {_said(rows, place)}"
            raise about.problem(what, rows.place[place - 1], rows.place[place])
    unsorted = np.unique(rows.run[falls])
    bounds = np.searchsorted(rows.run, [unsorted, unsorted + 1]).T.tolist()
    for start, stop in bounds:
        inside = np.arange(start, stop)
        time, starts = rows.time[inside], np.flatnonzero(falls[inside])
        pieces = np.split(time, starts)
        rises = [gap for piece in pieces for gap in np.diff(piece) if gap > 0]
        gaps = np.diff(np.unique(time))
        if min(map(len, pieces)) >= _FEWEST_TIMES and gaps.min() < (1 - EVEN) * min(
            rises, default=0
        ):
            place = inside[starts[0]]
            what = f"begins again at {_said(rows, place)} after {_said(rows, place - 1)}"
            raise about.problem(what, rows.place[place - 1], rows.place[place])
    return len(unsorted)


def _arranged(
    frame: pl.DataFrame,
    rows: _Runs,
    spacing: tuple[Flags, Flags],
    column: str,
    changes: tuple[int, int],
    *,
    infer: bool,
) -> Arranged:
    even, grid = spacing
    runs, (moved, copies) = len(even), changes
    ordered = rows.sorted()
    number = _number_within(ordered.run)
    point = _time_numbers(ordered)
    starts = np.append(0, np.flatnonzero(~ordered.same) + 1)
    point = point - point[starts][ordered.run]
    episodes, unclear = _episode_runs(frame, rows, column, even, grid)
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


def _episode_runs(
    frame: pl.DataFrame, rows: _Runs, column: str, even: Flags, grid: Flags
) -> tuple[Flags, bool]:
    """Which runs hold episodes, and whether some hold either; runs of one or two rows are as the others.

    Rows are episodes where they come no less often than episodes of the length they state end. Else they
    are evaluations where they are evenly spaced, or on a grid.
    """
    typical, _, _ = _typical_gaps(rows.at_times())
    known = np.bincount(rows.at_times().run, minlength=len(even)) >= _FEWEST_TIMES
    length = np.full(len(even), np.nan)
    for name in LENGTHS:
        if name in frame.columns and frame[name].dtype.is_numeric():
            values = frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()[rows.place]
            seen = ~np.isnan(values)
            length = _lower_median(values[seen], rows.run[seen], len(even))
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
