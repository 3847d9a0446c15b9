"""Each task regressed on the agents' results on the other tasks, and tables drawn from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.residuals import permuted_within_tasks
from examiner.irt.items import Floats
from examiner.results import ResponseMatrix

BLOCK_CELLS = 1 << 18
"""Cells processed at once: two megabytes of numbers fit into a processor's cache."""
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Shares of successes, or scores, [agents, tasks], and the number of trials of each cell.

    `value` and `trials` are 0 where nothing was observed. Scores have one trial.
    """

    value: Floats
    trials: Floats
    counts: bool

    @property
    def observed(self) -> NDArray[np.bool_]:
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
class RestRegressions:
    """Expected results [agents, tasks] given the agents' results on the other tasks.

    `rest_score` are the rest scores; `expected` has a slope for each task, `alike` the one slope that all
    tasks have in common.
    """

    rest_score: Floats
    expected: Floats
    alike: Floats
    slope: float
    guessing: float = 0.0
    """The chance of guessing that all tasks share, 0 where it is not significant."""
    intercepts: Floats | None = None
    """The intercept of each task under the common slope, [tasks]; None for scores."""

    def drawn(self, responses: Responses, rng: np.random.Generator) -> Responses:
        """Draw a table in which tasks share nothing but ability, with the same cells and trials.

        Successes are drawn from the regressions; residuals of scores are permuted within tasks.

        References: Freedman & Lane (1983) for permuted residuals.
        """
        if responses.counts:
            trials = responses.trials.astype(np.int64)
            won = rng.binomial(trials, np.clip(self.expected, 0.0, 1.0))
            return Responses(won / np.maximum(trials, 1), responses.trials, counts=True)
        observed = responses.observed
        residual = np.where(observed, responses.value - self.expected, 0.0)
        permuted = permuted_within_tasks(residual, observed, 1, rng)[0]
        value = np.where(observed, self.expected + permuted, 0.0)
        return Responses(value, responses.trials, counts=False)


def rest_scores(responses: Responses) -> Floats:
    """Return each agent's mean on the tasks other than each, [agents, tasks], standardised over agents.

    Results are centred within each task, so that missing cells do not bias the mean. Mean 0 and
    deviation 1 over the agents observed on the task.

    >>> responses = Responses.of(ResponseMatrix.from_array([[1, 1, 1], [1, 0, 0], [0, 0, 0]]))
    >>> rest_scores(responses)[:, 0].round(2)
    array([ 1.41, -0.71, -0.71])
    """
    observed = responses.observed
    rest_score = _centred(responses.value, observed)
    if not responses.counts:  # scores of tasks in different units weigh alike
        rest_score = _standardised(rest_score, observed)
    rest_score = rest_score.sum(axis=1, keepdims=True) - rest_score
    rest_score /= np.maximum(observed.sum(axis=1, keepdims=True) - observed, 1)
    return _standardised(_centred(rest_score, observed), observed)


def _task_means(values: Floats, observed: NDArray[np.bool_]) -> Floats:
    total = np.where(observed, values, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(observed.sum(axis=0), 1))


def _centred(values: Floats, observed: NDArray[np.bool_]) -> Floats:
    return np.where(observed, values - _task_means(values, observed), 0.0)


def _standardised(centred: Floats, observed: NDArray[np.bool_]) -> Floats:
    deviation = np.sqrt(_task_means(centred**2, observed))
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > _TINY)


def rest_regressions(
    responses: Responses, guessing: float | None = 0.0, *, near: RestRegressions | None = None
) -> RestRegressions:
    r"""Regress every task on its rest scores t, all tasks at once.

    .. math:: \operatorname{logit} p_{ji} = d_i + a_i t_{ji}, \quad a_i \sim N(\bar a, 2^2), \quad
              d_i \sim N(\operatorname{logit} \bar x_i, 3^2)

    for successes, a straight line for scores. The common slope is estimated first. `guessing` is a
    chance c that all tasks share: p = c + (1 − c) of that curve. With None it is estimated, and 0 if it is
    not significant. `near` are the regressions of a similar table, from which the search starts.

    >>> rng = np.random.default_rng(0)
    >>> table = rng.random((50, 20)) < np.linspace(0.1, 0.9, 50)[:, None]
    >>> regressions = rest_regressions(Responses.of(ResponseMatrix.from_array(table)))
    >>> regressions.slope > 0.5, regressions.expected.shape
    (True, (50, 20))
    """
    rest_score = rest_scores(responses)
    if not responses.counts:
        return _straight_lines(responses, rest_score)
    common = _common_slope(responses, rest_score, guessing or 0.0, near)
    if guessing is None:
        # a gain in log-likelihood of 3 is exceeded by 1.4 % of tables without guessing
        best = _log_likelihood(responses, common.alike) + 3.0
        without = common
        for chance in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5):
            other = _common_slope(responses, rest_score, chance, without)
            if (height := _log_likelihood(responses, other.alike)) > best:
                best, common = height, other
    intercept, slope = _newton(
        responses,
        rest_score,
        common.guessing,
        _intercepts(common),
        np.array([common.slope]),
        pulled_to=common.slope,
    )
    return replace(common, expected=_curves(intercept, slope, rest_score, common.guessing))


def _intercepts(regressions: RestRegressions) -> Floats:
    assert regressions.intercepts is not None, "successes have curves"
    return regressions.intercepts


def _common_slope(
    responses: Responses, rest_score: Floats, guessing: float, near: RestRegressions | None
) -> RestRegressions:
    """Curves with the slope that all tasks have in common."""
    intercept, slope = _log_odds(responses, guessing), np.zeros(1)
    if near is not None and near.intercepts is not None:
        intercept, slope = near.intercepts, np.array([near.slope])
    intercept, slope = _newton(responses, rest_score, guessing, intercept, slope)
    alike = _curves(intercept, slope, rest_score, guessing)
    return RestRegressions(rest_score, alike, alike, slope.item(), guessing, intercept)


def _log_likelihood(responses: Responses, chance: Floats) -> float:
    safe = np.clip(chance, _TINY, 1.0 - _TINY)
    cells = responses.value * np.log(safe) + (1.0 - responses.value) * np.log1p(-safe)
    return float((responses.trials * cells).sum())


def _log_odds(responses: Responses, guessing: float) -> Floats:
    """Log-odds of each task, with half a success and half a failure added."""
    trials = responses.trials.sum(axis=0)
    won = (responses.value * responses.trials).sum(axis=0)
    not_guessed = np.maximum(won - guessing * trials, 0.0) / (1.0 - guessing)
    return np.asarray(np.log((not_guessed + 0.5) / (trials - not_guessed + 0.5)))


def task_blocks(agents: int, tasks: int) -> Iterator[slice]:
    """Slices of tasks of which a table of all agents fits into a processor's cache.

    >>> list(task_blocks(1 << 17, 5))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, BLOCK_CELLS // max(agents, 1))
    yield from (slice(first, first + step) for first in range(0, tasks, step))


