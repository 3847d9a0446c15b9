"""Some agents of a very large table: enough to settle how far to shrink, and how wide intervals are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from examiner.scores.cells import codes_of

MOST_CELLS = 10_000_000
"""Beyond so many agents × tasks, folds inside a fold are made of some agents alone."""
PROOF_CELLS = 5_000_000
"""Each fold of the proof of such a table chooses on as many agents as make these."""
FEWEST_AGENTS = 200


def is_very_large(agents: int, tasks: int) -> bool:
    """Whether some agents stand for all where folds are made.

    >>> is_very_large(1000, 500), is_very_large(5000, 20_000)
    (False, True)
    """
    return agents * tasks > MOST_CELLS


def agents_within(agents: int, tasks: int, cells: int | None = None) -> int:
    """Return how many agents folds inside a fold are made of: all, where the table is not very large.

    >>> agents_within(1000, 500), agents_within(5000, 20_000)
    (1000, 500)
    """
    most = MOST_CELLS if cells is None else cells
    return min(agents, max(most // tasks, FEWEST_AGENTS))


def some_families(
    families: Sequence[str], tasks: int, rng: np.random.Generator, cells: int | None = None
) -> NDArray[np.intp]:
    """Return positions of whole families of agents, drawn at random until there are enough.

    >>> some_families(["a", "b", "a"], 10, np.random.default_rng(0))
    array([0, 1, 2])
    """
    most = agents_within(len(families), tasks, cells)
    if most == len(families):
        return np.arange(len(families))
    code = codes_of(families)
    order = rng.permutation(int(code.max()) + 1)
    count = int(np.searchsorted(np.cumsum(np.bincount(code)[order]), most)) + 1
    return np.flatnonzero(np.isin(code, order[:count]))


def proof_agents(
    families: Sequence[str], agents: int, tasks: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return positions of those who choose in a fold of the proof: all but of a table that is very large.

    `families` are those of the fold's agents, `agents` and `tasks` the size of the whole table.

    >>> len(proof_agents([str(one) for one in range(4000)], 5000, 20_000, np.random.default_rng(0)))
    250
    """
    if not is_very_large(agents, tasks):
        return np.arange(len(families))
    return some_families(families, tasks, rng, PROOF_CELLS)


def note_of_proof(agents: int, tasks: int) -> tuple[str, ...]:
    """Say so where each fold of the proof chose on some agents alone.

    >>> note_of_proof(5000, 20_000)[0][:42]
    'In each fold of the proof 250 agents chose'
    """
    if not is_very_large(agents, tasks):
        return ()
    some = agents_within(agents, tasks, PROOF_CELLS)
    return (
        f"In each fold of the proof {some:,} agents chose, drawn from those not held out: all {agents:,} "
        f"would take long, and what they choose is off by less, if anything.",
    )


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
