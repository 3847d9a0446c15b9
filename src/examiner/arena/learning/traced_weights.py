"""Weights of the features ever seen, with replacing traces that cost nothing for those not active."""

# mypy: allow-untyped-defs
# Compiled functions state no types: numba infers them.

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.arena.learning.arrays import compiled, grown

Float32s = NDArray[np.float32]
Rows = NDArray[np.int32]
_LAST_STAMP = np.iinfo(np.uint16).max


class FeatureRows:
    """A hash table with one row for every feature seen, in the order of their first appearance.

    Numbers are below 2^32 - 1. When `max_rows` are taken, features never seen before get -1.

    >>> table = FeatureRows(max_rows=3)
    >>> table.rows(np.array([90, 7], np.uint32)).tolist()
    [0, 1]
    >>> table.rows(np.array([7, 8, 9], np.uint32)).tolist()
    [1, 2, -1]
    """

    def __init__(self, *, max_rows: int) -> None:
        self.max_rows, self._count = max_rows, 0
        self._slots = np.zeros(1 << 12, dtype=np.uint64)  # number + 1 and row, 32 bits each
        self._rows = np.empty(1024, dtype=np.int32)

    def __len__(self) -> int:
        return self._count

    def rows(self, features: NDArray[np.uint32], *, add: bool = True) -> NDArray[np.int32]:
        """Return the row of each feature; new ones are added, if wanted. Valid until the next call."""
        if len(features) > len(self._rows):
            self._rows = np.empty(2 * len(features), dtype=np.int32)
        while 2 * (self._count + len(features)) > len(self._slots):
            longer = np.zeros(2 * len(self._slots), dtype=np.uint64)
            _move(self._slots, longer)
            self._slots = longer
        most = self.max_rows if add else self._count
        rows = self._rows[: len(features)]
        self._count = _look_up(self._slots, features, rows, self._count, most)
        return rows

    def features(self) -> NDArray[np.uint32]:
        """Return the number of the feature of each row."""
        taken = self._slots[self._slots != 0]
        numbers = np.empty(self._count, dtype=np.uint32)
        numbers[(taken & np.uint64(0xFFFFFFFF)).astype(np.int64)] = (
            taken >> np.uint64(32)
        ) - np.uint64(1)
        return numbers


