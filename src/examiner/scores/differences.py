"""The difference of two agents with standard errors, and the smallest one these data could show."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores.cells import ratio
from examiner.scores.estimate import wilson
from examiner.scores.nest import effective_number, grouped_error, scaled
from examiner.scores.runs import Pair, RunScores, Strata, Unit, share_tasks
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


def mcnemar_p(only_a: NDArray[np.int64], only_b: NDArray[np.int64]) -> Floats:
    r"""McNemar's exact test: whether items that one agent alone solves fall to both alike.

    .. math:: p = \min\Big(1,\ 2 \sum_{i=0}^{\min(b, c)} \binom{b + c}{i} 2^{-(b+c)}\Big)

    References: McNemar (1947); the exact form is a sign test.

    >>> mcnemar_p(np.array([12, 0]), np.array([2, 0])).round(4)
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
    """Agent a less agent b over their common tasks, each task once or as a total says.

    Errors are standard errors of `difference`: `error_paired` over tasks; `error_grouped` over groups in
    which tasks are drawn; `error_of_runs` with the tasks held fixed, NaN where a cell has a single run.
    `effective_tasks` is how many independent tasks would have the error `error_grouped`. `unit` is what
    would be another sample, runs or tasks: `difference_error` is that of the unit, that of rounding
    where nothing spreads (`rounding_error`), with `degrees` of freedom. The ends and `p` are of the
    `test`: Student's t, or where each agent has one trial of 0 or 1 on independent tasks of equal weight
    McNemar's test with Newcombe's interval, and `items` counts the tasks. The exact test is conservative:
    where it is significant the interval excludes 0, but the interval may do so alone. `detectable` is of
    other tasks, `detectable_fixed` of other runs.
    """

    a: str
    b: str
    difference: float
    difference_low: float
    difference_high: float
    difference_error: float
    degrees: float
    p: float
    test: str
    unit: Unit
    tasks: int
    error_paired: float
    error_grouped: float
    effective_tasks: float
    error_of_runs: float
    detectable: float
    detectable_fixed: float
    items: Discordance | None


def difference_of(
    first: Strata,
    second: Strata,
    level: float = 0.95,
    unit: Unit = "tasks",
) -> Difference:
    r"""Compare the means of two agents whose runs are arranged already: the one comparison of a pair.

    .. math:: \bar d = \frac{1}{T} \sum_t d_t, \quad
              \mathrm{detectable} = (t_{0.975} + t_{0.8})\, \mathrm{SE}

    The standard error over tasks, or over the groups in which they are drawn, is that of `grouped_error`;
    for independent tasks it is sd(d)/√T. With the unit runs the tasks are fixed, and the error is Welch's
    (`run_error`).

    References: Miller (2024), "Adding error bars to evals"; Bloom (1995) for detectable effects.

    >>> from examiner.scores.runs import arranged
    >>> one, two = (arranged(name, np.array([0, 1]), np.array(scores))
    ...             for name, scores in (("a", [1.0, 4.0]), ("b", [0.0, 2.0])))
    >>> difference_of(one, two).difference
    1.5
    """
    pair = Pair.of(first, second)
    (x, y), nest = pair.means, pair.nest
    alone = nest if nest.sampled is None else replace(nest, sampled=None)
    grouped = grouped_error(x - y, nest).size
    over_tasks, over_runs = _error(pair, "tasks"), _error(pair, "runs")
    value = _mean_difference(pair)
    error, degrees = over_tasks if unit == "tasks" else over_runs
    low, high, p = t_test(value, error, degrees, level)
    over = T_OVER_TASKS if nest.sampled is None else T_OVER_GROUPS
    test, items = T_OF_RUNS if unit == "runs" else over, None
    if first.binary and second.binary and nest.sampled is None and np.ptp(nest.shares) <= 1e-12:
        test, items = MCNEMAR, discordance(x, y)
        p = float(mcnemar_p(np.array(items.only_a), np.array(items.only_b)))
        low, high = newcombe(items, level)
    return Difference(
        *(first.agent, second.agent, value, low, high, error, degrees, p, test, unit, len(x)),
        error_paired=grouped_error(x - y, alone).size,
        error_grouped=grouped,
        effective_tasks=effective_number(x - y, nest, grouped),
        error_of_runs=run_error(pair)[0],
        detectable=detectable_effect(*over_tasks, level),
        detectable_fixed=detectable_effect(*over_runs, level),
        items=items,
    )


def pairwise_tests(scores: RunScores, unit: Unit = "tasks") -> tuple[Floats, Floats]:
    """Compare all pairs: mean of the row less that of the column, and its p-value; [agents, agents] each.

    They are those of `difference_of` to rounding, without the exact test; NaN where two share no task.
    Where tasks count alike and are drawn one by one, products of matrices give all pairs at once.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> table = Results.from_numpy([[1.0, 4.0, 2.0], [0.0, 2.0, 2.0]])
    >>> gap, p = pairwise_tests(run_scores(table))
    >>> gap[0, 1], round(p[0, 1], 4)
    (np.float64(1.0), np.float64(0.2254))
    """
    agents = scores.strata
    plain = all(one.levels is None for one in agents)
    gap, p = _plain_pairs(scores, unit) if plain else np.full((2, len(agents), len(agents)), np.nan)
    for a, b in np.argwhere(np.triu(np.isnan(p), 1)).tolist():
        if share_tasks(agents[a], agents[b]):
            pair = Pair.of(agents[a], agents[b])
            gap[a, b] = _mean_difference(pair)
            gap[b, a] = -gap[a, b]
            p[a, b] = p[b, a] = t_test(gap[a, b], *_error(pair, unit))[2]
    return gap, p


