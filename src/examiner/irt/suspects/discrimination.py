"""Which tasks tell less of the able than tasks do, and which the weak solve and the strong fail."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.irt.suspects.given_ability import (
    Expectations,
    Responses,
    given_ability,
    task_blocks,
)
from examiner.results import ResponseMatrix
from examiner.scores import LEVEL, benjamini_hochberg

LITTLE = 0.5
"""A task is told of where it tells less than this share of what tasks do: slopes of healthy tasks differ,
and of hundreds of agents any difference is shown."""
_LEAST = 1e-12
_FEWEST_COMPARED = 10
"""Tasks from which on the spread of their scores is known."""
_STEPS = 25
_FARTHEST = 30.0
"""Exponents are kept within: beyond, chances are 0 or 1 in any case."""


class Discrimination(NamedTuple):
    """How each task goes together with the others, [tasks], and what is shown by that.

    `correlation` is that of the task with what agents did on the others, `expected` what it would be if
    it discriminated as tasks do on average. `negative`: the strong fail what the weak solve. `flat`: it
    tells less than tasks do, and less than half of it. Chances are after Benjamini–Hochberg.
    """

    correlation: Floats
    expected: Floats
    falling_chance: Floats
    flat_chance: Floats
    negative: NDArray[np.bool_]
    flat: NDArray[np.bool_]


def discrimination(found: Responses, given: Expectations) -> Discrimination:
    r"""Test every slope against 0, and against the one that tasks have in common.

    .. math:: S_i = \sum_j (t_{ji} - \bar t_i)\, n_{ji} (x_{ji} - p_{ji})

    is the score of a slope, with p as it would be with no slope, or with the common one, and the mean of
    ability t weighed by n p (1 − p), since the intercept is estimated. How often chance gives as low a
    score is had by a saddlepoint, since few agents make it far from normal. One-sided: who looks for
    broken tasks looks for low slopes.

    References: Rao (1948) for the test; Lugannani & Rice (1980) and Barndorff-Nielsen (1986) for its
    distribution; Benjamini & Hochberg (1995) for many tasks.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(int)
    >>> table[:, 0] = 1 - table[:, 0]  # a wrong key
    >>> responses = Responses.of(ResponseMatrix.from_array(table))
    >>> np.flatnonzero(discrimination(responses, given_ability(responses)).negative)
    array([0])
    """
    trials = found.trials
    share = (trials * found.value).sum(axis=0) / np.maximum(trials.sum(axis=0), 1)
    even = np.where(found.seen, share, 0.0)
    differ = (np.where(found.seen, found.value - even, 0.0) ** 2).sum(axis=0) > _LEAST
    falling = _adjusted(_chance_of_less(found, even, given.ability), differ)
    below = _adjusted(_chance_of_less(found, given.alike, given.ability, differ), differ)
    correlation = _correlation(found, found.value, given.ability)
    expected = _expected_correlation(found, given.alike, given.ability)
    expected[np.isnan(correlation)] = np.nan
    negative = falling < LEVEL
    with np.errstate(invalid="ignore"):
        flat = (below < LEVEL) & (correlation < LITTLE * expected) & ~negative
    return Discrimination(correlation, expected, falling, below, negative, flat)


def flat_tasks(matrix: ResponseMatrix) -> tuple[str, ...]:
    """Return the tasks that tell less than half of what tasks do of the able, the flattest first.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((90, 20)) < np.linspace(0.1, 0.9, 90)[:, None]).astype(int)
    >>> table[:, 0] = np.arange(90) % 2
    >>> flat_tasks(ResponseMatrix.from_array(table))
    ('task 1',)
    """
    found = Responses.of(matrix)
    made = discrimination(found, given_ability(found))
    gap = np.nan_to_num(made.expected - made.correlation)
    order = np.argsort(-gap, kind="stable")
    return tuple(matrix.tasks[task] for task in order if made.flat[task])


def _chance_of_less(
    found: Responses, p: Floats, ability: Floats, among: NDArray[np.bool_] | None = None
) -> Floats:
    """How often scores of slopes are as low by chance, [tasks].

    Scores vary more where trials of one cell are alike, and `among` these tasks where agents are
    near-copies of each other, or curves have another shape: what is low is low compared with most tasks.
    """
    from scipy.special import ndtr, stdtr

    if found.counts:
        deviates = _saddlepoint(found, p, ability) / _overdispersion(found, p)
        return np.asarray(ndtr(_compared(deviates, among)))
    seen = found.seen
    off = np.where(seen, found.value - p, 0.0)
    freedom = np.maximum(seen.sum(axis=0) - 2, 1)
    size = np.sqrt((ability**2).sum(axis=0) * (off**2).sum(axis=0) / freedom)
    total = (off * ability).sum(axis=0)
    t = np.divide(total, size, out=np.zeros_like(total), where=size > _LEAST)
    return np.asarray(stdtr(freedom.astype(np.float64), _compared(t, among)))


def _compared(deviates: Floats, among: NDArray[np.bool_] | None) -> Floats:
    """Deviates divided by the spread of most of them, where that is above 1 (Devlin & Roeder 1999)."""
    if among is None or among.sum() < _FEWEST_COMPARED:
        return deviates
    low, middle, high = np.quantile(deviates[among], [0.25, 0.5, 0.75])
    return np.asarray((deviates - min(middle, 0.0)) / max((high - low) / 1.349, 1.0))


def _overdispersion(found: Responses, p: Floats) -> float:
    """√(X² / cells) where cells have several trials, at least 1 (McCullagh & Nelder 1989, eq. 4.23)."""
    variance = found.trials * p * (1.0 - p)
    several = (found.trials > 1) & (variance > _LEAST)
    if not several.any():
        return 1.0
    off = found.trials * (found.value - p)
    return max(1.0, float(np.sqrt((off[several] ** 2 / variance[several]).mean())))


def _saddlepoint(found: Responses, p: Floats, ability: Floats) -> Floats:
    """Where scores of slopes lie, as deviates of a normal distribution (r* of Barndorff-Nielsen)."""
    made = np.empty(p.shape[1])
    for block in task_blocks(*p.shape):
        some = (slice(None), block)
        part = Responses(found.value[some], found.trials[some], found.counts)
        made[block] = _deviates(part, p[some], ability[some])
    return made


def _deviates(found: Responses, p: Floats, ability: Floats) -> Floats:
    n = found.trials
    v = n * p * (1.0 - p)
    t = ability - (v * ability).sum(axis=0) / np.maximum(v.sum(axis=0), _LEAST)
    score = (n * (found.value - p) * t).sum(axis=0)
    tilt = np.zeros(p.shape[1])
    for _ in range(_STEPS):
        mean, spread = _tilted(n, p, t, tilt)
        tilt = np.clip(tilt + np.clip((score - mean) / spread, -1.0, 1.0), -15.0, 15.0)
    _, spread = _tilted(n, p, t, tilt)
    grown = np.log1p(p * np.expm1(np.clip(tilt * t, -_FARTHEST, _FARTHEST)))
    cumulant = (n * grown).sum(axis=0) - tilt * (n * p * t).sum(axis=0)
    root = np.sign(tilt) * np.sqrt(np.maximum(2 * (tilt * score - cumulant), 0.0))
    far = np.abs(root) > 0.01  # near 0 the correction is 0/0, and small
    safe = np.where(far, root, 1.0)
    ratio = np.where(far, np.maximum(tilt * np.sqrt(spread) / safe, _LEAST), 1.0)
    return np.asarray(root + np.log(ratio) / safe)


def _tilted(n: Floats, p: Floats, t: Floats, tilt: Floats) -> tuple[Floats, Floats]:
    """Mean, less what is expected, and variance of the score where successes are tilted."""
    grown = p * np.exp(np.clip(tilt * t, -_FARTHEST, _FARTHEST))
    q = grown / np.maximum(1.0 - p + grown, _LEAST)
    mean = (n * (q - p) * t).sum(axis=0)
    return mean, np.maximum((n * q * (1.0 - q) * t**2).sum(axis=0), 1e-9)


def _correlation(found: Responses, value: Floats, ability: Floats) -> Floats:
    """Of what is observed with ability elsewhere; of scores also of what is expected."""
    seen = found.seen
    count = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, found.value, 0.0).sum(axis=0) / count
    size = np.sqrt((np.where(seen, found.value - mean, 0.0) ** 2).sum(axis=0))
    size = size * np.sqrt((ability**2).sum(axis=0))
    total = np.where(seen, (value - mean) * ability, 0.0).sum(axis=0)
    r = np.divide(total, size, out=np.full_like(total, np.nan), where=size > _LEAST)
    return np.asarray(r)


def _expected_correlation(found: Responses, p: Floats, ability: Floats) -> Floats:
    r"""Return the correlation of results with ability elsewhere where chances of success are p.

    .. math:: \frac{\sum_j (p_j - \bar p) t_j}
              {\sqrt{\sum_j t_j^2 \, \sum_j [(p_j - \bar p)^2 + \phi\, p_j (1 - p_j) / n_j]}}

    with φ > 1 where the trials of a cell are alike. The deviations are those that go with p: those observed
    on a task may be smaller, and a ratio to them exceed 1.
    """
    if not found.counts:
        return _correlation(found, p, ability)
    seen = found.seen
    mean = np.where(seen, p, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, p - mean, 0.0)
    alike = np.where(found.trials > 1, _overdispersion(found, p) ** 2, 1.0)
    noise = np.where(seen, alike * p * (1.0 - p) / np.maximum(found.trials, 1), 0.0)
    size = np.sqrt((centred**2 + noise).sum(axis=0) * (ability**2).sum(axis=0))
    total = (centred * ability).sum(axis=0)
    r = np.divide(total, size, out=np.full_like(total, np.nan), where=size > _LEAST)
    return np.asarray(r)


def _adjusted(p: Floats, tested: NDArray[np.bool_]) -> Floats:
    made = np.ones(len(p))
    if tested.any():
        made[tested] = benjamini_hochberg(p[tested])
    return made
