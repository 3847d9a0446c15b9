"""Names of agents and tasks, and their numbers over all shards."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

_FIRST_SLOTS = 1 << 18
_SLOTS_A_NAME = 8
"""So few names meet in a slot that the others are looked up one by one."""

_RUN = 8
"""From this length on names that follow themselves are looked up once."""


class Names:
    """Names and their numbers by first appearance, over all batches.

    Polars keeps the numbers. A table in front of it, by 64 bits of hash, answers for names that were met
    before: two names of a million are taken for one in a table out of forty million.

    >>> names = Names()
    >>> names.codes(pl.Series(["b", "a", "b"])), names.codes(pl.Series(["a", "c"]))
    (array([0, 1, 0], dtype=int32), array([1, 2], dtype=int32))
    >>> names.all()
    ['b', 'a', 'c']
    """

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._kind = pl.Categorical(self._categories)
        self._held: pl.Series | None = None
        self._hashes = np.zeros(1, dtype=np.uint64)  # of each name, and one more for none
        self._slots = np.full(_FIRST_SLOTS, -1, dtype=np.int32)
        self._count = 0

    def codes(self, column: pl.Series) -> NDArray[np.int32]:
        """Return the numbers of names."""
        kind = column.dtype
        if isinstance(kind, pl.Enum):
            return self._renumbered(kind.categories, column.to_physical().to_numpy())
        if kind != pl.String:
            column = column.cast(pl.String)
        keys = column.hash().to_numpy()
        period = _period(keys)
        if period:
            once = self._coded(column[:period], keys[:period])
            return np.resize(once, len(keys))
        starts = _run_starts(keys)
        if starts is None:
            return self._coded(column, keys)
        found = self._coded(column.gather(starts), keys[starts])
        return np.repeat(found, np.diff(starts, append=len(keys)))

    def _renumbered(self, names: pl.Series, own: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
        """Numbers of names that have others in the shard."""
        starts = _run_starts(own)
        each = own if starts is None else own[starts]
        met = np.zeros(len(names), dtype=np.bool_)
        met[each] = True
        present = np.flatnonzero(met)
        renumbered = np.zeros(len(names), dtype=np.int32)
        renumbered[present] = self.codes(names.gather(present))
        found = renumbered.take(each)
        return found if starts is None else np.repeat(found, np.diff(starts, append=len(own)))

    def _coded(self, column: pl.Series, keys: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
        found = self._slots.take(self._slot(keys))
        other = np.flatnonzero(self._hashes.take(found, mode="wrap") != keys)
        if len(other):
            found[other] = self._asked(column.gather(other), keys[other])
        return found

    def _asked(self, column: pl.Series, keys: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
        """Numbers of names that are new, or that share their slot with another."""
        # Kept until the next: polars forgets categories that no column has.
        self._held = column.cast(self._kind)
        found = self._held.to_physical().to_numpy().astype(np.int32)
        count = int(found.max()) + 1
        if count > self._count:
            more = np.zeros(count + 1 - self._count, dtype=np.uint64)
            self._hashes = np.concatenate([self._hashes[:-1], more])
            self._hashes[found] = keys
            self._count = count
            while len(self._slots) < _SLOTS_A_NAME * count:
                self._slots = np.full(4 * len(self._slots), -1, dtype=np.int32)
            self._slots[self._slot(self._hashes[:-1])] = np.arange(count)
        return found

    def _slot(self, keys: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        return (keys & np.uint64(len(self._slots) - 1)).view(np.int64)

    def __len__(self) -> int:
        return self._count

    def has_empty(self, known: int) -> bool:
        """Whether a name is empty among those met since so many were known."""
        return bool((self._categories.to_series()[known:] == "").any())

    def all(self) -> list[str]:
        """Return the names in the order of their numbers."""
        return self._categories.to_series().to_list()


def _run_starts(keys: NDArray[np.unsignedinteger]) -> NDArray[np.intp] | None:
    """Where the same name begins to follow itself, if most do.

    >>> _run_starts(np.repeat(np.array([4, 7], dtype=np.uint64), 20)).tolist()
    [0, 20]
    """
    changes = keys[1:] != keys[:-1]
    if not len(keys) or _RUN * int(np.count_nonzero(changes)) > len(keys):
        return None
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def _period(keys: NDArray[np.unsignedinteger]) -> int:
    """After how many the same names come again in the same order, as tasks do agent by agent; 0 if never.

    >>> _period(np.array([5, 6, 7, 5, 6, 7, 5, 6], dtype=np.uint64))
    3
    """
    if len(keys) < 2 or keys[0] == keys[1]:
        return 0
    again = 1 + int(np.argmax(keys[1:] == keys[0]))
    repeats = keys[again] == keys[0] and bool((keys[again:] == keys[:-again]).all())
    return again if repeats else 0
