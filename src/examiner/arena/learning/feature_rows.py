"""A growing table from the numbers of features that were ever active to rows, counted from 0."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.compiling import compiled

NO_ROW = -1


class FeatureRows:
    """A hash table with one row for every feature seen, in the order of their first appearance.

    Numbers are below 2^32 - 1. When `max_rows` are taken, features never seen before get NO_ROW.

    >>> table = FeatureRows(max_rows=3)
    >>> table.rows(np.array([90, 7], np.uint32)).tolist()
    [0, 1]
    >>> table.rows(np.array([7, 8, 9], np.uint32)).tolist()
    [1, 2, -1]
    """

    def __init__(self, *, max_rows: int) -> None:
        self.max_rows, self._count = max_rows, 0
        self._slots = np.zeros(1 << 12, dtype=np.uint64)  # number + 1 and row, 32 bits each
        self._rows = np.empty(1024, dtype=np.int32)

    def __len__(self) -> int:
        return self._count

    def rows(self, features: NDArray[np.uint32], *, add: bool = True) -> NDArray[np.int32]:
        """Return the row of each feature; new ones are added, if wanted. Valid until the next call."""
        if len(features) > len(self._rows):
            self._rows = np.empty(2 * len(features), dtype=np.int32)
        while 2 * (self._count + len(features)) > len(self._slots):
            longer = np.zeros(2 * len(self._slots), dtype=np.uint64)
            _move(self._slots, longer)
            self._slots = longer
        most = self.max_rows if add else self._count
        rows = self._rows[: len(features)]
        self._count = _look_up(self._slots, features, rows, self._count, most)
        return rows

    def features(self) -> NDArray[np.uint32]:
        """Return the number of the feature of each row."""
        taken = self._slots[self._slots != 0]
        numbers = np.empty(self._count, dtype=np.uint32)
        numbers[(taken & np.uint64(0xFFFFFFFF)).astype(np.int64)] = (
            taken >> np.uint64(32)
        ) - np.uint64(1)
        return numbers


@compiled
def _place(slots, number):
    """Return the slot of a number plus one, or the free one where it belongs."""
    mask = np.uint64(len(slots) - 1)
    place = (number * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask
    while slots[place] != 0 and slots[place] >> np.uint64(32) != number:
        place = (place + np.uint64(1)) & mask
    return place


@compiled
def _look_up(slots, features, rows, count, most):
    for i in range(len(features)):
        number = np.uint64(features[i]) + np.uint64(1)
        place = _place(slots, number)
        if slots[place] == 0:
            if count >= most:
                rows[i] = -1
                continue
            slots[place] = (number << np.uint64(32)) | np.uint64(count)
            count += 1
        rows[i] = slots[place] & np.uint64(0xFFFFFFFF)
    return count


@compiled
def _move(slots, longer):
    for slot in slots:
        if slot != 0:
            longer[_place(longer, slot >> np.uint64(32))] = slot
