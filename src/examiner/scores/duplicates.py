"""Agents that are nearly the same agent: found and listed, removed only on request."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.results import Results
from examiner.scores.cells import cell_means
from examiner.scores.likeness import correlate_columns
from examiner.wording import InputError, listed


class Likeness(NamedTuple):
    """Two agents with nearly the same results; `a` stands before `b` in the table."""

    a: str
    b: str
    correlation: float
    exact: bool
    tasks: int


def near_identical(
    results: Results, limit: float = 0.99, measure: str | None = None
) -> tuple[Likeness, ...]:
    """List the pairs of agents whose results correlate above the limit, or repeat each other exactly.

    The correlation is over the tasks both were observed on, of the values as they are: normalise
    first, or the task with the largest numbers decides alone.

    References: papers/002, section III-A, removes results with a correlation above 0.99.

    >>> results = Results.from_numpy([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    >>> near_identical(results)
    (Likeness(a='agent 1', b='agent 2', correlation=1.0, exact=True, tasks=3),)
    """
    if not -1 <= limit <= 1:
        raise InputError(f"The correlation limit is {limit}. Give a number between -1 and 1.")
    means = cell_means(results, measure)
    correlations, pairs = correlate_columns(means.T)
    # Adding zero turns -0.0, which is another pattern of bits, into 0.0
    rows: dict[bytes, list[int]] = {}
    for agent, row in enumerate(means + 0.0):
        if not np.isnan(row).all():
            rows.setdefault(row.tobytes(), []).append(agent)
    exact = {(a, b) for group in rows.values() for a in group for b in group if a < b}
    near = zip(
        *np.nonzero(np.triu(np.nan_to_num(correlations, nan=-2.0) > limit, k=1)), strict=True
    )
    return tuple(
        Likeness(
            results.agents[a],
            results.agents[b],
            float(correlations[a, b]),
            (a, b) in exact,
            int(pairs[a, b]),
        )
        for a, b in sorted(exact | {(int(a), int(b)) for a, b in near})
    )


def without_near_identical(
    results: Results, limit: float = 0.99, measure: str | None = None
) -> Results:
    """Drop every agent that is nearly identical to one kept before it, and say which went.

    >>> results = Results.from_numpy([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    >>> without_near_identical(results).agents
    ('agent 1', 'agent 3')
    """
    dropped: set[str] = set()
    for pair in near_identical(results, limit, measure):
        if pair.a not in dropped:
            dropped.add(pair.b)
    if not dropped:
        return results
    gone = np.array([agent in dropped for agent in results.agents])
    names = listed([agent for agent in results.agents if agent in dropped], limit=100)
    step = f"dropped as near-identical (correlation above {limit} with an agent kept): {names}"
    return results.where(~gone[results.agent_codes], step)
