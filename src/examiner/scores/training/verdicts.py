"""How the choice of a summary changes the verdict: agents' standing under each, and how they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.cells import ratio
from examiner.scores.comparable import TaskScores
from examiner.scores.normalisers import NORMALISERS
from examiner.validation import Floats


class Verdicts(NamedTuple):
    """Agents under each summary; NaN where a summary says nothing about an agent.

    `cells` has shape [summaries, agents, tasks], `standing` and `rank` [summaries, agents],
    `agreement` [summaries, summaries]. `together` [agents, tasks] is the share of other agents beaten on
    a task, averaged over all summaries but the relative drop, which is no performance.
    """

    summaries: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    cells: Floats
    standing: Floats
    rank: Floats
    agreement: Floats
    together: Floats


def standing(cells: Floats) -> Floats:
    """Share of the other agents that each one beats, averaged over its tasks; ties count half.

    No unit is needed to compare tasks, and agents need not all have the same ones: on a task, the
    observed agents are compared with each other, as the normaliser "rank" does. Shape [agents, tasks]
    in (higher is better), [agents] out; NaN for an agent that never met another.

    >>> standing(np.array([[3.0, 10.0], [2.0, 10.0], [1.0, np.nan]]))
    array([0.75, 0.5 , 0.  ])
    """
    return _mean(shares_beaten(cells), axis=1)


def shares_beaten(cells: Floats) -> Floats:
    """Share of the other agents that each one beats on each task; ties count half. [agents, tasks].

    >>> shares_beaten(np.array([[3.0, 10.0], [2.0, 10.0], [1.0, np.nan]]))
    array([[1. , 0.5],
           [0.5, 0.5],
           [0. , nan]])
    """
    if len(cells) < 2:
        return np.full(cells.shape, np.nan)
    names = [[str(number) for number in range(size)] for size in cells.shape]
    scores = TaskScores.of_cells(cells, *names)
    rank = NORMALISERS["rank"]
    return np.asarray(rank.apply(rank.learn(scores), scores).reshape(cells.shape))


def averaged(shares: Floats) -> Floats:
    """Average shares over summaries where they say anything; [summaries, agents, tasks] in, one table out.

    >>> averaged(np.array([[[0.0, np.nan]], [[1.0, np.nan]]]))
    array([[0.5, nan]])
    """
    return _mean(shares, axis=0)


def _mean(shares: Floats, axis: int) -> Floats:
    return ratio(np.nansum(shares, axis=axis), (~np.isnan(shares)).sum(axis=axis))


def kendall_tau(first: Floats, second: Floats) -> float:
    r"""Kendall's tau-b between two orders of the agents that have both; NaN where one says nothing.

    .. math:: \tau_b = \frac{\sum_{i<j} \operatorname{sgn}(x_i - x_j) \operatorname{sgn}(y_i - y_j)}
              {\sqrt{n_x n_y}}

    n_x and n_y are the numbers of pairs that are not tied. 1 is the same order, −1 the reverse.

    References: Kendall (1945), "The treatment of ties in ranking problems".

    >>> kendall_tau(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    0.3333333333333333
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    pairs = np.triu_indices(int(both.sum()), k=1)
    x, y = (np.round(values[both], 12) for values in (first, second))
    dx, dy = np.sign(x[pairs[0]] - x[pairs[1]]), np.sign(y[pairs[0]] - y[pairs[1]])
    untied = np.sqrt(float((dx != 0).sum()) * float((dy != 0).sum()))
    return float((dx * dy).sum() / untied) if untied else float("nan")


def agreement(standings: Floats) -> Floats:
    """Kendall's tau between each two summaries; shape [summaries, agents] in, square out.

    >>> agreement(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return np.array([[kendall_tau(row, other) for other in standings] for row in standings])
