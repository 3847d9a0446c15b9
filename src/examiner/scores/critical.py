"""The critical-difference diagram: Nemenyi's test of mean ranks, and groups in which no pair differs."""

from __future__ import annotations

import numpy as np

from examiner.validation import Floats


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


def cliques(ranks: Floats, p: Floats, alpha: float) -> tuple[tuple[int, ...], ...]:
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


def nemenyi(ranks: Floats, tasks: int) -> Floats:
    """P-values of all pairs of mean ranks by Nemenyi's test; [agents, agents].

    >>> nemenyi(np.array([1.0, 2.0]), 8).round(3)
    array([[1.   , 0.005],
           [0.005, 1.   ]])
    """
    from scipy.stats import studentized_range  # slow to import

    agents = len(ranks)
    scale = np.sqrt(agents * (agents + 1) / (6 * tasks))
    distance = np.abs(ranks[:, None] - ranks[None, :]) / scale * np.sqrt(2)
    p: Floats = np.clip(studentized_range.sf(distance, agents, np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return p
