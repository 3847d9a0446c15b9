"""Arrays that grow by half, so that adding to them stays cheap."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def grown(array: NDArray[Number], rows: int, *, most: int) -> NDArray[Number]:
    """Return the array with at least so many rows, new ones zero, or itself if it is long enough.

    It becomes longer by half at least, but not longer than `most`, which bounds memory.

    >>> grown(np.ones(4), 5, most=100).tolist(), len(grown(np.ones(4), 5, most=5))
    ([1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 5)
    """
    if rows <= len(array) or len(array) >= most:
        return array
    length = min(most, max(rows, len(array) + len(array) // 2))
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
