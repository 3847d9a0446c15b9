"""Values of an answer's table as text: every format shows them as they are written here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from examiner.answers import Column
from examiner.reporting.prose import ABSENT, MINUS


def column_numbers(values: Sequence[float]) -> list[str]:
    """Write each number with three significant digits; a column of whole numbers has no decimals.

    >>> column_numbers([0.123456, 12.04, 0.5, -1234.5, math.nan])
    ['0.123', '12.0', '0.500', '−1,234', '–']
    >>> column_numbers([3.0, 12_345.0])
    ['3', '12,345']
    """
    finite = [value for value in values if math.isfinite(value)]
    if all(abs(value) < 1e7 and value == round(value) for value in finite):
        texts = [f"{value:,.0f}" if math.isfinite(value) else ABSENT for value in values]
    else:
        texts = [_three_digits(value) if math.isfinite(value) else ABSENT for value in values]
    return [text.replace("-", MINUS) for text in texts]


def _three_digits(value: float) -> str:
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2e}"
    rounded = abs(float(f"{value:.2e}"))
    return f"{value:,.{max(0, 2 - math.floor(math.log10(rounded)))}f}"


def cell_texts(column: Column, values: Sequence[Any]) -> list[str]:  # Any: as the column declares
    """Write the values of a column.

    >>> cell_texts(Column("tasks", "count", "Tasks"), [1200, math.nan])
    ['1,200', '–']
    >>> cell_texts(Column("flags", "words", "Flags"), [["easy", "flat"]])
    ['easy; flat']
    """
    match column.kind:
        case "number":
            return column_numbers(values)
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
