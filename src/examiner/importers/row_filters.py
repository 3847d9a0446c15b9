"""Rows that are kept: the comparisons of `--where`, such as `split=test` or `shots>=5`."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

import polars as pl

from examiner.importers.cells import without_missing_words
from examiner.messages import InputError, listed, shorten
from examiner.results import numbers_in

_COMPARISON = re.compile(r"\s*(.+?)\s*(!=|<=|>=|==|=|<|>)\s*(.*?)\s*", re.DOTALL)
_ORDERS = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
_NULL = "null"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A comparison of a column with values; rows without a value are kept only where null is named."""

    column: str
    sign: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> RowFilter:
        """Parse `COLUMN=VALUE`, with `a|b` for several values, or another comparison.

        >>> RowFilter.of("split = dev|test").values, RowFilter.of("shots>=5").sign
        (('dev', 'test'), '>=')
        """
        match = _COMPARISON.fullmatch(text)
        if match is None or not match[3]:
            raise InputError(
                f"Cannot compare by {shorten(text)}. Write it as `--where 'split=test'`, with =, !=, <, "
                f"<=, > or >=; `a|b` for several values, `null` for none."
            )
        column, sign, value = match.groups()
        if sign in _ORDERS and numbers_in(pl.Series([value]))[1] is not None:
            raise InputError(
                f"Cannot compare by {shorten(text)}: {shorten(value)} is no number. Give one, or compare "
                f"with = or !=."
            )
        return cls(column, sign.replace("==", "="), tuple(map(str.strip, value.split("|"))))

    def __str__(self) -> str:
        return f"{self.column}{self.sign}{'|'.join(self.values)}"

    def keeps(self, frame: pl.DataFrame) -> pl.Series:
        """Return whether each row of a table is kept.

        >>> table = pl.DataFrame({"shots": [0, 5, None]})
        >>> [RowFilter.of(text).keeps(table).to_list() for text in ("shots>0", "shots=null")]
        [[False, True, False], [False, False, True]]
        """
        if self.column not in frame.columns:
            raise InputError(
                f"There is no column {shorten(self.column)} to choose rows by; found "
                f"{listed(frame.columns, limit=20)}. Name one of them."
            )
        column = frame[self.column]
        if self.sign in _ORDERS:
            return self._ordered(column)
        texts = without_missing_words(column.cast(pl.String))
        equal = reduce(operator.or_, (_equal(texts, value) for value in self.values))
        return ~equal if self.sign == "!=" else equal

    def _ordered(self, column: pl.Series) -> pl.Series:
        numbers = column
        if not column.dtype.is_numeric():
            numbers, wrong = numbers_in(without_missing_words(column.cast(pl.String)))
            if wrong is not None:
                raise InputError(
                    f"Cannot compare by {str(self)!r}: the column {shorten(self.column)} has "
                    f"{shorten(column[wrong])} in row {wrong + 1:,}, and no number. Compare with = or !=.",
                    row=wrong,
                )
        kept: pl.Series = _ORDERS[self.sign](numbers.cast(pl.Float64), float(self.values[0]))
        return kept.fill_null(value=False) & numbers.cast(pl.Float64).is_not_nan().fill_null(
            value=False
        )


def _equal(texts: pl.Series, value: str) -> pl.Series:
    """Whether texts are a value: the same text, number or truth value; `null` is the missing one."""
    if value.lower() == _NULL:
        return texts.is_null()
    equal = texts == value
    number = pl.Series([value]).cast(pl.Float64, strict=False)[0]
    if number is not None:
        equal |= texts.cast(pl.Float64, strict=False).fill_null(float("nan")) == number
    if value.lower() in ("true", "false"):
        equal |= texts.str.to_lowercase() == value.lower()
    return equal.fill_null(value=False)


def rows_kept(
    frame: pl.DataFrame, filters: Sequence[RowFilter], given: Mapping[str, str] | None = None
) -> pl.Series:
    """Return which rows of a table all filters keep; `given` are names that hold for all rows.

    >>> rows_kept(pl.DataFrame({"split": ["test", "dev"]}), [RowFilter.of("split=test")]).to_list()
    [True, False]
    """
    table = frame.with_columns(
        pl.lit(value).alias(name)
        for name, value in (given or {}).items()
        if name not in frame.columns
    )
    kept = pl.repeat(True, len(frame), dtype=pl.Boolean, eager=True)
    for each in filters:
        kept = kept & each.keeps(table)
        if len(frame) and not kept.any():
            values = table[each.column].unique(maintain_order=True).cast(pl.String).to_list()
            shown = ", ".join("null" if value is None else shorten(value) for value in values[:5])
            raise InputError(
                f"No row is left where {str(each)!r}: the column {shorten(each.column)} holds {shown}"
                f"{', …' * (len(values) > 5)}. Compare with one of its values."
            )
    return kept
