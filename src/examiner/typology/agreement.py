"""Whether groups agree with results: distances within groups, and clusters of similar tasks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, shorten
from examiner.scores import (
    FEWEST_PAIRS,
    Progress,
    codes_of,
    correlate_columns,
    correlation_distances,
    cut_tree,
    linkage_tree,
    ratio,
)
from examiner.validation import Floats, Randomness, generator

ClusterFunction: TypeAlias = Callable[[Floats, int], Sequence[Hashable]]
"""From scores [agents, tasks] and a number of clusters to a label for each task."""

Distance = Literal["euclidean", "correlation"]


class GroupingTest(NamedTuple):
    """Mean distance within groups, compared with random groups of the same sizes.

    `p_value` is the share of random groupings, this one included, with a mean distance as small.
    `nearer` is the probability that two tasks of one group are closer to each other than two tasks of
    different groups: 0.5 means that groups are uninformative. `groupings` is the number of different
    groupings: with fewer than 20, the p-value cannot be small. NaN where nothing can be compared.
    """

    distance: Distance
    within: float
    between: float
    expected: float
    p_value: float
    nearer: float
    draws: int
    groupings: float


def profile_distances(scores: Floats, distance: Distance = "euclidean") -> Floats:
    r"""Distances between the score profiles of tasks, over the agents observed on both.

    .. math:: d_{jk} = \sqrt{\operatorname{mean}_i (x_{ij} - x_{ik})^2}
              \quad\text{or}\quad d_{jk} = 1 - r_{jk}

    `scores` has shape [agents, tasks]; NaN where two tasks have no agent in common, or no correlation.

    >>> profile_distances(np.array([[0.0, 3.0], [0.0, 4.0]]))[0, 1].round(3)
    np.float64(3.536)
    """
    if distance == "correlation":
        return np.subtract(1.0, correlate_columns(scores)[0])
    if distance != "euclidean":
        raise InputError(
            f"Unknown distance {shorten(distance)}. Known: 'correlation', 'euclidean'."
        )
    observed = np.isfinite(scores)
    distances = np.empty((scores.shape[1],) * 2)
    for task in range(scores.shape[1]):
        both = observed & observed[:, [task]]
        gaps = np.where(both, scores - scores[:, [task]], 0.0)
        distances[task] = ratio((gaps**2).sum(axis=0), both.sum(axis=0))
    return np.sqrt(distances)


def permutation_test(
    distances: Floats,
    groups: NDArray[np.intp],
    *,
    draws: int = 999,
    distance: Distance = "euclidean",
    progress: Progress | None = None,
    rng: Randomness,
) -> GroupingTest:
    r"""Compare the mean distance within groups with that of random groups.

    .. math:: p = \frac{1 + \#\{b : T_b \le T\}}{1 + B}, \quad
              T = \operatorname{mean}_{g_j = g_k} d_{jk}

    `distances` has shape [tasks, tasks], `groups` a number for each task. Where all tasks are in one
    group, or each in its own, there is nothing to compare and everything is NaN.

    References: Phipson & Smyth (2010), "Permutation p-values should never be zero", eq. 2.

    >>> spots = np.array([0.0, 0.1, 5.0, 5.1])
    >>> away = np.abs(spots[:, None] - spots)
    >>> round(permutation_test(away, np.array([0, 0, 1, 1]), rng=0).p_value, 2)
    0.32
    """
    if draws < 1:
        raise InputError(
            f"The number of draws is {draws}. A permutation test needs at least 1 draw."
        )
    first, second = np.triu_indices(len(groups), k=1)
    same = groups[first] == groups[second]
    within, between = _mean(distances[first, second][same]), _mean(distances[first, second][~same])
    if not same.any() or same.all():
        nan = math.nan
        return GroupingTest(distance, within, between, nan, nan, nan, 0, 1.0)
    random_means = _random_means(
        distances, first[same], second[same], draws, progress, generator(rng)
    )
    # Equal groupings in another order of summation must count as equal.
    close = int((random_means <= within * (1 + 1e-12)).sum())
    return GroupingTest(
        distance=distance,
        within=within,
        between=between,
        expected=_mean(random_means),
        p_value=(1 + close) / (1 + draws) if math.isfinite(within) else math.nan,
        nearer=_nearer(distances[first, second], same),
        draws=draws,
        groupings=_groupings(groups),
    )


def _random_means(
    distances: Floats,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    draws: int,
    progress: Progress | None,
    rng: np.random.Generator,
) -> Floats:
    """Return means over the same pairs of columns, with the tasks permuted among the columns."""
    tasks = len(distances)
    finite = np.isfinite(distances)
    filled = np.where(finite, distances, 0.0)
    means = np.empty(draws)
    # Random groupings are processed in blocks of this many labels: some tens of megabytes
    block = max(1, 2_000_000 // len(first))
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        order = rng.permuted(np.tile(np.arange(tasks), (stop - start, 1)), axis=1)
        chosen = order[:, first], order[:, second]
        means[start:stop] = ratio(filled[chosen].sum(axis=1), finite[chosen].sum(axis=1))
        if progress:
            progress("permuting groups", stop, draws)
    return means


def _nearer(distances: Floats, same: NDArray[np.bool_]) -> float:
    """Return the share of (within, between) pairs of distances where the one within is smaller."""
    within = distances[same & np.isfinite(distances)]
    between = np.sort(distances[~same & np.isfinite(distances)])
    if not len(within) or not len(between):
        return math.nan
    above = len(between) - np.searchsorted(between, within, side="right")
    ties = np.searchsorted(between, within, side="right") - np.searchsorted(between, within)
    return float((above + ties / 2).sum() / (len(within) * len(between)))


def _groupings(groups: NDArray[np.intp]) -> float:
    """Return the number of ways to split the tasks into groups of these sizes; infinite where huge."""
    sizes = np.unique(groups, return_counts=True)[1].tolist()
    logarithm = math.lgamma(len(groups) + 1) - sum(math.lgamma(size + 1) for size in sizes)
    logarithm -= sum(math.lgamma(repeats + 1) for repeats in Counter(sizes).values())
    return float(round(math.exp(logarithm))) if logarithm < 30 else math.inf


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


class ClusterAgreement(NamedTuple):
    """Adjusted Rand index of two partitions of tasks, with a bootstrap interval over agents.

    1 is the same partition, 0 is expected by chance. `low` and `high` are NaN where labels were given
    instead of a function, or agents are too few for a bootstrap.
    """

    adjusted_rand: float
    low: float
    high: float
    confidence: float
    clusters: tuple[int, ...]
    resamples: int


def adjusted_rand(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    r"""Adjusted Rand index of two partitions, given as a label for each thing.

    .. math:: \frac{\sum_{ij}\binom{n_{ij}}{2} - E}{\frac12[A + B] - E}, \quad
              A = \sum_i \binom{a_i}{2},\; B = \sum_j \binom{b_j}{2},\; E = AB / \binom n2

    Counts are whole numbers throughout. Two partitions of one group each, or of single things, are
    the same and give 1.

    References: Hubert & Arabie (1985), eq. 5.

    >>> adjusted_rand(["a", "a", "b", "b"], [1, 1, 2, 2]), adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    if len(one) != len(other):
        raise InputError(f"{len(one)} labels for {len(other)} labels. Give two for each task.")
    if len(one) < 2:
        raise InputError(f"{len(one)} labels cannot be compared. Give those of two tasks or more.")
    rows, columns = codes_of(one), codes_of(other)
    table = np.zeros((rows.max() + 1, columns.max() + 1), dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    both = _pairs(table.ravel())
    in_one, in_other = _pairs(table.sum(axis=1)), _pairs(table.sum(axis=0))
    total = math.comb(len(one), 2)
    # Multiplied by twice the total, so that nothing is rounded before the one division.
    above = 2 * (both * total - in_one * in_other)
    below = (in_one + in_other) * total - 2 * in_one * in_other
    return 1.0 if below == 0 else above / below


def task_clusters(scores: Floats, count: int) -> tuple[int, ...]:
    """Cluster tasks by the correlation of their scores across agents: average linkage, a given number.

    The distance is 1 − r over the agents observed on both; without a correlation (a task on which all
    agents score the same) it is 1. `scores` has shape [agents, tasks]. There may be fewer clusters
    where distances tie.

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 6.0, 7.0]])
    >>> task_clusters(scores, 2)
    (1, 1, 2)
    """
    tasks = scores.shape[1]
    if not 1 <= count <= tasks:
        raise InputError(
            f"Cannot make {count} clusters of {tasks} tasks. Choose a number between 1 and {tasks}."
        )
    if tasks == 1:
        return (1,)
    distances = correlation_distances(correlate_columns(scores)[0])
    return tuple(cut_tree(linkage_tree(distances, "average"), count).tolist())


def cluster_agreement(
    scores: Floats,
    groups: Sequence[Hashable],
    clusters: Sequence[Hashable] | ClusterFunction = task_clusters,
    *,
    resamples: int = 200,
    confidence: float = 0.95,
    progress: Progress | None = None,
    rng: Randomness,
) -> ClusterAgreement:
    """Compare groups of tasks with the same number of clusters of their scores.

    `clusters` is a label for each task, or a function that computes them; only a function can be applied
    to bootstrap samples of agents, and so has an interval. `scores` has shape [agents, tasks].

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 6.0, 7.0]])
    >>> cluster_agreement(scores, ["a", "a", "b"], rng=0).adjusted_rand
    1.0
    """
    count = len(set(groups))
    if not callable(clusters):
        index, codes = adjusted_rand(groups, clusters), codes_of(clusters).tolist()
        return ClusterAgreement(index, math.nan, math.nan, confidence, tuple(codes), 0)
    labels = clusters(scores, count)
    index = adjusted_rand(groups, labels)
    drawn, rng = [], generator(rng)
    for number in range(resamples):
        chosen = rng.integers(len(scores), size=len(scores))
        # Fewer different agents correlate all tasks perfectly.
        if len(np.unique(chosen)) >= FEWEST_PAIRS:
            drawn.append(adjusted_rand(groups, clusters(scores[chosen], count)))
        if progress:
            progress("resampling agents", number + 1, resamples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail)) if drawn else (math.nan, math.nan)
    codes = codes_of(labels).tolist()
    return ClusterAgreement(index, float(low), float(high), confidence, tuple(codes), len(drawn))


def _pairs(counts: NDArray[np.int64]) -> int:
    return sum(math.comb(int(count), 2) for count in counts)
