"""Tests of single tasks: negative and low discrimination, and results that disagree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.residuals import rarely_exceeded
from examiner.irt.items import Floats
from examiner.irt.suspects.rest_regressions import (
    Responses,
    RestRegressions,
    rest_regressions,
    task_blocks,
)
from examiner.results import ResponseMatrix
from examiner.scores import LEVEL, benjamini_hochberg

_TINY = 1e-12


class Discrimination(NamedTuple):
    """How each task correlates with the others, [tasks], and what is significant about that.

    `correlation` is that of the task with its rest scores, `expected` the correlation it would have with
    the slope that tasks have in common. `negative`: the slope is significantly below 0. `flat`: it is
    significantly below the common slope, and the correlation below half of the expected one. p-values are
    adjusted by Benjamini–Hochberg.
    """

    correlation: Floats
    expected: Floats
    negative_p: Floats
    flat_p: Floats
    negative: NDArray[np.bool_]
    flat: NDArray[np.bool_]


def discrimination(responses: Responses, regressions: RestRegressions) -> Discrimination:
    r"""Test every slope against 0, and against the slope that tasks have in common.

    .. math:: S_i = \sum_j (t_{ji} - \bar t_i)\, n_{ji} (x_{ji} - p_{ji})

    is the score of a slope, with p as under slope 0, or under the common one, and the mean of the rest
    score t weighted by n p (1 − p), since the intercept is estimated. Its p-value is one-sided (only low
    slopes are faults) and comes from a saddlepoint approximation, since of few agents it is far from
    normal.

    References: Rao (1948) for the test; Lugannani & Rice (1980) and Barndorff-Nielsen (1986) for its
    distribution; Benjamini & Hochberg (1995) for many tasks.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(int)
    >>> table[:, 0] = 1 - table[:, 0]  # a wrong key
    >>> responses = Responses.of(ResponseMatrix.from_array(table))
    >>> np.flatnonzero(discrimination(responses, rest_regressions(responses)).negative)
    array([0])
    """
    observed, trials, rest_score = responses.observed, responses.trials, regressions.rest_score
    share = (trials * responses.value).sum(axis=0) / np.maximum(trials.sum(axis=0), 1)
    even = np.where(observed, share, 0.0)
    varies = (np.where(observed, responses.value - even, 0.0) ** 2).sum(axis=0) > _TINY
    negative_p = _adjusted(_one_sided(_deviates(responses, even, rest_score), responses), varies)
    below = _typically_scaled(_deviates(responses, regressions.alike, rest_score), varies)
    flat_p = _adjusted(_one_sided(below, responses), varies)
    correlation = _correlation(responses, responses.value, rest_score)
    expected = _expected_correlation(responses, regressions.alike, rest_score)
    expected[np.isnan(correlation)] = np.nan
    negative = negative_p < LEVEL
    with np.errstate(invalid="ignore"):
        # slopes of healthy tasks differ, and with hundreds of agents any difference is significant
        flat = (flat_p < LEVEL) & (correlation < 0.5 * expected) & ~negative
    return Discrimination(correlation, expected, negative_p, flat_p, negative, flat)


def flat_tasks(matrix: ResponseMatrix) -> tuple[str, ...]:
    """Return the tasks that discriminate less than half as well as the typical task, the flattest first.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((90, 20)) < np.linspace(0.1, 0.9, 90)[:, None]).astype(int)
    >>> table[:, 0] = np.arange(90) % 2
    >>> flat_tasks(ResponseMatrix.from_array(table))
    ('task 1',)
    """
    responses = Responses.of(matrix)
    slopes = discrimination(responses, rest_regressions(responses))
    gap = np.nan_to_num(slopes.expected - slopes.correlation)
    order = np.argsort(-gap, kind="stable")
    return tuple(matrix.tasks[task] for task in order if slopes.flat[task])


def _deviates(responses: Responses, p: Floats, rest_score: Floats) -> Floats:
    """Scores of slopes, [tasks]: normal deviates of successes, Student's t of scores."""
    if responses.counts:
        return np.asarray(_saddlepoint(responses, p, rest_score) / _overdispersion(responses, p))
    residual = np.where(responses.observed, responses.value - p, 0.0)
    squares = (rest_score**2).sum(axis=0) * (residual**2).sum(axis=0)
    error = np.sqrt(squares / _freedom(responses))
    total = (residual * rest_score).sum(axis=0)
    return np.asarray(np.divide(total, error, out=np.zeros_like(total), where=error > _TINY))


def _freedom(responses: Responses) -> Floats:
    return np.asarray(np.maximum(responses.observed.sum(axis=0) - 2.0, 1.0))


