"""Whether agents differ in their mean on these tasks: runs exchanged between agents within tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.uncertainty.strata import RunScores
from examiner.validation import Floats, Randomness, generator

MOST_DRAWS, FEWEST_DRAWS = 499, 99
_EXCHANGED_RUNS = 20_000_000
"""Runs exchanged in all, about half a second: larger tables get fewer exchanges."""


class Exchanged(NamedTuple):
    """The spread of agents' means, its mean over exchanges, how often they give as much, and how many."""

    statistic: float
    by_chance: float
    p_value: float
    draws: int


def exchange_runs(scores: RunScores, rng: Randomness) -> Exchanged:
    r"""Test whether agents have the same mean on these tasks, by exchanges of runs within each task.

    .. math:: T = \sum_j \frac{M_j^2}{\sum_{t, r} w_{jtr}^2}, \quad
              M_j = \sum_{t, r} w_{jtr} (x_{jtr} - \bar x_t)

    with w what a run counts in the mean of its agent. Where agents are identical, the runs on a task may
    be exchanged between them, so that the test is exact, whatever the distribution of scores.

    References: Fisher (1935), section 21; Good (2005), chapter 3.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> values = np.arange(3.0)[:, None, None] + np.linspace(0, 0.5, 8).reshape(1, 2, 4)
    >>> exchange_runs(run_scores(Results.from_numpy(values)), 0).p_value
    0.002
    """
    rng, agents = generator(rng), len(scores.strata)
    runs = sum(int(one.runs.sum()) for one in scores.strata)
    draws = int(np.clip(_EXCHANGED_RUNS // max(runs, 1), FEWEST_DRAWS, MOST_DRAWS))
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
    seen = whole > 0
    spread = (means[:, seen] ** 2 / whole[seen]).sum(axis=1)
    as_large = spread >= spread[0] * (1 - 1e-9)
    return Exchanged(float(spread[0]), float(spread[1:].mean()), float(as_large.mean()), draws)


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
