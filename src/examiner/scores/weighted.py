"""Aggregates of weighted run scores, for many replicates at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.scores.resampling import Sample

Statistic = Callable[[Sample], NDArray[np.float64]]

MANY = 32
"""From this many replicates on, a loop over scores beats arrays of all scores at once."""


def mean(sample: Sample) -> NDArray[np.float64]:
    r"""Mean over tasks of the mean over runs, shape [replicates].

    .. math:: \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i x_{ti}

    >>> mean(Sample(np.array([[1.0, 3.0]]), np.array([[[1, 2], [1, 0]]]), np.array([2])))
    array([2., 1.])
    """
    return _mean_of(sample.scores, sample)


def median(sample: Sample) -> NDArray[np.float64]:
    """Median over tasks of the mean over runs, shape [replicates].

    >>> median(Sample(np.array([[1.0], [3.0], [9.0]]), np.ones((3, 1, 1)), np.array([1, 1, 1])))
    array([3.])
    """
    if sample.times is None:
        return np.asarray(np.median(task_means(sample), axis=0))
    if sample.whole:
        means = _whole_means(sample)
        order = np.argsort(means, kind="stable")
        ordered, times = means[order, None], sample.times[order]
    else:
        means = task_means(sample)
        order = np.argsort(means, axis=0)
        ordered = np.take_along_axis(means, order, axis=0)
        times = np.take_along_axis(sample.times, order, axis=0)
    reached = np.cumsum(times, axis=0, dtype=np.int32)
    total = reached[-1]
    ordered = np.broadcast_to(ordered, reached.shape)
    middle = [
        np.take_along_axis(ordered, (reached > place).argmax(axis=0)[None], axis=0)[0]
        for place in ((total - 1) // 2, total // 2)
    ]
    return np.where(total > 0, (middle[0] + middle[1]) / 2, np.nan)


def iqm(sample: Sample) -> NDArray[np.float64]:
    """Interquartile mean of all runs on all tasks, shape [replicates].

    A quarter of the scores, rounded down, is cut at each end, as `scipy.stats.trim_mean` does; with
    uneven runs, a quarter of their weight, every task weighing the same.

    References: Agarwal et al. (2021), section 4.3.

    >>> iqm(Sample(np.array([[1.0, 2.0], [3.0, 99.0]]), np.ones((2, 2, 1)), np.array([2, 2])))
    array([2.5])
    """
    tasks, runs, replicates = sample.weights.shape
    unit = sample.draws.max(initial=1) / sample.draws  # 1.0 throughout where runs are even
    size, mass = _sizes(sample)
    cut = np.floor(size / 4) * np.divide(mass, size, out=np.ones_like(mass), where=size > 0)
    low, high = np.full(replicates, cut), np.full(replicates, mass - cut)
    order = np.argsort(sample.scores, axis=None, kind="stable")
    if replicates < MANY:
        sums = _middle_sums(sample, order, unit, low, high)
        return _ratio(sums, high - low)
    reached, within = np.zeros(replicates), np.zeros(replicates)
    before, total = low.copy(), np.zeros(replicates)
    weights, scores = sample.weights.reshape(tasks * runs, replicates), sample.scores.ravel()
    part = np.empty(replicates)
    for place in order.tolist():
        np.multiply(weights[place], unit[place // runs], out=part)
        reached += part
        np.minimum(np.maximum(reached, low, out=within), high, out=within)  # np.clip is slower
        np.subtract(within, before, out=part)
        part *= scores[place]
        total += part
        before, within = within, before
    return _ratio(total, high - low)


@dataclass(frozen=True, slots=True)
class OptimalityGap:
    r"""How far scores fall short of a mark, those above it counted as reaching it.

    .. math:: \gamma - \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i \min(x_{ti}, \gamma)

    References: Agarwal et al. (2021), section 4.3.

    >>> OptimalityGap(1.0)(Sample(np.array([[0.5, 3.0]]), np.ones((1, 2, 1)), np.array([2])))
    array([0.25])
    """

    gamma: float = 1.0

    def __call__(self, sample: Sample) -> NDArray[np.float64]:
        """Return the gap, shape [replicates]."""
        return self.gamma - _mean_of(np.minimum(sample.scores, self.gamma), sample)


def task_means(sample: Sample) -> NDArray[np.float64]:
    """Mean score of each task, shape [tasks, replicates]; 0 where a task was not drawn.

    >>> task_means(Sample(np.array([[1.0, 3.0]]), np.array([[[1, 2], [1, 0]]]), np.array([2])))
    array([[2., 1.]])
    """
    tasks, runs, replicates = sample.weights.shape
    means = np.zeros((tasks, replicates))
    if replicates < MANY:
        means += (sample.weights * sample.scores[:, :, None]).sum(axis=1)
    else:
        part = np.empty(replicates)
        for task in range(tasks):
            for run in range(runs):
                np.multiply(sample.weights[task, run], sample.scores[task, run], out=part)
                means[task] += part
    means /= sample.draws[:, None]
    if sample.times is not None:
        means /= np.maximum(sample.times, 1)
    return means


def _whole_means(sample: Sample) -> NDArray[np.float64]:
    """The mean of each task's runs, all of which count alike; shape [tasks]."""
    present = np.arange(sample.scores.shape[1]) < sample.draws[:, None]
    sums: NDArray[np.float64] = np.where(present, sample.scores, 0.0).sum(axis=1)
    return sums / sample.draws


