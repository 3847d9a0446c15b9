"""The Brute: remembers every history, follows the best one, and seldom tries something else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from examiner.arena.contract import Task, best
from examiner.validation import check_numbers

if TYPE_CHECKING:
    from examiner.arena.contract import Seen
    from examiner.arena.learning.history_tree import HistoryTree


@dataclass(eq=False)
class Brute:
    r"""Machado et al. (2018), section 4.1: as good as a game is deterministic, and no better.

    In a history :math:`h` of the tree it takes the best action tried there, but with probability

    .. math:: \varepsilon(h) = \text{explore} / \log(n(h) + 2)

    any action, where :math:`n(h)` counts visits; in histories that are not in the tree, any action.
    Whole episodes are remembered, one node a decision, up to `max_nodes`; each takes 38 bytes, and
    there is room for half as many more and one episode. `discount` is 1 in the paper.
    """

    explore: float = 0.005
    discount: float = 1.0
    max_nodes: int = 10_000_000

    def __post_init__(self) -> None:
        from examiner.arena.learning import history_tree  # needs numba, which is slow to import

        # Divided by log 2, exploring is a probability; nodes are numbered by 32 bits.
        check_numbers(
            self, most={"explore": math.log(2.0), "discount": 1.0, "max_nodes": 2**31 - 1}
        )
        self._module = history_tree
        self.tree: HistoryTree | None = None
        self._seen = False

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Begin a new history."""
        self._learning, self._rng = task.learning, rng
        self._actions = task.counted_actions("brute")
        if self.tree is None:
            self.tree = self._module.HistoryTree(
                actions=self._actions, max_nodes=self.max_nodes, discount=self.discount
            )
        self._begin_history()

    def act(self, observation: Seen) -> int:
        """Return the best action of a known history, or any action."""
        if not self._seen:
            self._see(observation)
        self._seen = False
        self._chosen = self._choose()
        return self._chosen

    def learn(self, reward: float, observation: Seen, terminated: bool, truncated: bool) -> None:
        """Note what followed; at the end of the episode, remember all of it."""
        self._done.append(self._chosen)
        self._rewards.append(reward)
        self._see(observation)
        self._seen = True
        if terminated or truncated:
            self._known_tree.remember(
                self._module.Trajectory(
                    first=self._keys[0],
                    actions=np.array(self._done, dtype=np.int16),
                    rewards=np.array(self._rewards, dtype=np.float64),
                    keys=np.array(self._keys[1:], dtype=np.uint64),
                )
            )
            self._begin_history()

    def save(self) -> bytes:
        """Return the tree."""
        from examiner.arena.learning.arrays import packed

        tree = self.tree
        arrays = {} if tree is None else tree.to_arrays()
        return packed(arrays, {"agent": "brute", "actions": 0 if tree is None else tree.actions})

    def load(self, data: bytes) -> None:
        """Go on with a tree that was saved."""
        from examiner.arena.learning.arrays import unpacked

        arrays, words = unpacked(data, agent="brute")
        self.tree = None
        if arrays:
            self.tree = self._module.HistoryTree.from_arrays(
                arrays,
                actions=words["actions"],
                max_nodes=self.max_nodes,
                discount=self.discount,
            )

    @property
    def _known_tree(self) -> HistoryTree:
        assert self.tree is not None, "an episode begins before anything is done"
        return self.tree

    def _begin_history(self) -> None:
        self._node = self._module.START
        self._chosen = self._module.BEGINNING
        self._seen = False
        self._keys: list[int] = []
        self._done: list[int] = []
        self._rewards: list[float] = []

    def _see(self, observation: Any) -> None:
        """Take the step in the tree to what is seen now, if it was seen before."""
        key = self._module.observation_key(observation)
        self._keys.append(key)
        if self._node != self._module.NOWHERE:
            self._node = self._known_tree.find(self._node, self._chosen, key)

    def _choose(self) -> int:
        tree, rng = self._known_tree, self._rng
        if self._node == self._module.NOWHERE:
            return int(rng.integers(self._actions))
        if self._learning:
            explore = self.explore / math.log(tree.visits(self._node) + 2)
            if rng.random() < explore:
                return int(rng.integers(self._actions))
        values = tree.action_values(self._node)
        return best(values.tolist(), rng)
