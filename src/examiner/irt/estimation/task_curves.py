"""What tasks alone contribute to an E-step of the 1PL and 2PL: log(1 + exp η) and σ(η) over ability.

Agents that lie in parts ask for the same curves one after the other, so that the last ones are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.tables import halves
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.posterior import Quadrature

_GENTLE = 4.0
"""Slopes up to 4 in size have curves smooth enough for few Chebyshev nodes."""
_CHEBYSHEV_ERROR = 1e-8
_NODES_TOGETHER = 32


class Places(NamedTuple):
    """Where curves are evaluated: at the nodes, or at Chebyshev nodes, and `spread` to the nodes."""

    rule: Quadrature
    at: Floats
    spread: Floats | None
    smooth_below: float

    def serve(self, rule: Quadrature, steepest: float) -> bool:
        """Whether they are those of a quadrature, and close enough together for a slope."""
        return self.rule is rule and self.smooth_below >= steepest


def places_for(rule: Quadrature, steepest: float) -> Places:
    """Return few Chebyshev nodes where curves are smooth enough for them, else the nodes themselves."""
    steepest *= 1.1
    reach = float(max(-rule.nodes[0], rule.nodes[-1]))
    count = _chebyshev_count(steepest, reach)
    if steepest <= _GENTLE and count < len(rule) and rule.spacing is not None:
        return Places(rule, *_chebyshev(rule.nodes, reach, count), steepest)
    return Places(rule, rule.nodes, None, np.inf)


class CommonTerms(NamedTuple):
    """A(θ) and its derivative at the nodes, and σ at the places from which values `spread` to them."""

    places: Places
    total: Floats
    rate: Floats
    rising: NDArray[np.floating]


class CommonCurves:
    """The curves of agents that were all given the same `trials` of each task, [tasks]."""

    def __init__(self, trials: Floats) -> None:
        self.trials = trials
        self._single = bool((trials == 1).all())
        self._places: Places | None = None
        self._last: tuple[ItemParameters, CommonTerms] | None = None

    def of(self, items: ItemParameters, rule: Quadrature) -> CommonTerms:
        """Return what all agents have in common under these parameters."""
        last = self._last
        if last is not None and last[0] is items and last[1].places.rule is rule:
            return last[1]
        slope, steepest = items.slope, float(np.abs(items.slope).max())
        places = self._places
        if places is None or not places.serve(rule, steepest):
            places = self._places = places_for(rule, steepest)
        eta = np.multiply.outer(slope, places.at)
        eta += items.intercept[:, None]
        plus, rising = softplus_and_sigmoid(eta)
        rate = (self.trials * slope) @ rising
        if not self._single:
            plus *= self.trials[:, None]
        total = plus.sum(axis=0)
        if places.spread is not None:
            total, rate = places.spread @ total, places.spread @ rate
        terms = CommonTerms(places, total, rate, rising)
        self._last = items, terms
        return terms


class OwnTerms:
    """log(1 + exp η) and σ(η) of every task, at the nodes that were asked for: [nodes, tasks].

    `rising` is σ(η), and 0 where nobody asked. Data in single precision are multiplied with `halves`.
    """

    def __init__(self, items: ItemParameters, rule: Quadrature, kind: type[np.floating]) -> None:
        self.items, self.rule, self._split = items, rule, kind is np.float32
        nodes, tasks = len(rule), len(items)
        self.rising = np.zeros((nodes, tasks))
        self._plus = np.empty((nodes, 2, tasks), kind) if self._split else np.empty((nodes, tasks))
        self._known = np.zeros(nodes, dtype=bool)

    def plus(self, window: slice) -> NDArray[np.floating]:
        """Return log(1 + exp η) at some nodes, or its halves."""
        new = np.arange(len(self.rule))[window][~self._known[window]]
        for start in range(0, len(new), _NODES_TOGETHER):
            some = new[start : start + _NODES_TOGETHER]
            eta = np.multiply.outer(self.rule.nodes[some], self.items.slope)
            eta += self.items.intercept
            plus, self.rising[some] = softplus_and_sigmoid(eta)
            if self._split:
                self._plus[some, 0], self._plus[some, 1] = halves(plus)
            else:
                self._plus[some] = plus
        self._known[new] = True
        return self._plus[window]


class OwnCurves:
    """The curves of agents that were given different trials, whose counts are kept in one `kind`."""

    def __init__(self, kind: type[np.floating]) -> None:
        self.kind = kind
        self._last: OwnTerms | None = None

    def of(self, items: ItemParameters, rule: Quadrature) -> OwnTerms:
        """Return the curves under these parameters."""
        last = self._last
        if last is None or last.items is not items or last.rule is not rule:
            last = self._last = OwnTerms(items, rule, self.kind)
        return last


def _chebyshev_count(steepest: float, reach: float) -> int:
    """How many Chebyshev nodes give log(1 + exp η) to the error allowed.

    Its singularities at η = ±iπ are y = π / (a · reach) above the interval when that is scaled to
    ±1; the error falls like ρ⁻ⁿ with ρ = y + √(1 + y²) (Trefethen 2013, theorem 8.2).
    """
    height = np.pi / max(steepest * reach, 1e-9)
    return int(np.ceil(-np.log(_CHEBYSHEV_ERROR) / np.log(height + np.sqrt(1 + height**2))))


def _chebyshev(nodes: Floats, reach: float, count: int) -> tuple[Floats, Floats]:
    """Chebyshev nodes on ±reach, and the matrix that spreads values at them to the nodes."""
    k = np.arange(count)
    angle = np.pi * (k + 0.5) / count
    at = reach * np.cos(angle)
    barycentric = np.where(k % 2 == 0, 1.0, -1.0) * np.sin(angle)
    gap = nodes[:, None] - at
    exact = gap == 0
    gap[exact] = 1.0
    spread = barycentric / gap
    spread /= spread.sum(axis=1, keepdims=True)
    hit = exact.any(axis=1)
    spread[hit] = exact[hit]
    return at, spread


def softplus_and_sigmoid(
    eta: NDArray[np.floating],
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """log(1 + exp η) and σ(η) from one exponential; `eta` is overwritten."""
    small = np.abs(eta)
    np.negative(small, out=small)
    np.exp(small, out=small)
    negative = eta < 0
    np.maximum(eta, 0, out=eta)
    eta += np.log1p(small)
    rising = np.where(negative, small, 1)
    small += 1
    rising /= small
    return eta, rising
