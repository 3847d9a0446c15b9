"""How well predictions order agents that were held out together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats

SURE = 0.9
"""A difference is detectable where the subset orders a pair right with this probability."""
MOST_PAIRS = 20_000


class Pairs(NamedTuple):
    """Pairs of agents held out together: who, in which fold, and how far apart they truly are."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    difference: Floats  # absolute, rising
    right: Floats  # [..., pairs]: 1 where the prediction orders them right, ½ for a tie


def held_out_pairs(
    tests: Sequence[NDArray[np.intp]], truths: Sequence[Floats], predictions: Sequence[Floats]
) -> Pairs:
    """Gather the pairs of every fold, in the order of their true difference; true ties are left out.

    `predictions` are [..., held-out agents], one array a fold. Of very many pairs every n-th is kept.

    >>> pairs = held_out_pairs([np.array([4, 7])], [np.array([1.0, 3.0])], [np.array([[0.0, 1.0]])])
    >>> pairs.difference, pairs.right
    (array([2.]), array([[1.]]))
    """
    first, second, apart, right = [], [], [], []
    for test, truth, predicted in zip(tests, truths, predictions, strict=True):
        one, other = np.triu_indices(len(test), 1)
        true = truth[one] - truth[other]
        said = predicted[..., one] - predicted[..., other]
        differ = true != 0
        first.append(test[one][differ])
        second.append(test[other][differ])
        apart.append(np.abs(true[differ]))
        right.append((0.5 + 0.5 * np.sign(said) * np.sign(true))[..., differ])
    difference = np.concatenate(apart)
    order = np.argsort(difference, kind="stable")
    if len(order) > MOST_PAIRS:
        order = order[:: -(-len(order) // MOST_PAIRS)]
    return Pairs(
        np.concatenate(first)[order],
        np.concatenate(second)[order],
        difference[order],
        np.concatenate(right, axis=-1)[..., order],
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


def detectable(difference: Floats, right: Floats, weight: Floats | None = None) -> float:
    """Return the smallest difference at which pairs are ordered right with probability 0.9.

    The probability is an isotonic fit over pairs in rising order of difference: it never falls as
    agents lie further apart. Infinite where even the largest difference seen is not enough.

    >>> detectable(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 1.0, 1.0, 1.0]))
    0.2
    """
    from scipy.optimize import isotonic_regression  # slow to import

    if not len(difference):
        return float("nan")
    counted = slice(None) if weight is None else weight > 0
    kept = None if weight is None else weight[counted]
    if kept is not None and not len(kept):
        return float("nan")
    fitted = isotonic_regression(right[counted], weights=kept).x
    reached = np.flatnonzero(fitted >= SURE - 1e-12)
    return float(difference[counted][reached[0]]) if len(reached) else float("inf")


def top_hits(truths: Sequence[Floats], predictions: Sequence[Floats], count: int) -> Floats:
    """Return the mean share of the truly best `count` of a fold found among its predicted best.

    Folds with no more agents than that are left out.

    >>> top_hits([np.array([1.0, 3.0])], [np.array([[0.0, 1.0]])], 1)
    array([1.])
    """
    hits = []
    for truth, predicted in zip(truths, predictions, strict=True):
        if len(truth) <= count:
            continue
        best = np.argsort(-truth, kind="stable")[:count]
        order = np.argsort(-predicted, axis=-1, kind="stable")[..., :count]
        hits.append(np.isin(order, best).mean(axis=-1))
    if not hits:
        return np.full(predictions[0].shape[:-1], np.nan)
    return np.asarray(np.mean(hits, axis=0))
