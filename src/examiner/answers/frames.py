"""Tables of answers as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from examiner.messages import InputError

if TYPE_CHECKING:
    from examiner.answers.table import Table


def polars_frame(table: Table) -> pl.DataFrame:
    """Return a polars data frame with the columns of a table; NaN stays NaN."""
    types: dict[str, Any] = {"name": pl.String, "text": pl.String, "words": pl.List(pl.String)}
    return pl.DataFrame(
        [
            pl.Series(name, table.to_dict()[name], dtype=types.get(column.kind))
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
    frame = pd.DataFrame({name: table.to_dict()[name] for name in table.columns})
    frame.attrs = {
        name: f"{column.meaning} ({column.unit})" if column.unit else column.meaning
        for name, column in table.columns.items()
    }
    return frame
