"""Permutation tests: how rare an observed table is among its permutations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.runs import RunScores
from examiner.scores.significance import LEVEL
from examiner.validation import Floats, Randomness, generator

MOST_TABLES, FEWEST_TABLES = 100, 20
"""Permuted tables. With fewer than twenty no p-value reaches 5 %."""


class PermutationTest(NamedTuple):
    """A statistic, its mean over permuted tables, its p-value, and the number of permutations."""

    statistic: float
    by_chance: float
    p_value: float
    permutations: int

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.p_value <= LEVEL

    @property
    def words(self) -> str:
        """The p-value in words.

        >>> PermutationTest(1.0, 2.0, 0.25, 100).words
        'p = 0.25, permutation test'
        """
        return f"p = {self.p_value:.2g}, permutation test"


def permutations_of(cells: int) -> int:
    """Return the number of permuted tables with which a table of this many cells is compared.

    >>> permutations_of(400), permutations_of(1_000_000)
    (100, 20)
    """
    return int(np.clip(1_000_000 // max(cells, 1), FEWEST_TABLES, MOST_TABLES))


def share_as_large(values: Floats) -> Floats:
    """Return for each value [tables, …] the share of tables with at least this value, up to rounding.

    >>> share_as_large(np.array([3.0, 1.0, 1.0, 2.0]))
    array([0.25, 1.  , 1.  , 0.5 ])
    """
    flat = values.reshape(len(values), -1)
    shares = np.empty(flat.shape)
    for column in range(flat.shape[1]):
        column_values = flat[:, column]
        least = column_values - 1e-9 * np.abs(column_values)
        below = np.searchsorted(np.sort(column_values), least, side="left")
        shares[:, column] = len(column_values) - below
    return shares.reshape(values.shape) / len(values)


def rarity_of(*statistics: Floats) -> Floats:
    """Return the p-value of each table by the rarest of its statistics, adjusted for their number.

    Statistics have shape [tables], the observed table first: its p-value is exact where the tables
    are exchangeable.

    >>> rarity_of(np.array([9.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 0.0])).tolist()
    [0.25, 1.0, 0.75, 0.5]
    """
    rarest = np.min([share_as_large(statistic) for statistic in statistics], axis=0)
    return share_as_large(-rarest)


def permuted_within_columns(table: Floats, rng: np.random.Generator) -> Floats:
    """Return a table with the values of each column permuted among its rows; gaps stay where they are.

    >>> permuted_within_columns(np.array([[1.0], [np.nan], [1.0]]), np.random.default_rng(0)).ravel()
    array([ 1., nan,  1.])
    """
    observed = np.isfinite(table)
    keys = np.where(observed, rng.random(table.shape), 2.0)
    mixed = np.take_along_axis(table, np.argsort(keys, axis=0), axis=0)
    rows = np.where(observed, np.cumsum(observed, axis=0) - 1, 0)
    return np.where(observed, np.take_along_axis(mixed, rows, axis=0), np.nan)


def exchange_runs(scores: RunScores, rng: Randomness) -> PermutationTest:
    r"""Test whether agents have the same mean on these tasks, by exchanges of runs within each task.

    .. math:: T = \sum_j \frac{M_j^2}{\sum_{t, r} w_{jtr}^2}, \quad
              M_j = \sum_{t, r} w_{jtr} (x_{jtr} - \bar x_t)

    with w what a run counts in the mean of its agent. Where agents are identical, the runs on a task may
    be exchanged between them, so that the test is exact, whatever the distribution of scores.

    References: Fisher (1935), section 21; Good (2005), chapter 3.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> values = np.arange(3.0)[:, None, None] + np.linspace(0, 0.5, 8).reshape(1, 2, 4)
    >>> exchange_runs(run_scores(Results.from_numpy(values)), 0).p_value
    0.002
    """
    rng, agents = generator(rng), len(scores.strata)
    runs = sum(int(one.runs.sum()) for one in scores.strata)
    draws = int(np.clip(20_000_000 // max(runs, 1), 99, 499))  # half a second at most
    means, whole = np.zeros((draws + 1, agents)), np.zeros(agents)
    for values, agent, weight in _by_task(scores):
        off = values - values.mean()
        # Sorted, so that the same exchanges are drawn whatever the order of runs.
        drawn = rng.permuted(np.broadcast_to(np.sort(off), (draws, len(off))), axis=1)
        counted = np.zeros((len(off), agents))
        counted[np.arange(len(off)), agent] = weight
        means[0] += off @ counted
        means[1:] += drawn @ counted
        whole += (counted**2).sum(axis=0)
    observed = whole > 0
    spread = (means[:, observed] ** 2 / whole[observed]).sum(axis=1)
    as_large = spread >= spread[0] * (1 - 1e-9)
    return PermutationTest(
        float(spread[0]), float(spread[1:].mean()), float(as_large.mean()), draws
    )


def _by_task(scores: RunScores) -> list[tuple[Floats, np.ndarray, Floats]]:
    """For each task its runs' scores, whose they are, and what each counts in the mean of its agent.

    Tasks and agents stand in the order of drawing, which is that of their scores.
    """
    order = scores.draw_order
    parts: list[list[tuple[Floats, int, float]]] = [[] for _ in scores.tasks]
    for row in sorted(range(len(scores.strata)), key=order.streams.__getitem__):
        one = scores.strata[row]
        shares = one.shares / np.maximum(one.runs, 1)
        for place, task in enumerate(one.tasks.tolist()):
            parts[task].append((one.scores[place, : one.runs[place]], row, float(shares[place])))
    return [
        (
            np.concatenate([values for values, _, _ in part]),
            np.concatenate([np.full(len(values), row) for values, row, _ in part]),
            np.concatenate([np.full(len(values), share) for values, _, share in part]),
        )
        for part in (parts[task] for task in np.argsort(order.tasks).tolist())
        if len(part) > 1
    ]
