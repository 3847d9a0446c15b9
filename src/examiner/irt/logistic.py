"""The mathematics of the logistic family, once: P(θ) = c + (u − c) σ(aθ + d)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats, ItemParameters

_MOST = 500.0
"""Logits beyond ±500 are the same as ±500: exp(−500) is still a normal number, 7e-218."""


class Curves(NamedTuple):
    """Curves of tasks at abilities, each of shape [tasks, abilities].

    `rising` is σ(aθ + d) and `falling` its complement, both accurate near 0; `success` is P and
    `failure` 1 − P.
    """

    rising: Floats
    falling: Floats
    success: Floats
    failure: Floats


def logits(items: ItemParameters, abilities: Floats) -> Floats:
    """Return aθ + d, shape [tasks, abilities]."""
    return np.clip(items.slope[:, None] * abilities + items.intercept[:, None], -_MOST, _MOST)


def sigmoid_pair(eta: Floats) -> tuple[Floats, Floats]:
    """Return σ(η) and σ(−η), each accurate where it is small."""
    small = np.exp(-np.abs(eta))
    large_side = 1.0 / (1.0 + small)
    small_side = small * large_side
    rising = np.where(eta >= 0, large_side, small_side)
    falling = np.where(eta >= 0, small_side, large_side)
    return rising, falling


def softplus(eta: Floats) -> Floats:
    """Return log(1 + exp η) without overflow."""
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))


def curves(items: ItemParameters, abilities: Floats) -> Curves:
    """Return the curves of every task at every ability.

    1 − P = (1 − u) + (u − c) σ(−η) keeps its digits where P is near 1.
    """
    rising, falling = sigmoid_pair(logits(items, abilities))
    c, u = items.guessing[:, None], items.ceiling[:, None]
    return Curves(rising, falling, c + (u - c) * rising, (1.0 - u) + (u - c) * falling)


def probability(items: ItemParameters, abilities: Floats | float) -> Floats:
    """Return P(success) of every task (rows) at every ability (columns).

    References: papers/002, eq. 1 (3PL); c = 0 gives the 2PL, u < 1 the 4PL.

    >>> probability(ItemParameters.of(["t"], [1.0], [0.0]), 0.0)
    array([[0.5]])
    """
    return curves(items, np.atleast_1d(np.asarray(abilities, dtype=np.float64))).success


def information(items: ItemParameters, abilities: Floats | float) -> Floats:
    """Return the Fisher information of one trial of every task (rows) at every ability (columns).

    I(θ) = P'(θ)² / (P (1 − P)) with P' = a (u − c) σ (1 − σ); a² P (1 − P) for the 2PL. For the beta
    model it is P'² φ² (ψ'(Pφ) + ψ'((1 − P)φ)).

    >>> information(ItemParameters.of(["t"], [2.0], [0.0]), 0.0)
    array([[1.]])
    """
    at = np.atleast_1d(np.asarray(abilities, dtype=np.float64))
    shape = curves(items, at)
    span = (items.ceiling - items.guessing)[:, None]
    steepness = items.slope[:, None] * span * shape.rising * shape.falling
    if items.response == "beta" and items.precision is not None:
        from scipy.special import polygamma

        phi = items.precision[:, None]
        kept = _inside(shape.success), _inside(shape.failure)
        return np.asarray(
            steepness**2 * phi**2 * (polygamma(1, kept[0] * phi) + polygamma(1, kept[1] * phi))
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = steepness**2 / (shape.success * shape.failure)
    return np.nan_to_num(found, nan=0.0, posinf=0.0)


def _inside(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(shares, 1e-12)
