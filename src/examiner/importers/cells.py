"""Columns and cells of a plain table: their names, words for missing, long numbers, counts, wide tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.suggestions import one_result_per_row
from examiner.messages import InputError, listed, shorten
from examiner.results import name_column, numbers_in, refuse_row

_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as Python writes it, and Int64 holds it


def with_given(frame: pl.DataFrame, given: Mapping[str, str]) -> pl.DataFrame:
    """Add names from the path as columns; one the table has already must not say otherwise.

    >>> with_given(pl.DataFrame({"score": [1.0]}), {"agent": "dqn", "run": "3"}).row(0)
    (1.0, 'dqn', 3)
    """
    for name, value in given.items():
        if name not in frame.columns:
            column = column_of(name, [value]).new_from_index(0, len(frame))
            frame = frame.with_columns(column)
            continue
        own = frame[name].drop_nulls().cast(pl.String, strict=False)
        other = own.filter(own != value)
        if len(other):
            raise InputError(
                f"The path or an option says that the {name} is {shorten(value)}, and the column "
                f"{shorten(name)} says {shorten(other[0])}. Leave it out there, or drop the column."
            )
    return frame


def column_of(name: str, values: Sequence[str]) -> pl.Series:
    """Make a column of names: whole numbers where every name is one as Python writes it.

    >>> column_of("run", ["1", "2"]).to_list(), column_of("run", ["01", "2"]).to_list()
    ([1, 2], ['01', '2'])
    """
    if name not in ("agent", "task") and all(_WHOLE_NUMBER.fullmatch(value) for value in values):
        return pl.Series(name, [int(value) for value in values], dtype=pl.Int64)
    return pl.Series(name, values, dtype=pl.String)


def spread(name: str, values: Sequence[str], indices: NDArray[np.integer]) -> pl.Series:
    """Make a long column of few names: for each row, the value at its index.

    >>> spread("agent", ["dqn", "ppo", "dqn"], np.array([2, 2, 1])).to_list()
    ['dqn', 'dqn', 'ppo']
    """
    column = column_of(name, values)
    if column.dtype != pl.String:
        return column.gather(indices)
    return coded_names(name, values, indices)


def coded_names(name: str, values: Sequence[str], indices: NDArray[np.integer]) -> pl.Series:
    """Make a long column of few names, whatever they look like: for each row, the value at its index.

    >>> coded_names("evaluation", ["7", "8"], np.array([1, 0])).to_list()
    ['8', '7']
    """
    codes: dict[str, int] = {}
    coded = np.array([codes.setdefault(value, len(codes)) for value in values])
    return name_column(name, list(codes), coded[indices])


MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "–", "missing")
"""What people write where nothing was observed; compared in lower case, without blanks."""

SUCCESSES, TRIALS, SUCCESS = "successes", "trials", "success"
MOST_TRIALS = 50_000_000
"""Trials that are given rows of their own: a few gigabytes."""

EXACT_FLOAT = 2**53
_LONG = (pl.UInt64, pl.Int128, pl.UInt128)


def without_missing_words(column: pl.Series) -> pl.Series:
    """Return a column of text with null where a word says that nothing was observed.

    >>> without_missing_words(pl.Series("score", ["1", " N/A"])).to_list()
    ['1', None]
    """
    if column.dtype != pl.String:
        return column
    plain = column.str.strip_chars()
    return plain.set(plain.str.to_lowercase().is_in(MISSING), None)


_NUMBER = r"[-−+]?(?:[\d.]+(?:e[-+]?\d+)?|nan)"
_WITH_SPREAD = rf"(?i)^\s*({_NUMBER})\s*%?\s*(?:(?:±|\+/?-|\\pm)\s*([\d.e+-]+|nan))?\s*%?\s*$"
_SPREAD_IN_BRACKETS = r"^\s*([-−+]?\d*\.\d+)\s*%?\s*\(\s*±?\s*(\d*\.\d+)\s*%?\s*\)\s*$"
"""A point in both: without one, brackets may count the last digits, or the results."""
STATED_ERROR = "stated_error"
"""The column with what a table states after ±: a deviation, a standard error or half an interval."""


_GROUPED = r"^\s*[-+]?\d{1,3}(?:,\d{3})*(?:\.\d+)?\s*$|^\s*[-+]?\d+(?:\.\d+)?\s*$"
_SURELY_GROUPED = r"\d,\d{3},|\d,\d{3}\."
"""Marks between thousands that are no decimal commas."""


class PlainNumbers(NamedTuple):
    """A table whose cells such as `9.5 ± 0.2` are numbers, what followed the ± by column, and a note.

    `shares` are the columns in which all cells are percentages.
    """

    frame: pl.DataFrame
    errors: Mapping[str, pl.Series]
    notes: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()


def plain_numbers(frame: pl.DataFrame) -> PlainNumbers:
    """Return columns of text such as `9.5 ± 0.2` or `81.7 %` as the numbers before it, and what follows ±.

    >>> plain = plain_numbers(pl.DataFrame({"agent": ["a"], "pong": ["18.5 ± 2.1"]}))
    >>> plain.frame.row(0), plain.errors["pong"].to_list()
    (('a', '18.5'), [2.1])
    """
    texts = [frame[name] for name in frame.columns if frame[name].dtype == pl.String]
    replaced, errors, shares = [], {}, list[str]()
    for column in texts:
        cells = without_missing_words(column)
        written = cells.drop_nulls()
        if written.str.contains(_GROUPED).all() and written.str.contains(_SURELY_GROUPED).any():
            frame = frame.with_columns(cells.str.replace_all(",", ""))
            continue
        # One such cell among plain numbers may be a slip: it is refused with its line.
        marked = written.str.contains(r"±|\+/?-|\\pm|%\s*$") & written.str.contains(_WITH_SPREAD)
        in_brackets = written.str.contains(_SPREAD_IN_BRACKETS)
        if len(written) and (marked.all() or in_brackets.all()):
            if written.str.contains("%").all():
                shares.append(column.name)
            pattern = _WITH_SPREAD if marked.all() else _SPREAD_IN_BRACKETS
            replaced.append(cells.str.extract(pattern).str.replace("−", "-"))
            stated = cells.str.extract(pattern, 2).cast(pl.Float64, strict=False)
            if stated.fill_nan(None).count():
                errors[column.name] = stated.fill_nan(None)
    if not replaced:
        return PlainNumbers(frame, {})
    names = [column.name for column in replaced]
    kept = (
        f"What follows ± or is in brackets is kept in the column {STATED_ERROR!r}. No interval uses it: it "
        f"may be a deviation or a standard error, of any number of runs."
    )
    note = (
        f"Cells such as {shorten(frame[names[0]].drop_nulls()[0])} are read as their first number: "
        f"{listed(names)}. {kept if errors else ''}".strip()
    )
    return PlainNumbers(frame.with_columns(replaced), errors, (note,), tuple(shares))


_TRUTH_WORDS = (("false", "true"), ("no", "yes"), ("fail", "pass"), ("failed", "passed"))


def truth_values(column: pl.Series) -> pl.Series:
    """Return a column of text such as `True` and `False`, in any capitalisation, as 1 and 0.

    >>> truth_values(pl.Series(["True", "FALSE", "n/a"])).to_list()
    [1.0, 0.0, None]
    """
    if column.dtype.is_numeric() or column.dtype == pl.Boolean or column.dtype.is_nested():
        return column
    plain = without_missing_words(column.cast(pl.String)).str.to_lowercase()
    words = set(plain.unique().drop_nulls())
    pair = next((pair for pair in _TRUTH_WORDS if words and words <= set(pair)), None)
    return column if pair is None else (plain == pair[1]).cast(pl.Float64)


_ANSWERS = ("prediction", "pred", "predicted", "answer", "response", "model_answer", "choice")
_ANSWER_KEYS = ("gold", "target", "label", "key", "answer_key", "correct_answer", "reference")
_CHOICE = r"(?i)^\(?([a-z])\)?\.?$"


def marked_answers(frame: pl.DataFrame) -> tuple[pl.DataFrame, str] | None:
    """Return a column `correct` from letters of answers and of their key, and a note; None without both.

    An answer that is no letter, such as a sentence, could be right: then nothing is marked.

    >>> answers = pl.DataFrame({"prediction": ["A", "(b)"], "gold": ["A", "C"]})
    >>> marked_answers(answers)[0]["correct"].to_list()
    [1.0, 0.0]
    """
    plain = {name.strip().lower(): name for name in frame.columns}
    answers = [plain[name] for name in _ANSWERS if name in plain]
    keys = [plain[name] for name in _ANSWER_KEYS if name in plain]
    if len(answers) != 1 or len(keys) != 1:
        return None
    letters = []
    for name in (answers[0], keys[0]):
        written = without_missing_words(frame[name].cast(pl.String))
        choice = written.str.extract(_CHOICE).str.to_uppercase()
        if choice.null_count() > written.null_count() or choice.null_count() == len(choice):
            return None
        letters.append(choice)
    correct = (letters[0] == letters[1]).cast(pl.Float64).alias("correct")
    note = (
        f"The answers in {shorten(answers[0])} are marked by the key in {shorten(keys[0])}: 1 where both "
        f"are the same letter, else 0; rows without an answer were not observed."
    )
    return frame.with_columns(correct), note


def without_blank_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows of nulls, as which blank lines of a text file arrive; nothing else.

    >>> without_blank_rows(pl.DataFrame({"agent": ["a", None], "score": [1, None]})).height
    1
    """
    if not frame.width or not frame[:, 0].null_count():
        return frame
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def with_exact_keys(frame: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Return the frame with keys beyond 64 bits, such as long seeds, as text; no digit is lost.

    >>> frame = pl.DataFrame({"seed": pl.Series([2**70, 2**70 + 1], dtype=pl.Int128)})
    >>> with_exact_keys(frame, ["seed"])["seed"].to_list()
    ['1180591620717411303424', '1180591620717411303425']
    """
    long = [frame[name] for name in keys if name in frame.columns and frame[name].dtype in _LONG]
    return frame.with_columns(
        column.cast(pl.String)
        for column in long
        if column.cast(pl.Int64, strict=False).null_count() > column.null_count()
    )


def rounding_notes(frame: pl.DataFrame, measures: Sequence[str]) -> tuple[str, ...]:
    """Say which measures hold whole numbers that floating point cannot hold exactly.

    >>> rounding_notes(pl.DataFrame({"score": [2**53 + 1]}), ["score"])
    ("Numbers beyond 9,007,199,254,740,992 are rounded to 16 digits: 'score'.",)
    """
    rounded = [
        name
        for name in measures
        if name in frame.columns
        and frame[name].dtype.is_numeric()
        and any(
            isinstance(bound, int | float) and EXACT_FLOAT <= abs(bound) < float("inf")
            for bound in (frame[name].min(), frame[name].max())
        )
    ]
    if not rounded:
        return ()
    return (f"Numbers beyond {EXACT_FLOAT:,} are rounded to 16 digits: {listed(rounded)}.",)


# -------------------------------------------------------------------- counts


def holds_counts(names: Sequence[str]) -> bool:
    """Whether a header has successes and trials, and no trial of its own.

    >>> holds_counts(["agent", "task", "successes", "trials"]), holds_counts(["agent", "trials"])
    (True, False)
    """
    return SUCCESSES in names and TRIALS in names and not {"trial", SUCCESS} & set(names)


def counted_out(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return a row for each trial, 1 in the column `success` or 0, and a note that says so.

    Without a count, or of no trials at all, nothing was observed: one row without a value.

    >>> counts = pl.DataFrame({"agent": ["a"], "task": ["t"], "successes": [1], "trials": [3]})
    >>> counted_out(counts)[0].rows()
    [('a', 't', 0.0), ('a', 't', 0.0), ('a', 't', 1.0)]
    """
    successes, trials = _whole(frame[SUCCESSES]), _whole(frame[TRIALS])
    beyond = successes > trials  # never where one of them is NaN
    if beyond.any():
        row = int(beyond.argmax())
        raise InputError(
            f"Row {row + 1} has {successes[row]:.0f} successes of {trials[row]:.0f} trials. Correct it, "
            f"or name the measure where these are no counts (`--measure NAME`).",
            row=row,
        )
    seen = ~np.isnan(successes) & (trials > 0)
    each = np.where(seen, trials, 1)
    total = float(each.sum())
    if total == len(frame):  # a row is a trial already
        won, counted = np.where(seen, successes, np.nan), frame.drop(SUCCESSES, TRIALS)
    elif total > MOST_TRIALS:
        raise InputError(
            f"The table counts {total:,.0f} trials, too many to give each a row. Make the responses in "
            f"Python with ResponseMatrix.from_counts, or give shares in a column 'score'."
        )
    else:
        each = each.astype(np.int64)
        rows = np.repeat(np.arange(len(frame)), each)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(each) - each, each)
        failures = trials - successes
        won = np.where(seen[rows], number >= failures[rows], np.nan)  # in order of their values
        counted = frame.drop(SUCCESSES, TRIALS)[rows]
    note = (
        f"The columns {SUCCESSES!r} and {TRIALS!r} are read as counts: {len(counted):,} trials, each 1 or "
        f"0 in the measure {SUCCESS!r}."
    )
    return counted.with_columns(pl.Series(SUCCESS, won).fill_nan(None)), note


