"""The difference of two agents with standard errors, and the smallest one these data could show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.scores.estimate import wilson
from examiner.scores.runs import (
    Strata,
    Unit,
    effective_number,
    run_scores,
    same_sign,
    shared_rows,
    usual_unit,
)
from examiner.scores.total import GroupedError, Nest, Total, grouped_error, scaled
from examiner.validation import Floats, check_known


class Discordance(NamedTuple):
    """Items of zeros and ones that both, only a, only b, or neither solved."""

    both: int
    only_a: int
    only_b: int
    neither: int


def discordance(x: Floats, y: Floats) -> Discordance:
    """Count what both, only one, or none of two agents solved.

    >>> discordance(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    Discordance(both=1, only_a=1, only_b=0, neither=1)
    """
    a, b = x == 1, y == 1
    counts = (a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()
    return Discordance(*map(int, counts))


def mcnemar_p(only_a: int, only_b: int) -> float:
    """P-value of McNemar's exact test of one pair of agents, as `mcnemar_p_values` gives it.

    >>> round(mcnemar_p(12, 2), 4), mcnemar_p(0, 0)
    (0.0129, 1.0)
    """
    return float(mcnemar_p_values(np.array(only_a), np.array(only_b)))


def mcnemar_p_values(only_a: NDArray[np.int64], only_b: NDArray[np.int64]) -> Floats:
    r"""McNemar's exact test: whether items that one agent alone solves fall to both alike.

    .. math:: p = \min\Big(1,\ 2 \sum_{i=0}^{\min(b, c)} \binom{b + c}{i} 2^{-(b+c)}\Big)

    References: McNemar (1947); the exact form is a sign test.

    >>> mcnemar_p_values(np.array([12, 0]), np.array([2, 0])).round(4)
    array([0.0129, 1.    ])
    """
    from scipy.special import bdtr  # slow to import

    return np.minimum(1.0, 2 * bdtr(np.minimum(only_a, only_b), only_a + only_b, 0.5))


def newcombe(items: Discordance, level: float = 0.95) -> tuple[float, float]:
    r"""Interval of the difference of two shares of the same items, from Wilson's for each.

    .. math:: \hat d - \sqrt{d_1^2 - 2 \hat\phi d_1 e_2 + e_2^2}, \quad
              \hat d + \sqrt{e_1^2 - 2 \hat\phi e_1 d_2 + d_2^2}

    with :math:`d = p - l` and :math:`e = u - p` of Wilson's intervals (l, u), and φ the correlation of the
    two, corrected for continuity.

    References: Newcombe (1998), "Improved confidence intervals for the difference between binomial
    proportions based on paired data", method 10.

    >>> [round(end, 4) for end in newcombe(Discordance(36, 12, 2, 0))]
    [0.0569, 0.3404]
    """
    both, only_a, only_b, neither = items
    n = sum(items)
    solved_a, solved_b = both + only_a, both + only_b
    d1, e1, d2, e2 = (
        abs(solved / n - end) for solved in (solved_a, solved_b) for end in wilson(solved, n, level)
    )
    margins = solved_a * (n - solved_a) * solved_b * (n - solved_b)
    cross = float(both * neither - only_a * only_b)
    if cross > 0:
        cross = max(cross - n / 2, 0)
    phi = cross / np.sqrt(margins) if margins else 0.0
    value = (only_a - only_b) / n
    low = value - np.sqrt(d1**2 - 2 * phi * d1 * e2 + e2**2)
    high = value + np.sqrt(e1**2 - 2 * phi * e1 * d2 + d2**2)
    return float(low), float(high)


POWER = 0.8
"""The usual probability with which a detectable effect would be detected."""
MCNEMAR, T_OVER_TASKS, T_OVER_GROUPS = "McNemar's exact test", "t over tasks", "t over groups"
T_OF_RUNS = "t over runs"
"""The tests of a pair: of single trials of 0 or 1, of means of tasks or groups of them, and of runs."""


class Difference(NamedTuple):
    """Agent a minus agent b over their common tasks, each task once or as a total says.

    Errors are standard errors of `value`: `paired` over tasks; `grouped` over the groups in which tasks are
    drawn; `unpaired` as if the agents had met different tasks; `runs` with the tasks held fixed, NaN where
    a cell has a single run. `effective` is how many independent tasks would have the error `grouped`.
    `unit` is what would be another sample, runs or tasks: `error` is that of the unit, that of rounding
    where nothing spreads (`rounding_error`), with `degrees` of freedom. `low`, `high` and `p` are of the
    `test`: Student's t, or where each agent has one trial of 0 or 1 on independent tasks of equal weight
    McNemar's test with Newcombe's interval, and `items` counts the tasks. The exact test is conservative:
    where it is significant the interval excludes 0, but the interval may do so alone. `detectable` is of
    other tasks, `detectable_fixed` of other runs.
    """

    a: str
    b: str
    tasks: int
    groups: int
    effective: float
    value: float
    paired: float
    grouped: float
    unpaired: float
    runs: float
    unit: Unit
    error: float
    degrees: float
    low: float
    high: float
    p: float
    test: str
    items: Discordance | None
    detectable: float
    detectable_fixed: float


def difference(
    results: Results,
    a: str,
    b: str,
    level: float = 0.95,
    measure: str | None = None,
    total: Total | None = None,
    unit: Unit | None = None,
    group: str | None = None,
) -> Difference:
    r"""Compare the means of two agents task by task.

    .. math:: \bar d = \frac{1}{T} \sum_t d_t, \quad
              \mathrm{detectable} = (t_{0.975} + t_{0.8})\, \mathrm{SE}

    The standard error over tasks, or over the groups in which they are drawn, is that of `grouped_error`;
    for independent tasks it is sd(d)/√T. `group` names the groups (`task_groups`). Without a `unit`,
    runs are the unit where every cell of the table has
    several (`usual_unit`): the tasks are then fixed, and the error is Welch's (`run_error`).

    References: Miller (2024), "Adding error bars to evals"; Bloom (1995) for detectable effects.

    >>> results = Results.from_numpy([[2.0, 3.0, 5.0], [1.0, 2.0, 3.0]], agents=["new", "old"])
    >>> found = difference(results, "new", "old")
    >>> round(found.value, 3), round(found.paired, 3), found.degrees
    (1.333, 0.333, 2.0)
    """
    same_sign(results, measure)
    scores = run_scores(results, measure, total, group)
    return difference_of(scores.of(a), scores.of(b), level, unit or usual_unit(scores))


def difference_of(
    first: Strata,
    second: Strata,
    level: float = 0.95,
    unit: Unit = "tasks",
) -> Difference:
    """Compare two agents whose runs are arranged already: the one comparison of a pair.

    >>> one, two = (Strata(name, np.array([0, 1]), np.array([1, 1]), np.array(scores))
    ...             for name, scores in (("a", [[1.0], [4.0]]), ("b", [[0.0], [2.0]])))
    >>> difference_of(one, two).value
    1.5
    """
    pair = _Pair.of(first, second)
    gaps, nest = pair.x - pair.y, pair.nest
    tasks = grouped_error(gaps, nest)
    over_tasks, over_runs = pair.error("tasks", tasks), pair.error("runs")
    error, degrees = over_tasks if unit == "tasks" else over_runs
    alone = tasks if nest.sampled is None else grouped_error(gaps, replace(nest, sampled=None))
    low, high, p = t_test(pair.value, error, degrees, level)
    over = T_OVER_TASKS if nest.sampled is None else T_OVER_GROUPS
    test, items = T_OF_RUNS if unit == "runs" else over, None
    if pair.exact:
        test, items = MCNEMAR, discordance(pair.x, pair.y)
        p, (low, high) = mcnemar_p(items.only_a, items.only_b), newcombe(items, level)
    return Difference(
        *(first.agent, second.agent, len(gaps), tasks.groups),
        effective=effective_number(gaps, nest, tasks),
        value=pair.value,
        paired=alone.size,
        grouped=tasks.size,
        unpaired=math.hypot(grouped_error(pair.x, nest).size, grouped_error(pair.y, nest).size),
        runs=run_error(pair.runs, nest.shares)[0],
        unit=unit,
        error=error,
        degrees=degrees,
        low=low,
        high=high,
        p=p,
        test=test,
        items=items,
        detectable=detectable_effect(*over_tasks, level),
        detectable_fixed=detectable_effect(*over_runs, level),
    )


def pair_p(first: Strata, second: Strata, unit: Unit = "tasks") -> float:
    """Return the p-value of the same comparison alone, for tables of many pairs.

    >>> one, two = (Strata(name, np.array([0, 1]), np.array([1, 1]), np.array(scores))
    ...             for name, scores in (("a", [[1.0], [4.0]]), ("b", [[0.0], [2.0]])))
    >>> pair_p(one, two) == difference_of(one, two).p
    True
    """
    pair = _Pair.of(first, second)
    if pair.exact:
        items = discordance(pair.x, pair.y)
        return mcnemar_p(items.only_a, items.only_b)
    return t_test(pair.value, *pair.error(unit))[2]


def mean_difference(first: Strata, second: Strata) -> float:
    """Return the mean of one agent less that of another on their common tasks.

    >>> one, two = (Strata(name, np.array([0, 1]), np.array([1, 1]), np.array(scores))
    ...             for name, scores in (("a", [[1.0], [4.0]]), ("b", [[0.0], [2.0]])))
    >>> mean_difference(one, two)
    1.5
    """
    return _Pair.of(first, second).value


class _Pair(NamedTuple):
    """The means of two agents on their common tasks, [tasks], how tasks make a total, and their runs."""

    x: Floats
    y: Floats
    nest: Nest
    runs: tuple[tuple[Strata, NDArray[np.intp]], tuple[Strata, NDArray[np.intp]]]

    @classmethod
    def of(cls, first: Strata, second: Strata) -> _Pair:
        rows_a, rows_b = shared_rows(first, second)
        if not len(rows_a):
            raise InputError(
                f"The agents {shorten(first.agent)} and {shorten(second.agent)} share no task. Choose "
                f"agents that were observed on the same tasks."
            )
        nest = Nest.flat(len(rows_a)) if first.nest is None else first.nest.rows(rows_a)
        runs = (first, rows_a), (second, rows_b)
        return cls(first.means[rows_a], second.means[rows_b], nest, runs)

    @property
    def value(self) -> float:
        """The mean difference."""
        return float(self.nest.average((self.x - self.y)[:, None])[0])

    @property
    def exact(self) -> bool:
        """Whether each agent has one trial of 0 or 1 on independent tasks of equal weight."""
        single = all(strata.binary for strata, _ in self.runs)
        return single and self.nest.sampled is None and bool(np.ptp(self.nest.shares) <= 1e-12)

    def error(self, unit: Unit, tasks: GroupedError | None = None) -> tuple[float, float]:
        """The standard error over other tasks (`tasks`, where it is known) or runs, with its degrees."""
        check_known("unit", unit, ("runs", "tasks"))
        squares = self.nest.shares**2
        if unit == "tasks":
            measured, weight = [self.x, self.y], 2 * squares.sum()
            error, degrees, _ = tasks or grouped_error(self.x - self.y, self.nest)
        else:
            measured = [strata.scores[rows].ravel() for strata, rows in self.runs]
            weight = sum((squares / strata.runs[rows]).sum() for strata, rows in self.runs)
            error, degrees = run_error(self.runs, self.nest.shares)
        return _error_or_rounding(error, np.concatenate(measured), float(weight)), degrees


def _error_or_rounding(error: float, measured: Floats, weight: float) -> float:
    """Return an error, or that of rounding where nothing spreads; `weight` as in `rounding_error`."""
    if error <= 1e-12 * np.abs(measured).max(initial=0.0):
        return rounding_error(measured, float(weight))
    return error


def rounding_error(values: Floats, weight: float) -> float:
    r"""Standard error of a sum of values in steps by rounding; its squared weights sum to `weight`.

    .. math:: \mathrm{SE}^2 = \sum_t s_t^2 \, u^2 / 12

    with u the least step between two unequal values. Differences that are all the same have no spread,
    which does not make them certain: a value in steps of u is known to u/√12.

    References: Sheppard (1898).

    >>> round(rounding_error(np.array([0.8, 0.8, 0.2, 0.2]), 1.0), 4)
    0.1732
    """
    steps = np.diff(np.unique(values))
    size = float(np.abs(values).max(initial=0.0))
    steps = steps[steps > 1e-12 * size]  # what rounding in the last digits leaves is no step
    return float(np.sqrt(weight / 12) * steps.min()) if len(steps) else 0.0


def detectable_effect(error: float, degrees: float, level: float = 0.95) -> float:
    r"""The smallest true difference that a test would find four times in five; NaN where none is known.

    .. math:: (t_{0.975} + t_{0.8})\, \mathrm{SE}

    >>> round(detectable_effect(1.0, 25), 3)
    2.916
    """
    if degrees < 1 or np.isnan(error):
        return float("nan")
    from scipy.special import stdtrit  # slow to import

    tails = stdtrit(degrees, np.array([0.5 + level / 2, POWER]))
    return float(tails.sum() * error)


def t_test(
    value: float, error: float, degrees: float, level: float = 0.95
) -> tuple[float, float, float]:
    """Student's t: both ends of the interval of a value, and the p-value of 0; NaN where none is known.

    >>> [round(part, 4) for part in t_test(1.0, 0.5, 4)]
    [-0.3882, 2.3882, 0.1161]
    """
    if degrees < 1 or np.isnan(error):
        return (float("nan"),) * 3
    from scipy.special import stdtr, stdtrit  # slow to import

    half = float(stdtrit(degrees, 0.5 + level / 2)) * error
    p = 1.0 if value == 0 else float(2 * stdtr(degrees, -abs(value) / error)) if error else 0.0
    return value - half, value + half, p


def run_error(
    agents: Sequence[tuple[Strata, NDArray[np.intp]]], shares: Floats
) -> tuple[float, float]:
    r"""Standard error with the tasks held fixed, and its degrees of freedom; NaN with single runs.

    .. math:: \mathrm{SE}^2 = \sum_c v_c, \quad v_c = s_c^2 \hat\sigma_c^2 / n_c, \quad
              \nu = \frac{(\sum_c v_c)^2}{\sum_c v_c^2 / (n_c - 1)}

    over the cells c of both agents, each with a variance of its own.

    References: Welch (1947); Satterthwaite (1946).

    >>> one = Strata("a", np.array([0]), np.array([2]), np.array([[1.0, 3.0]]))
    >>> run_error([(one, np.array([0]))], np.ones(1))
    (1.0, 1.0)
    """
    runs = np.concatenate([strata.runs[rows] for strata, rows in agents])
    if (runs < 2).any():
        return float("nan"), 0.0
    deviations = [strata.deviations[rows] for strata, rows in agents]
    _, exponent = scaled(np.array([np.abs(each).max(initial=0.0) for each in deviations]))
    squares = [(np.ldexp(each, -exponent) ** 2).sum(axis=1) for each in deviations]
    free = runs - 1
    parts = np.tile(shares**2, len(agents)) * np.concatenate(squares) / free / runs
    square, fourth = float(parts.sum()), float((parts**2 / free).sum())
    size = float(np.ldexp(np.sqrt(square), exponent))
    return size, square**2 / fourth if fourth > 0 else float(free.sum())
