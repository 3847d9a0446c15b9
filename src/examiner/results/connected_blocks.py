"""How agents and tasks hang together where the table is looked at in blocks of agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from examiner.results.connections import MOST_AGENTS, Connections, connections, groups_of
from examiner.results.matrix import ResponseMatrix

_ROWS = 256
"""Agents looked at together: tables that hang together mostly show it in the first of them."""


def connections_in_blocks(matrix: ResponseMatrix) -> Connections:
    """Return the connections of a large matrix, of many agents without the weakest link.

    >>> connections_in_blocks(ResponseMatrix.from_array([[1, np.nan], [np.nan, 0]])).separate
    (('agent 1',), ('agent 2',))
    """
    if len(matrix.agents) <= MOST_AGENTS or not matrix.is_counts:
        return connections(matrix)
    return connections_of_blocks(matrix.agents, matrix.tasks, in_short_blocks([matrix.trials]))


def in_short_blocks(blocks: Iterable[NDArray[np.number]]) -> Iterator[NDArray[np.bool_]]:
    """Yield which cells were observed, few agents at a time; cells that were not are 0."""
    for block in blocks:
        for start in range(0, len(block), _ROWS):
            yield block[start : start + _ROWS] != 0


def connections_of_blocks(
    agents: tuple[str, ...], tasks: tuple[str, ...], blocks: Iterable[NDArray[np.bool_]]
) -> Connections:
    """Return groups of agents by the observed cells [agents, tasks] of one block after the other.

    Every agent met at least one task, and every task an agent. No more blocks are looked at than it takes
    to see that all hang together.

    >>> seen = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]], dtype=bool)
    >>> connections_of_blocks(("a", "b", "c"), ("t", "u", "v", "w"), [seen[:2], seen[2:]]).separate
    (('a', 'c'), ('b',))
    """
    label = np.arange(len(tasks))
    met = np.zeros(len(agents), dtype=np.intp)
    processed = 0
    for observed in blocks:
        met[processed : processed + len(observed)] = observed.argmax(axis=1)
        processed += len(observed)
        label = _joined(label, groups_of(observed)[1])
        if label.max() == 0:
            break
    if label.max() == 0:
        return Connections(agents, tasks, np.zeros(len(agents), dtype=np.int64), label, None)
    labels = label[met]
    _, first = np.unique(labels, return_index=True)
    number = np.full(int(label.max()) + 1, -1)
    number[labels[np.sort(first)]] = np.arange(len(first))
    return Connections(agents, tasks, number[labels], number[label], None)


def _joined(label: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels of tasks, from 0 on, where those of one group of a block become one.

    >>> _joined(np.array([0, 1, 2, 3]), np.array([0, -1, 0, 1]))
    array([0, 1, 0, 2])
    """
    placed = np.flatnonzero(group >= 0)
    while (
        True
    ):  # the least label goes through a group, and on through all that had another of its labels
        least = np.full(int(group.max(initial=0)) + 1, len(label))
        np.minimum.at(least, group[placed], label[placed])
        lower = np.arange(len(label))
        np.minimum.at(lower, label[placed], least[group[placed]])
        if (lower[label] == label).all():
            return np.unique(label, return_inverse=True)[1]
        label = lower[label]