def _one_sided(deviates: Floats, responses: Responses) -> Floats:
    from scipy.special import ndtr, stdtr

    return np.asarray(ndtr(deviates) if responses.counts else stdtr(_freedom(responses), deviates))


def _typically_scaled(deviates: Floats, tested: NDArray[np.bool_]) -> Floats:
    """Deviates relative to those of most tasks (Devlin & Roeder 1999), from ten tasks on.

    They vary more than by chance where agents are near-copies of each other, or curves have another shape.
    """
    if tested.sum() < 10:
        return deviates
    low, middle, high = np.quantile(deviates[tested], [0.25, 0.5, 0.75])
    return np.asarray((deviates - min(middle, 0.0)) / max((high - low) / 1.349, 1.0))


def _overdispersion(responses: Responses, p: Floats) -> float:
    """√(X² / cells) over cells with several trials, at least 1 (McCullagh & Nelder 1989, eq. 4.23)."""
    variance = responses.trials * p * (1.0 - p)
    several = (responses.trials > 1) & (variance > _TINY)
    if not several.any():
        return 1.0
    residual = responses.trials * (responses.value - p)
    return max(1.0, float(np.sqrt((residual[several] ** 2 / variance[several]).mean())))


def _saddlepoint(responses: Responses, p: Floats, rest_score: Floats) -> Floats:
    """Scores of slopes as normal deviates (r* of Barndorff-Nielsen), [tasks]."""
    deviates = np.empty(p.shape[1])
    for block in task_blocks(*p.shape):
        n, value = responses.trials[:, block], responses.value[:, block]
        deviates[block] = _block_saddlepoint(n, value, p[:, block], rest_score[:, block])
    return deviates


def _block_saddlepoint(n: Floats, value: Floats, p: Floats, rest_score: Floats) -> Floats:
    v = n * p * (1.0 - p)
    t = rest_score - (v * rest_score).sum(axis=0) / np.maximum(v.sum(axis=0), _TINY)
    score = (n * (value - p) * t).sum(axis=0)
    tilt = np.zeros(p.shape[1])
    for _ in range(25):
        mean, variance = _tilted_moments(n, p, t, tilt)
        tilt = np.clip(tilt + np.clip((score - mean) / variance, -1.0, 1.0), -15.0, 15.0)
    _, variance = _tilted_moments(n, p, t, tilt)
    cumulant = (n * np.log1p(p * (_bounded_exp(tilt * t) - 1.0))).sum(axis=0)
    cumulant -= tilt * (n * p * t).sum(axis=0)
    root = np.sign(tilt) * np.sqrt(np.maximum(2 * (tilt * score - cumulant), 0.0))
    far = np.abs(root) > 0.01  # near 0 the correction is 0/0, and small
    safe = np.where(far, root, 1.0)
    ratio = np.where(far, np.maximum(tilt * np.sqrt(variance) / safe, _TINY), 1.0)
    return np.asarray(root + np.log(ratio) / safe)


def _bounded_exp(exponent: Floats) -> Floats:
    """The exponential, without overflow: beyond, chances are 0 or 1 in any case."""
    return np.asarray(np.exp(np.clip(exponent, -30.0, 30.0)))


def _tilted_moments(n: Floats, p: Floats, t: Floats, tilt: Floats) -> tuple[Floats, Floats]:
    """Mean (less the expected one) and variance of the score under exponential tilting."""
    odds = p * _bounded_exp(tilt * t)
    q = odds / np.maximum(1.0 - p + odds, _TINY)
    mean = (n * (q - p) * t).sum(axis=0)
    return mean, np.maximum((n * q * (1.0 - q) * t**2).sum(axis=0), 1e-9)


def _correlation(responses: Responses, value: Floats, rest_score: Floats) -> Floats:
    """The covariance of a value with rest scores by the deviations of results and rest scores, [tasks]."""
    observed = responses.observed
    mean = np.where(observed, responses.value, 0.0).sum(axis=0) / np.maximum(
        observed.sum(axis=0), 1
    )
    squares = (np.where(observed, responses.value - mean, 0.0) ** 2).sum(axis=0)
    return _ratio(np.where(observed, value - mean, 0.0), squares, rest_score)


def _ratio(centred: Floats, squares: Floats, rest_score: Floats) -> Floats:
    size = np.sqrt(squares * (rest_score**2).sum(axis=0))
    total = (centred * rest_score).sum(axis=0)
    r = np.divide(total, size, out=np.full_like(total, np.nan), where=size > _TINY)
    return np.asarray(r)


