"""A tree of histories with exact values: what was done and seen, how often, and what it led to at best."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.compiling import compiled
from examiner.arena.learning.growing import grown

NOWHERE = -1
"""The position of a history that is not in the tree."""
START = 0
"""The position of the empty history, before anything was seen."""
BEGINNING = 0
"""The action that leads from the empty history to the first observation."""

_COLUMNS: Mapping[str, Any] = {  # numpy's dtypes have no common type
    "key": np.uint64,
    "reward": np.float64,  # sum over visits
    "value": np.float64,
    "visits": np.uint32,
    "first_child": np.int32,
    "next_sibling": np.int32,
    "action": np.int16,
}
BYTES_A_NODE = sum(np.dtype(kind).itemsize for kind in _COLUMNS.values())
"""What a node takes; arrays are up to 1.5 times as long as needed, and exist twice while they grow."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode: the key of the first observation, then actions, rewards and keys of what was seen."""

    first: int
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
        self._nodes = 1
        self._columns = {name: np.zeros(1, dtype=kind) for name, kind in _COLUMNS.items()}

    def __len__(self) -> int:
        return self._nodes

    @property
    def bytes(self) -> int:
        """Memory of all nodes, room for more included."""
        return sum(column.nbytes for column in self._columns.values())

    def find(self, node: int, action: int, key: int) -> int:
        """Return the history that follows on an action and what was seen then, or NOWHERE."""
        return int(_find(*self._links(), node, action, np.uint64(key)))

    def value(self, node: int) -> float:
        """Return the value of a history."""
        return float(self._columns["value"][node])

    def visits(self, node: int) -> int:
        """Return how often a history occurred."""
        return int(self._columns["visits"][node])

    def action_values(self, node: int) -> NDArray[np.float64]:
        """Return the value of every action after a history, shape [actions]; minus infinity if untried."""
        values = np.empty(self.actions)
        space = np.empty(self.actions)
        _action_values(*self._links(), *self._numbers(), self.discount, node, values, space)
        return values

    def remember(self, episode: Trajectory) -> None:
        """Add an episode, and bring all values up to date."""
        length = len(episode.actions) + 1
        self._make_room(self._nodes + length)
        path = np.empty(length + 1, dtype=np.int64)
        self._nodes, depth = _descend(
            *self._links(), *self._numbers(), path, self._nodes, self.max_nodes,
            np.uint64(episode.first), episode.actions, episode.rewards, episode.keys,
        )  # fmt: skip
        space = np.empty((2, self.actions))
        _back_up(*self._links(), *self._numbers(), self.discount, path[:depth], space[0], space[1])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that is kept, by name."""
        return {name: column[: self._nodes] for name, column in self._columns.items()}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], *, actions: int, max_nodes: int, discount: float
    ) -> HistoryTree:
        """Return the tree that `to_arrays` described."""
        tree = cls(actions=actions, max_nodes=max_nodes, discount=discount)
        tree._columns = {name: arrays[name].astype(kind) for name, kind in _COLUMNS.items()}
        tree._nodes = len(arrays["key"])
        return tree

    def _links(self) -> tuple[NDArray[Any], ...]:
        return tuple(
            self._columns[name] for name in ("key", "action", "first_child", "next_sibling")
        )

    def _numbers(self) -> tuple[NDArray[Any], ...]:
        return tuple(self._columns[name] for name in ("visits", "reward", "value"))

    def _make_room(self, nodes: int) -> None:
        if nodes > len(self._columns["key"]):
            for name, column in self._columns.items():
                self._columns[name] = grown(column, nodes, most=self.max_nodes)


# Children are linked by position; 0, the start, is nobody's child and ends a list.


@compiled
def _find(key, action, first_child, next_sibling, node, wanted_action, wanted_key):
    child = first_child[node]
    while child != 0:
        if action[child] == wanted_action and key[child] == wanted_key:
            return child
        child = next_sibling[child]
    return -1


@compiled
def _action_values(
    key, action, first_child, next_sibling, visits, reward, value, discount, node, values, counts
):
    """Fill the values of all tried actions; return the largest, or 0 where there is none."""
    values[:] = -np.inf
    counts[:] = 0.0
    child = first_child[node]
    while child != 0:
        one, times = action[child], float(visits[child])
        if counts[one] == 0.0:
            values[one] = 0.0
        counts[one] += times
        values[one] += reward[child] + times * discount * value[child]
        child = next_sibling[child]
    best = -np.inf
    for one in range(len(values)):
        if counts[one] > 0.0:
            values[one] /= counts[one]
            best = max(best, values[one])
    return best if best > -np.inf else 0.0


@compiled
def _descend(
    key, action, first_child, next_sibling, visits, reward, value,
    path, nodes, most, first_key, actions, rewards, keys,
):  # fmt: skip
    """Walk an episode from the start, adding what is new; return the nodes and how many were walked."""
    node, depth = 0, 1
    path[0] = 0
    visits[0] += 1
    for step in range(len(actions) + 1):
        done = 0 if step == 0 else actions[step - 1]
        seen = first_key if step == 0 else keys[step - 1]
        child = _find(key, action, first_child, next_sibling, node, done, seen)
        if child == -1:
            if nodes >= most:
                break
            child = nodes
            nodes += 1
            action[child], key[child] = done, seen
            next_sibling[child] = first_child[node]
            first_child[node] = child
        visits[child] += 1
        reward[child] += 0.0 if step == 0 else rewards[step - 1]
        path[depth] = child
        depth += 1
        node = child
    return nodes, depth


@compiled
def _back_up(
    key, action, first_child, next_sibling, visits, reward, value, discount, path, values, counts
):
    for node in path[::-1]:
        value[node] = _action_values(
            key, action, first_child, next_sibling, visits, reward, value,
            discount, node, values, counts,
        )  # fmt: skip
