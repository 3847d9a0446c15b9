"""Whole numbers too long for the usual types: kept as names where they are keys, said where measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from examiner.wording import listed

EXACT_FLOAT = 2**53
_LONG = (pl.UInt64, pl.Int128, pl.UInt128)


def with_exact_keys(frame: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Return the frame with keys beyond 64 bits, such as long seeds, as text; no digit is lost.

    >>> frame = pl.DataFrame({"seed": pl.Series([2**70, 2**70 + 1], dtype=pl.Int128)})
    >>> with_exact_keys(frame, ["seed"])["seed"].to_list()
    ['1180591620717411303424', '1180591620717411303425']
    """
    long = [name for name in keys if name in frame.columns and frame[name].dtype in _LONG]
    texts = [
        name
        for name in long
        if frame[name].cast(pl.Int64, strict=False).null_count() > frame[name].null_count()
    ]
    return frame.with_columns(pl.col(texts).cast(pl.String)) if texts else frame


def rounding_notes(frame: pl.DataFrame, measures: Sequence[str]) -> tuple[str, ...]:
    """Say which measures hold whole numbers that floating point cannot hold exactly.

    >>> rounding_notes(pl.DataFrame({"score": [2**53 + 1]}), ["score"])
    ("Numbers beyond 9,007,199,254,740,992 are rounded to 16 digits: 'score'.",)
    """
    rounded = [name for name in measures if name in frame.columns and _is_beyond(frame[name])]
    if not rounded:
        return ()
    return (f"Numbers beyond {EXACT_FLOAT:,} are rounded to 16 digits: {listed(rounded)}.",)


def _is_beyond(column: pl.Series) -> bool:
    if not column.dtype.is_numeric():
        return False
    low, high = column.min(), column.max()
    return any(
        isinstance(bound, int | float) and EXACT_FLOAT <= abs(bound) < float("inf")
        for bound in (low, high)
    )
