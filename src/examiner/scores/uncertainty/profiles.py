"""Performance profiles: the share of runs, or of tasks, that score above each value, with bands."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only
from examiner.results import Results
from examiner.scores.uncertainty.bootstrap import Map, Progress, quantiles
from examiner.scores.uncertainty.plan import Interval, no_interval, uncorrected_plan
from examiner.scores.uncertainty.resampling import Block, Sample, Unit, observed
from examiner.scores.uncertainty.strata import RunScores, run_scores, same_sign
from examiner.scores.uncertainty.weighted import task_means, task_total
from examiner.wording import InputError, unknown_name

Kind = Literal["runs", "averages"]
KINDS: tuple[Kind, ...] = get_args(Kind)
POINTS = 101


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """The share of runs (or task averages) above each threshold; arrays [agents, thresholds].

    Bands are pointwise: they hold at each threshold, not at all of them together. NaN: no band.
    """

    agents: tuple[str, ...]
    thresholds: NDArray[np.float64]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    kind: Kind
    unit: Unit
    interval: Interval
    level: float
    reps: int
    notes: tuple[str, ...]


def profiles(
    results: Results,
    thresholds: Sequence[float] | NDArray[np.float64] | None = None,
    kind: Kind = "runs",
    *,
    rng: np.random.Generator,
    reps: int = 2000,
    unit: Unit = "runs",
    interval: Interval = "rescaled",
    level: float = 0.95,
    measure: str | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> Profiles:
    r"""Say how large a share of an agent's scores lies above each threshold.

    .. math:: \hat F(\tau) = \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i [x_{ti} > \tau]
              \qquad \text{or} \qquad \frac{1}{T} \sum_t [\bar x_t > \tau]

    Thresholds default to the quantiles of all agents' scores.

    References: Agarwal et al. (2021), section 4.2; Dolan & Moré (2002).

    >>> results = Results.from_numpy([[[0.0, 1.0], [1.0, 2.0]]])
    >>> profiles(results, [-1.0, 0.5, 2.0], rng=np.random.default_rng(0)).share
    array([[1.  , 0.75, 0.  ]])
    """
    refusal = "Profiles have no 'bca' bands."
    plan = uncorrected_plan(refusal, reps, unit, interval, level)
    if kind not in KINDS:
        raise unknown_name("kind of profile", kind, KINDS)
    same_sign(results, measure)
    scores = run_scores(results, measure)
    marks = _thresholds(scores, thresholds)
    share_of = partial(_shares, thresholds=marks, kind=kind)
    reason = no_interval(scores, unit)
    share, low, high = np.full((3, len(scores.agents), len(marks)), np.nan)
    entropy = rng.integers(0, 1 << 32, size=4).tolist()
    for agent, strata in enumerate(scores.strata):
        if progress:
            progress("profiles", agent, len(scores.agents))
        if len(strata.tasks):
            share[agent] = share_of(observed(strata))[:, 0]
            if reason is None:
                # One agent at a time bounds the memory; the same seed, as streams go by name
                evaluate = partial(_of_agent, agent=agent, share_of=share_of)
                again = np.random.default_rng(entropy)
                drawn = plan.replicates(scores, evaluate, again, map=map)
                low[agent], high[agent] = quantiles(drawn, level)
    for array in (marks, share, low, high):
        read_only(array)
    notes = scores.notes if reason is None else (*scores.notes, reason)
    return Profiles(
        results.agents, marks, share, low, high, kind, unit, interval, level, reps, notes
    )


def _thresholds(
    scores: RunScores, thresholds: Sequence[float] | NDArray[np.float64] | None
) -> NDArray[np.float64]:
    if thresholds is None:
        seen = np.concatenate([one.scores[one.present] for one in scores.strata])
        if not len(seen):
            raise InputError("No agent has any score, so that there is no profile to draw.")
        return np.unique(np.quantile(seen, np.linspace(0, 1, POINTS)))
    marks = np.array(thresholds, dtype=np.float64).ravel()
    if not len(marks) or not np.isfinite(marks).all():
        raise InputError(
            "Thresholds must be finite numbers, at least one. Give some, as [0, 0.5, 1]."
        )
    return np.sort(marks)


def _of_agent(
    block: Block, agent: int, share_of: partial[NDArray[np.float64]]
) -> NDArray[np.float64]:
    return share_of(block.sample(agent))


def _shares(sample: Sample, thresholds: NDArray[np.float64], kind: Kind) -> NDArray[np.float64]:
    """The share above each threshold, shape [thresholds, replicates]."""
    if kind == "runs":
        return _run_shares(sample, thresholds)
    means = task_means(sample)
    times = 1.0 if sample.times is None else sample.times
    sums = np.array([((means > mark) * times).sum(axis=0) for mark in thresholds])
    return _divided(sums, task_total(sample))


def _run_shares(sample: Sample, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    tasks, runs, replicates = sample.weights.shape
    weights = sample.weights.reshape(tasks * runs, replicates)
    # Scores join the sum from the highest threshold down: each is added once.
    below = np.searchsorted(thresholds, sample.scores.ravel(), side="left")
    above, sums = np.zeros(replicates), np.zeros((len(thresholds), replicates))
    for mark in range(len(thresholds), 0, -1):
        for place in np.flatnonzero(below == mark).tolist():
            above += weights[place] / sample.draws[place // runs]
        sums[mark - 1] = above
    return _divided(sums, task_total(sample))


def _divided(sums: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.full(sums.shape, np.nan)
    np.divide(sums, total, out=shares, where=total > 0)
    return shares