def _curves(intercept: Floats, slope: Floats, rest_score: Floats, guessing: float) -> Floats:
    """Chances of success, [agents, tasks]."""
    from scipy.special import expit

    curve = slope * rest_score
    curve += intercept
    expit(curve, out=curve)
    if guessing:
        curve *= 1.0 - guessing
        curve += guessing
    return np.asarray(curve)


def _newton(
    responses: Responses,
    rest_score: Floats,
    guessing: float,
    intercept: Floats,
    slope: Floats,
    *,
    pulled_to: float | None = None,
) -> tuple[Floats, Floats]:
    """Maximise the penalised likelihood: one slope for all tasks, or one each, with a prior around one.

    Each step solves for slopes with the intercepts eliminated. Slopes with a prior are finite where
    success and failure are separated.
    """
    centre = _log_odds(responses, guessing)
    precision = 0.0 if pulled_to is None else 2.0**-2
    for _ in range(12):  # most tables need four or five steps
        sums = _sums(responses, rest_score, guessing, intercept, slope)
        residual, residual_rest, weight, weight_rest, weight_squares = sums
        by_intercept = residual - (intercept - centre) / 3.0**2
        of_intercept = weight + 3.0**-2
        ratio = weight_rest / of_intercept
        score = residual_rest - ratio * by_intercept - precision * (slope - (pulled_to or 0.0))
        information = weight_squares - ratio * weight_rest + precision
        if pulled_to is None:
            score, information = score.sum(keepdims=True), information.sum(keepdims=True)
        step = np.clip(score / np.maximum(information, _TINY), -1.0, 1.0)
        move = np.clip((by_intercept - weight_rest * step) / of_intercept, -2.0, 2.0)
        slope, intercept = slope + step, intercept + move
        if max(np.abs(step).max(), np.abs(move).max()) < 1e-3:  # the next is of the order of 1e-6
            break
    return intercept, slope


def _sums(
    responses: Responses, rest_score: Floats, guessing: float, intercept: Floats, slope: Floats
) -> Floats:
    """Sums over agents of r, rt, w, wt and wt², [5, tasks], with rest score t.

    r = n (x − p) p' / p (1 − p) and w = n p'² / p (1 − p), with p' the rise of p with the logit: without
    guessing n (x − p) and n p (1 − p).
    """
    sums = np.empty((5, rest_score.shape[1]))
    slope = np.broadcast_to(slope, intercept.shape)
    for block in task_blocks(*rest_score.shape):
        n, t = responses.trials[:, block], rest_score[:, block]
        rising = _curves(intercept[block], slope[block], t, 0.0)
        p = guessing + (1.0 - guessing) * rising if guessing else rising
        residual = n * (responses.value[:, block] - p)
        weight = n * (1.0 - p) * rising
        if guessing:
            share = rising / p  # p' / p (1 − p), which is 1 without guessing
            residual, weight = residual * share, weight * share
        weighted = weight * t
        parts = (residual, residual * t, weight, weighted, weighted * t)
        for row, part in enumerate(parts):
            sums[row, block] = part.sum(axis=0)
    return sums


def _straight_lines(responses: Responses, rest_score: Floats) -> RestRegressions:
    """Straight lines; the common slope is the mean correlation over tasks."""
    observed = responses.observed
    mean = _task_means(responses.value, observed)
    centred = _centred(responses.value, observed)
    deviation = np.sqrt(_task_means(centred**2, observed))
    covariance = _task_means(centred * rest_score, observed)
    varies = deviation > _TINY
    correlation = np.divide(covariance, deviation, out=np.zeros_like(deviation), where=varies)
    common = float(correlation.sum() / max(varies.sum(), 1))
    expected = np.where(observed, mean + covariance * rest_score, 0.0)
    alike = np.where(observed, mean + common * deviation * rest_score, 0.0)
    return RestRegressions(rest_score, expected, alike, common)
