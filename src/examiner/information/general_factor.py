"""The general factor: how much of a table one factor explains, and how tasks and agents correlate."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, name, number, setting
from examiner.information.factors import oriented_means, shares, singular, standard_scores
from examiner.results import Results, reads_results, results_in_content_order
from examiner.scores import (
    FEWEST_PAIRS,
    Estimate,
    GappedColumns,
    Method,
    check_level,
    column_blocks,
    correlate_columns,
    midranks,
    permuted_within_columns,
    ratio,
    two_valued,
    unit_columns,
)
from examiner.validation import Floats, Randomness, generator

MANY_CELLS = 1_000_000
"""Of larger tables, intervals come from some tasks (or agents), and chance is a limit."""
MOST_COLUMNS = 1000


class FactorStatistics(Table):
    """Statistics of one general factor."""

    statistic: tuple[str, ...] = name("Statistic")
    value: Floats = number("Its value")
    value_low: Floats = bound("value", "low")
    value_high: Floats = bound("value", "high")
    chance: Floats = number("Mean with agents permuted within each task", title="by chance")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneralFactor(Answer):
    """How far one factor explains the table.

    `first_factor_by_chance` is the mean share where agents are permuted within each task.
    """

    kind = "general_factor"

    mean_task_correlation: Estimate
    mean_agent_correlation: Estimate
    first_factor_share: Estimate
    first_factor_by_chance: float
    level: float
    seed: int | None = None
    resampled: str = field(default="agents or tasks, jackknife", metadata=setting())

    @property
    def statistics(self) -> FactorStatistics:
        """The statistics with their intervals."""
        names = "mean_task_correlation", "mean_agent_correlation", "first_factor_share"
        value, low, high = zip(*(getattr(self, name) for name in names), strict=True)
        return FactorStatistics(
            statistic=names,
            value=value,
            value_low=low,
            value_high=high,
            chance=[np.nan, np.nan, self.first_factor_by_chance],
            level=self.level,
        )

    @property
    def headline(self) -> str:
        """How much one factor explains."""
        share, chance = self.first_factor_share.value, self.first_factor_by_chance
        if np.isnan(share):
            return "No factor can be estimated: nothing varies."
        by_chance = "" if np.isnan(chance) else f" ({100 * chance:.0f} % by chance)"
        return (
            f"One factor explains {100 * share:.0f} % of the differences between agents{by_chance}."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Statistics of the factor."""
        return {"statistics": self.statistics}


@reads_results
def general_factor(
    results: Results,
    measure: str | None = None,
    *,
    rng: Randomness = 0,
    method: Method = "pearson",
    level: float = 0.95,
    reps: int = 100,
) -> GeneralFactor:
    """Return the mean correlation of tasks, that of agents, and the share of the first factor.

    Intervals leave out one agent (for tasks) or one task (for agents) at a time, or one of 50 groups of
    them: the jackknife, with Student's t. Agents are correlated on shares: values in [0, 1] as they are,
    others from the worst agent of a task to its best; a task without differences has none. Beyond a
    million cells, intervals use a thousand tasks (or agents), taken evenly, and chance is a limit.

    >>> scores = [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0], [3.5, 7.0, 14.0]]
    >>> round(general_factor(Results.from_numpy(scores)).statistics["first_factor_share"].value, 6)
    1.0
    """
    check_level(level)
    seed, rng = rng if isinstance(rng, int) else None, generator(rng)
    means = oriented_means(results_in_content_order(results), measure)
    scores = standard_scores(means)
    if means.size > MANY_CELLS and reps:
        chance = [share_by_chance(*means.shape)]
    else:
        chance = [first_share(permuted_within_columns(scores, rng)) for _ in range(reps)]

    def correlations(table: Floats, group: NDArray[np.intp] | None) -> Floats:
        return mean_correlations(table, method, group)

    def first_shares(table: Floats, group: NDArray[np.intp] | None) -> Floats:
        return _each(lambda part: first_share(standard_scores(part)), table, group)

    return GeneralFactor(
        jackknife(scores, correlations, level),
        jackknife(shares(means).T, correlations, level),
        jackknife(means, first_shares, level, least=0.0),
        float(np.mean(chance)) if chance else float("nan"),
        level,
        seed,
    )


def first_share(scores: Floats) -> float:
    """Return the first eigenvalue's share of a standardised table; NaN where nothing varies.

    >>> first_share(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    1.0
    """
    table = np.nan_to_num(scores) if np.isnan(scores).any() else scores
    total = float(np.einsum("at,at->", table, table))
    return float(singular(table, 1)[1][0]) ** 2 / total if total > 0 else float("nan")


