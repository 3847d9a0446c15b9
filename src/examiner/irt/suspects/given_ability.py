"""What is expected of results given what agents did on the other tasks, and tables drawn from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.results import ResponseMatrix

_SETTLED = 1e-3
"""A largest step of Newton's below this is the last: the next would be of the order of its square."""
_MOST_STEPS = 12
"""Steps of tasks that clipped steps take long to settle; most tables need four or five."""
_SLOPE_SD = 2.0
"""How far slopes of tasks may lie from the common one, per deviation of ability: wide, but finite where
success and failure are separated."""
_INTERCEPT_SD = 3.0
BLOCK_CELLS = 1 << 18
"""Cells that are looked at together: two megabytes of numbers, which stay near the processor."""
_LEAST = 1e-9
_GUESSED = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Chances of guessing that are tried."""
_SIGNIFICANT = 3.0
"""Gain in log-likelihood from which on guessing is significant (1.4 % of tables without it)."""


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Results [..., agents, tasks]: shares of successes or scores, in how many trials, seen or not.

    `value` is 0 where nothing was seen. Scores have one trial.
    """

    value: Floats
    trials: Floats
    counts: bool

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which cells were observed."""
        return self.trials > 0

    @classmethod
    def of(cls, matrix: ResponseMatrix) -> Responses:
        """Return a matrix as arrays.

        >>> Responses.of(ResponseMatrix.from_array([[1, 0], [np.nan, 1]])).value
        array([[1., 0.],
               [0., 1.]])
        """
        value = np.nan_to_num(matrix.to_numpy())
        trials = matrix.trials if matrix.is_counts else matrix.observed
        return cls(value, np.asarray(trials, dtype=np.float64), matrix.is_counts)


@dataclass(frozen=True, slots=True, eq=False)
class Expectations:
    """What is expected of each cell, [..., agents, tasks], and the slope that all tasks have in common.

    `ability` is what an agent did on the other tasks, with mean 0 and deviation 1 over agents; `alike`
    what would be expected if all tasks had the same discrimination.
    """

    ability: Floats
    expected: Floats
    alike: Floats
    slope: Floats
    guessing: float = 0.0
    """The chance of success that all tasks give to the weakest agents, where that is significant."""
    intercepts: Floats | None = None
    """The d of each task where all discriminate alike, [..., 1, tasks]; None for scores."""

    def drawn(self, found: Responses, rng: np.random.Generator) -> Responses:
        """Draw a table in which tasks share nothing but ability, with the same cells and trials.

        Successes are drawn anew; residuals of scores are exchanged between the agents of a task.

        References: Freedman & Lane (1983) for exchanged residuals.
        """
        if found.counts:
            trials = found.trials.astype(np.int64)
            won = rng.binomial(trials, np.clip(self.expected, 0.0, 1.0))
            return Responses(won / np.maximum(trials, 1), found.trials, counts=True)
        left = np.where(found.seen, found.value - self.expected, np.nan)
        order = np.argsort(np.where(found.seen, rng.random(left.shape), np.inf), axis=0)
        places = np.argsort(np.where(found.seen, 0.0, 1.0), axis=0, kind="stable")
        moved = np.zeros_like(left)
        np.put_along_axis(moved, places, np.take_along_axis(left, order, axis=0), axis=0)
        value = np.where(found.seen, self.expected + np.nan_to_num(moved), 0.0)
        return Responses(value, found.trials, counts=False)


def ability_elsewhere(found: Responses) -> Floats:
    """Return what each agent did on the tasks other than each, [..., agents, tasks], standardised.

    The mean of what is beyond each task's own mean, so that gaps do not make an agent look able. Mean 0 and
    deviation 1 over the agents seen on the task.

    >>> made = Responses.of(ResponseMatrix.from_array([[1, 1, 1], [1, 0, 0], [0, 0, 0]]))
    >>> ability_elsewhere(made)[:, 0].round(2)
    array([ 1.41, -0.71, -0.71])
    """
    seen = found.seen
    beyond = np.where(seen, found.value - _mean(found.value, seen), 0.0)
    if not found.counts:  # of scores in different units each task counts alike
        size = np.sqrt(_mean(beyond**2, seen))
        beyond = np.divide(beyond, size, out=np.zeros_like(beyond), where=size > _LEAST)
    others = np.maximum(seen.sum(axis=-1, keepdims=True) - seen, 1)
    rest = (beyond.sum(axis=-1, keepdims=True) - beyond) / others
    rest = np.where(seen, rest - _mean(rest, seen), 0.0)
    size = np.sqrt(_mean(rest**2, seen))
    return np.divide(rest, size, out=np.zeros_like(rest), where=size > _LEAST)


def given_ability(
    found: Responses, guessing: float | None = 0.0, *, near: Expectations | None = None
) -> Expectations:
    r"""Regress every task on the agents' results on the others, all tasks at once.

    .. math:: \operatorname{logit} p_{ji} = d_i + a_i t_{ji}, \quad a_i \sim N(\bar a, 2^2)

    for successes, a straight line for scores. The common slope is estimated first, with one for all.
    `guessing` is a chance c that all tasks share: p = c + (1 − c) of that curve. With None it is 0, or the
    one that explains the results best, if it does so significantly better. The search starts from the
    curves of a table that resembles this one, where `near` gives those; the result is the same.

    >>> rng = np.random.default_rng(0)
    >>> table = rng.random((50, 20)) < np.linspace(0.1, 0.9, 50)[:, None]
    >>> made = given_ability(Responses.of(ResponseMatrix.from_array(table)))
    >>> float(made.slope) > 0.5, made.expected.shape
    (True, (50, 20))
    """
    ability = ability_elsewhere(found)
    if not found.counts:
        return _lines(found, ability)
    common = _one_slope(found, ability, guessing or 0.0, near)
    if guessing is None:
        guessing, best = 0.0, _fit_of(found, common.alike) + _SIGNIFICANT
        for chance in _GUESSED:
            other = _one_slope(found, ability, chance, common)
            if _fit_of(found, other.alike) > best:
                best, common = _fit_of(found, other.alike), other
        guessing = common.guessing
    centre, alike_start = _logit(found, guessing), common.intercepts
    assert alike_start is not None, "successes have curves"
    shared = common.slope[..., None, None]
    start, slope = alike_start, np.broadcast_to(shared, alike_start.shape)
    for _ in range(_MOST_STEPS):  # then its own for each
        sums = _Sums.of(found, start, slope, ability, guessing)
        step = _own_step(sums, (start, slope), (centre, shared))
        start, slope = start + step[0], slope + step[1]
        if max(np.abs(part).max() for part in step) < _SETTLED:
            break
    return replace(common, expected=_curves(start, slope, ability, guessing))


def _one_slope(
    found: Responses, ability: Floats, guessing: float, near: Expectations | None
) -> Expectations:
    """Curves with the slope that all tasks have in common."""
    centre = _logit(found, guessing)
    if near is None or near.intercepts is None:
        start, slope = centre, np.zeros((*found.value.shape[:-2], 1, 1))
    else:
        start, slope = near.intercepts, near.slope[..., None, None]
    for _ in range(_MOST_STEPS):
        sums = _Sums.of(found, start, np.broadcast_to(slope, start.shape), ability, guessing)
        step = _common_step(sums, start, centre)
        start, slope = start + step[0], slope + step[1]
        if max(np.abs(part).max() for part in step) < _SETTLED:
            break
    alike = _curves(start, np.broadcast_to(slope, start.shape), ability, guessing)
    return Expectations(ability, alike, alike, slope[..., 0, 0], guessing, start)


def _fit_of(found: Responses, chance: Floats) -> float:
    """The log-likelihood of successes."""
    safe = np.clip(chance, _LEAST, 1.0 - _LEAST)
    cells = found.value * np.log(safe) + (1.0 - found.value) * np.log1p(-safe)
    return float((found.trials * cells).sum())


def _mean(values: Floats, seen: NDArray[np.bool_]) -> Floats:
    total = np.where(seen, values, 0.0).sum(axis=-2, keepdims=True)
    return np.asarray(total / np.maximum(seen.sum(axis=-2, keepdims=True), 1))


def _logit(found: Responses, guessing: float) -> Floats:
    """Where intercepts are pulled to: the log-odds of each task, with half a success and failure more."""
    trials = found.trials.sum(axis=-2, keepdims=True)
    won = (found.value * found.trials).sum(axis=-2, keepdims=True)
    known = np.maximum(won - guessing * trials, 0.0) / (1.0 - guessing)
    return np.asarray(np.log((known + 0.5) / (trials - known + 0.5)))


def task_blocks(agents: int, tasks: int) -> Iterator[slice]:
    """Slices of tasks of which a table of all agents fits into a processor's cache.

    >>> list(task_blocks(1 << 17, 5))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, BLOCK_CELLS // max(agents, 1))
    yield from (slice(first, first + step) for first in range(0, tasks, step))


