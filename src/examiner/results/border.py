"""The border: frames of other libraries in and out, and tidy ones checked: columns, measures, keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from examiner.messages import InputError, counted, listed, plural, shorten
from examiner.results.codes import Codes, compact_numbers, names_of, unused_names
from examiner.results.keys import ITEM_COLUMNS, check_unique, complete_keys, item_codes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def frame_from(source: object) -> pl.DataFrame:
    """Return a polars frame from a polars, pandas or arrow table, or a dictionary of columns.

    pandas is converted column by column, so that pyarrow is not needed beside it.

    >>> frame_from({"agent": ["a"], "score": [1.5]}).columns
    ['agent', 'score']
    """
    try:
        frame = _converted(source)
    except pl.exceptions.ShapeError:
        assert isinstance(source, Mapping)
        lengths = [
            f"{shorten(name)} has {counted(len(column), 'row')}" for name, column in source.items()
        ]
        raise InputError(
            f"The columns have different lengths: {', '.join(lengths[:6])}. Give each one value per row."
        ) from None
    except UnicodeEncodeError as problem:
        raise InputError(
            f"The table has the text {shorten(problem.object)}, which is not valid Unicode (a lone "
            f"surrogate). Correct it where it was decoded."
        ) from None
    if not frame.columns:
        raise InputError("The table has no columns. Give agents, tasks and a score.")
    return frame


def _converted(source: object) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if type(source).__module__.partition(".")[0] == "pandas":
        series = source if hasattr(source, "columns") else source.reset_index()  # type: ignore[attr-defined]
        return _frame_from_pandas(series)
    if isinstance(source, Mapping):
        return pl.DataFrame([_series(str(name), column) for name, column in source.items()])
    if hasattr(source, "__arrow_c_stream__"):
        return pl.DataFrame(source)
    raise InputError(
        f"Cannot read a {type(source).__name__} as a table. Give a path, a pandas, polars or arrow "
        f"table, or a dictionary of columns."
    )


def is_frame(source: object) -> bool:
    """Tell whether `frame_from` would take this: anything tabular but a path.

    >>> is_frame({"agent": ["a"]}), is_frame("scores.csv")
    (True, False)
    """
    return isinstance(source, (Mapping, pl.DataFrame, pl.LazyFrame)) or (
        hasattr(source, "__arrow_c_stream__") or type(source).__module__.startswith("pandas")
    )


def pandas_from(frame: pl.DataFrame) -> pd.DataFrame:
    """Return a pandas frame, without going through pyarrow; missing numbers are NaN."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError("pandas is not installed. Run `pip install pandas`.") from None
    columns = {}
    for series in frame:
        if series.dtype.is_numeric() or series.dtype == pl.Boolean:
            columns[series.name] = series.to_numpy()
        else:
            columns[series.name] = np.array(series.to_list(), dtype=object)
    return pd.DataFrame(columns)


def arrow_from(frame: pl.DataFrame) -> pa.Table:
    """Return an arrow table."""
    try:
        import pyarrow  # noqa: F401  polars needs it for the conversion
    except ImportError:
        raise InputError("pyarrow is not installed. Run `pip install pyarrow`.") from None
    return frame.to_arrow()


def _frame_from_pandas(source: Any) -> pl.DataFrame:  # Any: pandas is optional
    if type(source.index).__name__ != "RangeIndex":
        source = source.reset_index()
    names = [str(name) for name in source.columns]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(
            f"The table has the column {shorten(min(repeated))} twice. Give every column its own name."
        )
    columns = (source.iloc[:, position] for position in range(len(names)))
    return pl.DataFrame(
        [_series(name, _plain(column)) for name, column in zip(names, columns, strict=True)]
    )


def _plain(column: Any) -> Any:  # Any: a pandas column in, an array or a list out
    """A pandas column as an array of numbers, or as a list with None where it is missing."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy()
    return [
        None if missing else value for value, missing in zip(column, column.isna(), strict=True)
    ]


def _series(name: str, values: Sequence[Any] | np.ndarray[Any, Any] | pl.Series) -> pl.Series:
    if isinstance(values, pl.Series):
        return values.rename(name)
    array = np.asarray(values) if isinstance(values, np.ndarray) else None
    if array is not None and array.ndim != 1:
        raise InputError(f"Column {shorten(name)} has shape {array.shape}. Give one value a row.")
    if array is not None and array.dtype.kind in "biuf":
        return pl.Series(name, array)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(
            f"Column {shorten(name)} is {shorten(values)}, not a list of values. Give a list or an array, "
            "one value per row."
        )
    items = list(values)
    if any(isinstance(item, (complex, np.complexfloating)) for item in items):
        raise InputError(
            f"Column {shorten(name)} holds complex numbers, which have no order. Give real numbers."
        )
    if any(type(item) is float for item in items) and all(_is_number(item) for item in items):
        return pl.Series(name, items, dtype=pl.Float64, strict=False)
    try:
        return pl.Series(name, items)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        # A mixture of text and numbers: text is what holds both.
        return pl.Series(name, [None if item is None else str(item) for item in items])


def _is_number(item: object) -> bool:
    return item is None or (isinstance(item, (int, float)) and not isinstance(item, bool))


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
    completed = complete_keys(frame, item, measures)
    others = [name for name in completed.frame.columns if name not in {*keys, *measures}]
    frame = completed.frame.select(*keys, *measures, *others)
    if not completed.numbered:
        check_unique(frame, item)
    frame = compact_numbers(frame, ["run", "trial"])
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
            alike.setdefault(" ".join(_composed(name).split()).casefold(), []).append(name)
        groups = [names for names in alike.values() if len(names) > 1]
        encoded = [ascii(name) for names in groups if _look_alike(names) for name in names]
        pairs = [name for names in groups if not _look_alike(names) for name in names]
        if pairs:
            notes.append(
                f"Some {plural(key)} differ only by case or blanks and are kept apart: "
                f"{listed(pairs, limit=6)}."
            )
        if encoded:
            notes.append(
                f"Some {key}s look the same and are written with different Unicode characters (NFC and "
                f"NFD); they are kept apart: {', '.join(encoded[:6])}."
            )
    return notes


def _composed(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _look_alike(names: Sequence[str]) -> bool:
    """Whether some of these names are the same text, composed of other characters."""
    return len({_composed(name) for name in names}) < len(names)


def _found_measures(frame: pl.DataFrame) -> list[str]:
    present = [name for name in MEASURES if name in frame.columns]
    if not present and {"successes", "trials"} <= set(frame.columns):
        raise InputError(
            "The table has successes and trials, and no column with a result. Read it with "
            "`examiner.read`, give one row a trial with a 0/1 column, or use ResponseMatrix.from_counts."
        )
    if not present:
        raise InputError(
            f"No measure found among the columns {listed(frame.columns)}. Name one "
            f"(`--measure NAME`, `measure=…`), or call it {listed(MEASURES, limit=3)}."
        )
    return present


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
    examiner.messages.InputError: There is no column 'task'; found 'agent'. Rename the column \
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
