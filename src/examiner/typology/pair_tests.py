"""Hypothesis tests between two tasks, as in papers/000, for many pairs at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores import normal_signed_rank_p
from examiner.validation import Floats

FEWEST_AGENTS = 3
"""The Shapiro–Wilk test needs three values."""


class PairTests(NamedTuple):
    """One entry per pair of tasks; `first` and `second` are columns of the scores.

    `student` is whether Student's test was used (else Wilcoxon's), `agents` how many were observed on
    both tasks, `difference` the absolute difference of the two means, in units of the score, and
    `effect` the same in pooled standard deviations (Cohen's d). NaN where too few agents.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    p_value: Floats
    student: NDArray[np.bool_]
    agents: NDArray[np.int64]
    difference: Floats
    effect: Floats


def compare_pairs(scores: Floats, first: NDArray[np.intp], second: NDArray[np.intp]) -> PairTests:
    r"""Test pairs of tasks for a difference in score, each over the agents observed on both.

    Where both games are treated as normal (Shapiro–Wilk, p > 0.05): Student's t for independent samples
    of equal variance. Otherwise, and where neither varies: Wilcoxon's signed ranks, zero
    differences dropped, by the normal approximation, corrected for ties but not for continuity,

    .. math:: z = \frac{W - n(n+1)/4}{\sqrt{n(n+1)(2n+1)/24 - \sum_t (t^3 - t)/48}}

    References: papers/000, section V-B, experiment 2. `scores` has shape [agents, tasks].

    >>> scores = np.array([[0.1, 0.2], [0.2, 0.5], [0.3, 0.3], [0.4, 0.9]])
    >>> tests = compare_pairs(scores, np.array([0]), np.array([1]))
    >>> tests.p_value.round(4), tests.student
    (array([0.2283]), array([ True]))
    """
    normality, most = _Normality(scores), 50_000  # pairs at once: bounds memory
    parts = [
        _block(scores, first[start : start + most], second[start : start + most], normality)
        for start in range(0, max(len(first), 1), most)
    ]
    return PairTests(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def summary_of(tests: PairTests, chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Return the columns of `GroupTests` over some pairs; those that could not be tested are excluded.

    `difference` is the median absolute difference of two tasks' mean scores, `effect` the median of
    the same in pooled standard deviations (Cohen's d), `student` how many pairs had Student's test.
    The variance is that of the pairs themselves, as in the paper. NaN where there is no pair.

    >>> tests = compare_pairs(np.array([[0.1, 0.2], [0.2, 0.5], [0.3, 0.3]]), np.array([0]), np.array([1]))
    >>> summary_of(tests, np.array([True]))["pairs"]
    1
    """
    chosen = chosen & np.isfinite(tests.p_value)
    p = tests.p_value[chosen]
    effect = tests.effect[chosen]
    effect = effect[np.isfinite(effect)]
    return {
        "pairs": len(p),
        "mean_p": float(p.mean()) if len(p) else math.nan,
        "variance_p": float(p.var()) if len(p) else math.nan,
        "student": int(tests.student[chosen].sum()),
        "difference": float(np.median(tests.difference[chosen])) if len(p) else math.nan,
        "effect": float(np.median(effect)) if len(effect) else math.nan,
    }


def smallest_wilcoxon_p(agents: int) -> float:
    """Return the smallest p-value that Wilcoxon's test can give by the normal approximation.

    >>> round(smallest_wilcoxon_p(6), 4)
    0.0277
    """
    from scipy.special import ndtr

    n = agents
    return float(2 * ndtr(-(n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)))


def _block(
    scores: Floats,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    normality: _Normality,
) -> PairTests:
    left, right = scores[:, first].T, scores[:, second].T
    both = np.isfinite(left) & np.isfinite(right)
    agents = both.sum(axis=1)
    n = np.maximum(agents, 1)
    left, right = np.where(both, left, 0.0), np.where(both, right, 0.0)
    means = left.sum(axis=1) / n, right.sum(axis=1) / n
    squares = (np.where(both, left - means[0][:, None], 0.0) ** 2).sum(axis=1)
    squares += (np.where(both, right - means[1][:, None], 0.0) ** 2).sum(axis=1)
    pooled = np.sqrt(squares / np.maximum(2 * n - 2, 1))
    difference = np.abs(means[0] - means[1])
    # The spread of constant scores is rounding.
    level = np.maximum(np.abs(left).max(axis=1, initial=0), np.abs(right).max(axis=1, initial=0))
    varies = pooled > 1e-12 * level
    student = normality.of_pairs(first, second, both) & varies
    effect = np.full(len(first), np.nan)
    np.divide(difference, pooled, out=effect, where=varies)
    p_value = np.where(
        student,
        _student_p(difference, pooled, n),
        normal_signed_rank_p(np.where(both, left - right, 0.0)),
    )
    enough = agents >= FEWEST_AGENTS
    return PairTests(
        first,
        second,
        np.where(enough, p_value, np.nan),
        student & enough,
        agents,
        np.where(enough, difference, np.nan),
        np.where(enough, effect, np.nan),
    )


def _student_p(difference: Floats, pooled: Floats, n: NDArray[np.int64]) -> Floats:
    """Two-sided p-value of Student's t, two samples of the same size n."""
    from scipy.special import stdtr

    t = np.full(len(n), np.inf)
    np.divide(difference, pooled * np.sqrt(2 / n), out=t, where=pooled > 0)
    return 2 * stdtr(np.maximum(2 * n - 2, 1), -t)


class _Normality:
    """Whether tasks' scores are treated as normal over some agents; every result is cached."""

    def __init__(self, scores: Floats) -> None:
        self._scores = scores
        self._cache: dict[tuple[int, bytes], bool] = {}

    def of_pairs(
        self, first: NDArray[np.intp], second: NDArray[np.intp], both: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Whether both tasks of each pair pass, over the agents observed on both."""
        return np.array(
            [
                self._passes(int(a), agents) and self._passes(int(b), agents)
                for a, b, agents in zip(first, second, both, strict=True)
            ],
            dtype=bool,
        )

    def _passes(self, task: int, agents: NDArray[np.bool_]) -> bool:
        key = task, agents.tobytes()
        if key not in self._cache:
            self._cache[key] = _is_normal(self._scores[agents, task])
        return self._cache[key]


def _is_normal(values: Floats) -> bool:
    from scipy.stats import shapiro

    if len(values) < FEWEST_AGENTS or np.ptp(values) == 0:
        return True  # as the test itself returns for constant values
    # A game's scores are treated as normal where the p-value of Shapiro and Wilk's test is above
    # this
    return bool(shapiro(values).pvalue > 0.05)
