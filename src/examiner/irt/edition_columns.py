"""Which edition each agent is of, from a column of agents or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from examiner.irt.editions import Editions
from examiner.irt.populations import FEWEST
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import ResponseMatrix, Results, agent_column


def editions_of(
    results: Results | None,
    editions: str | Mapping[str, object] | None,
    given: Any,  # Any: a ResponseMatrix or a ResponseSource
    matrix: ResponseMatrix | None,
    *,
    weak_priors: bool,
) -> Editions | None:
    """Return the editions of agents of a matrix, the reference first; None where all are of one.

    >>> matrix = ResponseMatrix.from_array(np.zeros((10, 2)))
    >>> which = {agent: 2024 + row // 5 for row, agent in enumerate(matrix.agents)}
    >>> editions_of(None, which, matrix, matrix, weak_priors=True).names
    ('2024', '2025')
    """
    if editions is None:
        return None
    if matrix is None:
        raise InputError(
            f"Editions are given, and responses as a {type(given).__name__}. Fit results in memory."
        )
    labels = _labels(results, editions, matrix.agents)
    lacking = [agent for agent, label in zip(matrix.agents, labels, strict=True) if label is None]
    if lacking:
        raise InputError(
            f"No edition is given for {listed(lacking)}. Give the edition of each agent."
        )
    names = sorted(set(labels), key=_order)
    if len(names) == 1:
        return None
    codes = np.array([names.index(label) for label in labels], dtype=np.intp)
    sizes = np.bincount(codes, minlength=len(names))
    small = [f"{name} has {sizes[code]}" for code, name in enumerate(names) if sizes[code] < FEWEST]
    if small:
        raise InputError(
            f"An edition needs {counted(FEWEST, 'agent')} to have a mean and a deviation: {listed(small)}. "
            f"Join editions."
        )
    takers = np.stack([matrix.observed[codes == code].sum(axis=0) for code in range(len(names))], 1)
    shares = takers / np.maximum(takers.sum(axis=1, keepdims=True), 1)
    return Editions(tuple(map(str, names)), codes, shares, weak_priors)


def _labels(
    results: Results | None, editions: str | Mapping[str, object], agents: tuple[str, ...]
) -> list[Any]:  # Any: words, numbers or dates
    if isinstance(editions, Mapping):
        return [editions.get(agent) for agent in agents]
    if results is None:
        raise InputError(
            f"Responses have no column {shorten(editions)} of agents. Give results, or the edition of each "
            f"agent as a mapping."
        )
    named = agent_column(results, editions, "editions")
    return [named[agent] for agent in agents]


def _order(label: object) -> tuple[float, str]:
    """Numbers in their order, then words in theirs."""
    try:
        return float(str(label)), ""
    except ValueError:
        return np.inf, str(label)
