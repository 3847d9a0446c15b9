"""Likelihoods of scores: in [0, 1], with exact zeros and ones of their own, or without ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.arrays import trigamma
from examiner.irt.estimation.heights import ByCut, Slopes
from examiner.irt.items import Curves, Floats, ItemParameters, sigmoid_pair
from examiner.messages import InputError, shorten
from examiner.results import ResponseMatrix

_ROUNDING = 1e-14
"""Scores this close to 0 or 1 are exactly that, and were rounded."""
_LOG_ROOT_TWO_PI = 0.5 * float(np.log(2 * np.pi))


class Ends(NamedTuple):
    """Which scores are exactly 0, exactly 1, and between: 1.0 or 0.0, all 0.0 where none was observed."""

    zero: Floats
    one: Floats
    inside: Floats


class _Odds(NamedTuple):
    """What cuts make of η = aθ + d, [tasks, nodes]: σ(η − k), σ(k − η) for both cuts, and k₁ − k₀."""

    above_zero: Floats
    zero: Floats
    one: Floats
    below_one: Floats
    gap: Floats


class CutSlopes(NamedTuple):
    """The ordered logit's part of the expected log-likelihood, and its derivatives, [tasks, nodes]."""

    value: Floats
    by: dict[str, ByCut]


class _Shapes(NamedTuple):
    """Of beta distributions: α = Pφ and β = (1 − P)φ [tasks, nodes], and φ [tasks, 1]."""

    up: Floats
    down: Floats
    phi: Floats

    def log_beta(self) -> Floats:
        """Return log B(α, β); log Γ(φ) once a task, which makes it thrice as fast as scipy's."""
        from scipy.special import gammaln

        return np.asarray(gammaln(self.up) + gammaln(self.down) - gammaln(self.phi))

    def digammas(self) -> tuple[Floats, Floats, Floats]:
        """Return ψ(α), ψ(β) and ψ(φ)."""
        from scipy.special import digamma

        return digamma(self.up), digamma(self.down), digamma(self.phi)


