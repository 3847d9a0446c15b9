"""What the command line says before long work: time and memory to expect, and what is cheaper."""

from __future__ import annotations

import sys

from examiner.engines.estimate import Size
from examiner.engines.expected import Expected
from examiner.results import Results


def size_of(results: Results) -> Size:
    """Return how large a table of results is.

    >>> size_of(Results.from_numpy([[1.0, 2.0]]))
    Size(agents=1, tasks=2, rows=2)
    """
    return Size(len(results.agents), len(results.tasks), len(results))


def announce(expected: Expected, size: Size) -> None:
    """Say on standard error what long work will take; of short work nothing.

    >>> announce(Expected(1.0, 0.2, "nothing takes less"), Size(2, 2, 4))
    """
    if expected.long:
        sys.stderr.write(expected.sentence(size) + "\n")
        sys.stderr.flush()
