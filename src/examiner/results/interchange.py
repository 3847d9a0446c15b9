"""Data frames of other libraries, in and out; the private frame inside is always polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from examiner.wording import InputError, shorten

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def frame_from(source: object) -> pl.DataFrame:
    """Return a polars frame from a polars, pandas or arrow table, or a dictionary of columns.

    pandas is converted column by column, so that pyarrow is not needed beside it.

    >>> frame_from({"agent": ["a"], "score": [1.5]}).columns
    ['agent', 'score']
    """
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
    items = list(values)
    if any(type(item) is float for item in items) and all(_is_number(item) for item in items):
        return pl.Series(name, items, dtype=pl.Float64, strict=False)
    try:
        return pl.Series(name, items)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        # A mixture of text and numbers: text is what holds both.
        return pl.Series(name, [None if item is None else str(item) for item in items])


def _is_number(item: object) -> bool:
    return item is None or (isinstance(item, (int, float)) and not isinstance(item, bool))
