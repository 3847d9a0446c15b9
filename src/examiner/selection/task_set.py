"""TaskSet: the few tasks a method chose, and what each added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Axes, read_only


@dataclass(frozen=True, slots=True, eq=False)
class TaskSet:
    """Tasks in the order they were chosen, and what each added to those before it.

    `columns` are positions among the tasks there were, `gain` has shape [size] and `unit` says what
    it is measured in. `cost` is the total, in tasks where no cost was given.

    >>> len(TaskSet("random", ("pong",), (3,), np.array([1.0]), "draws", 1.0))
    1
    """

    method: str
    tasks: Annotated[tuple[str, ...], Axes("chosen tasks")]
    columns: Annotated[tuple[int, ...], Axes("chosen tasks")]
    gain: Annotated[NDArray[np.float64], Axes("chosen tasks")]
    unit: str
    cost: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self.gain)

    def __len__(self) -> int:
        return len(self.tasks)
