"""Tables of answers as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from examiner.messages import InputError

if TYPE_CHECKING:
    from examiner.answers.table import Table


_NUMBERS = {"float64": pl.Float64, "int64": pl.Int64, "bool": pl.Boolean}


def polars_frame(table: Table) -> pl.DataFrame:
    """Return a polars data frame with the columns of a table; NaN stays NaN."""
    types: dict[str, Any] = {"name": pl.String, "text": pl.String, "words": pl.List(pl.String)}
    content = table.to_dict()
    return pl.DataFrame(
        [
            pl.Series(
                name, content[name], dtype=types.get(column.kind) or _NUMBERS[_dtype(table, name)]
            )
            for name, column in table.columns.items()
        ]
    )


def pandas_frame(table: Table) -> Any:  # Any: pandas is optional
    """Return a pandas data frame; units and meanings are in its `attrs`."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError(
            "pandas is not installed. Install it, or use `to_polars()` or `to_dict()`."
        ) from None
    types: dict[str, Any] = {"name": str, "text": str, "words": object}
    content = table.to_dict()
    frame = pd.DataFrame(
        {
            name: pd.Series(content[name], dtype=types.get(column.kind) or _dtype(table, name))
            for name, column in table.columns.items()
        }
    )
    frame.attrs = {
        name: f"{column.meaning} ({column.unit})" if column.unit else column.meaning
        for name, column in table.columns.items()
    }
    return frame


def _dtype(table: Table, name: str) -> str:
    return str(table.values(name).dtype)  # counts are whole, unless some were not observed
