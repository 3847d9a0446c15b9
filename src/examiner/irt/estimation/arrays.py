"""Arrays of numpy and torch in the same words, exact products in single precision, special functions."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any
"""An array of numpy, or a tensor of torch, which is an extra."""
Kind = type[np.floating]

EXACT_TERMS = 4096
"""Zeros and ones times so many leading halves add up exactly in single precision."""
_SHIFT = 7
"""Steps up, beyond which Stirling's series has all its digits: the first term left out is 3e-14."""
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


class Place:
    """Where arrays are: in this process, with numpy. A device of torch is another (`engines.gpu`)."""

    xp: Any = np
    in_process = True
    agents_together: int | None = None
    """Agents of a tile, where their number does not depend on the table."""

    def array(self, values: Array, kind: type[np.generic] = np.float64) -> Array:
        """Return numbers of numpy as an array here."""
        return np.asarray(values, dtype=kind)

    def cast(self, values: Array, kind: type[np.generic]) -> Array:
        """Return an array in another precision."""
        return values.astype(kind, copy=False)

    def numpy(self, values: Array) -> NDArray[np.float64]:
        """Return an array as one of numpy, in double precision."""
        return np.asarray(values, dtype=np.float64)

    def exactly(self) -> AbstractContextManager[None]:
        """Compute with all digits of single precision in products."""
        return nullcontext()


HERE = Place()


def halves(numbers: Array, place: Place = HERE) -> tuple[Array, Array]:
    """Return the leading bits of numbers and what they leave, in single precision; by rows.

    The leading ones are so few that sums of zeros and ones times `EXACT_TERMS` of them are exact, and what
    they leave is so small that its rounding is nothing.

    >>> leading, rest = halves(np.array([1 / 3, -0.7]))
    >>> bool(abs(leading.astype(float) + rest - [1 / 3, -0.7]).max() < 1e-11)
    True
    """
    xp = place.xp
    largest = xp.clip(xp.amax(xp.abs(numbers), -1), 1e-300, None)[..., None]
    unit = 2.0 ** xp.ceil(xp.log2(largest)) * EXACT_TERMS / 2**24
    leading = xp.round(numbers / unit) * unit
    return place.cast(leading, np.float32), place.cast(numbers - leading, np.float32)


def split(curves: Array, kind: Kind, place: Place = HERE) -> Array:
    """Return curves [nodes, tasks] for products with data of a precision: of single ones their halves.

    >>> split(np.ones((3, 5)), np.float32).shape
    (3, 2, 5)
    """
    if kind is np.float64:
        return curves
    return place.xp.stack(halves(curves, place), 1)


def times_curves(data: Array, curves: Array, place: Place = HERE) -> Array:
    """Return data [agents, tasks] times curves [nodes, tasks], or times their halves [nodes, 2, tasks].

    >>> curves, data = np.array([[1 / 3, 0.7]]), np.ones((1, 2), dtype=np.float32)
    >>> exact = times_curves(data.astype(float), curves)
    >>> bool(abs(times_curves(data, split(curves, np.float32)) - exact).max() < 1e-10)
    True
    """
    if curves.ndim == 2:
        return place.cast(data @ curves.T, np.float64)
    tasks = curves.shape[-1]
    both, total = curves.reshape(-1, tasks), 0.0
    for start in range(0, tasks, EXACT_TERMS):
        part = slice(start, start + EXACT_TERMS)
        total = total + place.cast(data[:, part] @ both[:, part].T, np.float64)
    return total[:, ::2] + total[:, 1::2]  # type: ignore[index]  # an array once anything is added


def times_weights(weights: Array, data: Array, place: Place = HERE, *, exact: bool) -> Array:
    """Return weights [agents, n], transposed, times data [agents, tasks]: [n, tasks].

    Where a tile has few agents single precision errs by 1e-7 of a sum, to either side, and sums over tiles
    by far less; `exact` is for others.
    """
    if data.dtype == weights.dtype:
        return weights.T @ data
    if not exact:
        return place.cast(place.cast(weights.T, np.float32) @ data, np.float64)
    leading, trailing = halves(weights.T, place)
    return place.cast(leading @ data, np.float64) + place.cast(trailing @ data, np.float64)


def posterior_weights(joint: Array, place: Place = HERE) -> tuple[Array, Array]:
    """Turn log joint densities [agents, nodes] into log sums and weights; `joint` is overwritten.

    >>> log_marginal, weights = posterior_weights(np.log([[0.1, 0.3]]))
    >>> weights, np.exp(log_marginal).round(12)
    (array([[0.25, 0.75]]), array([0.4]))
    """
    xp = place.xp
    top = xp.amax(joint, 1)
    joint -= top[:, None]
    xp.exp(joint, out=joint)
    # smaller weights become denormal numbers, which would slow products
    joint[joint < 1e-20] = 0.0
    mass = joint.sum(1)
    joint /= mass[:, None]
    return top + xp.log(mass), joint


def softplus_and_sigmoid(eta: Array, place: Place = HERE) -> tuple[Array, Array]:
    """Return log(1 + exp η) and σ(η) from one exponential; `eta` is overwritten.

    >>> [float(part) for part in softplus_and_sigmoid(np.zeros(()) + 0.0)][1]
    0.5
    """
    xp = place.xp
    small = xp.exp(-xp.abs(eta))
    rising = xp.where(eta < 0, small, 1.0)
    eta = xp.clip(eta, 0.0, None)
    eta += xp.log1p(small)
    small += 1.0
    rising /= small
    return eta, rising


def trigamma(at: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return ψ'(x) of positive numbers, ten times as fast as scipy's polygamma.

    .. math:: \psi'(x) = \sum_{k<n} \frac{1}{(x + k)^2} + \psi'(x + n), \quad
              \psi'(z) = \frac1z + \frac{1}{2z^2} + \sum_k \frac{B_{2k}}{z^{2k + 1}}

    References: Abramowitz & Stegun (1972), 6.4.6 and 6.4.12.

    >>> (6 * trigamma(np.array([1.0])) / np.pi**2).round(12)
    array([1.])
    """
    total = np.zeros_like(at)
    for step in range(_SHIFT):
        total += 1.0 / np.square(at + step)
    small = 1.0 / (at + _SHIFT)
    square = small * small
    series = np.zeros_like(at)
    for number in reversed(_BERNOULLI):
        series = number + square * series
    total += small * (1.0 + 0.5 * small + square * series)
    return total


def log_choose(tried: NDArray[np.float64], won: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return log C(n, k) of every cell.

    >>> np.exp(log_choose(np.array([4.0]), 2.0)).round(9)
    array([6.])
    """
    from scipy.special import gammaln

    return np.asarray(gammaln(tried + 1) - gammaln(won + 1) - gammaln(tried - won + 1))
