"""Time in a plain table: a column, in frames or steps, along which the rows of a run are ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from examiner.importers.options import UNTIMED, TimeColumn
from examiner.importers.run_times.arranged import Arranged, arrange
from examiner.importers.run_times.rows import UnclearTimeError
from examiner.importers.vocabulary import time_columns
from examiner.messages import InputError, listed, shorten
from examiner.results import CHECKPOINT, ITEM_COLUMNS, Results, RowKind, assemble


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
