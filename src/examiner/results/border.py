"""A tidy frame at the border: columns found, measures made numbers, keys completed and unique."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from examiner.results.codes import Codes, names_of, unused_names
from examiner.results.keys import ITEM_COLUMNS, check_unique, complete_keys, item_codes
from examiner.wording import InputError, counted, listed, shorten

MEASURES = (
    *("score", "win", "return", "reward", "accuracy", "correct", "success", "value"),
    *("episode_return", "episode_reward", "episodic_return", "mean_reward"),
)
"""Columns taken as measures where none are named."""


class TidyTable(NamedTuple):
    """A frame that may pass: its columns in order, the items coded, and what was guessed."""

    frame: pl.DataFrame
    task_codes: Codes
    items: tuple[tuple[object, ...], ...]
    item: tuple[str, ...]
    measures: tuple[str, ...]
    notes: tuple[str, ...]


def tidy_table(
    frame: pl.DataFrame, measures: Sequence[str] | None, item: Sequence[str] | None
) -> TidyTable:
    """Check a tidy frame and put it in order; measures and item columns are found where not named.

    >>> tidy_table(pl.DataFrame({"agent": ["a"], "task": ["t"], "score": [1]}), None, None).measures
    ('score',)
    """
    check_columns(frame, ("agent", "task"))
    if not len(frame):
        raise InputError("The table has no rows. Give at least one agent's result on one task.")
    if item is None:
        item = [name for name in ITEM_COLUMNS if name in frame.columns]
    check_columns(frame, item)
    if measures is None:
        measures = _found_measures(frame)
    if not measures:
        raise InputError(f"No measure is named. Name one of the columns {listed(frame.columns)}.")
    check_columns(frame, measures)
    keys = ["agent", "task", *item, "run", "trial"]
    _check_roles(frame, (*keys, *measures))
    frame = frame.with_columns(as_measure(frame[name]) for name in measures)
    completed = complete_keys(frame, item)
    rest = [name for name in completed.frame.columns if name not in {*keys, *measures}]
    frame = completed.frame.select(*keys, *measures, *rest)
    if not completed.numbered:
        check_unique(frame, item)
    codes, items = item_codes(frame, item)
    notes = (*completed.notes, *_nearly_same_names(frame))
    return TidyTable(frame, codes, items, tuple(item), tuple(measures), notes)


def _check_roles(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """Refuse a column that is to be two things (key, column of the item, measure), or holds lists."""
    for position, name in enumerate(names):
        if name in names[:position]:
            raise InputError(
                f"The column {shorten(name)} is named twice, as a key, a column of the item or a measure. "
                f"Agent, task, run and trial are keys already; name any other once."
            )
        kind = frame.schema.get(name)
        if kind is not None and (kind.is_nested() or kind == pl.Object):
            raise InputError(
                f"The column {shorten(name)} holds {kind}, more than one value a row. Choose another."
            )


def _nearly_same_names(frame: pl.DataFrame) -> list[str]:
    """A slip of the keyboard makes two agents of one: said, never mended."""
    notes = []
    for key in ("agent", "task"):
        alike: dict[str, list[str]] = {}
        for name in names_of(frame[key]):
            alike.setdefault(" ".join(name.split()).casefold(), []).append(name)
        pairs = [name for names in alike.values() if len(names) > 1 for name in names]
        if pairs:
            notes.append(
                f"Some {key}s differ only by case or blanks and are kept apart: {listed(pairs, limit=6)}."
            )
    return notes


def _found_measures(frame: pl.DataFrame) -> list[str]:
    found = [name for name in MEASURES if name in frame.columns]
    if not found and {"successes", "trials"} <= set(frame.columns):
        raise InputError(
            "The table has successes and trials, and no column with a result. Read it with "
            "`examiner.read`, give one row a trial with a 0/1 column, or use ResponseMatrix.from_counts."
        )
    if not found:
        raise InputError(
            f"No measure found among the columns {listed(frame.columns)}. Name one "
            f"(`--measure NAME`, `measure=…`), or call it {listed(MEASURES, limit=3)}."
        )
    return found


def absent_names(frame: pl.DataFrame) -> list[str]:
    """Return notes on the agents and tasks that are named but have no observed value.

    >>> frame = pl.DataFrame({"agent": ["a"], "task": ["t"]}, schema={
    ...     "agent": pl.Enum(["a", "b"]), "task": pl.Enum(["t"])})
    >>> absent_names(frame)
    ["1 agent without any observed value is left out: 'b'."]
    """
    notes = []
    for key in ("agent", "task"):
        unused = unused_names(frame[key])
        if unused:
            verb = "is" if len(unused) == 1 else "are"
            notes.append(
                f"{counted(len(unused), key)} without any observed value {verb} left out: "
                f"{listed(unused)}."
            )
    return notes


def check_columns(frame: pl.DataFrame, names: Iterable[str]) -> None:
    """Refuse a name that is no column, listing those that are.

    >>> check_columns(pl.DataFrame({"agent": ["a"]}), ["task"])
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: There is no column 'task'; found 'agent'. Rename the column \
or name another.
    """
    for name in names:
        if name not in frame.columns:
            raise InputError(
                f"There is no column {shorten(name)}; found {listed(frame.columns, limit=20)}. "
                f"Rename the column or name another."
            )


def numbers_in(column: pl.Series) -> tuple[pl.Series, int | None]:
    """Return a column of text as numbers, and the first row that holds none, if there is one.

    >>> numbers_in(pl.Series(["1.5", None, "x"]))[1]
    2
    """
    numbers = column.cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & column.is_not_null()
    return numbers, int(wrong.arg_max() or 0) if wrong.any() else None


def as_measure(column: pl.Series) -> pl.Series:
    """Return a measure as floating point numbers, null where it was not observed.

    >>> as_measure(pl.Series("win", [True, None])).to_list()
    [1.0, None]
    """
    if column.dtype == pl.Null or column.null_count() == len(column):
        raise InputError(
            f"The column {shorten(column.name)} holds only missing values. Choose another measure."
        )
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        numbers, row = numbers_in(column)
        if row is not None:
            raise InputError(
                f"The {column.name} of row {row + 1} is {shorten(column[row])}, not a number. "
                f"Correct it, or leave it empty if nothing was observed.",
                row=row,
            )
        column = numbers
    values = column.cast(pl.Float64)
    if values.is_finite().all():
        return values
    if values.is_infinite().any():
        row = int(values.is_infinite().arg_max() or 0)
        raise InputError(
            f"The {column.name} of row {row + 1} is {values[row]}. Infinite values cannot be "
            f"compared: correct it, or leave it empty if nothing was observed.",
            row=row,
        )
    return values.fill_nan(None)
