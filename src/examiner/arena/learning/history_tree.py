"""A tree of histories with exact values: what was done and seen, how often, and what it led to at best."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.arrays import compiled, grown

NOWHERE = -1
"""The position of a history that is not in the tree."""
START = 0
"""The position of the empty history, before anything was seen."""
BEGINNING = 0
"""The action that leads from the empty history to the first observation."""


_Column = NDArray[Any]  # `_Nodes.start` gives each its type


class _Nodes(NamedTuple):
    """All nodes, a column each. Children are linked by index; 0, the start, is nobody's and ends a list."""

    key: _Column
    reward: _Column  # sum over visits
    value: _Column
    visits: _Column
    first_child: _Column
    next_sibling: _Column
    action: _Column

    @classmethod
    def start(cls) -> _Nodes:
        """The start alone."""
        kinds = ("uint64", "float64", "float64", "uint32", "int32", "int32", "int16")
        return cls(*(np.zeros(1, dtype=kind) for kind in kinds))


class Trajectory(NamedTuple):
    """One episode: the key of the first observation, then actions, rewards and keys of what was seen."""

    first: int | np.uint64
    actions: NDArray[np.int16]
    rewards: NDArray[np.float64]
    keys: NDArray[np.uint64]


def observation_key(observation: NDArray[np.generic]) -> int:
    """Return 64 bits that differ when observations do (but for one pair in 10^19).

    >>> observation_key(np.zeros(3)) == observation_key(np.zeros(3)) != observation_key(np.ones(3))
    True
    """
    content = np.ascontiguousarray(observation)
    return int.from_bytes(hashlib.blake2b(content.data, digest_size=8).digest(), "little")


class HistoryTree:
    r"""All histories of the episodes it was told, and the value of each.

    A history :math:`h` is what was seen and done since an episode's beginning. With :math:`n` visits,
    :math:`\bar r` the mean reward and :math:`o` what was seen after action :math:`a`,

    .. math::
        Q(h, a) = \sum_o \frac{n(hao)}{\sum_{o'} n(hao')} [\bar r(hao) + \gamma V(hao)],
        \qquad V(h) = \max_{a \text{ tried}} Q(h, a)

    and :math:`V = 0` where nothing followed: maximum-likelihood estimates of transitions and rewards,
    solved exactly from the leaves up. An episode changes the values of its own histories only, so
    that one pass backward along it keeps all of them exact.

    References: Machado et al. (2018), section 4.1. Nodes are rows of flat arrays, children a linked
    list. When `max_nodes` are there, no more are added: what is new is forgotten.

    >>> tree = HistoryTree(actions=3, max_nodes=100)
    >>> def episode(action, reward):
    ...     return Trajectory(7, np.array([action], np.int16), np.array([reward]), np.array([8], np.uint64))
    >>> tree.remember(episode(action=0, reward=1.0))
    >>> tree.remember(episode(action=1, reward=5.0))
    >>> first = tree.find(START, BEGINNING, 7)
    >>> tree.value(first), tree.visits(first), tree.action_values(first).tolist()
    (5.0, 2, [1.0, 5.0, -inf])
    """

    def __init__(self, *, actions: int, max_nodes: int, discount: float = 1.0) -> None:
        self.actions, self.max_nodes, self.discount = actions, max_nodes, discount
        self._count = 1
        self._nodes = _Nodes.start()

    def __len__(self) -> int:
        return self._count

    @property
    def bytes(self) -> int:
        """Memory of all nodes, room for more included."""
        return sum(column.nbytes for column in self._nodes)

    def find(self, node: int, action: int, key: int) -> int:
        """Return the history that follows on an action and what was seen then, or NOWHERE."""
        return int(_find(self._nodes, node, action, np.uint64(key)))

    def value(self, node: int) -> float:
        """Return the value of a history."""
        return float(self._nodes.value[node])

    def visits(self, node: int) -> int:
        """Return how often a history occurred."""
        return int(self._nodes.visits[node])

    def action_values(self, node: int) -> NDArray[np.float64]:
        """Return the value of every action after a history, shape [actions]; minus infinity if untried."""
        values = np.empty(self.actions)
        space = np.empty(self.actions)
        _action_values(self._nodes, self.discount, node, values, space)
        return values

    def remember(self, episode: Trajectory) -> None:
        """Add an episode, and bring all values up to date."""
        length = len(episode.actions) + 1
        self._nodes = _Nodes(
            *(grown(column, self._count + length, most=self.max_nodes) for column in self._nodes)
        )
        path = np.empty(length + 1, dtype=np.int64)
        episode = episode._replace(first=np.uint64(episode.first))
        self._count, depth = _descend(self._nodes, path, self._count, self.max_nodes, episode)
        space = np.empty((2, self.actions))
        _back_up(self._nodes, self.discount, path[:depth], space[0], space[1])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that is kept, by name."""
        return {name: column[: self._count] for name, column in self._nodes._asdict().items()}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], *, actions: int, max_nodes: int, discount: float
    ) -> HistoryTree:
        """Return the tree that `to_arrays` described."""
        tree = cls(actions=actions, max_nodes=max_nodes, discount=discount)
        kinds = tree._nodes._asdict().items()
        tree._nodes = _Nodes(*(arrays[name].astype(column.dtype) for name, column in kinds))
        tree._count = len(arrays["key"])
        return tree


@compiled
def _find(nodes, node, action, key):
    child = nodes.first_child[node]
    while child != 0:
        if nodes.action[child] == action and nodes.key[child] == key:
            return child
        child = nodes.next_sibling[child]
    return -1


@compiled
def _action_values(nodes, discount, node, values, counts):
    """Fill the values of all tried actions; return the largest, or 0 where there is none."""
    values[:] = -np.inf
    counts[:] = 0.0
    child = nodes.first_child[node]
    while child != 0:
        action, times = nodes.action[child], float(nodes.visits[child])
        if counts[action] == 0.0:
            values[action] = 0.0
        counts[action] += times
        values[action] += nodes.reward[child] + times * discount * nodes.value[child]
        child = nodes.next_sibling[child]
    best = -np.inf
    for action in range(len(values)):
        if counts[action] > 0.0:
            values[action] /= counts[action]
            best = max(best, values[action])
    return best if best > -np.inf else 0.0


@compiled
def _descend(nodes, path, count, most, episode):
    """Walk an episode from the start, adding what is new; return the nodes and how many were walked."""
    node, depth = 0, 1
    path[0] = 0
    nodes.visits[0] += 1
    for step in range(len(episode.actions) + 1):
        action = 0 if step == 0 else episode.actions[step - 1]
        key = episode.first if step == 0 else episode.keys[step - 1]
        child = _find(nodes, node, action, key)
        if child == -1:
            if count >= most:
                break
            child = count
            count += 1
            nodes.action[child], nodes.key[child] = action, key
            nodes.next_sibling[child] = nodes.first_child[node]
            nodes.first_child[node] = child
        nodes.visits[child] += 1
        nodes.reward[child] += 0.0 if step == 0 else episode.rewards[step - 1]
        path[depth] = child
        depth += 1
        node = child
    return count, depth


@compiled
def _back_up(nodes, discount, path, values, counts):
    for node in path[::-1]:
        nodes.value[node] = _action_values(nodes, discount, node, values, counts)