def task_total(sample: Sample) -> NDArray[np.float64]:
    """How many tasks count in each replicate, shape [1] where always as many, else [replicates].

    >>> task_total(Sample(np.ones((2, 1)), np.ones((2, 1, 5)), np.array([1, 1])))
    array([2.])
    """
    if sample.times is None:
        return np.array([float(len(sample.scores))])
    total: NDArray[np.float64] = sample.times.sum(axis=0, dtype=np.float64)
    return total


def _mean_of(values: NDArray[np.float64], sample: Sample) -> NDArray[np.float64]:
    """The mean over tasks of the mean over runs of some function of the scores."""
    tasks, runs, replicates = sample.weights.shape
    shares = (values / sample.draws[:, None]).ravel()
    weights = sample.weights.reshape(tasks * runs, replicates)
    if replicates < MANY:
        return _ratio((weights * shares[:, None]).sum(axis=0), task_total(sample))
    sums, part = np.zeros(replicates), np.empty(replicates)
    # Row by row rather than by BLAS, whose sums may depend on the number of threads
    for place in range(tasks * runs):
        np.multiply(weights[place], shares[place], out=part)
        sums += part
    return _ratio(sums, task_total(sample))


def _middle_sums(
    sample: Sample,
    order: NDArray[np.intp],
    unit: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The weighted sum of the scores between two ranks, for a few replicates with all scores at once."""
    weights = (sample.weights * unit[:, None, None]).reshape(len(order), -1)[order]
    within = np.minimum(np.maximum(np.cumsum(weights, axis=0), low), high)
    kept = np.diff(within, axis=0, prepend=low[None])
    sums: NDArray[np.float64] = (kept * sample.scores.ravel()[order, None]).sum(axis=0)
    return sums


def _ratio(sums: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.full(sums.shape, np.nan)
    np.divide(sums, total, out=values, where=total > 0)
    return values


def _sizes(sample: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many scores each replicate holds, and their weight in units of the longest task's runs."""
    longest = sample.draws.max(initial=1)
    if sample.times is None:
        return np.array([float(sample.draws.sum())]), np.array([float(longest * len(sample.draws))])
    size = (sample.times * sample.draws[:, None]).sum(axis=0, dtype=np.float64)
    return size, longest * sample.times.sum(axis=0, dtype=np.float64)