def _curves(start: Floats, slope: Floats, ability: Floats, guessing: float) -> Floats:
    """Chances of success, [..., agents, tasks]."""
    made = np.empty(ability.shape)
    for block in task_blocks(*ability.shape[-2:]):
        some = (..., block)
        rising = _curve(start[some], slope[some], ability[some])
        made[some] = guessing + (1.0 - guessing) * rising
    return made


def _curve(start: Floats, slope: Floats, ability: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(start + slope * ability, -30.0, 30.0))))


class _Sums(NamedTuple):
    """Sums over agents, [..., 1, tasks] each, with t ability, and p' the rise of p with the logit.

    Without guessing p' = p (1 − p), so that off is n (x − p) and w = n p (1 − p).
    """

    off: Floats  # n (x − p) p' / p (1 − p)
    off_ability: Floats  # the same times t
    weight: Floats
    weight_ability: Floats  # w t
    weight_squares: Floats  # w t²

    @classmethod
    def of(
        cls, found: Responses, start: Floats, slope: Floats, ability: Floats, guessing: float
    ) -> _Sums:
        made = cls(*np.empty((len(cls._fields), *start.shape)))
        for block in task_blocks(*ability.shape[-2:]):
            some = (..., block)
            n, t = found.trials[some], ability[some]
            rising = _curve(start[some], slope[some], t)
            p = guessing + (1.0 - guessing) * rising if guessing else rising
            off = n * (found.value[some] - p)  # 0 where nothing was observed: n is
            weight = n * (1.0 - p) * rising
            if guessing:
                share = rising / p  # p' / p (1 − p); 1 without guessing
                off, weight = off * share, weight * share
            weighed = weight * t
            for total, cells in zip(
                made, (off, off * t, weight, weighed, weighed * t), strict=True
            ):
                total[some] = cells.sum(axis=-2, keepdims=True)
        return made


