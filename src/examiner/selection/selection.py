"""Selection: the few tasks chosen, what each added, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Tasks in the order they were chosen, and what each added to those before it.

    `places` are positions among the tasks there were, `gain` has shape [size] and `unit` says what
    it is measured in. `cost` is the total, in tasks where no cost was given.

    >>> chosen = Selection("random", ("pong",), (3,), np.array([1.0]), "draws", 1.0)
    >>> Selection.from_dict(chosen.to_dict()).tasks
    ('pong',)
    """

    method: str
    tasks: tuple[str, ...]
    places: tuple[int, ...]
    gain: NDArray[np.float64]
    unit: str
    cost: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self.gain)

    def __len__(self) -> int:
        return len(self.tasks)

    def named(self, method: str) -> Selection:
        """Return the same set under another method's name: best-of says which method it took.

        >>> Selection("random", ("pong",), (3,), np.array([1.0]), "draws", 1.0).named("best_of").method
        'best_of'
        """
        return replace(self, method=method)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the selection as JSON values.

        >>> Selection("random", ("pong",), (3,), np.array([1.0]), "draws", 1.0).to_dict()["gain"]
        [1.0]
        """
        return {
            "method": self.method,
            "tasks": list(self.tasks),
            "places": list(self.places),
            "gain": self.gain.tolist(),
            "unit": self.unit,
            "cost": self.cost,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Selection:  # Any: JSON values
        """Read what `to_dict` gave.

        >>> stored = {"method": "random", "tasks": ["pong"], "places": [3], "gain": [1.0], "unit": "draws",
        ...           "cost": 1.0, "notes": []}
        >>> Selection.from_dict(stored).method
        'random'
        """
        return cls(
            str(stored["method"]),
            tuple(stored["tasks"]),
            tuple(int(place) for place in stored["places"]),
            np.array(stored["gain"], dtype=np.float64),
            str(stored["unit"]),
            float(stored["cost"]),
            tuple(stored["notes"]),
        )
