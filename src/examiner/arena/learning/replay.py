"""A memory of what was seen, done and rewarded, from which learners draw at random."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.arrays import grown

Arrays = dict[str, NDArray[Any]]
_FAST = 1  # the level of zlib that takes least time
_PIECE = 1 << 24  # bytes unpacked at a time


@dataclass(frozen=True, slots=True)
class Transitions:
    """Decisions drawn from a memory, one a row."""

    observations: NDArray[Any]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    next_observations: NDArray[Any]
    ended: NDArray[np.bool_]


class ReplayMemory:
    """The last so many observations, and what was done on them.

    Of a stack of screens, shape [depth, rows, columns], that goes on the stack before it only the newest
    screen is kept, which takes a quarter of the memory for four screens; any other observation is
    kept whole. Memory grows as it fills: 7 kB a decision for screens of 84 × 84 pixels.

    >>> memory = ReplayMemory((2,), np.float32, size=100)
    >>> memory.see(np.zeros(2, np.float32))
    >>> for step in (1.0, 2.0):
    ...     memory.follow(action=0, reward=step, observation=np.full(2, step, np.float32), ended=False)
    >>> drawn = memory.draw(4, np.random.default_rng(0))
    >>> np.array_equal(drawn.next_observations[:, 0], drawn.rewards)
    True
    """

    def __init__(self, shape: tuple[int, ...], kind: Any, *, size: int) -> None:
        self._shape, self._size = shape, size
        self._depth = shape[0] if len(shape) == 3 else 1
        screen = shape[1:] if self._depth > 1 else shape
        self._arrays: Arrays = {
            "screens": np.zeros((0, *screen), dtype=kind),
            "actions": np.zeros(0, dtype=np.int16),
            "rewards": np.zeros(0, dtype=np.float32),
            "ended": np.zeros(0, dtype=np.bool_),
            # How far the next observation is; 0 if there is none.
            "ahead": np.zeros(0, dtype=np.uint8),
        }
        self._next = self._count = 0
        self._last: NDArray[Any] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def bytes(self) -> int:
        """Memory of everything, room for more included."""
        return sum(array.nbytes for array in self._arrays.values())

    def see(self, observation: NDArray[Any]) -> None:
        """Keep an observation that nothing led to: something begins."""
        self._last = None
        self._keep(observation)

    def follow(self, *, action: int, reward: float, observation: NDArray[Any], ended: bool) -> None:
        """Keep what was done on the last observation, and what followed."""
        index = (self._next - 1) % self._size
        self._arrays["actions"][index] = action
        self._arrays["rewards"][index] = reward
        self._arrays["ended"][index] = ended
        self._arrays["ahead"][index] = self._keep(observation)

    def draw(self, count: int, rng: np.random.Generator) -> Transitions:
        """Return decisions drawn with the same probability, with replacement."""
        indices = np.empty(0, dtype=np.int64)
        while len(indices) < count:
            drawn = rng.integers(self._count, size=count)
            indices = np.concatenate([indices, drawn[self._whole(drawn)]])
        indices = indices[:count]
        ahead = self._arrays["ahead"][indices]
        return Transitions(
            observations=self._stacks(indices),
            actions=self._arrays["actions"][indices].astype(np.int64),
            rewards=self._arrays["rewards"][indices],
            next_observations=self._stacks(indices + ahead),
            ended=self._arrays["ended"][indices],
        )

    def to_arrays(self) -> Arrays:
        """Return all that is kept, screens packed."""
        arrays = {name: array[: self._count] for name, array in self._arrays.items()}
        screens = np.ascontiguousarray(arrays.pop("screens"))
        packed = np.frombuffer(zlib.compress(screens.data, _FAST), dtype=np.uint8)
        return {"packed": packed, "next": np.array(self._next), **arrays}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on between two episodes with what was kept."""
        self._next, self._count = int(arrays["next"]), len(arrays["ahead"])
        for name, array in self._arrays.items():
            if name != "screens":
                self._arrays[name] = arrays[name].astype(array.dtype)
        kept = self._arrays["screens"]
        screens = np.empty((self._count, *kept.shape[1:]), dtype=kept.dtype)
        _unpack(arrays["packed"], screens)
        self._arrays["screens"] = screens
        self._last = None

    def _keep(self, observation: NDArray[Any]) -> int:
        """Keep what is new of an observation; return how many screens that is."""
        stack = observation if self._depth > 1 else observation[None]
        goes_on = self._last is not None and np.array_equal(stack[:-1], self._last[1:])
        new = stack[-1:] if goes_on else stack
        for screen in new:
            self._make_room()
            self._arrays["screens"][self._next] = screen
            self._arrays["ahead"][self._next] = 0
            self._next = (self._next + 1) % self._size
            self._count = min(self._count + 1, self._size)
        self._last = stack.copy()
        return len(new)

    def _make_room(self) -> None:
        if self._next >= len(self._arrays["ahead"]):
            for name, array in self._arrays.items():
                self._arrays[name] = grown(array, max(self._next + 1, 1024), most=self._size)

    def _whole(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which decisions have a next observation and no screen that was overwritten."""
        ahead = self._arrays["ahead"][indices]
        age = (self._next - 1 - indices) % self._size
        whole: NDArray[np.bool_] = (ahead > 0) & (age + self._depth <= self._count)
        return whole

    def _stacks(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        screens = self._arrays["screens"]
        if self._depth == 1:
            return np.asarray(screens[indices % self._size])
        window = indices[:, None] + np.arange(1 - self._depth, 1)
        return np.asarray(screens[window % self._size])


def _unpack(packed: NDArray[np.uint8], screens: NDArray[Any]) -> None:
    """Fill in what was packed piece by piece: a full memory is not held twice."""
    unpacking, rest, index = zlib.decompressobj(), packed.tobytes(), 0
    room = screens.reshape(-1).view(np.uint8)
    while piece := unpacking.decompress(rest, _PIECE):
        room[index : index + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        index, rest = index + len(piece), unpacking.unconsumed_tail
