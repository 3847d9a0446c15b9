"""Sarsa(λ) on Blob-PROST features: linear values of what the screen shows, learnt while playing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from examiner.arena.contract import Task, best
from examiner.validation import check_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from examiner.arena.learning.blob_prost import BlobProst
    from examiner.arena.learning.traced_weights import FeatureRows, TracedWeights


@dataclass(eq=False)
class Sarsa:
    r"""Liang, Machado, Talvitie and Bowling (2016), as in Table 1 of Machado et al. (2018).

    With active features :math:`F`, :math:`Q(F, a) = \sum_{i \in F} w_{ia}` and, after action :math:`a`,
    reward :math:`r` and the next action :math:`a'` in :math:`F'`,

    .. math:: w \leftarrow w + \frac{\alpha}{\max |F|} [r + \gamma Q(F', a') - Q(F, a)] \, e

    with replacing traces :math:`e`, decayed by :math:`\gamma\lambda` and cut below 0.01. Actions are
    the best, ties at random, or with probability `explore` any. Rewards are divided by the first
    that is not 0. An episode that is cut off is no end: its last value counts (:math:`Q(F', a')`).

    `basic_without_colour` is a slip of the authors' program, see `BlobProst`. Memory: 6 to 9 bytes an
    action and 16 to 32 more for each feature ever seen, at most `max_features` of them.
    """

    step_size: float = 0.5
    discount: float = 0.99
    trace_decay: float = 0.9
    explore: float = 0.01
    trace_cut: float = 0.01
    basic_without_colour: bool = False
    max_features: int = 10_000_000

    def __post_init__(self) -> None:
        from examiner.arena.learning import blob_prost, traced_weights  # slow: numba

        shares = dict.fromkeys(("discount", "trace_decay", "explore", "trace_cut"), 1.0)
        # Rows of weights are numbered by 32 bits.
        check_numbers(self, least={"step_size": 1e-9}, most=shares | {"max_features": 2**31 - 1})
        self._blob_prost, self._traced_weights = blob_prost, traced_weights
        self._actions = 0
        self._most_active, self._reward_unit = 1, 0.0
        self._features: BlobProst | None = None
        self._next: int | None = None

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Begin an episode; the first of all decides on the size of everything."""
        if self._features is None:
            actions = task.counted_actions("sarsa")
            self._features = self._blob_prost.BlobProst(
                task.observation_shape, basic_without_colour=self.basic_without_colour
            )
            if not self._actions:
                self._make_tables(actions)
        self._learning, self._rng = task.learning, rng
        self._begin_traces()

    def act(self, observation: NDArray[np.uint8]) -> int:
        """Return the action that learning has chosen already, or choose one for what is seen."""
        chosen = self._next
        if chosen is None:
            self._look(observation)
            chosen = self._choose(self.weights.values(self._rows))
        self._chosen, self._next = chosen, None
        return chosen

    def learn(
        self, reward: float, observation: NDArray[np.uint8], terminated: bool, truncated: bool
    ) -> None:
        """Choose the next action, and move the value of the last one towards what came of it."""
        if self._reward_unit == 0.0:
            self._reward_unit = abs(reward)
        target = reward / self._reward_unit if self._reward_unit else 0.0
        self._most_active = max(self._most_active, len(self._rows))
        value = self.weights.mark(self._rows, self._chosen)
        if not terminated:
            self._look(observation)
            values = self.weights.values(self._rows)
            self._next = self._choose(values)
            target += self.discount * float(values[self._next])
        self.weights.add(self.step_size / self._most_active * (target - value))
        if terminated or truncated:
            self._begin_traces()

    def save(self) -> bytes:
        """Return the features seen, their weights, and what rewards and steps are divided by."""
        from examiner.arena.learning.arrays import packed

        words = {
            "agent": "sarsa",
            "actions": self._actions,
            "most_active": self._most_active,
            "reward_unit": self._reward_unit,
            "clock": self.weights.clock if self._actions else 0,
        }
        arrays = {}
        if self._actions:
            weights = self.weights.settled(len(self.table))
            filled = weights != 0.0  # most weights are zero
            arrays = {
                "features": self.table.features(),
                "filled": np.packbits(filled),
                "weights": weights[filled],
            }
        return packed(arrays, words)

    def load(self, data: bytes) -> None:
        """Go on with what was saved."""
        from examiner.arena.learning.arrays import unpacked

        arrays, words = unpacked(data, agent="sarsa")
        self._most_active, self._reward_unit = words["most_active"], words["reward_unit"]
        if not words["actions"]:
            return
        self._make_tables(words["actions"])
        self.table.rows(arrays["features"])
        shape = len(arrays["features"]), self._actions
        weights = np.zeros(shape, dtype=np.float32)
        filled = np.unpackbits(arrays["filled"], count=weights.size).astype(np.bool_)
        weights[filled.reshape(shape)] = arrays["weights"]
        self.weights.load(weights, words["clock"])

    def _make_tables(self, actions: int) -> None:
        self._actions = actions
        self.table: FeatureRows = self._traced_weights.FeatureRows(max_rows=self.max_features)
        self.weights: TracedWeights = self._traced_weights.TracedWeights(
            actions=actions,
            decay=self.discount * self.trace_decay,
            cut=self.trace_cut,
            max_rows=self.max_features,
        )

    def _begin_traces(self) -> None:
        assert self._features is not None, "an episode begins before anything is learnt"
        self._features.begin()
        self.weights.begin()
        self._next = None

    def _look(self, observation: Any) -> None:
        assert self._features is not None, "an episode begins before anything is seen"
        self._rows = self.table.rows(self._features.active(observation), add=self._learning)

    def _choose(self, values: NDArray[np.float32]) -> int:
        if self._rng.random() < self.explore:
            return int(self._rng.integers(len(values)))
        return best(values.tolist(), self._rng)
