"""The stratified bootstrap: replicates of any statistic, seeded, in blocks, on any number of workers."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.scores.uncertainty.resampling import Block, Unit, blocks
from examiner.scores.uncertainty.strata import RunScores
from examiner.scores.uncertainty.weighted import Statistic

Progress = Callable[[str, int, int], None]
Map: TypeAlias = Callable[
    [Callable[[Block], NDArray[np.float64]], Iterable[Block]], Iterable[Any]
]  # Any: executors differ in what they call the iterator


def replicate(
    scores: RunScores,
    evaluate: Callable[[Block], NDArray[np.float64]],
    *,
    rng: np.random.Generator,
    reps: int,
    unit: Unit,
    less_one: bool,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> NDArray[np.float64]:
    """Evaluate a statistic on resampled runs, shape [..., reps].

    `evaluate` is given a `Block` and returns its replicates on the last axis. With `less_one`, one
    run fewer than observed is drawn in each stratum: the variance of a mean of n − 1 draws,
    s²(n − 1)/n / (n − 1), is the unbiased s²/n, where n draws fall short of it by (n − 1)/n.

    References: Efron & Tibshirani (1993), chapter 8; Rao & Wu (1988), with m = n − 1,
    at which their rescaling factor is one.

    >>> from functools import partial
    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> from examiner.scores.uncertainty.weighted import mean
    >>> table = run_scores(Results.from_numpy(np.arange(12.0).reshape(1, 3, 4)))
    >>> drawn = replicate(table, partial(each_agent, statistics=(mean,)), unit="runs", less_one=True,
    ...                   reps=100, rng=np.random.default_rng(0))
    >>> drawn.shape
    (1, 1, 100)
    """
    jobs = blocks(scores, unit, less_one, reps, rng)
    parts = []
    for done, part in enumerate(map(evaluate, jobs), start=1):
        parts.append(part)
        if progress:
            progress("resampling", done, len(jobs))
    return np.concatenate(parts, axis=-1)


def each_agent(block: Block, statistics: tuple[Statistic, ...]) -> NDArray[np.float64]:
    """Return every statistic of every agent, shape [agents, statistics, replicates]; NaN if unobserved.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> from examiner.scores.uncertainty.weighted import mean
    >>> table = run_scores(Results.from_numpy(np.ones((1, 2, 2))))
    >>> each_agent(blocks(table, "runs", True, 3, np.random.default_rng(0))[0], (mean,))
    array([[[1., 1., 1.]]])
    """
    agents = block.scores.strata
    values = np.full((len(agents), len(statistics), block.replicates), np.nan)
    for agent, strata in enumerate(agents):
        if len(strata.tasks):
            sample = block.sample(agent)
            for place, statistic in enumerate(statistics):
                values[agent, place] = statistic(sample)
    return values


def quantiles(
    replicates: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends that hold the middle share of the replicates, those that are NaN left out.

    >>> low, high = quantiles(np.arange(101.0), 0.9)
    >>> round(float(low), 9), round(float(high), 9)
    (5.0, 95.0)
    """
    tail = 50 * (1 - level)
    gaps = np.isnan(replicates)
    if not gaps.any():
        low, high = np.percentile(replicates, (tail, 100 - tail), axis=-1)
        return low, high
    ends = np.full((2, *replicates.shape[:-1]), np.nan)
    for place in np.ndindex(replicates.shape[:-1]):
        kept = replicates[place][~gaps[place]]
        if len(kept):
            ends[(slice(None), *place)] = np.percentile(kept, (tail, 100 - tail))
    return ends[0], ends[1]
