"""The difference of two agents with standard errors, and the smallest one these data could show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.scores.cells import RowCodes, codes_of
from examiner.scores.estimate import wilson
from examiner.scores.runs import Strata, Unit, run_scores, same_sign, shared_rows, usual_unit
from examiner.scores.total import Nest, Total, scaled, stratified_error
from examiner.validation import Floats, check_known


class Discordance(NamedTuple):
    """Items of zeros and ones that both, only a, only b, or neither solved."""

    both: int
    only_a: int
    only_b: int
    neither: int


def single_binary_trials(results: Results, measure: str | None = None) -> NDArray[np.bool_]:
    """Which agents have one trial of 0 or 1 per task, [agents]; means of several are shares.

    >>> single_binary_trials(Results.from_numpy([[1.0, 0.0]]))
    array([ True])
    >>> single_binary_trials(Results.from_numpy([[[1.0, 1.0], [0.0, 0.0]], [[1.0, np.nan]] * 2]))
    array([False,  True])
    """
    agents, tasks = len(results.agents), len(results.tasks)
    if not results.is_binary(measure):
        return np.zeros(agents, dtype=np.bool_)
    if RowCodes.of(results).single() is not None:
        return np.ones(agents, dtype=np.bool_)
    seen = np.isfinite(results.measure(measure))
    cells = results.agent_codes[seen].astype(np.int64) * tasks + results.task_codes[seen]
    trials = np.bincount(cells, minlength=agents * tasks).reshape(agents, tasks)
    return np.asarray(trials.max(axis=1, initial=0) <= 1)


def discordance(x: Floats, y: Floats) -> Discordance:
    """Count what both, only one, or none of two agents solved.

    >>> discordance(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    Discordance(both=1, only_a=1, only_b=0, neither=1)
    """
    a, b = x == 1, y == 1
    counts = (a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()
    return Discordance(*map(int, counts))


def mcnemar_p(only_a: int, only_b: int) -> float:
    r"""McNemar's exact test: whether items that one agent alone solves fall to both alike.

    .. math:: p = \min\Big(1,\ 2 \sum_{i=0}^{\min(b, c)} \binom{b + c}{i} 2^{-(b+c)}\Big)

    References: McNemar (1947); the exact form is a sign test.

    >>> round(mcnemar_p(12, 2), 4), mcnemar_p(0, 0)
    (0.0129, 1.0)
    """
    from scipy.special import bdtr  # slow to import

    total = only_a + only_b
    if not total:
        return 1.0
    return float(min(1.0, 2 * bdtr(min(only_a, only_b), total, 0.5)))


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


class Difference(NamedTuple):
    """Agent a minus agent b over their common tasks, each task once or as a total says.

    Errors are standard errors of `value`: `paired` over tasks, within the groups of a total; `clustered`
    over games, where several items belong to one; `unpaired` as if the agents had met different tasks;
    `runs` with the tasks held fixed, NaN where a cell has a single run. `unit` is what would be another
    sample, runs or tasks: `error` is that of the unit, that of rounding where nothing spreads
    (`rounding_error`), and `low`, `high` and `p` are of Student's t with `error` and `degrees` of
    freedom. `detectable` is of other tasks, `detectable_fixed` of other runs.
    """

    a: str
    b: str
    tasks: int
    clusters: int
    value: float
    paired: float
    clustered: float
    unpaired: float
    runs: float
    unit: Unit
    error: float
    degrees: float
    low: float
    high: float
    p: float
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
) -> Difference:
    r"""Compare the means of two agents task by task.

    .. math:: \bar d = \frac{1}{T} \sum_t d_t, \quad
              \mathrm{SE}_c^2 = \frac{G}{G-1} \frac{1}{T^2}
              \sum_g \Big(\sum_{t \in g} (d_t - \bar d)\Big)^2, \quad
              \mathrm{detectable} = (t_{0.975} + t_{0.8})\, \mathrm{SE}_c

    With one item per game the clustered error is the paired one, sd(d)/√T. Where tasks have different
    weights see `stratified_error`. Without a `unit`, runs are the unit where every cell of the table has
    several (`usual_unit`): the tasks are then fixed, and the error is Welch's (`run_error`).

    References: Miller (2024), "Adding error bars to evals"; Bloom (1995) for detectable effects.

    >>> results = Results.from_numpy([[2.0, 3.0, 5.0], [1.0, 2.0, 3.0]], agents=["new", "old"])
    >>> found = difference(results, "new", "old")
    >>> round(found.value, 3), round(found.paired, 3), found.degrees
    (1.333, 0.333, 2.0)
    """
    same_sign(results, measure)
    scores = run_scores(results, measure, total)
    games = clusters_of(results.task_names)
    return difference_of(scores.of(a), scores.of(b), games, level, unit or usual_unit(scores))


def clusters_of(games: Sequence[str]) -> NDArray[np.int64] | None:
    """Number the game of each task; None where every task is a game of its own.

    >>> clusters_of(["zelda", "zelda", "frogs"])
    array([0, 0, 1])
    """
    codes = codes_of(games)
    return codes if len(codes) and int(codes.max()) + 1 < len(codes) else None


def difference_of(
    first: Strata,
    second: Strata,
    games: NDArray[np.integer] | None = None,
    level: float = 0.95,
    unit: Unit = "tasks",
) -> Difference:
    """Compare two agents whose runs are arranged already; `games` numbers the cluster of each task.

    >>> one, two = (Strata(name, np.array([0, 1]), np.array([1, 1]), np.array(scores))
    ...             for name, scores in (("a", [[1.0], [4.0]]), ("b", [[0.0], [2.0]])))
    >>> difference_of(one, two).value
    1.5
    """
    check_known("unit", unit, ("runs", "tasks"))
    rows_a, rows_b = shared_rows(first, second)
    if not len(rows_a):
        raise InputError(
            f"The agents {shorten(first.agent)} and {shorten(second.agent)} share no task. Choose "
            f"agents that were observed on the same tasks."
        )
    x, y = first.means[rows_a], second.means[rows_b]
    nest = Nest.flat(len(rows_a)) if first.nest is None else first.nest.rows(rows_a)
    cluster = None if games is None else games[first.tasks[rows_a]]
    value, tasks = float(nest.average((x - y)[:, None])[0]), stratified_error(x - y, nest, cluster)
    within, spare = run_error([(first, rows_a), (second, rows_b)], nest.shares)
    of_a, of_b = (_own_error(*one, nest) for one in ((first, rows_a), (second, rows_b)))
    paired = tasks.size if cluster is None else stratified_error(x - y, nest, None).size
    squares = nest.shares**2
    over_tasks = _error_or_rounding(tasks.size, np.concatenate([x, y]), 2 * squares.sum())
    over_runs = _error_or_rounding(
        within,
        np.concatenate([first.scores[rows_a].ravel(), second.scores[rows_b].ravel()]),
        (squares / first.runs[rows_a] + squares / second.runs[rows_b]).sum(),
    )
    error, degrees = (over_tasks, float(tasks.degrees)) if unit == "tasks" else (over_runs, spare)
    low, high, p = t_test(value, error, degrees, level)
    return Difference(
        *(first.agent, second.agent, len(rows_a), tasks.clusters, value),
        *(paired, tasks.size, math.hypot(of_a, of_b), within),
        unit=unit,
        error=error,
        degrees=degrees,
        low=low,
        high=high,
        p=p,
        detectable=detectable_effect(over_tasks, tasks.degrees, level),
        detectable_fixed=detectable_effect(over_runs, spare, level),
    )


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


def _own_error(strata: Strata, rows: NDArray[np.intp], nest: Nest) -> float:
    """The standard error of one agent's total over some of its tasks, by position."""
    if len(rows) == len(strata.tasks):
        return strata.error.size
    return stratified_error(strata.means[rows], nest).size


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