def _common_step(sums: _Sums, start: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """One step of Newton's in all intercepts and the one slope, intercepts eliminated."""
    a = sums.off - (start - centre) / _INTERCEPT_SD**2
    aa = sums.weight + 1 / _INTERCEPT_SD**2
    ab = sums.weight_ability
    b = sums.off_ability.sum(axis=-1, keepdims=True)
    left = (sums.weight_squares - ab**2 / aa).sum(axis=-1, keepdims=True)
    step = (b - (ab * a / aa).sum(axis=-1, keepdims=True)) / np.maximum(left, _LEAST)
    step = np.clip(step, -1.0, 1.0)
    return np.clip((a - ab * step) / aa, -2.0, 2.0), step


def _own_step(
    sums: _Sums, at: tuple[Floats, Floats], pulled_to: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """One step of Newton's in the intercept and the slope of each task."""
    (start, slope), (centre, common) = at, pulled_to
    a = sums.off - (start - centre) / _INTERCEPT_SD**2
    b = sums.off_ability - (slope - common) / _SLOPE_SD**2
    aa = sums.weight + 1 / _INTERCEPT_SD**2
    ab = sums.weight_ability
    bb = sums.weight_squares + 1 / _SLOPE_SD**2
    whole = aa * bb - ab**2
    return (
        np.clip((bb * a - ab * b) / whole, -2.0, 2.0),
        np.clip((aa * b - ab * a) / whole, -1.0, 1.0),
    )


def _lines(found: Responses, ability: Floats) -> Expectations:
    """Straight lines; the common slope is the mean over tasks in deviations of each."""
    seen = found.seen
    mean = _mean(found.value, seen)
    beyond = np.where(seen, found.value - mean, 0.0)
    size = np.sqrt(_mean(beyond**2, seen))
    together = _mean(beyond * ability, seen)
    known = size > _LEAST
    r = np.divide(together, size, out=np.zeros_like(size), where=known)
    common = np.sum(r, axis=-1, keepdims=True) / np.maximum(known.sum(axis=-1, keepdims=True), 1)
    expected = np.where(seen, mean + together * ability, 0.0)
    alike = np.where(seen, mean + common * size * ability, 0.0)
    return Expectations(ability, expected, alike, common[..., 0, 0])
