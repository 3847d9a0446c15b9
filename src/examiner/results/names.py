"""The order of names, which settles ties so that the order of rows and columns means nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from examiner.results.ordering import natural_key


def name_order(names: Sequence[str]) -> NDArray[np.intp]:
    """Return each name's position in their natural order, shape [names].

    >>> name_order(["a10", "a9"])
    array([1, 0])
    """
    keys = [natural_key(name) for name in names]
    places = np.empty(len(keys), dtype=np.intp)
    places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return places