@dataclass(frozen=True, slots=True)
class Beta:
    r"""A score y in [0, 1]: beta with mean P and a precision φ for each task, or exactly 0, or exactly 1.

    .. math:: P(y = 0) = \sigma(k_0 - \eta), \quad P(y = 1) = \sigma(\eta - k_1), \quad
              y \mid 0 < y < 1 \sim \mathrm{Beta}(P\phi, (1 - P)\phi), \quad P = \sigma(\eta)

    with η = aθ + d: the beta response model of Noel and Dauvier (Applied Psychological Measurement 31,
    2007) in mean and precision, whose exact zeros and ones, which have no density, are the lowest and the
    highest category of an ordered logit (Kubinec, Political Analysis 31, 2023). One ability moves all
    three, and two cuts serve the whole table; scores inside stay where they are. By the cuts it is told
    as k₀ and the logarithm of the gap k₁ − k₀, so that they keep their order.
    """

    def statistics(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return log y, log(1 − y) and 1 of scores inside, and which are exactly 0 and exactly 1."""
        return self.of_scores(bounded_scores(matrix)[0])

    def of_scores(self, scores: Floats) -> tuple[Floats, ...]:
        """Return the same of any scores from 0 to 1; NaN is not observed."""
        ends = ends_of(scores)
        within = ends.inside > 0
        safe = np.where(within, scores, 0.5)
        return (
            np.where(within, np.log(safe), 0.0),
            np.where(within, np.log1p(-safe), 0.0),
            ends.inside,
            ends.zero,
            ends.one,
        )

    def constant(self, matrix: ResponseMatrix) -> Floats:
        """Return −Σ log y (1 − y) over scores inside."""
        low, high, *_ = self.statistics(matrix)
        return np.asarray(-(low + high).sum(axis=1))

    def terms(self, curves: Curves, precision: Floats | None) -> tuple[Floats, ...]:
        """Return Pφ, (1 − P)φ, −log B(Pφ, (1 − P)φ) + log P(inside), log P(0) and log P(1)."""
        shapes = _shapes(curves, precision)
        inside, zero, one = _log_chances(_odds(curves))
        return shapes.up, shapes.down, inside - shapes.log_beta(), zero, one

    def slopes(self, sums: Sequence[Floats], curves: Curves, precision: Floats | None) -> Slopes:
        r"""By the shapes α = Pφ and β = (1 − P)φ: g = Σ log y − N (ψ(α) − ψ(φ)), and h alike for β.

        By η = aθ + d what `by_cuts` says comes to it. With w = P (1 − P), minus the second derivatives are
        Nφ²w² (ψ'(α) + ψ'(β)) − φw (1 − 2P) (g − h) by η, of which information on P is made;
        φw (N (αψ'(α) − βψ'(β)) − (g − h)) by η and log φ; and N (α²ψ'(α) + β²ψ'(β) − φ²ψ'(φ)) − (αg + βh)
        by log φ.
        """
        low, high, inside, *_ = sums
        shapes, ends = _shapes(curves, precision), by_cuts(sums, curves)
        up, down, phi = shapes.up, shapes.down, shapes.phi
        digamma_up, digamma_down, digamma_phi = shapes.digammas()
        by_up = low - inside * (digamma_up - digamma_phi)
        by_down = high - inside * (digamma_down - digamma_phi)
        apart, rises = by_up - by_down, up * by_up + down * by_down
        bent_up, bent_down = trigamma(up), trigamma(down)
        # its square is still a number
        steep = np.maximum(curves.rising * curves.falling, 1e-150)
        information = inside * phi**2 * (bent_up + bent_down) + ends.by["zero_cut"].bend / steep**2
        information -= phi * (curves.falling - curves.rising) * apart / steep
        bent_up *= up
        bent_down *= down
        return Slopes(
            value=low * up + high * down - inside * shapes.log_beta() + ends.value,
            by_success=phi * apart - ends.by["zero_cut"].gradient / steep,
            by_log_precision=rises,
            information=information,
            bend=inside * (up * bent_up + down * bent_down - phi**2 * trigamma(phi)) - rises,
            by_cuts=ends.by,
            cross=phi * (inside * (bent_up - bent_down) - apart),
        )


@dataclass(frozen=True, slots=True)
class Normal:
    r"""A score y without ends, normal around a line in ability: Samejima's continuous response model.

    .. math:: y = c + \sigma\,(a\theta + d + \varepsilon), \quad \varepsilon \sim N(0, 1), \quad
              \log f = \log s - \tfrac12 \big(s (y - c) - \eta\big)^2 - \tfrac12 \log 2\pi

    with s = 1/σ, c the centre of the task's scores and η = aθ + d (Samejima, Psychometrika 38, 1973, in the
    normal form of Wang and Zeng 1998: a is how many times its own noise a score rises with a unit of
    ability, b the ability at which the landmark m is expected, and aσ the units of score). P(y > m) =
    Φ(a (θ − b)) is the normal ogive of the same tasks with success above the landmark, so that difficulty
    and discrimination mean what they mean there; other units of a task's scores change σ and c alone. Where
    the centres [tasks] are known beforehand, scores count from them, which keeps their digits.
    """

    centre: Floats | None = None

    def statistics(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return y², y from the kernel's centre on, and whether the cell was observed."""
        values = matrix.to_numpy()
        observed = ~np.isnan(values)
        scores = np.where(observed, values - (0.0 if self.centre is None else self.centre), 0.0)
        return scores**2, scores, observed.astype(np.float64)

    def constant(self, matrix: ResponseMatrix) -> Floats:
        """Return −½ log 2π of every observed cell."""
        return np.asarray(-_LOG_ROOT_TWO_PI * matrix.observed.sum(axis=1))

    def terms(self, curves: Curves, precision: Floats | None) -> tuple[Floats, ...]:
        """Return −s²/2, s (η + sc) and log s − (η + sc)²/2."""
        steep, line = self._standard(curves, precision)
        return (
            np.broadcast_to(-0.5 * steep**2, line.shape),
            steep * line,
            np.log(steep) - 0.5 * line**2,
        )

    def slopes(self, sums: Sequence[Floats], curves: Curves, precision: Floats | None) -> Slopes:
        """By η: s Σy − N (η + sc); by log φ, half of that by log s: 1 − s (y − c) (sy − sc − η) of each."""
        squares, total, observed = sums
        steep, line = self._standard(curves, precision)
        mark = line - curves.success  # sc
        value = -0.5 * steep**2 * squares + steep * line * total
        value += observed * (np.log(steep) - 0.5 * line**2)
        by_line = steep * total - observed * line
        product = steep**2 * squares - steep * total * (line + mark) + observed * line * mark
        moves = steep**2 * squares - 0.5 * steep * total * (line + 3 * mark)
        moves += 0.5 * observed * mark * (line + mark)  # of the product, by log φ
        cross = 0.5 * (observed * mark - steep * total)
        return Slopes(
            value, by_line, 0.5 * (observed - product), observed, 0.5 * moves, cross=cross
        )

    def _standard(self, curves: Curves, precision: Floats | None) -> tuple[Floats, Floats]:
        """s = √φ [tasks, 1], and η + sc [tasks, nodes]: where the standardised score sy is expected."""
        assert precision is not None and curves.centre is not None
        steep = np.sqrt(precision)[:, None]
        if self.centre is not None:  # scores count from there
            return steep, curves.success
        return steep, curves.success + steep * curves.centre[:, None]


def log_density_of_scores(items: ItemParameters, shape: Curves, value: Floats) -> Floats:
    """Return log f(y | θ) of one score of every task (rows) at the abilities of curves (columns)."""
    if items.response == "normal":
        assert items.precision is not None and items.centre is not None
        steep = np.sqrt(items.precision)[:, None]
        apart = steep * (value - items.centre)[:, None] - shape.success
        return np.asarray(np.log(steep) - 0.5 * apart**2 - _LOG_ROOT_TWO_PI)
    inside, zero, one = _log_chances(_odds(shape))
    shapes, ends = _shapes(shape, items.precision), ends_of(value)
    safe = np.where(ends.inside > 0, value, 0.5)[:, None]
    density = (shapes.up - 1) * np.log(safe) + (shapes.down - 1) * np.log1p(-safe)
    density += inside - shapes.log_beta()
    log_density = np.where(
        ends.zero[:, None] > 0, zero, np.where(ends.one[:, None] > 0, one, density)
    )
    return np.asarray(log_density)


def ends_of(values: Floats) -> Ends:
    """Say which scores are exactly 0, exactly 1, and between; NaN is none of them.

    >>> ends_of(np.array([0.0, 0.3, 1.0, np.nan])).inside
    array([0., 1., 0., 0.])
    """
    zero, one = values <= _ROUNDING, values >= 1 - _ROUNDING
    inside = ~(np.isnan(values) | zero | one)
    return Ends(*(part.astype(np.float64) for part in (zero, one, inside)))


def bounded_scores(matrix: ResponseMatrix) -> tuple[Floats, Ends]:
    """Return scores, and which of them are 0 and 1; refuse scores outside [0, 1] beyond rounding."""
    values = matrix.to_numpy()
    outside = outside_bounds(values)
    if outside.any():
        agent, task = (int(first) for first in np.argwhere(outside)[0])
        raise InputError(
            f"{shorten(matrix.agents[agent])} has {values[agent, task]:g} on "
            f"{shorten(matrix.tasks[task])}. The beta model takes scores from 0 to 1: fit these with "
            f"the model normal, normalise (`normalise(results, 'min-max')`), or say what success is."
        )
    return values, ends_of(values)


def outside_bounds(values: Floats) -> NDArray[np.bool_]:
    """Say which scores are below 0 or above 1 by more than rounding.

    >>> outside_bounds(np.array([-1e-18, 0.5, 1.1, np.nan]))
    array([False, False,  True, False])
    """
    return np.asarray((values < -_ROUNDING) | (values > 1 + _ROUNDING))


def _odds(shape: Curves) -> _Odds:
    assert shape.cuts is not None
    eta = np.log(shape.rising) - np.log(shape.falling)
    low, high = shape.cuts[:, :1], shape.cuts[:, 1:]
    return _Odds(*sigmoid_pair(eta - low), *sigmoid_pair(eta - high), high - low)


def _log_chances(odds: _Odds) -> tuple[Floats, Floats, Floats]:
    """Logarithms of the chances of a score inside, of 0, and of 1.

    σ(x) − σ(y) = σ(x) σ(−y) (1 − exp(y − x)) keeps its digits wherever η is.
    """
    inside = np.log(odds.above_zero) + np.log(odds.below_one) + np.log(-np.expm1(-odds.gap))
    return np.asarray(inside), np.log(odds.zero), np.log(odds.one)


def by_cuts(sums: Sequence[Floats], curves: Curves) -> CutSlopes:
    """Return what zeros, ones and scores inside say by the chances of each: the ordered logit alone.

    By k₀ with the gap held (by η it is the same, but for the sign), and by the logarithm of the gap.
    """
    _, _, seen, zeros, ones = sums
    odds = _odds(curves)
    inside, zero, one = _log_chances(odds)
    slack = 1.0 / np.expm1(odds.gap)
    both = seen * (odds.one - odds.zero) + zeros * odds.above_zero - ones * odds.below_one
    upper = odds.one * odds.below_one
    bend = (seen + zeros) * odds.above_zero * odds.zero + (seen + ones) * upper
    wider = seen * (odds.one + slack) - ones * odds.below_one
    stiff = (seen + ones) * upper + seen * slack * (1 + slack)
    return CutSlopes(
        seen * inside + zeros * zero + ones * one,
        {
            "zero_cut": ByCut(both, bend),
            "cut_gap": ByCut(odds.gap * wider, odds.gap**2 * stiff),
        },
    )


def _shapes(curves: Curves, precision: Floats | None) -> _Shapes:
    phi = np.ones((curves.success.shape[0], 1)) if precision is None else precision[:, None]
    up, down = (np.maximum(share, 1e-10) * phi for share in (curves.success, curves.failure))
    return _Shapes(up, down, phi)
