"""Values made comparable by what other agents did: learnt from some agents, applied to any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.wording import unknown_name

Array = NDArray[np.float64]
Kind = Literal["none", "z-score", "min-max", "rank", "points"]

POINTS = (25.0, 18.0, 15.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0, 1.0)
"""Points for ranks on a task, as the GVGAI competition gives them; further ranks get none."""


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How values [agents, tasks] become comparable; arrays of shape [tasks], NaN for constant tasks.

    "rank" and "points" place a value among those of the agents it was learnt from: `ladder`
    [agents, tasks] holds these in rising order, NaN last.
    """

    kind: Kind
    centre: Array
    width: Array
    ladder: Array

    def apply(self, values: Array, *, own: bool = False) -> Array:
        """Scale values; `own` says that they are those it was learnt from, not counted against themselves.

        >>> learn_scaling("min-max", np.array([[0.0], [4.0]])).apply(np.array([[3.0]]))
        array([[0.75]])
        """
        if self.kind == "none":
            return values
        if self.kind == "min-max":
            return (values - self.centre) / self.width
        if self.kind == "z-score":
            from scipy.special import ndtr  # half a second to import: only where it is needed

            scaled: Array = ndtr((values - self.centre) / self.width)
            return scaled
        return self._placed(values, own)

    def _placed(self, values: Array, own: bool) -> Array:
        placed = np.full(values.shape, np.nan)
        for task in range(values.shape[1]):
            ladder = self.ladder[:, task]
            ladder = ladder[: int(np.isfinite(ladder).sum())]
            column = values[:, task]
            below = np.searchsorted(ladder, column, "left")
            above = len(ladder) - np.searchsorted(ladder, column, "right")
            alike = len(ladder) - below - above - own
            if self.kind == "rank":
                placed[:, task] = (below + alike / 2) / max(len(ladder) - own, 1)
            else:
                placed[:, task] = _shared_points(above, alike)
        return np.where(np.isnan(values), np.nan, placed)

    def take(self, places: NDArray[np.intp]) -> Scaling:
        """Return the scaling of some tasks."""
        return Scaling(self.kind, self.centre[places], self.width[places], self.ladder[:, places])

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the scaling as JSON values."""
        ladder = self.ladder if self.kind in ("rank", "points") else self.ladder[:0]
        return {
            "kind": self.kind,
            "centre": _listed(self.centre),
            "width": _listed(self.width),
            "ladder": [_listed(row) for row in ladder],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Scaling:  # Any: JSON values
        """Read what `to_dict` gave."""
        centre = _array(stored["centre"])
        ladder = np.array([_array(row) for row in stored["ladder"]]).reshape(-1, len(centre))
        if stored["kind"] not in get_args(Kind):
            raise unknown_name("scaling", stored["kind"], get_args(Kind))
        return cls(stored["kind"], centre, _array(stored["width"]).reshape(centre.shape), ladder)


def learn_scaling(kind: Kind, values: Array) -> Scaling:
    """Learn from values [agents, tasks] how to make others comparable; NaN is not observed.

    The kinds are those of the normalisers that compare agents: "z-score" (Φ of standard scores),
    "min-max", "rank" (share of agents beaten, ties half); "points" are a competition's points for
    ranks; "none" changes nothing.

    >>> learn_scaling("rank", np.array([[1.0], [2.0], [3.0]])).apply(np.array([[2.5]]))
    array([[0.66666667]])
    """
    if kind not in get_args(Kind):
        raise unknown_name("scaling", kind, get_args(Kind))
    tasks = values.shape[1]
    seen = np.isfinite(values)
    count = np.maximum(seen.sum(axis=0), 1)
    centre, width = np.zeros(tasks), np.ones(tasks)
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    varied = high - low > 1e-12 * np.maximum(np.abs(low), np.abs(high))
    if kind == "min-max":
        centre, width = low, high - low
    elif kind == "z-score":
        centre = np.where(seen, values, 0.0).sum(axis=0) / count
        square = np.where(seen, (values - centre) ** 2, 0.0).sum(axis=0)
        width = np.sqrt(square / np.maximum(count - 1, 1))
    if kind in ("min-max", "z-score"):  # a constant task tells nothing: everybody is in the middle
        centre = np.where(varied, centre, low - (0.5 if kind == "min-max" else 0.0))
        width = np.where(varied, width, 1.0)
    return Scaling(kind, centre, width, np.sort(values, axis=0))


def _shared_points(above: NDArray[np.integer], alike: NDArray[np.integer]) -> Array:
    """Mean points of the ranks that those alike share, the one placed included."""
    total = np.concatenate([[0.0], np.cumsum(POINTS)])
    first = np.minimum(above, len(POINTS))
    last = np.minimum(above + alike + 1, len(POINTS))
    shared: Array = (total[last] - total[first]) / (alike + 1)
    return shared


def _listed(values: Array) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _array(values: list[float | None]) -> Array:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
