"""The sample of a table that is too large for a report, and the sentence that says so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted


class Thinned(NamedTuple):
    """Which agents and tasks are kept, as flags, and what a reader must know; empty words for all."""

    agents: NDArray[np.bool_]
    tasks: NDArray[np.bool_]
    note: str

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.note


def thin(
    order: NDArray[np.intp], tasks: int, *, most_agents: int, most_tasks: int, seed: int
) -> Thinned:
    """Keep agents evenly from the best to the worst, and tasks drawn at random.

    `order` holds the rows of the agents from the best on. An even draw keeps the ends of the ranking, and
    with them the range of abilities; tasks are drawn at random, so that shares of them are unbiased.

    >>> thin(np.array([2, 0, 1]), 9, most_agents=2, most_tasks=9, seed=0).agents
    array([False,  True,  True])
    """
    agents = np.zeros(len(order), dtype=np.bool_)
    kept = np.linspace(0, len(order) - 1, min(most_agents, len(order))).round().astype(np.intp)
    agents[order[kept]] = True
    chosen = np.ones(tasks, dtype=np.bool_)
    parts = []
    if not agents.all():
        parts.append(
            f"{agents.sum():,} of {counted(len(order), 'agent')}, taken evenly from the best to the worst"
        )
    if tasks > most_tasks:
        chosen[:] = False
        chosen[np.random.default_rng(seed).choice(tasks, most_tasks, replace=False)] = True
        parts.append(f"{most_tasks:,} of {counted(tasks, 'task')}, drawn at random (seed {seed})")
    note = f"Based on the sample of this report: {' and '.join(parts)}." if parts else ""
    return Thinned(agents, chosen, note)
