"""An axis for heavy-tailed scores: straight near a landmark, logarithmic far from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.reporting.figures.chart import Part, axis, compact

HEAVY_TAIL = 8.0
"""Values further from the centre than this many typical distances call for a stretched axis."""


@dataclass(frozen=True, slots=True)
class Stretch:
    r"""Where values stand on an axis.

    .. math:: p(x) = \operatorname{asinh}\big((x - \mathrm{centre}) / \mathrm{width}\big)

    Near the centre steps are equal; far out, equal steps are equal ratios. Without a width the axis
    is an ordinary one.

    >>> Stretch(centre=1.0, width=1.0).positions(np.array([1.0, 2.0, 101.0])).round(2)
    array([0.  , 0.88, 5.3 ])
    """

    centre: float = 0.0
    width: float | None = None

    def positions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the position of each value; NaN stays NaN.

        >>> Stretch().positions(np.array([3.0]))
        array([3.])
        """
        if self.width is None:
            return values
        return np.arcsinh((values - self.centre) / self.width)

    def ticks(self, low: float, high: float, room: float = 0.07) -> tuple[float, ...]:
        """Return round values to mark between two values, none nearer than a share of the axis.

        >>> Stretch(centre=1.0, width=1.0).ticks(-0.5, 60.0)
        (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
        >>> Stretch().ticks(0.06, 0.93)
        (0.2, 0.4, 0.6, 0.8)
        """
        if self.width is None:
            return _even_ticks(low, high)
        rounds = [sign * m * 10.0**k for sign in (-1, 1) for k in range(-4, 13) for m in (1, 2, 5)]
        ends = self.positions(np.array([low, high]))
        apart = room * float(ends[1] - ends[0])
        kept: list[float] = []
        taken: list[float] = []
        # The landmark first, then round numbers, the roundest first: each is kept where there is room.
        for value in [self.centre, 0.0, *sorted(rounds, key=_roundness)]:
            position = float(self.positions(np.array([value]))[0])
            if low <= value <= high and all(abs(position - other) > apart for other in taken):
                kept.append(value)
                taken.append(position)
        return tuple(sorted(kept))

    def axis(self, title: str, values: NDArray[np.float64], room: float) -> Part:
        """Return the axis of a chart with such values; a stretched one marks values, not positions.

        >>> Stretch(1.0, 1.0).axis("score", np.array([1.0, 60.0]), room=0.09)["ticktext"]
        ['1', '2', '5', '10', '20', '50']
        """
        finite = values[np.isfinite(values)]
        if self.width is None or not len(finite):
            return axis(title)
        marks = self.ticks(float(finite.min()), float(finite.max()), room)
        positions = compact(self.positions(np.array(marks)))
        texts = [f"{mark:g}" for mark in marks]
        return axis(title, tickmode="array", tickvals=positions, ticktext=texts, tickangle=0)


def stretch_for(values: NDArray[np.float64], centre: float = 0.0) -> Stretch:
    """Choose an ordinary axis, or a stretched one where a few values would flatten all others.

    >>> stretch_for(np.array([0.2, 0.5, 0.9]))
    Stretch(centre=0.0, width=None)
    >>> stretch_for(np.array([0.0, 0.5, 1.5, 2.0, 50.0]), centre=1.0)
    Stretch(centre=1.0, width=1.0)
    """
    distances = np.abs(values[np.isfinite(values)] - centre)
    distances = distances[distances > 0]
    if not len(distances):
        return Stretch(centre)
    with np.errstate(over="ignore"):
        typical = float(np.median(distances))
    return Stretch(centre, typical if distances.max() > HEAVY_TAIL * typical else None)


def _even_ticks(low: float, high: float, most: int = 7) -> tuple[float, ...]:
    """Round values at equal steps."""
    if not high > low:
        return (low,)
    rough = (high / most) - (low / most)
    if not np.finfo(np.float64).tiny < rough / 10 < np.inf:  # no room for a round step below it
        return low, high
    size = 10.0 ** np.floor(np.log10(rough))
    step = float(next(m * size for m in (1, 2, 5, 10) if m * size >= rough))
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    return tuple(float(f"{index * step:.12g}") for index in range(first, last + 1))


def _roundness(value: float) -> tuple[int, float]:
    """Powers of ten before fives before twos, and small before large."""
    mantissa = round(abs(value) / 10.0 ** np.floor(np.log10(abs(value)) + 1e-9))
    return (1, 5, 2).index(mantissa), abs(value)
