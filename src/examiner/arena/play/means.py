"""What runs come to together: means, differences and ratios, with intervals that count runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number
from examiner.arena.job import Flavour
from examiner.arena.play.runner import FailedJob, FailedJobs, failed_jobs
from examiner.messages import InputError, counted, listed
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
    for variant, run, score in zip(variants, columns["run"], columns["score"], strict=True):
        scores.setdefault(variant, {}).setdefault(run, []).append(score)
    return {
        variant: {run: float(np.mean(played[-(window or 0) :])) for run, played in runs.items()}
        for variant, runs in scores.items()
    }


class StickyContrasts(Table):
    """Scores without and with sticky actions, one row per agent and flavour of a game.

    Intervals are Student's for means, Welch's for the loss and Fieller's for the share that is left. A
    bound is NaN with fewer than two runs, and where all runs are equal.
    """

    agent: tuple[str, ...] = name("Agent")
    game: tuple[str, ...] = name("Game")
    flavour: tuple[str, ...] | None = name("Mode and difficulty of the game", default=None)
    left: Floats = number("Share of the score that is left with sticky actions")
    left_low: Floats = bound("left", "low")
    left_high: Floats = bound("left", "high")
    deterministic: Floats = number(
        "Mean score over runs without sticky actions", unit="score", title="ς = 0"
    )
    sticky: Floats = number("Mean score over runs with sticky actions", unit="score")
    loss: Floats = number("Score lost with sticky actions", unit="score")
    loss_low: Floats = bound("loss", "low")
    loss_high: Floats = bound("loss", "high")
    deterministic_low: Floats = bound("deterministic", "low")
    deterministic_high: Floats = bound("deterministic", "high")
    sticky_low: Floats = bound("sticky", "low")
    sticky_high: Floats = bound("sticky", "high")
    deterministic_runs: NDArray[np.int64] = count("Runs without sticky actions", title="runs")
    sticky_runs: NDArray[np.int64] = count("Runs with sticky actions")


class Contrast(NamedTuple):
    """Means over runs without and with sticky actions, their difference and their ratio."""

    deterministic: RunsMean
    sticky: RunsMean
    loss: RunsMean
    left: RunsMean


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProbedPlan(Answer):
    """Scores without and with sticky actions of every agent and flavour: `probe`, `contrasts`.

    `failures` are the jobs that failed, which count as no runs; `failed` is their table.
    """

    kind = "probed-plan"

    contrasts: StickyContrasts
    failures: tuple[FailedJob, ...] = ()
    sticky_probability: float | None = None
    window: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> FailedJobs:
        """The failed jobs as a table."""
        return failed_jobs(self.failures)

    @property
    def headline(self) -> str:
        """In how many cells sticky actions cost a significant part of the score."""
        known = int(np.isfinite(self.contrasts.loss_low).sum())
        if not known:
            return "There are too few runs for an interval of the score lost with sticky actions."
        lower = int((self.contrasts.loss_low > 0).sum())
        return (
            f"Sticky actions significantly lower the score in {lower:,} of "
            f"{counted(known, 'combination')} of agent and game (95 % intervals over runs)."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The contrasts, and the jobs that failed."""
        return {"contrasts": self.contrasts, "failed": self.failed}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The probability of sticky actions, and how many last episodes of a run were averaged."""
        return {
            "sticky_probability": self.sticky_probability,
            "window": self.window,
            "resampled": "runs",
        }


def contrast_of(deterministic: Sequence[float], sticky: Sequence[float]) -> Contrast:
    """Return the contrast of two sets of runs.

    >>> contrast_of([4.0, 4.0], [1.0, 1.0]).left.mean
    0.25
    """
    return Contrast(
        mean_of_runs(deterministic),
        mean_of_runs(sticky),
        difference_of_runs(deterministic, sticky),
        ratio_of_runs(sticky, deterministic),
    )


def contrast_table(contrasts: Mapping[Variant, Contrast]) -> StickyContrasts:
    """Return contrasts by agent, game, mode and difficulty as a table.

    >>> table = contrast_table({("brute", "pong", 0, 0): contrast_of([4.0, 4.0], [1.0, 2.0])})
    >>> table["brute", "pong"].flavour, table["brute", "pong"].loss
    ('0/0', 2.5)
    """
    flavours = [Flavour(*variant[2:]).short for variant in contrasts]
    estimates: dict[str, Any] = {}
    for field in Contrast._fields:
        estimates |= interval_columns(field, [getattr(each, field) for each in contrasts.values()])
    return StickyContrasts(
        agent=[variant[0] for variant in contrasts],
        game=[variant[1] for variant in contrasts],
        flavour=flavours if any(flavours) else None,
        **estimates,
        deterministic_runs=[contrast.deterministic.runs for contrast in contrasts.values()],
        sticky_runs=[contrast.sticky.runs for contrast in contrasts.values()],
        caption="Scores without and with sticky actions, with 95 % intervals over runs",
    )


def equal_runs_note(contrasts: Sequence[Contrast]) -> tuple[str, ...]:
    """Return a note where estimates have no interval because all their runs are equal.

    >>> equal_runs_note([contrast_of([4.0, 4.0], [1.0, 2.0])])
    ('1 mean of several runs has no interval, because all its runs are equal.',)
    """
    equal = sum(part.is_equal for each in contrasts for part in (each.deterministic, each.sticky))
    if not equal:
        return ()
    has, its = ("has", "its") if equal == 1 else ("have", "their")
    mean = "mean" if equal == 1 else "means"
    return (
        f"{equal:,} {mean} of several runs {has} no interval, because all {its} runs are equal.",
    )


def contrasts(deterministic: Results, sticky: Results, *, window: int = 100) -> ProbedPlan:
    """Compare scores without and with sticky actions: the mean of each run's last episodes.

    Agents, games, modes and difficulties are those of both results; `window` is the number of last
    episodes, as in the protocol (Machado et al. 2018, section 3.4).

    >>> from examiner.datasets import load
    >>> answer = contrasts(load("atari-arena-deterministic"), load("atari-arena"))
    >>> brute = answer["brute", "asterix"]
    >>> brute.deterministic_runs, brute.sticky_runs, brute.left < 0.8
    (1, 5, True)
    """
    if not isinstance(window, int) or window < 1:
        raise InputError(f"The window is {window!r}. Give a number of episodes, at least 1.")
    without, with_sticky = (means_of_runs(results, window) for results in (deterministic, sticky))
    shared = {
        variant: contrast_of(list(runs.values()), list(with_sticky[variant].values()))
        for variant, runs in without.items()
        if variant in with_sticky
    }
    if not shared:
        raise InputError(
            "No agent played the same variant of a game without and with sticky actions. Give results of "
            "the same agents and games, with mode and difficulty in both or in neither."
        )
    notes = equal_runs_note(list(shared.values()))
    return ProbedPlan(contrast_table(shared), window=window, notes=notes)
