"""The order of names, which settles ties so that the order of rows and columns means nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def name_order(names: Sequence[str]) -> NDArray[np.intp]:
    """Return each name's position in their order, shape [names].

    >>> name_order(["b", "a"])
    array([1, 0])
    """
    return np.argsort(np.argsort(np.array(names, dtype=object), kind="stable"), kind="stable")