def share_by_chance(agents: int, tasks: int) -> float:
    r"""Return the expected share of the first factor of many unrelated agents on many tasks.

    .. math:: \frac{1}{T} \Big(1 + \sqrt{T / (A - 1)}\Big)^2

    where the largest eigenvalue of a correlation matrix tends to (Jiang, 2004, theorem 1.1).

    >>> round(share_by_chance(1001, 1000), 4)
    0.004
    """
    return float((1 + np.sqrt(tasks / (agents - 1))) ** 2 / tasks)


def mean_correlations(
    table: Floats, method: Method = "pearson", group: NDArray[np.intp] | None = None
) -> Floats:
    """Return the mean correlation of two different columns, and that without each group of rows.

    NaN where no two have one; shape [1 + groups].

    >>> mean_correlations(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0]])).round(3)
    array([-0.327])
    """
    table = table[:, np.isfinite(table).any(axis=0)]  # other columns have no correlation
    if np.isnan(table).any() and (method == "pearson" or two_valued(table)):
        return _mean_correlations_over_gaps(table, group)
    return _each(lambda part: _mean_correlation(part, method), table, group)


def _mean_correlation(table: Floats, method: Method) -> float:
    r"""Return the mean correlation of columns; without gaps from the length of the sum of their units u.

    .. math:: \frac{|\sum_t u_t|^2 - T}{T (T - 1)}
    """
    if np.isnan(table).any():
        correlation, _ = correlate_columns(table, method)
        np.fill_diagonal(correlation, np.nan)
        finite = correlation[np.isfinite(correlation)]
        return float(finite.mean()) if len(finite) else float("nan")
    table = midranks(table.T).T if method == "spearman" else table
    total, count = np.zeros(len(table)), 0
    for block in column_blocks(table.shape) if len(table) >= FEWEST_PAIRS else ():
        units = unit_columns(table[:, block])
        varied = np.isfinite(units).all(axis=0)
        total += units[:, varied].sum(axis=1)
        count += int(varied.sum())
    if count < 2:
        return float("nan")
    return float(((total**2).sum() - count) / (count * (count - 1)))


def _mean_correlations_over_gaps(table: Floats, group: NDArray[np.intp] | None) -> Floats:
    """Return means of Pearson's correlations, each over the rows that both columns have.

    Without a group of rows, sums are those of all rows less those of the group; no table of all pairs is
    stored.
    """
    columns = GappedColumns.of(table)
    parts = [columns.rows(excluded) for excluded in _left_out(group)]
    total, count = np.zeros((2, 1 + len(parts)))
    for left, right, whole in columns.blocks():
        remaining = (whole.without(part.sums(left, right)) for part in parts)
        for place, sums in enumerate(chain((whole,), remaining)):
            # What remains of a column is rounding below this share of all its squares.
            rounding = (1e-12 * whole.left_squares, 1e-12 * whole.right_squares) if place else None
            correlations = sums.correlations(rounding)
            if left == right:
                np.fill_diagonal(correlations, np.nan)  # a column with itself
            times = 1 if left == right else 2  # a pair of blocks also represents its mirror image
            total[place] += times * np.nansum(correlations)
            count[place] += times * np.isfinite(correlations).sum()
    means = ratio(total, count)
    if group is not None and not columns.counted:
        # So many median distances away, subtracting a value's row from sums would lose too many digits.
        far = np.abs(columns.values).max(axis=1, initial=0.0) > 1e3
        for excluded in np.unique(group[far]):
            means[1 + excluded] = _mean_correlations_over_gaps(table[group != excluded], None)[0]
    return means


def _each(
    statistic: Callable[[Floats], float], table: Floats, group: NDArray[np.intp] | None
) -> Floats:
    """Return a statistic of a table, and those without each group of its rows: [1 + groups]."""
    parts = (table[~excluded] for excluded in _left_out(group))
    return np.array([statistic(table), *map(statistic, parts)])


def _left_out(group: NDArray[np.intp] | None) -> list[NDArray[np.bool_]]:
    """Flags of the rows of each group; none where there are no groups."""
    if group is None:
        return []
    return list(group == np.unique(group)[:, None])


