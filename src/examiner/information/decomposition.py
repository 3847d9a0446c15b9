"""The general factor: how much of a table one factor explains, and how tasks and agents correlate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, name, number
from examiner.information.first_factors import first_share, share_by_chance
from examiner.information.gaps import (
    first_shares_without,
    mean_over_gaps,
    means_over_gaps_without,
)
from examiner.information.observations import oriented_means, shares
from examiner.results import Results, reads_results, results_in_content_order
from examiner.scores import (
    FEWEST_PAIRS,
    Estimate,
    Method,
    check_level,
    column_blocks,
    correlate_columns,
    midranks,
    permuted_within_columns,
    two_valued,
    unit_columns,
)
from examiner.validation import Floats, Randomness, generator

MOST_GROUPS = 50
"""Groups of agents or tasks that the jackknife leaves out one at a time, however many there are."""
MANY_CELLS = 1_000_000
FEW_COLUMNS = 1000


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

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, and what the jackknife leaves out."""
        return {"seed": self.seed, "resampled": "agents or tasks, jackknife"}


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

    def correlation(table: Floats) -> Estimate:
        by_sums = np.isnan(table).any() and (method == "pearson" or two_valued(means))
        return jackknife(
            table,
            lambda part: mean_correlation(part, method),
            level,
            without=means_over_gaps_without if by_sums else None,
        )

    return GeneralFactor(
        correlation(scores),
        correlation(shares(means).T),
        jackknife(
            means,
            lambda table: first_share(standard_scores(table)),
            level,
            low=0.0,
            without=first_shares_without,
        ),
        float(np.mean(chance)) if chance else float("nan"),
        level,
        seed,
    )


def standard_scores(means: Floats) -> Floats:
    """Return each task with mean 0 and deviation 1 over its agents; NaN where unobserved or constant.

    >>> standard_scores(np.array([[1.0, 5.0], [3.0, 5.0]])).round(6)
    array([[-1., nan],
           [ 1., nan]])
    """
    scores = unit_columns(means)
    scores *= np.sqrt(np.isfinite(means).sum(axis=0))
    return scores


def mean_correlation(table: Floats, method: Method = "pearson") -> float:
    """Return the mean correlation of two different columns; NaN where no two have one.

    >>> round(mean_correlation(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0]])), 3)
    -0.327
    """
    observed = np.asarray(np.isfinite(table).any(axis=0))
    table = table if observed.all() else table[:, observed]  # others have no correlation
    if not np.isnan(table).any():
        return _mean_without_a_table(midranks(table.T).T if method == "spearman" else table)
    if method == "pearson" or two_valued(table):
        return mean_over_gaps(table)
    correlation, _ = correlate_columns(table, method)
    np.fill_diagonal(correlation, np.nan)
    finite = correlation[np.isfinite(correlation)]
    return float(finite.mean()) if len(finite) else float("nan")


def _mean_without_a_table(table: Floats) -> float:
    r"""Return the mean correlation of columns without gaps, from the length of the sum of their units u.

    .. math:: \frac{|\sum_t u_t|^2 - T}{T (T - 1)}
    """
    total, count = np.zeros(len(table)), 0
    for block in column_blocks(table.shape) if len(table) >= FEWEST_PAIRS else ():
        units = unit_columns(table[:, block])
        varied = np.isfinite(units).all(axis=0)
        total += units[:, varied].sum(axis=1)
        count += int(varied.sum())
    if count < 2:
        return float("nan")
    return float(((total**2).sum() - count) / (count * (count - 1)))


def jackknife(
    table: Floats,
    statistic: Callable[[Floats], float],
    level: float,
    low: float = -1.0,
    without: Callable[[Floats, NDArray[np.intp]], Floats] | None = None,
) -> Estimate:
    r"""Return a statistic of a table with a jackknife interval over its rows, limited to [`low`, 1].

    .. math:: s^2 = \frac{k - 1}{k} \sum_{i=1}^{k} (\theta_{-i} - \bar\theta)^2

    with one of k groups of rows excluded at a time (Efron & Stein, 1981). The interval of a large table
    comes from a thousand columns, taken evenly. `without` computes the statistic without each group from
    sums over all rows, which is faster where there are more rows than columns.

    >>> jackknife(np.array([[0.1], [0.2], [0.3]]), lambda part: float(part.mean()), 0.9).value.__round__(3)
    0.2
    """
    value = statistic(table)
    groups = min(len(table), MOST_GROUPS)
    if groups < 4 or np.isnan(value):
        return Estimate(value)
    from scipy.special import stdtrit  # slow to import

    if table.size > MANY_CELLS and table.shape[1] > FEW_COLUMNS:
        table = table[:, np.linspace(0, table.shape[1] - 1, FEW_COLUMNS).astype(np.intp)]
    group = np.arange(len(table)) % groups
    if without is not None and len(table) > table.shape[1]:
        values = without(table, group)
    else:
        values = np.array([statistic(table[group != number]) for number in range(groups)])
    if np.isnan(values).any():
        return Estimate(value)
    spread = np.sqrt((groups - 1) / groups * ((values - values.mean()) ** 2).sum())
    reach = float(stdtrit(groups - 1, 0.5 + level / 2) * spread)
    return Estimate(value, max(value - reach, low), min(value + reach, 1.0))
