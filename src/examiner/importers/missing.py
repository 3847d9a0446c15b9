"""What people write where nothing was observed."""

from __future__ import annotations

import polars as pl

MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "–", "missing")
"""Compared in lower case, without blanks."""


def without_missing_words(column: pl.Series) -> pl.Series:
    """Return a column of text with null where a word says that nothing was observed.

    >>> without_missing_words(pl.Series("score", ["1", " N/A"])).to_list()
    ['1', None]
    """
    if column.dtype != pl.String:
        return column
    plain = column.str.strip_chars()
    return plain.set(plain.str.to_lowercase().is_in(MISSING), None)


def without_blank_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows of nulls, as which blank lines of a text file arrive; nothing else.

    >>> without_blank_rows(pl.DataFrame({"agent": ["a", None], "score": [1, None]})).height
    1
    """
    if not frame.width or not frame[:, 0].null_count():
        return frame
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))