def _expected_correlation(responses: Responses, p: Floats, rest_score: Floats) -> Floats:
    r"""Return the correlation of results with rest scores where chances of success are p.

    .. math:: \frac{\sum_j (p_j - \bar p) t_j}
              {\sqrt{\sum_j t_j^2 \, \sum_j [(p_j - \bar p)^2 + \phi\, p_j (1 - p_j) / n_j]}}

    with φ the overdispersion of cells with several trials. The variance of results is the one that goes
    with p: the one observed on a task may be smaller, and the ratio exceed 1.
    """
    if not responses.counts:
        return _correlation(responses, p, rest_score)
    observed = responses.observed
    mean = np.where(observed, p, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    centred = np.where(observed, p - mean, 0.0)
    dispersion = np.where(responses.trials > 1, _overdispersion(responses, p) ** 2, 1.0)
    noise = np.where(observed, dispersion * p * (1.0 - p) / np.maximum(responses.trials, 1), 0.0)
    return _ratio(centred, (centred**2 + noise).sum(axis=0), rest_score)


def _adjusted(p: Floats, tested: NDArray[np.bool_]) -> Floats:
    adjusted = np.ones(len(p))
    if tested.any():
        adjusted[tested] = benjamini_hochberg(p[tested])
    return adjusted


class Disagreement(NamedTuple):
    """Mean disagreement of each task's cells, and of cells of similar difficulty, [tasks].

    `excess` is how much higher the first is, in standard deviations; `significant` where that is more than
    any task has by chance.
    """

    mean: Floats
    expected: Floats
    excess: Floats
    significant: NDArray[np.bool_]


def disagreement_over_trials(value: Floats, trials: Floats) -> Floats:
    """Return how often two trials of a cell differ, [agents, tasks]; NaN with fewer than two trials.

    2 k (n − k) / (n (n − 1)) of successes.

    >>> disagreement_over_trials(np.array([[0.5, 1.0]]), np.array([[2.0, 2.0]]))
    array([[1., 0.]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        flips = 2.0 * trials * value * (1.0 - value) / (trials - 1.0)
    return np.where(trials > 1, flips, np.nan)


def compare_disagreement(
    cells: Floats, expected: Floats, rng: np.random.Generator, *, permutations: int = 199
) -> Disagreement:
    """Compare the disagreement of each task with that of cells of similar difficulty.

    `cells` are disagreements [agents, tasks], `expected` chances of success. Cells are sorted into ten
    bins by p (1 − p), and disagreements permuted within bins: the cut-off is exceeded by any task of one
    table in twenty.

    >>> rng = np.random.default_rng(0)
    >>> flips = (rng.random((40, 12)) < 0.1).astype(float)
    >>> flips[:, 3] = rng.random(40) < 0.6
    >>> np.flatnonzero(compare_disagreement(flips, np.full((40, 12), 0.5), rng).significant)
    array([3])
    """
    observed, tasks, bins = np.isfinite(cells), cells.shape[1], 10
    task = np.nonzero(observed)[1]
    values, variance = cells[observed], (expected * (1.0 - expected))[observed]
    edges = np.quantile(variance, np.linspace(0, 1, bins + 1)[1:-1]) if len(values) else np.empty(0)
    bin_of = np.searchsorted(edges, variance)
    count = np.maximum(np.bincount(bin_of, minlength=bins), 1)
    mean = np.bincount(bin_of, values, bins) / count
    spread = np.bincount(bin_of, (values - mean[bin_of]) ** 2, bins) / count
    deviation = np.sqrt(np.bincount(task, spread[bin_of], tasks))
    usable = deviation > 1e-5

    def excess(drawn: Floats) -> Floats:
        beyond = np.bincount(task, drawn - mean[bin_of], tasks)
        return np.where(usable, beyond / np.where(usable, deviation, 1.0), -np.inf)

    by_bin = values[np.argsort(bin_of, kind="stable")]
    largest = np.empty(permutations)
    for draw in range(permutations):
        permuted = np.empty_like(values)
        permuted[np.argsort(bin_of + rng.random(len(bin_of)))] = by_bin
        largest[draw] = excess(permuted).max()
    cells_of_task = np.bincount(task, minlength=tasks)
    with np.errstate(divide="ignore", invalid="ignore"):
        task_mean = np.bincount(task, values, tasks) / cells_of_task
        similar = np.bincount(task, mean[bin_of], tasks) / cells_of_task
    beyond = excess(values)
    return Disagreement(task_mean, similar, beyond, beyond > rarely_exceeded(largest))