def _plain_pairs(scores: RunScores, unit: Unit) -> tuple[Floats, Floats]:
    r"""Compare pairs over tasks that count alike; p is NaN where a difference hardly varies.

    .. math:: s^2_{ab} = \frac{1}{n - 1} \Big[\sum_t (x_{at} - x_{bt})^2 - n \bar d_{ab}^2\Big]

    over the n common tasks, each sum being a product of matrices; over runs, Welch's error (`run_error`).
    """
    from scipy.special import stdtr  # slow to import

    shape = len(scores.agents), len(scores.tasks)
    size = max((np.abs(one.scores).max(initial=0.0) for one in scores.strata), default=0.0) or 1.0
    value, variance, fourth = np.full((3, *shape), np.nan)
    for row, one in enumerate(scores.strata):
        value[row, one.tasks] = one.means
        if unit == "runs":
            free = np.where(one.runs > 1, one.runs - 1.0, np.nan)
            squares = ((one.deviations / size) ** 2).sum(axis=1)
            variance[row, one.tasks] = squares / free / one.runs
            fourth[row, one.tasks] = (squares / free / one.runs) ** 2 / free
    met = np.isfinite(value).astype(np.float64)
    tasks = met @ met.T
    centre = ratio(np.nansum(value / size, axis=0), met.sum(axis=0)) * size
    filled = np.where(met > 0, (value - centre) / size, 0.0)
    product = filled @ met.T
    gap = ratio(product - product.T, tasks)

    def summed(cells: Floats) -> Floats:
        """The sum of the cells of both agents over common tasks."""
        half: Floats = np.where(met > 0, cells, 0.0) @ met.T
        return half + half.T

    if unit == "runs":
        square = ratio(summed(variance), tasks**2)
        degrees = ratio(square**2, ratio(summed(fourth), tasks**4))
    else:
        spread = summed(filled**2) - 2 * filled @ filled.T - tasks * gap**2
        degrees = tasks - 1
        square = ratio(ratio(spread, degrees), tasks)
    # Where a difference varies by less than a thousandth of the scores, subtraction leaves few digits.
    clear = (square * tasks > 1e-6 * summed(filled**2) / np.maximum(tasks, 1)) & (degrees >= 1)
    error = np.sqrt(np.where(clear, square, np.nan))
    p: Floats = 2 * stdtr(np.where(clear, degrees, 1.0), -np.abs(gap) / error)
    return gap * size, p


def _mean_difference(pair: Pair) -> float:
    x, y = pair.means
    return float(pair.nest.average((x - y)[:, None])[0])


def _error(pair: Pair, unit: Unit) -> tuple[float, float]:
    """The standard error of a difference over other tasks or runs, with its degrees of freedom.

    Where nothing spreads, it is that of rounding.
    """
    check_known("unit", unit, ("runs", "tasks"))
    squares, (x, y) = pair.nest.shares**2, pair.means
    if unit == "tasks":
        measured, weight = [x, y], 2 * squares.sum()
        error, degrees, _ = grouped_error(x - y, pair.nest)
    else:
        measured = [strata.scores[rows].ravel() for strata, rows in pair.agents]
        weight = sum((squares / strata.runs[rows]).sum() for strata, rows in pair.agents)
        error, degrees = run_error(pair)
    values = np.concatenate(measured)
    if error <= 1e-12 * np.abs(values).max(initial=0.0):
        error = rounding_error(values, float(weight))
    return error, degrees


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


def run_error(pair: Pair) -> tuple[float, float]:
    r"""Standard error with the tasks held fixed, and its degrees of freedom; NaN with single runs.

    .. math:: \mathrm{SE}^2 = \sum_c v_c, \quad v_c = s_c^2 \hat\sigma_c^2 / n_c, \quad
              \nu = \frac{(\sum_c v_c)^2}{\sum_c v_c^2 / (n_c - 1)}

    over the cells c of both agents, each with a variance of its own.

    References: Welch (1947); Satterthwaite (1946).

    >>> from examiner.scores.runs import arranged
    >>> one, two = (arranged("a", np.zeros(2, int), np.array(runs)) for runs in ([1.0, 3.0], [4.0, 6.0]))
    >>> round(run_error(Pair.of(one, two))[0], 3)
    1.414
    """
    runs = np.concatenate([strata.runs[rows] for strata, rows in pair.agents])
    if (runs < 2).any():
        return float("nan"), 0.0
    deviations = [strata.deviations[rows] for strata, rows in pair.agents]
    _, exponent = scaled(np.array([np.abs(each).max(initial=0.0) for each in deviations]))
    squares = [(np.ldexp(each, -exponent) ** 2).sum(axis=1) for each in deviations]
    free = runs - 1
    parts = np.tile(pair.nest.shares**2, 2) * np.concatenate(squares) / free / runs
    square, fourth = float(parts.sum()), float((parts**2 / free).sum())
    size = float(np.ldexp(np.sqrt(square), exponent))
    return size, square**2 / fourth if fourth > 0 else float(free.sum())
