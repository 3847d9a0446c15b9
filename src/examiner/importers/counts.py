"""A table of counts, successes of trials, as a table with a row for each trial."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.missing import without_missing_words
from examiner.results.border import numbers_in
from examiner.wording import InputError, shorten

SUCCESSES, TRIALS, MEASURE = "successes", "trials", "success"
MOST_ROWS = 50_000_000
"""Trials that are given rows of their own: a few gigabytes."""


def holds_counts(names: list[str]) -> bool:
    """Whether a header has successes and trials, and no trial of its own.

    >>> holds_counts(["agent", "task", "successes", "trials"]), holds_counts(["agent", "trials"])
    (True, False)
    """
    return SUCCESSES in names and TRIALS in names and not {"trial", MEASURE} & set(names)


def counted_out(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return a row for each trial, 1 in the column `success` or 0, and a note that says so.

    Without a count, or of no trials at all, nothing was observed: one row without a value.

    >>> counts = pl.DataFrame({"agent": ["a"], "task": ["t"], "successes": [1], "trials": [3]})
    >>> counted_out(counts)[0].rows()
    [('a', 't', 1.0), ('a', 't', 0.0), ('a', 't', 0.0)]
    """
    successes, trials = _whole(frame[SUCCESSES]), _whole(frame[TRIALS])
    seen = np.isfinite(successes) & np.isfinite(trials) & (trials > 0)
    beyond = np.isfinite(successes) & np.isfinite(trials) & (successes > trials)
    if beyond.any():
        row = int(beyond.argmax())
        raise InputError(
            f"Row {row + 1} has {successes[row]:.0f} successes of {trials[row]:.0f} trials. Correct it, "
            f"or name the measure where these are no counts (`--measure NAME`).",
            row=row,
        )
    total = float(np.where(seen, trials, 1).sum())
    if total > MOST_ROWS:
        raise InputError(
            f"The table counts {total:,.0f} trials, too many to give each a row. Make the responses in "
            f"Python with ResponseMatrix.from_counts, or give shares in a column 'score'."
        )
    each = np.where(seen, trials, 1).astype(np.int64)
    places = np.repeat(np.arange(len(frame)), each)
    number = np.arange(len(places)) - np.repeat(np.cumsum(each) - each, each)
    won = np.where(seen[places], number < successes[places], np.nan)
    note = (
        f"The columns {SUCCESSES!r} and {TRIALS!r} are read as counts: {len(places):,} trials, each 1 or 0 "
        f"in the measure {MEASURE!r}."
    )
    rows = frame.drop(SUCCESSES, TRIALS)[places]
    return rows.with_columns(pl.Series(MEASURE, won).fill_nan(None)), note


def _whole(column: pl.Series) -> NDArray[np.float64]:
    """Whole numbers from 0 on, NaN where there is none."""
    numbers, row = numbers_in(without_missing_words(column))
    if row is not None:
        values, wrong = None, row
    else:
        values = numbers.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
        bad = ~np.isnan(values) & ~((values >= 0) & (values == np.floor(values)) & (values < 2**53))
        wrong = int(bad.argmax()) if bad.any() else -1
    if values is None or wrong >= 0:
        raise InputError(
            f"Row {wrong + 1} has {shorten(column[wrong])} in the column {shorten(column.name)}, where a "
            f"whole number from 0 on belongs. Correct it, or give one row a trial with a 0/1 column.",
            row=wrong,
        )
    return values
