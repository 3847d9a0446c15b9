"""What `draw` returns: plotly's description of a figure as plain dictionaries and lists."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

PlotlyFigure: TypeAlias = dict[str, Any]  # Any: plotly's own schema, checked by plotly in the tests


def compact(values: NDArray[np.float64], digits: int = 5) -> list[Any]:  # Any: nested lists
    """Return nested lists with few digits, None for NaN: a picture needs no seventeen decimals.

    >>> compact(np.array([[1 / 3, np.nan], [12345678.9, 0.0]]))
    [[0.33333, None], [12346000.0, 0.0]]
    """
    if values.ndim > 1:
        return [compact(row, digits) for row in values]
    return [
        float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values.tolist()
    ]
