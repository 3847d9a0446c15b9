"""How fast this machine is, from a few milliseconds of work, and how much memory this process holds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examiner.messages import InputError

_TURNS = 12
"""The fastest of so many turns counts: others may have waited for the processor."""
_ROWS, _COLUMNS = 256, 4096


class Pace(NamedTuple):
    """Seconds for a cell in a pass over memory, for one in products, and for an exponential."""

    cell: float
    vector: float  # a cell in a product with a vector, in single precision
    product: float  # a cell and column in a product of tables, in single precision
    exact: float  # the same in double precision
    exponential: float

    @classmethod
    def probed(cls) -> Pace:
        """Time each of them for a moment.

        >>> pace = Pace.probed()
        >>> 0 < pace.exact < pace.exponential
        True
        """
        data = np.ones((_ROWS, _COLUMNS), dtype=np.float32)
        vector, few = (np.ones((_COLUMNS, width), dtype=np.float32) for width in (1, 16))
        double, wide = np.ones((256, 1024)), np.ones((1024, 64))
        passed, raised = np.ones(1 << 20), np.linspace(-5.0, 0.0, 1 << 15)
        return cls(
            _fastest(lambda: passed * passed) / passed.size,
            _fastest(lambda: data @ vector[:, 0]) / data.size,
            _fastest(lambda: data @ few) / (16 * data.size),
            _fastest(lambda: double @ wide) / (64 * double.size),
            _fastest(lambda: np.exp(raised) * raised) / raised.size,
        )


def _fastest(work: Callable[[], object]) -> float:
    work()
    taken = []
    for _ in range(_TURNS):
        before = time.perf_counter()
        work()
        taken.append(time.perf_counter() - before)
    return min(taken)


def held_gigabytes() -> float:
    """Return how much memory this process holds; a quarter of a gigabyte where the system does not tell.

    >>> held_gigabytes() > 0
    True
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e9
    except (OSError, ValueError, IndexError):
        return 0.25


def check_memory(memory: float) -> None:
    """Refuse what is no amount of memory, in GB.

    >>> check_memory(-1.0)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The memory is -1 GB. Give a number of GB above 0.
    """
    if not (math.isfinite(memory) and memory > 0):
        raise InputError(f"The memory is {memory:g} GB. Give a number of GB above 0.")
