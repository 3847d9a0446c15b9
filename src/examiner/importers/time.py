"""Time in a plain table: a column, in frames or steps, along which the rows of a run are ordered."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from examiner.importers.run_times import (
    FRAMES_PER_STEP,
    UNTIMED,
    Arranged,
    UnclearTimeError,
    arrange,
)
from examiner.messages import InputError, listed, shorten
from examiner.results import CHECKPOINT, ITEM_COLUMNS, TIMES, Results, RowKind, assemble

TIME_COLUMNS = (
    *("frames", "frame", "env_frames", "total_frames", "num_frames", "global_step", "env_step"),
    *("env_steps", "total_env_steps", "num_env_steps", "environment_steps", "total_steps"),
    *("total_env_interacts", "env_interactions", "total_timesteps", "num_timesteps"),
    *("timesteps_total", "timesteps_so_far", "timesteps", "timestep", "total_num_steps"),
    *("training_steps", "training_step", "train_steps", "num_steps", "steps", "step", "_step"),
    *("step_count",),
)
"""Columns that are time where rows of runs can be ordered by them; the first of several."""


class TimeColumn(NamedTuple):
    """A column that is time, how many frames or steps one unit of it is, and which, where that was said."""

    column: str
    factor: float | None = None
    said: str = ""

    @classmethod
    def of(cls, text: str) -> TimeColumn:
        """Understand `COLUMN`, `COLUMN*FACTOR`, and the word `frames` or `steps` after it.

        >>> TimeColumn.of("global_step*4").unit, TimeColumn.of("epoch*1e6 frames").unit
        ('frames', 'frames')
        >>> TimeColumn.of("checkpoint*5000").unit, TimeColumn.of("env_frame").unit
        ('steps', 'frames')
        """
        plain, blank, word = text.strip().rpartition(" ")
        said = word if blank and word in TIMES else ""
        text = plain if said else text
        column, star, number = text.rpartition("*")
        if not star:
            return cls(text.strip(), said=said)
        try:
            factor = float(number)
        except ValueError:
            factor = math.nan
        if not (column.strip() and math.isfinite(factor) and factor > 0):
            raise InputError(
                f"Cannot tell which time {shorten(text)} means. Give a column, or a column times a number "
                f"above 0: `--time global_step`, `--time global_step*4` or `--time 'epoch*1e6 frames'`."
            )
        return cls(column.strip(), factor, said)

    @property
    def unit(self) -> str:
        """Frames where it was said, the name says so, or a step is as many frames as Atari agents skip."""
        if self.said:
            return self.said
        named = re.search(r"frame", self.column, flags=re.IGNORECASE)
        return "frames" if named or self.factor == FRAMES_PER_STEP else "steps"


class Timed(NamedTuple):
    """A frame with its time under its unit's name, and what was guessed; whether there is a time at all.

    `rows` tells whether it is stated, inferred or unclear what a row is: an episode or an evaluation.
    `column` is the column that was time, and `unit` what it is called now.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    found: bool = False
    rows: RowKind = "stated"
    column: str = ""
    unit: str = ""


def with_time(
    frame: pl.DataFrame,
    wanted: TimeColumn | None,
    *,
    numbered: bool = False,
    item: Sequence[str] = (),
    measures: Sequence[str] = (),
) -> Timed:
    """Find the time of a tidy table, number the rows of each run by it, and name runs that have no name.

    A column by one of the known names is time where `arrange` can order the rows of every run by it. Where
    no such column can, the first is refused with its reason: averaging all rows would answer another
    question. `numbered` says that the trials of the frame were numbered while it was read; `item` are
    columns that make an item, and `measures` those that are measured.

    >>> table = pl.DataFrame({"agent": ["a"] * 3, "task": ["t"] * 3, "global_step": [10, 20, 30]})
    >>> with_time(table, None).frame["steps"].to_list()
    [10, 20, 30]
    """
    if wanted is not None and wanted.column == UNTIMED:
        return Timed(frame)
    if wanted is not None:
        return _named(frame, wanted, numbered, item, measures)
    problems = []
    names = time_columns(frame.columns)
    if not names and CHECKPOINT in frame.columns and not {"run", "seed"} & set(frame.columns):
        names = [CHECKPOINT]  # else each row would be a run
    for name in names:
        try:
            timed = _timed(frame, TimeColumn(name), numbered, item, measures)
        except UnclearTimeError as problem:
            problems.append(problem)
            continue
        if timed is not None:
            return timed._replace(notes=(_guess(TimeColumn(name)), *timed.notes))
    if problems:
        raise problems[0]
    return Timed(frame)


