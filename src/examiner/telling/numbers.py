"""Numbers as people read them: three significant digits, aligned in a column, ranks shared by ties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from examiner.scores import shared_ranks

ABSENT = "–"
MINUS = "−"


def three_digits(value: float) -> str:
    """Write a number with three significant digits.

    >>> three_digits(0.123456), three_digits(1234.5), three_digits(-2.0), three_digits(math.nan)
    ('0.123', '1,234', '−2', '–')
    """
    if not math.isfinite(value):
        return ABSENT
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2e}".replace("-", MINUS)
    text = f"{value:,.{_decimals(value)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def aligned(values: Sequence[float]) -> list[str]:
    """Write a column with as many decimals as its typical value needs for three digits.

    >>> aligned([4.234, 0.791, 12.1, math.nan])
    ['4.23', '0.79', '12.10', '–']
    """
    seen = sorted(abs(value) for value in values if math.isfinite(value) and value)
    if not seen:
        return [three_digits(value) for value in values]
    decimals = _decimals(seen[(len(seen) - 1) // 2])
    # Columns of very unlike sizes would lose the small ones or pad the large ones: each for itself.
    if decimals > 4 or seen[-1] >= 1e7:
        return [three_digits(value) for value in values]
    return [
        f"{value:,.{decimals}f}".replace("-", MINUS) if math.isfinite(value) else ABSENT
        for value in values
    ]


def _decimals(value: float) -> int:
    if value == 0:
        return 0
    return max(0, 2 - math.floor(math.log10(abs(value))))


def task_ranks(comparable: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank the agents on each task; shape [agents, tasks].

    >>> task_ranks(np.array([[1.0, np.nan], [3.0, 2.0]]))
    array([[ 2., nan],
           [ 1.,  1.]])
    """
    return np.column_stack([shared_ranks(column) for column in comparable.T])
