"""A wide table (names first, then a column of numbers each) unfolded into a tidy one."""

from __future__ import annotations

import polars as pl

from examiner.importers.missing import without_missing_words
from examiner.results.border import numbers_in
from examiner.wording import InputError, shorten


def unfolded(frame: pl.DataFrame, *, tasks_are_rows: bool, measure: str) -> pl.DataFrame:
    """Return agent, task and the measure; cells without a value are left out.

    >>> wide = pl.DataFrame({"agent": ["dqn", "random"], "pong": ["18", "n/a"]})
    >>> unfolded(wide, tasks_are_rows=False, measure="score").rows()
    [('dqn', 'pong', 18.0)]
    """
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    names, cells = frame[:, 0].cast(pl.String), frame[:, 1:]
    if not len(frame):
        raise InputError("The table has no rows. Give at least one agent's result on one task.")
    if names.null_count() or (names == "").any():
        row = int((names.is_null() | (names == "")).arg_max() or 0)
        raise InputError(f"Row {row + 1} has no name in its first column. Name it.", row=row)
    cells = pl.DataFrame([_numbers(without_missing_words(column)) for column in cells])
    first, second = ("task", "agent") if tasks_are_rows else ("agent", "task")
    # Enums keep the table's own order of names, whichever cells are empty.
    names = names.cast(pl.Enum(names.unique(maintain_order=True)))
    headers = pl.Series(second, cells.columns, dtype=pl.Enum(cells.columns))
    tidy = pl.DataFrame(
        {
            first: names.gather(_repeated_each(len(names), len(headers))),
            second: headers.gather(_repeated_all(len(names), len(headers))),
            measure: pl.Series(cells.to_numpy().ravel()),
        }
    )
    return tidy.filter(pl.col(measure).is_not_null() & pl.col(measure).is_not_nan())


def _repeated_each(count: int, times: int) -> pl.Series:
    return pl.int_range(count * times, eager=True) // times


def _repeated_all(count: int, times: int) -> pl.Series:
    return pl.int_range(count * times, eager=True) % times


def _numbers(column: pl.Series) -> pl.Series:
    if column.null_count() == len(column):
        raise InputError(
            f"The column {shorten(column.name)} holds only missing values. Fill it or remove it."
        )
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    numbers, row = numbers_in(column)
    if row is not None:
        raise InputError(
            f"Row {row + 1} has {shorten(column[row])} in the column {shorten(column.name)}, where a "
            f"number belongs. Correct it, leave it empty if nothing was observed, or say which "
            f"layout this is (`--layout tidy`).",
            row=row,
        )
    return numbers
