"""How much of a table is one thing: singular values, and the general factor of tasks and agents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.information.first_factors import first_share, share_by_chance
from examiner.information.gaps import (
    first_shares_over_gaps_without,
    mean_over_gaps,
    means_over_gaps_without,
)
from examiner.information.left_out import correlations_without, first_shares_without
from examiner.information.observations import in_name_order, oriented_means, shares
from examiner.information.permutation import permuted_within_columns
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.common_rows import FEWEST_PAIRS, column_blocks, two_valued
from examiner.scores.estimate import Estimate, check_level
from examiner.scores.likeness import Method, correlate_columns, unit_columns
from examiner.scores.signed_ranks import midranks
from examiner.validation import Floats, Randomness, generator

MOST_GROUPS = 50
"""Leaving out one group at a time, there are at most so many groups, however many agents or tasks."""
FEWEST_OF_A_GROUP = 4
"""Agents below which leaving one out gives no interval."""
MANY_CELLS = 1_000_000
FEW_COLUMNS = 1000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskFactors:
    """The table as a sum of factors, the largest first.

    `agents_on` has shape [agents, factors], `tasks_on` [tasks, factors]; `share` is each factor's share
    of the variation between agents, shape [factors].
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    agents_on: Floats
    tasks_on: Floats
    singular_values: Floats
    share: Floats

    def __repr__(self) -> str:
        return f"TaskFactors: the first of {len(self.share)} tells {self.share[0]:.0%} of the variation"

    def _repr_html_(self) -> str:
        columns = {
            "factor": range(1, len(self.share) + 1),
            "singular value": self.singular_values,
            "share": self.share,
        }
        return html_columns(repr(self), columns)


@dataclass(frozen=True, slots=True, repr=False)
class GeneralFactor:
    """How far one factor explains the table.

    `first_factor_by_chance` is the mean share where agents are shuffled within each task.
    """

    mean_task_correlation: Estimate
    mean_agent_correlation: Estimate
    first_factor_share: Estimate
    first_factor_by_chance: float
    level: float

    def __repr__(self) -> str:
        return (
            f"GeneralFactor: one factor tells {self.first_factor_share.value:.0%} of how agents differ, "
            f"{self.first_factor_by_chance:.0%} by chance"
        )

    def _repr_html_(self) -> str:
        parts = ("mean_task_correlation", "mean_agent_correlation", "first_factor_share")
        told = [getattr(self, part) for part in parts]
        names = [part.replace("_", " ") for part in parts]
        ends = dict(zip(Estimate._fields, zip(*told, strict=True), strict=True))
        return html_columns(repr(self), {"": names, **ends})


def factors(results: Results, measure: str | None = None) -> TaskFactors:
    r"""Decompose the table into factors: Z = U diag(s) Vᵀ.

    Z holds the cell means with each task standardised over agents, 0 where nothing was observed.
    `agents_on` is U diag(s) and `tasks_on` is V; a share is :math:`s_f^2 / \sum s^2`, the eigenvalue of
    the tasks' correlation matrix over their number. Signs are such that most tasks lie above 0.

    >>> factors = factors(Results.from_numpy([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0]]))
    >>> factors.share[:1].round(6)
    array([1.])
    """
    scores = np.nan_to_num(standard_scores(oriented_means(results, measure)))
    left, values, right = np.linalg.svd(scores, full_matrices=False)
    sign = np.where(right.sum(axis=1) < 0, -1.0, 1.0)
    total = float((values**2).sum())
    share = values**2 / total if total > 0 else np.full(len(values), np.nan)
    return TaskFactors(
        results.agents, results.tasks, left * values * sign, (right.T * sign), values, share
    )


