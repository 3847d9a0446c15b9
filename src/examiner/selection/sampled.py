"""Some agents of a very large table: enough to settle how far to shrink, and how wide intervals are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from examiner.scores.cells import codes_of

MOST_CELLS = 10_000_000
"""Beyond so many agents × tasks, folds inside a fold are made of some agents alone."""
FEWEST_AGENTS = 200


def agents_within(agents: int, tasks: int) -> int:
    """Return how many agents folds inside a fold are made of: all, where the table is not very large.

    >>> agents_within(1000, 500), agents_within(5000, 20_000)
    (1000, 500)
    """
    return min(agents, max(MOST_CELLS // tasks, FEWEST_AGENTS))


def some_families(
    families: Sequence[str], tasks: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return positions of whole families of agents, drawn at random until there are enough.

    >>> some_families(["a", "b", "a"], 10, np.random.default_rng(0))
    array([0, 1, 2])
    """
    most = agents_within(len(families), tasks)
    if most == len(families):
        return np.arange(len(families))
    code = codes_of(families)
    order = rng.permutation(int(code.max()) + 1)
    count = int(np.searchsorted(np.cumsum(np.bincount(code)[order]), most)) + 1
    return np.flatnonzero(np.isin(code, order[:count]))


def note_of_sample(agents: int, tasks: int) -> tuple[str, ...]:
    """Say so where folds inside a fold are made of some agents alone.

    >>> note_of_sample(5000, 20_000)[0][:43]
    'The table is large: 500 of its 5,000 agents'
    """
    most = agents_within(agents, tasks)
    if most == agents:
        return ()
    return (
        f"The table is large: {most:,} of its {agents:,} agents settled how far covariances are shrunk, "
        f"and as many, drawn at random, how wide intervals are.",
    )
