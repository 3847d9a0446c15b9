"""Successes and trials of packed cells, and their sums over agents and over tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores import ratio

_TOGETHER = 256
"""Agents summed up at once: so few that they stay in the processor's cache."""


def unpacked(
    cells: NDArray[np.unsignedinteger], *, want_trials: bool
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger] | None]:
    """Return the successes and trials of cells; `cells` is overwritten."""
    bits = 4 if cells.dtype == np.uint8 else 8
    tried = np.right_shift(cells, bits, dtype=cells.dtype) if want_trials else None
    np.bitwise_and(cells, (1 << bits) - 1, out=cells)
    return cells, tried


class Sums(NamedTuple):
    """Sums of successes and trials over agents [tasks] and over tasks [agents], and the most trials."""

    won: NDArray[np.float64]
    tried: NDArray[np.float64]
    scores: NDArray[np.float64]
    tries: NDArray[np.float64]
    most: int
    given: NDArray[np.unsignedinteger] | None
    means: NDArray[np.float64]
    """Mean share of successes over the tasks an agent met, [agents]."""
    observed: int
    """Cells of agents × tasks that were observed."""
    starts: NDArray[np.int64] | None = None
    """Where agents begin among observed cells, [agents + 1], where only these are kept."""
    groups: NDArray[np.int64] | None = None
    """Groups of agents that share no task, [agents], where there are several."""

    @classmethod
    def over(cls, blocks: Iterator[NDArray[np.unsignedinteger]], tasks: int) -> Sums:
        """Return those of cells that come in blocks of agents, which are overwritten."""
        won, tried = np.zeros((2, tasks))
        scores, tries, means, most, observed = [], [], [], 0, 0
        given: NDArray[np.unsignedinteger] | None = None
        alike = True
        for block in blocks:
            k, n = unpacked(block, want_trials=True)
            assert n is not None
            given = n[0].copy() if given is None else given
            same = bool((n == given).all())
            alike = alike and same
            by_task, by_agent = _added(k)
            met, mine = _alike(given, len(n)) if same else _added(n)
            won, tried = won + by_task, tried + met
            scores.append(by_agent)
            tries.append(mine)
            here = int((given if same else n).max(initial=0))
            most = max(most, here)
            observed += int(len(n) * np.count_nonzero(given) if same else np.count_nonzero(n))
            means.append(ratio(by_agent, mine) if here <= 1 else ratio(*_shares(k, n)))
        joined = np.concatenate(scores), np.concatenate(tries)
        shared = given if alike else None
        return cls(won, tried, *joined, most, shared, np.concatenate(means), observed)


def _added(counts: NDArray[np.unsignedinteger]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over agents [tasks] and over tasks [agents], by products: whole numbers below 2²⁴ are exact."""
    by_task, by_agent = np.zeros(counts.shape[1]), np.empty(len(counts))
    ones = np.ones(counts.shape[1], dtype=np.float32)
    for start in range(0, len(counts), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        some = counts[rows].astype(np.float32)
        by_task += np.ones(len(some), dtype=np.float32) @ some
        by_agent[rows] = some @ ones
    return by_task, by_agent


def _alike(
    given: NDArray[np.unsignedinteger], agents: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same sums where all agents were given the same trials."""
    each = given.astype(np.float64)
    return agents * each, np.full(agents, each.sum())


def _shares(
    won: NDArray[np.unsignedinteger], tried: NDArray[np.unsignedinteger]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of shares of successes over tasks, and how many tasks were met: [agents] each."""
    seen = tried > 0
    met = seen.sum(axis=1, dtype=np.float64)
    shares = np.divide(won, tried, out=np.zeros(won.shape, dtype=np.float32), where=seen)
    return shares.sum(axis=1, dtype=np.float64), met