def general_factor(
    results: Results,
    measure: str | None = None,
    *,
    rng: Randomness,
    method: Method = "pearson",
    level: float = 0.95,
    reps: int = 100,
) -> GeneralFactor:
    """Tell how alike tasks rank agents, how alike agents find tasks, and what one factor explains.

    Intervals leave out one agent (for tasks) or one task (for agents) at a time, or one of 50 groups of
    them: the jackknife, with Student's t. Agents are correlated on shares: values in [0, 1] as they are,
    others from the worst agent of a task to its best; a task on which all are alike has none. Beyond a
    million cells, intervals are from a thousand tasks (or agents), taken evenly, and chance is a limit.

    >>> scores = [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0], [3.5, 7.0, 14.0]]
    >>> found = general_factor(Results.from_numpy(scores), rng=0)
    >>> round(found.mean_task_correlation.value, 6), round(found.first_factor_share.value, 6)
    (1.0, 1.0)
    """
    check_level(level)
    rng = generator(rng)
    means = oriented_means(results, measure)
    scores = standard_scores(means)

    def between_columns(table: Floats) -> float:
        return mean_correlation(table, method)

    if means.size > MANY_CELLS and reps:
        chance = [share_by_chance(*means.shape)]
    else:
        named = in_name_order(scores, results)
        chance = [first_share(permuted_within_columns(named, rng)) for _ in range(reps)]
    without = correlations_without if method == "pearson" else None
    gapped = means_over_gaps_without if method == "pearson" or two_valued(means) else None
    return GeneralFactor(
        jackknife(scores, between_columns, level, without=without, gapped=gapped),
        jackknife(shares(means).T, between_columns, level, without=without, gapped=gapped),
        jackknife(
            means,
            lambda table: first_share(standard_scores(table)),
            level,
            low=0.0,
            without=first_shares_without,
            gapped=first_shares_over_gaps_without,
        ),
        float(np.mean(chance)) if chance else float("nan"),
        level,
    )


def general_factor_by(
    results: Results,
    groups: Mapping[str, Hashable],
    measure: str | None = None,
    *,
    rng: Randomness,
    level: float = 0.95,
    reps: int = 100,
) -> dict[Hashable, GeneralFactor]:
    """Tell the general factor of each group of agents, as of their years, in the order of the groups.

    Groups of fewer than 4 agents have none. The share of a first factor is larger in smaller groups even
    by chance: hold it against `first_factor_by_chance`, and compare groups by the mean correlation.

    References: papers/003, section 5, asks whether the general factor grows with time.

    >>> rows = [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0], [3.5, 7.0, 14.0], [9.0, 9.0, 9.0]]
    >>> old = {f"agent {number}": 2013 for number in range(1, 5)}
    >>> made = general_factor_by(Results.from_numpy(rows), old | {"agent 5": 2015}, rng=0)
    >>> list(made), round(made[2013].mean_task_correlation.value, 6)
    ([2013], 1.0)
    """
    rng = generator(rng)
    of = np.array([groups.get(agent) for agent in results.agents], dtype=object)
    made = {}
    for group in sorted({group for group in of if group is not None}, key=_sortable):
        chosen = np.array([one == group for one in of])
        if chosen.sum() >= FEWEST_OF_A_GROUP:
            part = results.where(chosen[results.agent_codes])
            made[group] = general_factor(part, measure, rng=rng, level=level, reps=reps)
    return made


def _sortable(group: Hashable) -> tuple[bool, float, str]:
    """Numbers in their order, then words in theirs."""
    number = isinstance(group, int | float)
    return not number, float(group) if isinstance(group, int | float) else 0.0, str(group)


def standard_scores(means: Floats) -> Floats:
    """Return each task with mean 0 and deviation 1 over its agents; NaN where unseen, or all are alike.

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
    told = np.asarray(np.isfinite(table).any(axis=0))
    table = table if told.all() else table[:, told]  # others have no correlation
    if not np.isnan(table).any():
        return _mean_without_a_table(midranks(table.T).T if method == "spearman" else table)
    if method == "pearson" or two_valued(table):
        return mean_over_gaps(table)
    correlation, _ = correlate_columns(table, method)
    np.fill_diagonal(correlation, np.nan)
    known = correlation[np.isfinite(correlation)]
    return float(known.mean()) if len(known) else float("nan")


def _mean_without_a_table(table: Floats) -> float:
    r"""The mean correlation of columns without gaps, from the length of the sum of their units u.

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
    gapped: Callable[[Floats, NDArray[np.intp]], Floats] | None = None,
) -> Estimate:
    r"""Return a statistic of a table with an interval over its rows, cut to [`low`, 1].

    .. math:: s^2 = \frac{k - 1}{k} \sum_{i=1}^{k} (\theta_{-i} - \bar\theta)^2

    with one of k groups of rows left out at a time (Efron & Stein, 1981). Of a large table a thousand
    columns, taken evenly, say how far it reaches. `without` tells the statistic without each group at once,
    of tables without gaps; `gapped` that of tables with gaps. Either wants more rows than columns.

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
    at_once = without if np.isfinite(table).all() else gapped
    if at_once is not None and len(table) > table.shape[1]:
        left = at_once(table, group)
    else:
        left = np.array([statistic(table[group != number]) for number in range(groups)])
    if np.isnan(left).any():
        return Estimate(value)
    spread = np.sqrt((groups - 1) / groups * ((left - left.mean()) ** 2).sum())
    reach = float(stdtrit(groups - 1, 0.5 + level / 2) * spread)
    return Estimate(value, max(value - reach, low), min(value + reach, 1.0))
