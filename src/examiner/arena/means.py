"""Means, differences and ratios of runs, with intervals in which runs are the unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from examiner.arena.gvgai.play import GvgaiPlay
from examiner.arena.job import Job
from examiner.arena.protocol import Protocol
from examiner.ledger import ledger_results
from examiner.messages import InputError, listed
from examiner.results import Results

Variant: TypeAlias = tuple[str, str, int | None, int | None]
"""Agent, game, mode and difficulty; only Atari games have the last two."""
_AnyJob = TypeVar("_AnyJob", bound=Job | GvgaiPlay)


class RunsMean(NamedTuple):
    """A mean and its 95 % interval; bounds are NaN with fewer than two runs, and where all are equal."""

    mean: float
    low: float
    high: float
    runs: int


def interval_columns(
    **estimates: Sequence[RunsMean],
) -> dict[str, Any]:  # Any: arguments of a table
    """Return means and their bounds as columns of a table.

    >>> interval_columns(score=[mean_of_runs([2.0, 2.0])])
    {'score': [2.0], 'score_low': [nan], 'score_high': [nan]}
    """
    parts = {"": "mean", "_low": "low", "_high": "high"}
    return {
        name + end: [getattr(row, part) for row in rows]
        for name, rows in estimates.items()
        for end, part in parts.items()
    }


def mean_of_runs(values: Sequence[float]) -> RunsMean:
    r"""Return the mean over runs and its interval.

    .. math:: \bar{x} \pm t_{n-1} \, s / \sqrt{n}

    >>> mean_of_runs([1.0, 2.0, 3.0])
    RunsMean(mean=2.0, low=-0.48..., high=4.48..., runs=3)
    """
    sample = _Sample.of(values)
    return _estimate(sample.mean, sample)


def difference_of_runs(values: Sequence[float], others: Sequence[float]) -> RunsMean:
    """Return how much higher the first mean is, with Welch's interval: the two spreads may differ.

    >>> difference_of_runs([5.0, 7.0], [1.0, 1.0])
    RunsMean(mean=5.0, low=-7.7..., high=17.7..., runs=2)
    """
    one, other = _Sample.of(values), _Sample.of(others)
    return _estimate(one.mean - other.mean, one, other)


def ratio_of_runs(values: Sequence[float], others: Sequence[float]) -> RunsMean:
    r"""Return the first mean over the second, with Fieller's interval: all r for which

    .. math:: (\bar{x} - r \bar{y})^2 \le t^2 \, (s_x^2 / n_x + r^2 s_y^2 / n_y)

    with Welch's degrees of freedom at the ratio estimated. The ends are NaN where one run cannot tell, or
    where the second mean may be 0, for then no end holds. With two or three normal runs a side the interval
    covered the truth 94 to 98 times of 100 (`benchmarks/ratio_coverage.py`), one without ends counted as
    covering. Where the second sample is relatively ten or twenty times as spread as the first, half to
    three quarters of those of two runs had no ends, and the others covered it 88 and 76 times of 100.

    >>> ratio_of_runs([1.0, 2.0, 3.0], [10.0, 10.0, 10.0])
    RunsMean(mean=0.2, low=-0.048..., high=0.448..., runs=3)
    """
    one, other = _Sample.of(values), _Sample.of(others)
    x, y, runs = one.mean, other.mean, min(one.runs, other.runs)
    if not y or math.isnan(x + y):
        return RunsMean(math.nan, math.nan, math.nan, runs)
    scaled = other._replace(variance=(x / y) ** 2 * other.variance)
    squared = _quantile(one, scaled) ** 2
    bend = y**2 - squared * other.variance
    if not bend > 0:
        return RunsMean(x / y, math.nan, math.nan, runs)
    reach = math.sqrt(max((x * y) ** 2 - (x**2 - squared * one.variance) * bend, 0.0))
    return RunsMean(x / y, (x * y - reach) / bend, (x * y + reach) / bend, runs)


def share_kept(advantage: RunsMean, left: float) -> float:
    r"""Return the share of an advantage over random play that is left elsewhere.

    .. math:: \frac{\bar{x}' - \bar{r}'}{\bar{x} - \bar{r}}

    for means x of the agent and r of random play, with a prime for the scores elsewhere; NaN where the
    interval of the denominator is not above 0, or is not known.

    >>> share_kept(RunsMean(10.0, 8.0, 12.0, 5), 5.0), share_kept(RunsMean(10.0, -2.0, 22.0, 5), 5.0)
    (0.5, nan)
    """
    return left / advantage.mean if advantage.low > 0 else math.nan


class _Sample(NamedTuple):
    """The mean of runs, and the estimated variance of that mean: NaN with fewer than two runs."""

    mean: float
    variance: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> _Sample:
        numbers = np.asarray(values, dtype=float)
        runs = len(numbers)
        mean = float(numbers.mean()) if runs else math.nan
        return cls(mean, float(numbers.var(ddof=1)) / runs if runs > 1 else math.nan, runs)


def _estimate(value: float, *samples: _Sample) -> RunsMean:
    half = _quantile(*samples) * math.sqrt(sum(sample.variance for sample in samples))
    return RunsMean(value, value - half, value + half, min(sample.runs for sample in samples))


def _quantile(*samples: _Sample) -> float:
    """Student's quantile for a sum of means, with the degrees of freedom of Welch and Satterthwaite.

    NaN where a sample has fewer than two runs, or all have equal runs.
    """
    from scipy.special import stdtrit  # scipy takes half a second to import

    variance = sum(sample.variance for sample in samples)
    if not variance > 0:
        return math.nan
    weights = sum(sample.variance**2 / (sample.runs - 1) for sample in samples)
    return float(stdtrit(min(variance**2 / weights, 1e9), 0.975))


def means_of_runs(results: Results, window: int | None = None) -> dict[Variant, dict[int, float]]:
    """Return the mean score of each run's last episodes, or of all, by agent and variant of a game.

    >>> table = {"agent": ["a"] * 3, "task": ["t"] * 3, "run": [0, 0, 4], "trial": [0, 1, 0]}
    >>> means_of_runs(Results.from_dict(table | {"score": [1.0, 3.0, 5.0]}))
    {('a', 't', None, None): {0: 2.0, 4: 5.0}}
    """
    if "score" not in results.measures:
        raise InputError(
            f"The results have no measure 'score'; they have {listed(results.measures)}. Name it so."
        )
    frame = results.to_polars().drop_nulls("score").sort("trial", maintain_order=True)
    columns = frame.to_dict(as_series=False)
    none = [None] * len(frame)
    names = ("agent", "task", "mode", "difficulty")
    variants = zip(*(columns.get(name, none) for name in names), strict=True)
    scores: dict[Variant, dict[int, list[float]]] = {}
    for variant, run, score in zip(variants, columns["run"], columns["score"], strict=True):
        scores.setdefault(variant, {}).setdefault(run, []).append(score)
    return {
        variant: {run: float(np.mean(played[-(window or 0) :])) for run, played in runs.items()}
        for variant, runs in scores.items()
    }


def reported_performance(scores: Sequence[float], protocol: Protocol) -> float:
    r"""Return the mean of a run's last scores of the reported phase.

    .. math:: \bar{x} = \frac{1}{w} \sum_{i = n - w + 1}^{n} x_i

    where w is the number of evaluation episodes at a report point, or of the protocol's window
    where there is no evaluation; fewer where the run has fewer.

    >>> reported_performance([9.0, 1.0, 2.0], Protocol(window_episodes=2))
    1.5
    """
    return float(np.mean(scores[-(protocol.evaluation_episodes or protocol.window_episodes) :]))


def job_scores(
    ledger: Path, jobs: Iterable[_AnyJob], measure: str = "score"
) -> dict[_AnyJob, list[float]]:
    """Return the scores of each job's episodes of the reported phase; jobs without any are left out.

    >>> job_scores(Path("missing.sqlite"), [])
    {}
    """
    by_key = {job.key: job for job in jobs}
    if not by_key:
        return {}
    first = next(iter(by_key.values()))
    phase = first.protocol.reported_phase if isinstance(first, Job) else None
    columns = ledger_results(ledger, phase).to_dict()
    scores: dict[_AnyJob, list[float]] = {}
    for key, score in zip(columns["job"], columns.get(measure, ()), strict=measure in columns):
        if key in by_key and score is not None and not math.isnan(score):
            scores.setdefault(by_key[key], []).append(score)
    return {job: scores[job] for job in by_key.values() if job in scores}


def job_performances(
    ledger: Path, jobs: Iterable[_AnyJob], measure: str = "score"
) -> dict[_AnyJob, float]:
    """Return the reported performance of each job of a ledger; jobs without observed episodes are left out.

    >>> job_performances(Path("missing.sqlite"), [])
    {}
    """
    return {
        job: reported_performance(scores, job.protocol) if isinstance(job, Job) else scores[-1]
        for job, scores in job_scores(ledger, jobs, measure).items()
    }
