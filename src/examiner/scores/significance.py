"""Which agents differ over tasks: Friedman, then Wilcoxon with Holm, or Nemenyi; cliques for a diagram."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.results.checks import InputError, counted, listed, read_only, unknown_name
from examiner.scores.cells import cell_means
from examiner.scores.strata import same_sign

PostHoc = Literal["wilcoxon-holm", "nemenyi"]
POST_HOCS: tuple[PostHoc, ...] = get_args(PostHoc)


@dataclass(frozen=True, slots=True, eq=False)
class Significance:
    """Tests of differences between agents over tasks; agents in the table's order.

    `mean_rank` has shape [agents] (1 is best), `p` [agents, agents] holds adjusted p-values, 1 on
    the diagonal. `cliques` are the largest groups of agents, by position, next to each other in mean
    rank, among which no pair differs. `critical` is Nemenyi's critical difference, else NaN.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    mean_rank: NDArray[np.float64]
    statistic: float
    p_value: float
    posthoc: PostHoc
    p: NDArray[np.float64]
    alpha: float
    critical: float
    cliques: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...]


def significance(
    results: Results,
    posthoc: PostHoc = "wilcoxon-holm",
    alpha: float = 0.05,
    measure: str | None = None,
) -> Significance:
    r"""Test whether agents differ over tasks, and which pairs do.

    .. math:: \chi_F^2 = \frac{12 N}{k(k+1)} \Big[\sum_j R_j^2 - \frac{k(k+1)^2}{4}\Big]

    corrected for ties. Only tasks on which every agent was observed are used. Pairs are then tested
    by Wilcoxon's signed ranks with Holm's correction, which, unlike Nemenyi's test on mean ranks,
    does not let other agents decide whether two differ.

    References: Friedman (1937); Demšar (2006), section 3.2; Benavoli, Corani & Mangili (2016);
    Holm (1979).

    >>> table = Results.from_numpy(np.arange(24.0).reshape(8, 3).T, agents=["a", "b", "c"])
    >>> found = significance(table)
    >>> found.mean_rank, round(found.p_value, 6), found.cliques
    (array([3., 2., 1.]), 0.000335, ())
    """
    if posthoc not in POST_HOCS:
        raise unknown_name("post-hoc test", posthoc, POST_HOCS)
    if not 0 < alpha < 1:
        raise InputError(
            f"The level of significance is {alpha}. Give one between 0 and 1, as 0.05."
        )
    if len(results.agents) < 2:
        raise InputError("There is one agent, and nothing to compare it with. Add another.")
    same_sign(results, measure)
    values, tasks, notes = _complete(results, cell_means(results, measure))
    ranks = _ranks(values)
    statistic, p_value = friedman(values) if len(values) > 2 else (np.nan, np.nan)
    if posthoc == "nemenyi":
        critical = critical_difference(len(values), len(tasks), alpha)
        p = _nemenyi(ranks, len(tasks))
    else:
        critical, p = np.nan, wilcoxon_holm(values)
    for array in (ranks, p):
        read_only(array)
    found = cliques(ranks, p, alpha)
    return Significance(
        *(results.agents, tasks, ranks, statistic, p_value, posthoc, p, alpha, critical),
        *(found, notes),
    )


def friedman(values: NDArray[np.float64]) -> tuple[float, float]:
    """Friedman's statistic and p-value of agents × tasks; no difference at all gives 0 and 1.

    >>> friedman(np.arange(24.0).reshape(8, 3).T)[0]
    16.0
    """
    from scipy.stats import friedmanchisquare  # slow to import

    if (values == values[0]).all():
        return 0.0, 1.0
    statistic, p_value = friedmanchisquare(*values)
    return float(statistic), float(p_value)


def wilcoxon_holm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Wilcoxon's signed-rank p-value of each pair of rows, by Holm's step-down; [agents, agents].

    >>> wilcoxon_holm(np.array([[1.0, 2.5, 3.0], [1.0, 2.0, 3.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    from scipy.stats import wilcoxon  # slow to import

    pairs = list(combinations(range(len(values)), 2))
    raw = np.ones(len(pairs))
    for place, (a, b) in enumerate(pairs):
        if (values[a] != values[b]).any():
            raw[place] = wilcoxon(values[a], values[b]).pvalue
    matrix = np.ones((len(values), len(values)))
    for (a, b), p in zip(pairs, holm(raw), strict=True):
        matrix[a, b] = matrix[b, a] = p
    return matrix


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Adjust p-values by Holm's step-down.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1)\, p_{(j)})

    References: Holm (1979).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def critical_difference(agents: int, tasks: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference of mean ranks.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k+1)}{6 N}}

    References: Demšar (2006), section 3.2.2 and table 5.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range  # slow to import

    q = float(studentized_range.ppf(1 - alpha, agents, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(agents * (agents + 1) / (6 * tasks)))


def cliques(
    ranks: NDArray[np.float64], p: NDArray[np.float64], alpha: float
) -> tuple[tuple[int, ...], ...]:
    """Group agents next to each other in mean rank among which no pair differs, largest groups only.

    >>> p = np.array([[1, 0.5, 0.01], [0.5, 1, 0.3], [0.01, 0.3, 1]])
    >>> cliques(np.array([1.2, 2.0, 2.8]), p, 0.05)
    ((0, 1), (1, 2))
    """
    order = np.argsort(ranks, kind="stable")
    same = p[np.ix_(order, order)] >= alpha
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and same[start:stop, stop].all():
            stop += 1
        if stop - start > 1 and stop > reached:
            groups.append(tuple(int(agent) for agent in order[start:stop]))
            reached = stop
    return tuple(groups)


def _complete(
    results: Results, means: NDArray[np.float64]
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...]]:
    """The tasks on which every agent was observed, and a note on those left out."""
    common = np.isfinite(means).sum(axis=0) == len(means)
    if common.sum() < 2:
        raise InputError(
            f"The tests need 2 tasks on which every agent was observed, and found "
            f"{counted(int(common.sum()), 'such task')}. Leave out agents that miss many tasks."
        )
    tasks = tuple(task for task, kept in zip(results.tasks, common, strict=True) if kept)
    lost = [task for task, kept in zip(results.tasks, common, strict=True) if not kept]
    notes = (
        (f"Tests leave out {counted(len(lost), 'task')} that some agent misses: {listed(lost)}.",)
        if lost
        else ()
    )
    return means[:, common], tasks, notes


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata  # slow to import

    ranks: NDArray[np.float64] = rankdata(-values, axis=0).mean(axis=1)
    return ranks


def _nemenyi(ranks: NDArray[np.float64], tasks: int) -> NDArray[np.float64]:
    from scipy.stats import studentized_range  # slow to import

    agents = len(ranks)
    scale = np.sqrt(agents * (agents + 1) / (6 * tasks))
    distance = np.abs(ranks[:, None] - ranks[None, :]) / scale * np.sqrt(2)
    p: NDArray[np.float64] = np.clip(studentized_range.sf(distance, agents, np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return p
