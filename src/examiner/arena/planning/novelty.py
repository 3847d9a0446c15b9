"""Novelty: whether a state shows something that no state of the search so far has shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.arena.environments.contract import Seen

Atoms = NDArray[np.intp]

_TILE_ROWS, _TILE_COLUMNS = 7, 4  # of screens, as in the BASIC features of Bellemare et al. (2013)
_BYTE = 256
_MOST_COLOURS = 4
_NEVER = np.iinfo(np.int32).max


class Novelty:
    """At which depth of a search each atom was first true; a state is novel if it improves on one.

    An atom is, of a memory: a byte has a value (Lipovetzky, Ramírez and Geffner 2015, section 3); of a
    screen: a colour is in a tile of 7 × 4 pixels; of anything else: a variable lies in a cell of this
    width (0, and whole numbers: has this value). Depths are those of Bandres, Bonet and Geffner
    (2018), section 4; where all are 0, novel is what was never seen.

    >>> novelty = Novelty()
    >>> [novelty.new(novelty.atoms(np.array(one))) for one in ([0, 0], [1, 0], [0, 1], [1, 1])]
    [True, True, True, False]
    """

    def __init__(self, cell: float = 0.1) -> None:
        self._cell = cell
        self._depths = np.zeros(0, dtype=np.int32)
        self._first_atoms = np.zeros(0, dtype=np.intp)
        self._known: dict[tuple[int, float], int] = {}

    def atoms(self, seen: Seen) -> Atoms:
        """Return the numbers of the atoms that are true."""
        if seen.dtype == np.uint8:
            return self._byte_atoms(seen[-1] if _is_stack(seen) else seen)
        values = np.ravel(seen)
        if self._cell and values.dtype.kind == "f":
            values = np.floor(values.astype(np.float64) / self._cell)
        known = self._known
        numbers = [known.setdefault(one, len(known)) for one in enumerate(values.tolist())]
        if len(known) > len(self._depths):
            more = np.full(len(known), _NEVER, dtype=np.int32)
            self._depths = np.concatenate([self._depths, more])
        return np.array(numbers, dtype=np.intp)

    def new(self, atoms: Atoms, depth: int = 0) -> bool:
        """Say whether an atom is true at a lesser depth than ever before, and remember all."""
        before = self._depths[atoms]
        if not (before > depth).any():
            return False
        self._depths[atoms] = np.minimum(before, depth)
        return True

    def holds(self, atoms: Atoms, depth: int) -> bool:
        """Say whether a state met before is still the shallowest to show one of its atoms."""
        return bool((self._depths[atoms] >= depth).any())

    def _byte_atoms(self, seen: Seen) -> Atoms:
        if self._first_atoms.shape != seen.shape:
            self._first_atoms = _first_atoms(seen.shape)
            atoms = int(self._first_atoms.max()) + _BYTE
            self._depths = np.full(atoms, _NEVER, dtype=np.int32)
        return self._first_atoms + seen.astype(np.intp)


def _is_stack(seen: Seen) -> bool:
    """Whether these are screens one after the other; a picture has its few colours last."""
    return seen.ndim == 3 and seen.shape[-1] > _MOST_COLOURS


def _first_atoms(shape: tuple[int, ...]) -> Atoms:
    if len(shape) != 2:
        return np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape) * _BYTE
    rows, columns = (
        np.arange(extent) // tile
        for extent, tile in zip(shape, (_TILE_ROWS, _TILE_COLUMNS), strict=True)
    )
    return (rows[:, None] * (int(columns[-1]) + 1) + columns) * _BYTE