def time_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that go by a known name of time, the best known first.

    Case, blanks and what stands before a slash do not count, but a name without it comes first.

    >>> time_columns(["score", "Global Step", "frames", "time/total_timesteps", "TotalEnvInteracts"])
    ['frames', 'Global Step', 'TotalEnvInteracts', 'time/total_timesteps']
    """
    plain = {_plain(name): name for name in reversed(names)}
    ends = {_plain(name.rpartition("/")[2]): name for name in reversed(names) if "/" in name}
    known = [_plain(name) for name in TIME_COLUMNS]
    return list(
        dict.fromkeys(each[name] for each in (plain, ends) for name in known if name in each)
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


def retimed(results: Results, time: TimeColumn) -> Results:
    """Give results that came with a time another one, as the user names it.

    >>> log = {"agent": ["a"] * 2, "task": ["t"] * 2, "run": [0, 0], "steps": [1, 2], "score": [1, 2]}
    >>> retimed(Results.from_dict(log), TimeColumn.of("steps*4")).column("frames")
    [4.0, 8.0]
    """
    if time.column == UNTIMED:
        return replace(results, provenance=replace(results.provenance, training=False))
    timed = _named(results.to_polars(), time, False, results.item, results.measures)
    step = f"time in {time.unit} from the column {time.column!r}"
    origin = replace(results.provenance.with_step(step), training=True)
    return assemble(timed.frame, results.measures, results.item, origin, results.scales)


def _guess(time: TimeColumn) -> str:
    skip = (
        "" if time.unit == "frames" else f", `--time {time.column}*4` where a step is four frames"
    )
    return (
        f"The column {time.column!r} is read as time, in {time.unit}, and the table as a training log. "
        f"To read it otherwise: `--time COLUMN`{skip}, `--time {UNTIMED}`."
    )


def _named(
    frame: pl.DataFrame,
    wanted: TimeColumn,
    numbered: bool,
    item: Sequence[str],
    measures: Sequence[str],
) -> Timed:
    if wanted.column not in frame.columns:
        raise InputError(
            f"There is no column {shorten(wanted.column)} for the time; found "
            f"{listed(frame.columns, limit=20)}. Name one of them."
        )
    timed = _timed(frame, wanted, numbered, item, measures, named=True)
    if timed is None:
        raise InputError(
            f"The column {shorten(wanted.column)} holds no numbers, and cannot be the time. Name another."
        )
    return timed


def _timed(
    frame: pl.DataFrame,
    time: TimeColumn,
    numbered: bool,
    item: Sequence[str],
    measures: Sequence[str],
    *,
    named: bool = False,
) -> Timed | None:
    """The frame with this time, or None where the column holds none."""
    values = frame[time.column].cast(pl.Float64, strict=False).fill_nan(None)
    if values.null_count() == len(values):
        return None
    keys = run_keys(frame, item)
    missing = (values.is_null() | values.is_infinite()).arg_true()
    if len(missing):
        raise UnclearTimeError(
            f"The column {shorten(time.column)} has no number in row {missing[0] + 1:,}, and cannot be "
            f"used as time. Correct the row, name another column (`--time COLUMN`), or add "
            f"`--time {UNTIMED}`.",
            row=missing[0],
        )
    labels, stated = _row_labels(frame, keys, time.column, numbered)
    if numbered and frame.select(*keys, "trial").is_duplicated().any():
        return Timed(frame)  # files of one run: refused by the names of the files
    if "trial" in labels and not {"run", "seed"} & set(keys):
        frame = frame.with_columns(run=pl.lit(0, dtype=pl.Int64))
        keys = [*keys, "run"]
    compared = frame.drop("trial") if numbered else frame
    arranged = arrange(
        compared,
        values.to_numpy(),
        time.column,
        [*keys, *(["evaluation"] if _splits(frame) else [])],
        labels=labels,
        measures=measures,
        named=named,
    )
    if arranged is None:
        return None
    stated = stated or "evaluation" in frame.columns or "checkpoint" in frame.columns
    rows: RowKind = "stated"
    if not stated and arranged.unclear:
        rows = "unclear"
    elif not stated and arranged.checkpoint is not None:
        rows = "inferred"
    return Timed(
        _completed(frame, time, keys, arranged, numbered=numbered, stated=stated),
        arranged.notes,
        found=True,
        rows=rows,
        column=time.column,
        unit=time.unit,
    )


def _row_labels(
    frame: pl.DataFrame, keys: Sequence[str], column: str, numbered: bool
) -> tuple[list[str], bool]:
    """Columns that tell rows of one time apart, and whether trials are numbered through each run."""
    labels: list[str] = [
        name for name in ("trial", "episode") if name in frame.columns and name != column
    ]
    if numbered:
        labels.remove("trial")
    stated = "trial" in labels and not frame.select(*keys, "trial").is_duplicated().any()
    return labels, stated


def _splits(frame: pl.DataFrame) -> bool:
    """Whether a column tells rows of evaluations from those of training."""
    return "evaluation" in frame.columns and frame["evaluation"].n_unique() <= 2


def _completed(
    frame: pl.DataFrame,
    time: TimeColumn,
    keys: Sequence[str],
    arranged: Arranged,
    *,
    numbered: bool,
    stated: bool,
) -> pl.DataFrame:
    """The frame with its time in its unit, its runs, and its rows numbered by time."""
    whole = time.factor is None and frame[time.column].dtype.is_integer()
    values = frame[time.column].cast(pl.Int64 if whole else pl.Float64, strict=False)
    values = values if whole else values * (time.factor or 1.0)
    if time.column != "checkpoint":  # which also tells that rows are no episodes
        frame = frame.drop(time.column)
    if time.unit in frame.columns:  # the length of an episode, under a name of time
        frame = frame.rename({time.unit: f"{time.unit}_logged"})
    frame = frame.with_columns(values.alias(time.unit))
    if len(arranged.kept) < len(frame):
        frame = frame[arranged.kept]
    if not {"run", "seed"} & set(keys):
        cells = pl.Series("run", arranged.run)
        frame = frame.with_columns(cells).with_columns(
            run=pl.col("run").rank("dense").over(keys).cast(pl.Int64) - 1
        )
        keys = [*keys, "run"]
    if (
        numbered
        or "trial" not in frame.columns
        or frame.select(*keys, "trial").is_duplicated().any()
    ):
        # Items of the user's own become part of the key later: until then trials differ between them.
        own = [name for name in keys if name in run_keys(frame, ()) or name == "run"]
        frame = frame.with_columns(trial=pl.Series(arranged.order)).with_columns(
            trial=pl.col("trial").rank("ordinal").over(own).cast(pl.Int64) - 1
        )
    if arranged.checkpoint is not None and not stated:
        points = pl.Series("checkpoint", arranged.checkpoint).fill_nan(None).cast(pl.Int64)
        frame = frame.with_columns(points)
    return frame


def run_keys(frame: pl.DataFrame, item: Sequence[str]) -> list[str]:
    """What tells runs apart: the agent, the task, what makes an item, and the run's own name."""
    known = dict.fromkeys(("agent", "task", *ITEM_COLUMNS, *item))
    names = [name for name in known if name in frame.columns and name not in ("run", "seed")]
    return names + [name for name in ("run", "seed") if name in frame.columns][:1]
