"""Tables of a finding: the records an analysis gives, and the columns under which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from examiner.reporting.prose import Name, Prose

ROWS_SHOWN = 40
"""Rows of a table in a terminal; all of them are in the JSON."""

Record: TypeAlias = dict[str, Any]  # Any: JSON values, NaN where nothing is known


Cell: TypeAlias = Name | str | int | float | None


def records(**columns: Iterable[Any]) -> list[Record]:
    """Return one record a row from columns, arrays and tuples as plain lists.

    >>> records(task=("t", "u"), bits=np.array([1.5, 0.5]))
    [{'task': 't', 'bits': 1.5}, {'task': 'u', 'bits': 0.5}]
    """
    plain = [_plain(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def column_of(analysis: object | None, name: str, rows: int) -> Any:  # Any: an array or tuple
    """Return a column of an analysis, NaN in every row where the analysis was not made.

    >>> column_of(None, "low", 2)
    array([nan, nan])
    """
    return np.full(rows, np.nan) if analysis is None else getattr(analysis, name)


def _plain(column: Iterable[Any]) -> list[Any]:
    if isinstance(column, np.ndarray):
        return list(column.tolist())
    return [list(value) if isinstance(value, tuple) else value for value in column]


class Piece:
    """A part of a finding: a table, or one of those in `finding`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a table, and the key of the records it shows where that is not its title.

    The explanation shows on the page when a reader points at the title, in a terminal below the table.
    """

    title: str
    kind: Literal["name", "number", "count", "text"]
    explanation: str = ""
    key: str = ""

    @property
    def field(self) -> str:
        """What the records it shows call it."""
        return self.key or self.title


@dataclass(frozen=True, slots=True)
class ShownTable(Piece):
    """Rows under columns; rows at the positions in `doubtful` are marked as not comparable.

    A folded table is opened on the page by a click on its caption, and left out of a report's JSON: it
    holds the numbers of a figure, whose data are there. `records` are the numbers behind the rows, where
    cells hold more than one: they are what a spreadsheet gets.
    """

    columns: tuple[ShownColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Prose = ""
    doubtful: frozenset[int] = frozenset()
    folded: bool = False
    records: tuple[Record, ...] = ()

    @classmethod
    def of(
        cls,
        rows: Iterable[Record],
        columns: Iterable[ShownColumn],
        caption: Prose = "",
        *,
        folded: bool = False,
    ) -> ShownTable:
        """Return a table of records; lists become text, names are kept apart from our words.

        >>> columns = [ShownColumn("task", "name"), ShownColumn("bits", "number")]
        >>> ShownTable.of([{"task": "pong", "bits": 1.5}], columns).rows
        ((Name(text='pong'), 1.5),)
        """
        kept = tuple(columns)
        cells = tuple(tuple(_cell(row, column) for column in kept) for row in rows)
        return cls(kept, cells, caption, folded=folded)


def _cell(row: Record, column: ShownColumn) -> Cell:
    value = row[column.field]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        value = (", " if column.kind == "name" else "; ").join(value)
    return Name(value) if column.kind == "name" and isinstance(value, str) else value
