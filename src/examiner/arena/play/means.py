"""What runs come to together: means, differences and ratios, with intervals that count runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from examiner.messages import InputError, listed
from examiner.results import Results
from examiner.validation import Floats

Variant: TypeAlias = tuple[str, str, int | None, int | None]
"""Agent, game, mode and difficulty; only Atari games have the last two."""

CONFIDENCE = 0.95  # of all intervals, as readers expect them


@dataclass(frozen=True, slots=True)
class RunsMean:
    """A mean and its interval, whose bounds are NaN with fewer than two runs."""

    mean: float
    low: float
    high: float
    runs: int

    @property
    def is_equal(self) -> bool:
        """Whether there are several runs, but all of them are equal: they have no spread to estimate.

        >>> mean_of_runs([2.0, 2.0]).is_equal, mean_of_runs([2.0]).is_equal
        (True, False)
        """
        return self.runs > 1 and self.low == self.high


def interval_columns(
    name: str, estimates: Sequence[RunsMean]
) -> dict[str, Any]:  # Any: arguments of a table
    """Return means and their bounds as columns of a table, without bounds where all runs are equal.

    >>> interval_columns("score", [mean_of_runs([2.0, 2.0])])
    {'score': [2.0], 'score_low': [nan], 'score_high': [nan]}
    """
    bounds = [
        (math.nan, math.nan) if estimate.is_equal else (estimate.low, estimate.high)
        for estimate in estimates
    ]
    return {
        name: [estimate.mean for estimate in estimates],
        f"{name}_low": [low for low, _ in bounds],
        f"{name}_high": [high for _, high in bounds],
    }


def mean_of_runs(values: Sequence[float]) -> RunsMean:
    r"""Return the mean over runs and its interval.

    .. math:: \bar{x} \pm t_{n-1} \, s / \sqrt{n}

    >>> mean_of_runs([1.0, 2.0, 3.0])
    RunsMean(mean=2.0, low=-0.48..., high=4.48..., runs=3)
    """
    numbers = np.asarray(values, dtype=float)
    mean, count = _mean(numbers), len(numbers)
    if count < 2:
        return RunsMean(mean, math.nan, math.nan, count)
    half = _half_width(float(numbers.var(ddof=1)) / count, count - 1)
    return RunsMean(mean, mean - half, mean + half, count)


def difference_of_runs(values: Sequence[float], others: Sequence[float]) -> RunsMean:
    """Return how much higher the first mean is, with Welch's interval: the two spreads may differ.

    >>> difference_of_runs([5.0, 5.0], [1.0, 1.0])
    RunsMean(mean=4.0, low=4.0, high=4.0, runs=2)
    """
    samples = [np.asarray(sample, dtype=float) for sample in (values, others)]
    counts = [len(sample) for sample in samples]
    mean = _mean(samples[0]) - _mean(samples[1])
    if min(counts) < 2:
        return RunsMean(mean, math.nan, math.nan, min(counts))
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    half = _half_width(sum(parts), _welch(parts, counts))
    return RunsMean(mean, mean - half, mean + half, min(counts))


def ratio_of_runs(values: Sequence[float], others: Sequence[float]) -> RunsMean:
    r"""Return the first mean over the second, with Fieller's interval: all r for which

    .. math:: (\bar{x} - r \bar{y})^2 \le t^2 \, (s_x^2 / n_x + r^2 s_y^2 / n_y)

    with Welch's degrees of freedom at the ratio found. The ends are NaN where one run cannot tell, or where
    the second mean may be 0, for then no end holds. With two or three normal runs a side the interval held
    the truth 94 to 98 times of 100 (`benchmarks/ratio_coverage.py`), one without ends counted as holding.
    Where the second sample is relatively ten or twenty times as spread as the first, half to three quarters
    of those of two runs had no ends, and those that had held it 88 and 76 times of 100.

    >>> ratio_of_runs([1.0, 2.0, 3.0], [10.0, 10.0, 10.0])
    RunsMean(mean=0.2, low=-0.048..., high=0.448..., runs=3)
    """
    samples = [np.asarray(sample, dtype=float) for sample in (values, others)]
    counts = [len(sample) for sample in samples]
    (x, y), unknown = map(_mean, samples), RunsMean(math.nan, math.nan, math.nan, min(counts))
    if not y or math.isnan(x + y):
        return unknown
    unknown = RunsMean(x / y, math.nan, math.nan, min(counts))
    if min(counts) < 2:
        return unknown
    above, below = (float(one.var(ddof=1)) / len(one) for one in samples)
    squared = _half_width(1.0, _welch([above, (x / y) ** 2 * below], counts)) ** 2
    bend = y**2 - squared * below
    if bend <= 0:
        return unknown
    reach = math.sqrt(max((x * y) ** 2 - (x**2 - squared * above) * bend, 0.0))
    return RunsMean(x / y, (x * y - reach) / bend, (x * y + reach) / bend, min(counts))


def share_kept(advantage: RunsMean, left: float) -> float:
    r"""Return the share of an advantage over random play that is left elsewhere.

    .. math:: \frac{\bar{x}' - \bar{r}'}{\bar{x} - \bar{r}}

    for means x of the agent and r of random play, with a prime for the scores elsewhere; NaN where the
    interval of the denominator is not above 0, or has no width because all runs are equal.

    >>> share_kept(RunsMean(10.0, 8.0, 12.0, 5), 5.0), share_kept(RunsMean(10.0, -2.0, 22.0, 5), 5.0)
    (0.5, nan)
    """
    return left / advantage.mean if advantage.low > 0 and not advantage.is_equal else math.nan


def _welch(variances: Sequence[float], counts: Sequence[int]) -> float:
    """Degrees of freedom of a sum of estimated variances (Welch and Satterthwaite)."""
    weights = sum(part**2 / (count - 1) for part, count in zip(variances, counts, strict=True))
    return sum(variances) ** 2 / weights if weights else math.inf


def _mean(numbers: Floats) -> float:
    return float(numbers.mean()) if len(numbers) else math.nan


def _half_width(variance: float, degrees: float) -> float:
    from scipy.special import stdtrit  # scipy takes half a second to import

    if not variance:
        return 0.0
    quantile = (1.0 + CONFIDENCE) / 2.0
    return float(stdtrit(min(degrees, 1e9), quantile)) * math.sqrt(variance)


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
    for variant, number, score in zip(variants, columns["run"], columns["score"], strict=True):
        scores.setdefault(variant, {}).setdefault(number, []).append(score)
    return {
        variant: {number: float(np.mean(each[-(window or 0) :])) for number, each in runs.items()}
        for variant, runs in scores.items()
    }
