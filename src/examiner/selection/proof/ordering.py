"""How well predictions order agents that were held out together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.validation import Floats

MOST_PAIRS = 20_000
TIE = 1e-9
"""Differences below this share of the largest value are ties: rounding does not decide who is better."""


class Pairs(NamedTuple):
    """Pairs of agents held out together: who, in which fold, and how far apart they truly are."""

    first: NDArray[np.intp]  # the better of the two
    second: NDArray[np.intp]
    difference: Floats  # absolute, rising
    right: Floats  # [..., pairs]: 1 where the prediction orders them right, ½ for a tie
    predicted: Floats  # [..., pairs]: the predicted difference, in the direction of the true one


def held_out_pairs(
    tests: Sequence[NDArray[np.intp]], truths: Sequence[Floats], predictions: Sequence[Floats]
) -> Pairs:
    """Gather the pairs of every fold, in the order of their true difference; true ties are excluded.

    `predictions` are [..., held-out agents], one array a fold. Of very many pairs every n-th is kept.

    >>> pairs = held_out_pairs([np.array([4, 7])], [np.array([1.0, 3.0])], [np.array([[0.0, 1.0]])])
    >>> pairs.difference, pairs.right
    (array([2.]), array([[1.]]))
    """
    first, second, apart, column = [], [], [], []
    start = 0
    for test, truth in zip(tests, truths, strict=True):
        one, other = np.triu_indices(len(test), 1)
        true = truth[one] - truth[other]
        true[np.abs(true) <= TIE * np.abs(truth).max(initial=0.0)] = 0.0
        worse = true < 0  # the better agent of a pair is put first
        one, other = np.where(worse, other, one), np.where(worse, one, other)
        differ = true != 0
        first.append(test[one][differ])
        second.append(test[other][differ])
        apart.append(np.abs(true[differ]))
        column.append(np.stack([one, other])[:, differ] + start)
        start += len(test)
    difference = np.concatenate(apart)
    order = np.argsort(difference, kind="stable")
    if len(order) > MOST_PAIRS:
        order = order[:: -(-len(order) // MOST_PAIRS)]
    better, worse = np.concatenate(column, axis=1)[:, order]
    predicted = np.concatenate(predictions, axis=-1)
    predicted_difference = predicted[..., better] - predicted[..., worse]
    predicted_difference[
        np.abs(predicted_difference) <= TIE * np.abs(predicted).max(initial=0.0)
    ] = 0.0
    return Pairs(
        np.concatenate(first)[order],
        np.concatenate(second)[order],
        difference[order],
        0.5 + 0.5 * np.sign(predicted_difference),
        predicted_difference,
    )


def kendall(pairs: Pairs, weight: Floats | None = None) -> Floats:
    """Return Kendall's correlation within folds: the share ordered right less the share ordered wrong.

    `weight` [resamples, agents] counts agents more than once; a pair counts their product.

    >>> pairs = held_out_pairs([np.array([0, 1])], [np.array([1.0, 3.0])], [np.array([[0.0, 1.0]])])
    >>> kendall(pairs)
    array([1.])
    """
    if not len(pairs.difference):
        shape = pairs.right.shape[:-1]
        return np.full(shape if weight is None else (*shape, len(weight)), np.nan)
    if weight is None:
        return np.asarray(2 * pairs.right.mean(axis=-1) - 1)
    product = weight[:, pairs.first] * weight[:, pairs.second]
    total = product.sum(axis=1)
    share = np.einsum("...p,rp->...r", pairs.right, product) / np.where(total > 0, total, np.nan)
    return np.asarray(2 * share - 1)


def detectable(pairs: Pairs, weight: Floats | None = None) -> Floats:
    r"""Return the smallest difference at which pairs are ordered right with probability 0.9.

    What is predicted of a pair is taken as :math:`\beta d + e`, d its true difference, e normal:

    .. math:: P(\mathrm{right} \mid d) = \Phi(\beta d / \sigma), \qquad
              d_{0.9} = t_{0.9, n - 2}\, \hat\sigma / \hat\beta

    by least squares through the origin. With Student's t instead of the normal, a difference as large is
    ordered right nine times of ten on average over tables of n agents, however few. A rising fit of
    what was ordered right, which knows no :math:`\sigma`, is reached too early with few agents: of 12,
    differences it gives are ordered right eight times of ten (`benchmarks/orderable.py`).

    `weight` [resamples, agents] counts agents more than once. Where `right` and `predicted` have draws as
    their first axis, they are taken as one. Infinite where even the largest observed difference is not
    enough.

    >>> truth = np.array([1.0, 2.0, 4.0, 7.0])
    >>> pairs = held_out_pairs([np.arange(4)], [truth], [truth + [0.4, -0.4, 0.4, -0.4]])
    >>> round(float(detectable(pairs)), 2)
    1.7
    """
    shape = pairs.predicted.shape[:-1]
    counts = np.ones((1, len(pairs.difference)))
    if weight is not None:
        counts = weight[:, pairs.first] * weight[:, pairs.second]
    agents = len(np.union1d(pairs.first, pairs.second))
    if agents < 3:
        nothing = np.full((*shape, len(counts)), np.nan)
        return nothing if weight is not None else nothing[..., 0]
    from scipy.special import stdtrit  # slow to import

    difference = pairs.difference
    total, squares = counts.sum(axis=1), (counts * difference**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.einsum("...p,rp->...r", pairs.predicted * difference, counts) / squares
        left = np.einsum("...p,rp->...r", pairs.predicted**2, counts) - slope**2 * squares
        spread = np.sqrt(np.maximum(left, 0.0) / total * agents / (agents - 2))
        # A difference is detectable where the subset orders a pair right with this probability
        least = float(stdtrit(agents - 2, 0.9)) * spread / slope
    largest = np.where(counts > 0, difference, 0.0).max(axis=1)
    difference_detected = np.where((slope > 0) & (least <= largest), least, np.inf)
    difference_detected = np.where((total > 0) & np.isfinite(slope), difference_detected, np.nan)
    return difference_detected if weight is not None else difference_detected[..., 0]


def top_hits(truths: Sequence[Floats], predictions: Sequence[Floats], count: int) -> Floats:
    """Return the mean share of the truly best `count` of a fold found among its predicted best.

    Agents tied at the last place share it. Folds with no more agents than that are excluded.

    >>> top_hits([np.array([1.0, 3.0])], [np.array([[0.0, 1.0]])], 1)
    array([1.])
    """
    hits = []
    for truth, predicted in zip(truths, predictions, strict=True):
        if len(truth) <= count:
            continue
        hits.append(
            (_among_best(truth, count) * _among_best(predicted, count)).sum(axis=-1) / count
        )
    if not hits:
        return np.full(predictions[0].shape[:-1], np.nan)
    return np.asarray(np.mean(hits, axis=0))


def _among_best(values: Floats, count: int) -> Floats:
    """The probability of being among the best `count`, ties broken at random: [..., agents]."""
    least = np.partition(values, -count, axis=-1)[..., -count, None]
    near = TIE * np.abs(values).max(axis=-1, keepdims=True)
    above, tied = values > least + near, np.abs(values - least) <= near
    left = (count - above.sum(axis=-1, keepdims=True)) / np.maximum(tied.sum(-1, keepdims=True), 1)
    return np.where(above, 1.0, np.where(tied, left, 0.0))