def jackknife(
    table: Floats,
    statistics: Callable[[Floats, NDArray[np.intp] | None], Floats],
    level: float,
    least: float = -1.0,
) -> Estimate:
    r"""Return a statistic of a table with a jackknife interval over its rows, limited to [`least`, 1].

    .. math:: s^2 = \frac{k - 1}{k} \sum_{i=1}^{k} (\theta_{-i} - \bar\theta)^2

    with one of k groups of rows excluded at a time (Efron & Stein, 1981). The interval of a large table
    comes from a thousand columns, taken evenly. `statistics` gives that of a table, and those without each
    group of its rows.
    """
    # At most 50 groups of agents or tasks are excluded one at a time
    groups = min(len(table), 50)
    if groups < 4:
        return Estimate(float(statistics(table, None)[0]))
    from scipy.special import stdtrit  # slow to import

    group, some = np.arange(len(table)) % groups, table
    if table.size > MANY_CELLS and table.shape[1] > MOST_COLUMNS:
        some = table[:, np.linspace(0, table.shape[1] - 1, MOST_COLUMNS).astype(np.intp)]
    values = statistics(some, group)
    value = float((values if some is table else statistics(table, None))[0])
    spread = np.sqrt((groups - 1) * values[1:].var())
    reach = float(stdtrit(groups - 1, 0.5 + level / 2) * spread)
    if np.isnan(value + reach):
        return Estimate(value)
    return Estimate(value, max(value - reach, least), min(value + reach, 1.0))


class GroupStatistics(Table):
    """Statistics of the general factor of each group of agents."""

    group: tuple[str, ...] = name("Group of agents")
    statistic: tuple[str, ...] = name("Statistic")
    value: Floats = number("Its value")
    value_low: Floats = bound("value", "low")
    value_high: Floats = bound("value", "high")
    chance: Floats = number("Mean with agents permuted within each task", title="by chance")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneralFactorByGroup(Answer):
    """The general factor of each group of agents; `factors` maps groups to them."""

    kind = "general_factor_by"

    groups: GroupStatistics
    factors: Mapping[Hashable, GeneralFactor]
    seed: int | None = None

    @property
    def headline(self) -> str:
        """In which group tasks correlate most."""
        means = {
            group: factor.mean_task_correlation.value
            for group, factor in self.factors.items()
            if not np.isnan(factor.mean_task_correlation.value)
        }
        if not means:
            return "No group has enough agents for a general factor."
        best = max(means, key=lambda group: means[group])
        return f"Tasks correlate most in group {best}: {means[best]:.2g} on average."


@reads_results
def general_factor_by(
    results: Results,
    groups: Mapping[str, Hashable],
    measure: str | None = None,
    *,
    rng: Randomness = 0,
    level: float = 0.95,
    reps: int = 100,
) -> GeneralFactorByGroup:
    """Return the general factor of each group of agents, for example of each year, in order.

    Groups of fewer than 4 agents have none. The share of a first factor is larger in smaller groups even
    by chance: compare it with `first_factor_by_chance`, and groups by the mean correlation.

    References: papers/003, section 5, asks whether the general factor grows with time.

    >>> rows = [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0], [3.5, 7.0, 14.0], [9.0, 9.0, 9.0]]
    >>> old = {f"agent {number}": 2013 for number in range(1, 5)}
    >>> by_year = general_factor_by(Results.from_numpy(rows), old | {"agent 5": 2015})
    >>> round(by_year["2013", "mean_task_correlation"].value, 6)
    1.0
    """
    seed, rng = rng if isinstance(rng, int) else None, generator(rng)
    group_of = np.array([groups.get(agent) for agent in results.agents], dtype=object)
    factors_of = {}
    for group in sorted({group for group in group_of if group is not None}, key=_sortable):
        chosen = np.array([one == group for one in group_of])
        # Agents below which the jackknife gives no interval
        if chosen.sum() >= 4:
            part = results.where(chosen[results.agent_codes])
            factors_of[group] = general_factor(part, measure, rng=rng, level=level, reps=reps)
    rows = [
        {"group": group} | row
        for group, factor in factors_of.items()
        for row in factor.statistics.records()
    ]
    columns = {name: [row[name] for row in rows] for name in GroupStatistics.declared}
    table = GroupStatistics(**columns)  # type: ignore[arg-type]  # lists, which a table converts
    return GeneralFactorByGroup(table, factors_of, seed)


def _sortable(group: Hashable) -> tuple[bool, float, str]:
    """Return a key that sorts numbers first, then words."""
    number = float(group) if isinstance(group, int | float) else 0.0
    return not isinstance(group, int | float), number, str(group)
