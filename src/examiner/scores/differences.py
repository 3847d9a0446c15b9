"""The difference of two agents with standard errors, and the smallest one these data could show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats
from examiner.results import Results
from examiner.scores.cells import codes_of
from examiner.scores.nest import Nest, stratified_error
from examiner.scores.total import Total
from examiner.scores.uncertainty.strata import Strata, common_rows, run_scores, same_sign
from examiner.wording import InputError, shorten

POWER = 0.8
"""The usual probability with which a detectable effect would be detected."""


class Difference(NamedTuple):
    """Agent a minus agent b over their common tasks, each task once or as a total says.

    Errors are standard errors of `value`: `paired` over tasks, within the groups of a total; `clustered`
    over games, where several items belong to one; `unpaired` as if the agents had met different tasks;
    `runs` with the tasks
    held fixed, NaN where no cell has two runs. `low`, `high` and `detectable` rest on `clustered`
    and `degrees` of freedom; `detectable_fixed` on `runs`.
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
    degrees: int
    low: float
    high: float
    detectable: float
    detectable_fixed: float


def difference(
    results: Results,
    a: str,
    b: str,
    level: float = 0.95,
    measure: str | None = None,
    total: Total | None = None,
) -> Difference:
    r"""Compare the means of two agents task by task.

    .. math:: \bar d = \frac{1}{T} \sum_t d_t, \quad
              \mathrm{SE}_c^2 = \frac{G}{G-1} \frac{1}{T^2}
              \sum_g \Big(\sum_{t \in g} (d_t - \bar d)\Big)^2, \quad
              \mathrm{detectable} = (t_{0.975} + t_{0.8})\, \mathrm{SE}_c

    With one item a game the clustered error is the paired one, sd(d)/√T. Where tasks count unlike
    see `stratified_error`.

    References: Miller (2024), "Adding error bars to evals"; Bloom (1995) for detectable effects.

    >>> results = Results.from_numpy([[2.0, 3.0, 5.0], [1.0, 2.0, 3.0]], agents=["new", "old"])
    >>> found = difference(results, "new", "old")
    >>> round(found.value, 3), round(found.paired, 3), found.degrees
    (1.333, 0.333, 2)
    """
    same_sign(results, measure)
    scores = run_scores(results, measure, total)
    return difference_of(scores.of(a), scores.of(b), clusters_of(results.task_names), level)


def clusters_of(games: Sequence[str]) -> NDArray[np.int64] | None:
    """Number the game of each task; None where every task is a game of its own.

    >>> clusters_of(["zelda", "zelda", "frogs"])
    array([0, 0, 1])
    """
    codes = codes_of(games)
    return codes if len(codes) and int(codes.max()) + 1 < len(codes) else None


def difference_of(
    first: Strata, second: Strata, games: NDArray[np.integer] | None = None, level: float = 0.95
) -> Difference:
    """Compare two agents whose runs are arranged already; `games` numbers the cluster of each task.

    >>> one, two = (Strata(name, np.array([0, 1]), np.array([1, 1]), np.array(scores))
    ...             for name, scores in (("a", [[1.0], [4.0]]), ("b", [[0.0], [2.0]])))
    >>> difference_of(one, two).value
    1.5
    """
    rows_a, rows_b = common_rows(first, second)
    if not len(rows_a):
        raise InputError(
            f"The agents {shorten(first.agent)} and {shorten(second.agent)} share no task. Choose "
            f"agents that were observed on the same tasks."
        )
    x, y = first.means[rows_a], second.means[rows_b]
    total = len(rows_a)
    nest = Nest.flat(total) if first.nest is None else first.nest.rows(rows_a)
    cluster = None if games is None else games[first.tasks[rows_a]]
    value, error = float(nest.average((x - y)[:, None])[0]), stratified_error(x - y, nest, cluster)
    within, spare = _run_error([(first, rows_a), (second, rows_b)], nest.shares)
    low, high, detectable = _t_reach(value, error.size, error.degrees, level)
    of_a, of_b = (_own_error(*one, nest) for one in ((first, rows_a), (second, rows_b)))
    paired = error.size if cluster is None else stratified_error(x - y, nest, None).size
    unpaired = math.hypot(of_a, of_b)
    return Difference(
        *(first.agent, second.agent, total, error.clusters, value, paired, error.size, unpaired),
        *(within, error.degrees, low, high, detectable, _t_reach(value, within, spare, level)[2]),
    )


def _own_error(strata: Strata, rows: NDArray[np.intp], nest: Nest) -> float:
    """The standard error of one agent's total over some of its tasks, by position."""
    if len(rows) == len(strata.tasks):
        return strata.error.size
    return stratified_error(strata.means[rows], nest).size


def clustered_error(values: Floats, clusters: NDArray[np.generic]) -> float:
    """Standard error of a mean whose values come in clusters; NaN for a single cluster.

    >>> clustered_error(np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 0, 1, 1]))
    0.5
    """
    number = np.unique(clusters, return_inverse=True)[1]
    return stratified_error(values, Nest.flat(len(values)), number).size


def detectable_effect(error: float, degrees: float, level: float = 0.95) -> float:
    r"""The smallest true difference that a test would find four times in five.

    .. math:: (t_{0.975} + t_{0.8})\, \mathrm{SE}

    >>> round(detectable_effect(1.0, 25), 3)
    2.916
    """
    from scipy.special import stdtrit  # slow to import

    tails = stdtrit(degrees, np.array([0.5 + level / 2, POWER]))
    return float(tails.sum() * error)


def _t_reach(value: float, error: float, degrees: int, level: float) -> tuple[float, float, float]:
    """The t interval around a value, and the detectable effect; NaN without degrees of freedom."""
    if degrees < 1 or np.isnan(error):
        return np.nan, np.nan, np.nan
    from scipy.special import stdtrit  # slow to import

    half = float(stdtrit(degrees, 0.5 + level / 2)) * error
    return value - half, value + half, detectable_effect(error, degrees, level)


def _run_error(
    agents: Sequence[tuple[Strata, NDArray[np.intp]]], shares: Floats
) -> tuple[float, int]:
    """Standard error with the tasks held fixed, and its degrees of freedom; NaN with single runs."""
    total, spare = 0.0, 0
    for strata, rows in agents:
        runs = strata.runs[rows]
        if (runs < 2).any():
            return float("nan"), 0
        squares = (strata.deviations[rows] ** 2).sum(axis=1)
        total += float((shares**2 * squares / (runs - 1) / runs).sum())
        spare += int((runs - 1).sum())
    return float(np.sqrt(total)), spare
