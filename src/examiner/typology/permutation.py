"""Whether tasks of one group are nearer to each other than tasks drawn at random."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.likeness import correlate_columns
from examiner.wording import InputError, shorten

Distance = Literal["euclidean", "correlation"]
Progress = Callable[[str, int, int], None]

SMALL_P = 0.05
_LABELS_AT_ONCE = 2_000_000


class PermutationTest(NamedTuple):
    """Mean distance within groups, against groups of the same sizes drawn at random.

    `p_value` is the share of drawn groupings, this one included, that are as close or closer.
    `nearer` is the probability that two tasks of one group are nearer to each other than two tasks of
    different groups: 0.5 means that groups say nothing. `groupings` is how many different ones there
    are: with fewer than 20, the p-value cannot be small. NaN where nothing can be compared.
    """

    distance: Distance
    within: float
    between: float
    expected: float
    p_value: float
    nearer: float
    draws: int
    groupings: float


def profile_distances(
    scores: NDArray[np.float64], distance: Distance = "euclidean"
) -> NDArray[np.float64]:
    r"""Distances between the score profiles of tasks, over the agents observed on both.

    .. math:: d_{jk} = \sqrt{\operatorname{mean}_i (x_{ij} - x_{ik})^2}
              \quad\text{or}\quad d_{jk} = 1 - r_{jk}

    `scores` has shape [agents, tasks]; NaN where two tasks share no agent, or have no correlation.

    >>> profile_distances(np.array([[0.0, 3.0], [0.0, 4.0]]))[0, 1].round(3)
    np.float64(3.536)
    """
    if distance == "correlation":
        return np.subtract(1.0, correlate_columns(scores)[0])
    if distance != "euclidean":
        raise InputError(
            f"Unknown distance {shorten(distance)}. Known: 'correlation', 'euclidean'."
        )
    seen = np.isfinite(scores)
    distances = np.full((scores.shape[1],) * 2, np.nan)
    for task in range(scores.shape[1]):
        both = seen & seen[:, [task]]
        gaps = np.where(both, scores - scores[:, [task]], 0.0)
        agents = both.sum(axis=0)
        squares = (gaps**2).sum(axis=0)
        np.divide(squares, agents, out=distances[task], where=agents > 0)
    roots: NDArray[np.float64] = np.sqrt(distances)
    return roots


def permutation_test(
    distances: NDArray[np.float64],
    groups: NDArray[np.intp],
    *,
    draws: int = 999,
    distance: Distance = "euclidean",
    progress: Progress | None = None,
    rng: np.random.Generator,
) -> PermutationTest:
    r"""Compare the mean distance within groups with that of groups drawn at random.

    .. math:: p = \frac{1 + \#\{b : T_b \le T\}}{1 + B}, \quad
              T = \operatorname{mean}_{g_j = g_k} d_{jk}

    `distances` has shape [tasks, tasks], `groups` a number for each task. Where all tasks are in one
    group, or each in its own, there is nothing to compare and all is NaN.

    References: Phipson & Smyth (2010), "Permutation p-values should never be zero", eq. 2.

    >>> spots = np.array([0.0, 0.1, 5.0, 5.1])
    >>> away = np.abs(spots[:, None] - spots)
    >>> round(permutation_test(away, np.array([0, 0, 1, 1]), rng=np.random.default_rng(0)).p_value, 2)
    0.32
    """
    if draws < 1:
        raise InputError(f"A permutation test needs at least 1 draw, not {draws}. Give more.")
    first, second = np.triu_indices(len(groups), k=1)
    same = groups[first] == groups[second]
    within, between = _mean(distances[first, second][same]), _mean(distances[first, second][~same])
    if not same.any() or same.all():
        nan = math.nan
        return PermutationTest(distance, within, between, nan, nan, nan, 0, 1.0)
    drawn = _drawn_means(distances, first[same], second[same], draws, progress, rng)
    # Equal groupings in another order of summation must count as equal.
    close = int((drawn <= within * (1 + 1e-12)).sum())
    return PermutationTest(
        distance=distance,
        within=within,
        between=between,
        expected=_mean(drawn),
        p_value=(1 + close) / (1 + draws) if math.isfinite(within) else math.nan,
        nearer=_nearer(distances[first, second], same),
        draws=draws,
        groupings=_groupings(groups),
    )


def _drawn_means(
    distances: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    draws: int,
    progress: Progress | None,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Means over the same pairs of places, with the tasks dealt anew to the places each time."""
    tasks = len(distances)
    known = np.isfinite(distances)
    held = np.where(known, distances, 0.0)
    means = np.full(draws, np.nan)
    block = max(1, _LABELS_AT_ONCE // len(first))
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        order = rng.permuted(np.tile(np.arange(tasks), (stop - start, 1)), axis=1)
        chosen = order[:, first], order[:, second]
        counts = known[chosen].sum(axis=1)
        np.divide(held[chosen].sum(axis=1), counts, out=means[start:stop], where=counts > 0)
        if progress:
            progress("permuting groups", stop, draws)
    return means


def _nearer(distances: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Share of (within, between) pairs of distances where the one within is smaller; ties are half."""
    within = distances[same & np.isfinite(distances)]
    between = np.sort(distances[~same & np.isfinite(distances)])
    if not len(within) or not len(between):
        return math.nan
    above = len(between) - np.searchsorted(between, within, side="right")
    ties = np.searchsorted(between, within, side="right") - np.searchsorted(between, within)
    return float((above + ties / 2).sum() / (len(within) * len(between)))


def _groupings(groups: NDArray[np.intp]) -> float:
    """How many ways there are to split the tasks into groups of these sizes; infinite where huge."""
    sizes = np.unique(groups, return_counts=True)[1].tolist()
    logarithm = math.lgamma(len(groups) + 1) - sum(math.lgamma(size + 1) for size in sizes)
    logarithm -= sum(math.lgamma(repeats + 1) for repeats in Counter(sizes).values())
    return float(round(math.exp(logarithm))) if logarithm < 30 else math.inf


def _mean(values: NDArray[np.float64]) -> float:
    seen = values[np.isfinite(values)]
    return float(seen.mean()) if len(seen) else math.nan
