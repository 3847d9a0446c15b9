"""Values of an answer's table as text: every format shows them as they are written here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from examiner.answers import Column
from examiner.reporting.prose import ABSENT


def four_digits(values: Sequence[float]) -> list[str]:
    """Write numbers with four significant digits.

    >>> four_digits([0.123456, math.nan])
    ['0.1235', '–']
    """
    return [f"{value:.4g}" if math.isfinite(value) else ABSENT for value in values]


def cell_texts(
    column: Column,
    values: Sequence[Any],  # Any: as the column declares
    numbers: Callable[[Sequence[float]], list[str]] = four_digits,
) -> list[str]:
    """Write the values of a column.

    >>> cell_texts(Column("tasks", "count", "Tasks"), [1200, math.nan])
    ['1,200', '–']
    >>> cell_texts(Column("flags", "words", "Flags"), [["easy", "flat"]])
    ['easy; flat']
    """
    match column.kind:
        case "number":
            return numbers(values)
        case "count":
            return [f"{int(value):,}" if math.isfinite(value) else ABSENT for value in values]
        case "flag":
            return ["yes" if value else "no" for value in values]
        case "words":
            return ["; ".join(words) for words in values]
    return list(values)


def is_numeric(column: Column) -> bool:
    """Say whether a column stands to the right, as numbers do.

    >>> is_numeric(Column("task", "name", "Task"))
    False
    """
    return column.kind in ("number", "count")


def explanation(column: Column) -> str:
    """Say what a column is, where that is more than its title.

    >>> explanation(Column("bits", "number", "Information about ability", unit="bits"))
    'Information about ability (bits)'
    """
    meaning = column.meaning if column.meaning.lower() != column.title.lower() else ""
    return f"{meaning} ({column.unit})".strip() if column.unit else meaning
