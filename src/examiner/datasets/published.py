"""PublishedTable: a table of a paper as it was printed, to compare other figures with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from examiner.messages import InputError, counted, listed, shorten
from examiner.results import frame_from, html_table, pandas_from

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Value: TypeAlias = int | float | str | None


@dataclass(frozen=True, slots=True, repr=False)
class PublishedTable:
    """Named columns of equal length; None where the paper prints no value.

    Tables are equal when their names and columns are; notes are not compared.

    >>> table = PublishedTable("bits", {"game": ("freeway", "chase"), "bits": (1.89, None)})
    >>> table
    PublishedTable 'bits': 2 rows of 'game', 'bits'
    >>> table.columns["bits"]
    (1.89, None)
    """

    name: str
    columns: Mapping[str, tuple[Value, ...]]
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        columns = {name: tuple(values) for name, values in self.columns.items()}
        if not columns:
            raise InputError(f"The table {shorten(self.name)} has no columns. Give at least one.")
        first, *others = columns
        for other in others:
            if len(columns[other]) != len(columns[first]):
                raise InputError(
                    f"The column {shorten(first)} has {len(columns[first])} values and "
                    f"{shorten(other)} has {len(columns[other])}. Give each column one value a row."
                )
        object.__setattr__(self, "columns", MappingProxyType(columns))
        object.__setattr__(self, "notes", tuple(self.notes))

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.columns.items())))

    def __reduce__(self) -> tuple[type[PublishedTable], tuple[object, ...]]:
        # a mapping proxy cannot be pickled
        return PublishedTable, (self.name, dict(self.columns), self.notes)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def to_dict(self) -> dict[str, list[Value]]:
        """Return the columns as plain lists.

        >>> PublishedTable("bits", {"bits": (1.89, None)}).to_dict()
        {'bits': [1.89, None]}
        """
        return {name: list(values) for name, values in self.columns.items()}

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars frame.

        >>> PublishedTable("bits", {"bits": (1.89, None)}).to_polars()["bits"].null_count()
        1
        """
        return frame_from(self.to_dict())

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas frame; missing numbers are NaN.

        >>> PublishedTable("bits", {"bits": (1.89, None)}).to_pandas()["bits"].isna().tolist()
        [False, True]
        """
        return pandas_from(self.to_polars())

    def __repr__(self) -> str:
        return (
            f"PublishedTable {shorten(self.name)}: {counted(len(self), 'row')} "
            f"of {listed(self.columns, limit=12)}"
        )

    def _repr_html_(self) -> str:
        rows = list(zip(*self.columns.values(), strict=True))[:60]
        more = len(self) - len(rows)
        return html_table(repr(self), list(self.columns), rows, self.notes, more=more)