@compiled
def _slot(slots, number):
    """Return the slot of a number plus one, or the free one where it belongs."""
    mask = np.uint64(len(slots) - 1)
    slot = (number * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask
    while slots[slot] != 0 and slots[slot] >> np.uint64(32) != number:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def _look_up(slots, features, rows, count, most):
    for i in range(len(features)):
        number = np.uint64(features[i]) + np.uint64(1)
        slot = _slot(slots, number)
        if slots[slot] == 0:
            if count >= most:
                rows[i] = -1
                continue
            slots[slot] = (number << np.uint64(32)) | np.uint64(count)
            count += 1
        rows[i] = slots[slot] & np.uint64(0xFFFFFFFF)
    return count


@compiled
def _move(slots, longer):
    for taken in slots:
        if taken != 0:
            longer[_slot(longer, taken >> np.uint64(32))] = taken


class TracedWeights:
    r"""Linear action values over binary features, learnt with replacing eligibility traces.

    When action :math:`a` is taken at decision :math:`s`, the trace of :math:`(i, a)` becomes 1 for every
    active feature :math:`i`; at each later decision it is multiplied by `decay`, and it ends below `cut`.
    A step adds :math:`d_t e_t(i, a)` to all weights, which for a trace set at :math:`s` is

    .. math:: P_s = \sum_{t \ge s, \; \text{decay}^{t - s} \ge \text{cut}} d_t \, \text{decay}^{t - s}

    the same for all features marked then. So a weight keeps the decision when it was last marked, its
    stamp, and is worth :math:`w + P_{\text{stamp}}`; a step changes a few dozen :math:`P` and marking
    touches active features only. Stamps have 16 bits: now and then all weights are brought up to date.

    Memory: 6 bytes for each action of each row, up to 1.5 times as many rows as needed.
    References: Sutton and Barto (2018), section 12.7; Liang et al. (2016), section 2.

    >>> weights = TracedWeights(actions=2, decay=0.5, cut=0.1, max_rows=10)
    >>> weights.begin()
    >>> for row in (0, 1):
    ...     _ = weights.mark(np.array([row], np.int32), action=1)
    ...     weights.add(1.0)
    >>> weights.values(np.array([0], np.int32)).tolist(), weights.values(np.array([1], np.int32)).tolist()
    ([0.0, 1.5], [0.0, 1.0])
    """

    def __init__(
        self,
        *,
        actions: int,
        decay: float,
        cut: float,
        max_rows: int,
        last_stamp: int = _LAST_STAMP,
    ) -> None:
        self._max_rows, self._last_stamp = max_rows, last_stamp
        self._weights = np.zeros((0, actions), dtype=np.float32)
        self._stamps = np.zeros((0, actions), dtype=np.uint16)
        fading = [1.0]
        while (
            fading[-1] * decay >= cut and fading[-1] * decay > 0.0 and len(fading) < last_stamp - 1
        ):
            fading.append(fading[-1] * decay)
        self._fading = np.array(fading)
        self._steps = np.zeros(last_stamp + 1, dtype=np.float32)
        self._clock = self._began = 0

    @property
    def bytes(self) -> int:
        """Memory of all weights, room for more included."""
        return self._weights.nbytes + self._stamps.nbytes + self._steps.nbytes

    def begin(self) -> None:
        """End all traces: an episode begins."""
        self._began = self._clock

    def make_room(self, rows: int) -> None:
        """Let rows below this number be used."""
        if rows > len(self._weights):
            self._weights = grown(self._weights, rows, most=self._max_rows)
            self._stamps = grown(self._stamps, rows, most=self._max_rows)

    def values(self, rows: Rows) -> Float32s:
        """Return the sum of the weights of active rows for every action, shape [actions]."""
        self._room_for(rows)
        values = np.zeros(self._weights.shape[1], dtype=np.float32)
        _values(self._weights, self._stamps, self._steps, rows, values)
        return values

    def mark(self, rows: Rows, action: int) -> float:
        """Take the next decision: set the traces of active rows to 1, return the value it had before."""
        self._room_for(rows)
        if self._clock == self._last_stamp:
            self._bring_up_to_date()
        self._clock += 1
        return float(_mark(self._weights, self._stamps, self._steps, rows, action, self._clock))

    def add(self, amount: float) -> None:
        """Add an amount times their trace to all weights."""
        reach = min(len(self._fading), self._clock - self._began)
        recent = slice(self._clock - reach + 1, self._clock + 1)
        self._steps[recent] += (amount * self._fading[:reach])[::-1].astype(np.float32)

    def settled(self, rows: int) -> Float32s:
        """Return the weights of the first rows as they are worth now, shape [rows, actions]."""
        self.make_room(rows)
        return self._weights[:rows] + self._steps[self._stamps[:rows]]

    @property
    def clock(self) -> int:
        """Decisions since all weights were last brought up to date; part of what must be saved."""
        return self._clock

    def load(self, weights: Float32s, clock: int) -> None:
        """Go on between two episodes with settled weights, at a clock."""
        self.make_room(len(weights))
        self._weights[: len(weights)] = weights
        self._stamps[:] = 0
        self._steps[:] = 0.0
        self._clock = clock
        self.begin()

    def _room_for(self, rows: Rows) -> None:
        if len(rows):
            self.make_room(int(rows.max()) + 1)

    def _bring_up_to_date(self) -> None:
        """Settle all weights; decisions whose traces live on are counted anew from 1."""
        shift = self._clock - len(self._fading)
        _settle(self._weights, self._stamps, self._steps, shift)
        self._steps[:] = 0.0
        self._clock -= shift
        self._began = max(0, self._began - shift)


@compiled
def _values(weights, stamps, steps, rows, values):
    actions = weights.shape[1]
    for row in rows:
        if row >= 0:
            for action in range(actions):
                values[action] += weights[row, action] + steps[stamps[row, action]]


@compiled
def _mark(weights, stamps, steps, rows, action, clock):
    value = np.float32(0.0)
    for row in rows:
        if row >= 0:
            weight = weights[row, action] + steps[stamps[row, action]]
            value += weight
            weights[row, action] = weight
            stamps[row, action] = clock
    return value


@compiled
def _settle(weights, stamps, steps, shift):
    for row in range(weights.shape[0]):
        for action in range(weights.shape[1]):
            stamp = stamps[row, action]
            weights[row, action] += steps[stamp]
            stamps[row, action] = stamp - shift if stamp > shift else 0