def _whole(column: pl.Series) -> NDArray[np.float64]:
    """Whole numbers from 0 on, NaN where there is none."""
    numbers, wrong = numbers_in(without_missing_words(column))
    values = numbers.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if wrong is None:
        whole = (values >= 0) & (values == np.floor(values)) & (values < EXACT_FLOAT)
        bad = np.flatnonzero(~whole & ~np.isnan(values))
        wrong = int(bad[0]) if len(bad) else None
    if wrong is not None:
        raise InputError(
            f"Row {wrong + 1} has {shorten(column[wrong])} in the column {shorten(column.name)}, where a "
            f"whole number from 0 on belongs. Correct it, or give one row a trial with a 0/1 column.",
            row=wrong,
        )
    return values


# -------------------------------------------------------------------- wide tables


def unfolded(
    frame: pl.DataFrame,
    *,
    tasks_are_rows: bool,
    measure: str,
    keys: Sequence[str] = (),
    errors: Mapping[str, pl.Series] = MappingProxyType({}),
) -> pl.DataFrame:
    """Return agent, task, keys and the measure of a wide table; cells without a value are left out.

    >>> wide = pl.DataFrame({"agent": ["dqn", "random"], "pong": ["18", "n/a"]})
    >>> unfolded(wide, tasks_are_rows=False, measure="score").rows()
    [('dqn', 'pong', 18.0)]
    """
    frame = without_blank_rows(frame)
    keys = [name for name in frame.columns[1:] if name in keys]
    names, cells = frame[:, 0].cast(pl.String), frame[:, 1:].drop(keys)
    if not len(frame):
        raise InputError("The table has no rows. Give at least one agent's result on one task.")
    refuse_row(names.is_null() | (names == ""), "has no name in its first column. Name it.")
    header = frame.columns
    numbers = pl.DataFrame([_numbers(without_missing_words(column), header) for column in cells])
    values = numbers.to_numpy(order="c")
    first, second = ("task", "agent") if tasks_are_rows else ("agent", "task")
    # Enums keep the table's own order of names, whichever cells are empty.
    names = names.cast(pl.Enum(names.unique(maintain_order=True)))
    headers = pl.Series(second, cells.columns, dtype=pl.Enum(cells.columns))
    seen = ~np.isnan(values)
    rows, columns = np.nonzero(seen)
    long = pl.DataFrame(
        {first: names.gather(rows), second: headers.gather(columns)}
        | {name: frame[name].gather(rows) for name in keys}
        | {measure: values[seen]}
    )
    if not errors:
        return long
    missing = pl.Series([None] * len(frame), dtype=pl.Float64)
    stated = pl.DataFrame([errors.get(name, missing).alias(name) for name in cells.columns])
    return long.with_columns(pl.Series(STATED_ERROR, stated.to_numpy()[seen]).fill_nan(None))


def _numbers(column: pl.Series, columns: Sequence[str]) -> pl.Series:
    if column.null_count() == len(column):
        raise InputError(
            f"The column {shorten(column.name)} holds only missing values. Fill it or remove it."
        )
    column = truth_values(column)
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    numbers, row = numbers_in(column)
    if row is not None and numbers.null_count() == len(numbers):
        what = (
            f"The column {shorten(column.name)} holds text ({shorten(column[row])}), and is neither an "
            f"agent nor a task of a wide table. Remove it."
        )
        raise one_result_per_row(what, columns, row=row)
    if row is not None:
        raise InputError(
            f"Row {row + 1} has {shorten(column[row])} in the column {shorten(column.name)}, where a "
            f"number belongs. Correct it, leave it empty if nothing was observed, or say which "
            f"layout this is (`--layout tidy`).",
            row=row,
        )
    return numbers
