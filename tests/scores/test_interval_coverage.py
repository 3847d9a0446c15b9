"""How often the intervals hold the truth, by simulation."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import examiner as ex

TASKS = 26


def true_values(levels: np.ndarray) -> tuple[float, float]:
    """Mean and interquartile mean of the mixture of unit normals around the tasks' levels."""

    def distribution(x: float) -> float:
        return float(stats.norm.cdf(x - levels).mean())

    ends = [optimize.brentq(lambda x, p=p: distribution(x) - p, -20, 20) for p in (0.25, 0.75)]
    density = lambda x: x * stats.norm.pdf(x - levels).mean()  # noqa: E731
    return float(levels.mean()), float(integrate.quad(density, *ends)[0] / 0.5)


def coverage(runs: int, simulations: int, reps: int, interval: str = "studentised") -> np.ndarray:
    """The share of simulated data sets whose interval holds the mean, and the IQM."""
    rng = np.random.default_rng(runs)
    levels = rng.normal(size=TASKS)
    scores = levels[None, :, None] + rng.normal(size=(simulations, TASKS, runs))
    made = ex.scores.intervals(  # every simulated data set is an agent of its own
        ex.Results.from_numpy(scores), ["mean", "iqm"], rng=rng, reps=reps, interval=interval
    )
    truth = np.array(true_values(levels))
    return np.mean((made.low <= truth) & (truth <= made.high), axis=0)


@pytest.mark.parametrize("runs", [3, 5])
def test_default_intervals_cover_with_few_normal_runs(runs: int) -> None:
    # 500 simulations have a standard error of 1 %: the bounds are 92 and 97 % widened by one
    held = coverage(runs, simulations=500, reps=500)
    assert (held >= 0.91).all()
    assert (held <= 0.98).all()


def test_percentile_intervals_fall_short_with_three_runs() -> None:
    assert (coverage(3, simulations=500, reps=500, interval="percentile") < 0.915).all()


@pytest.mark.parametrize("shape", [(5, 3), (12, 5)])
def test_default_intervals_cover_with_few_skewed_runs(shape: tuple[int, int]) -> None:
    # Gamma runs of shape 2, task levels apart; percentiles hold the mean 85 and 92 times of 100
    rng = np.random.default_rng(11)
    levels = np.exp(rng.normal(size=shape[0]))
    scores = levels[None, :, None] * rng.gamma(2.0, 0.5, size=(500, *shape))
    made = ex.scores.intervals(ex.Results.from_numpy(scores), "mean", rng=rng, reps=300)
    held = np.mean((made.low <= levels.mean()) & (levels.mean() <= made.high))
    assert 0.92 <= held <= 0.985
    assert ((made.low <= made.value) & (made.value <= made.high)).all()


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 5, 10])
def test_default_intervals_cover_92_to_97_per_cent(runs: int) -> None:
    held = coverage(runs, simulations=3000, reps=1000)
    assert (held >= 0.92).all()
    assert (held <= 0.97).all()


@pytest.mark.slow
def test_improvement_intervals_cover() -> None:
    rng = np.random.default_rng(5)
    shifts = rng.normal(0.3, 0.5, size=TASKS)
    truth = float(stats.norm.cdf(shifts / np.sqrt(2)).mean())
    held = 0
    for _ in range(500):
        scores = rng.normal(size=(2, TASKS, 5))
        scores[0] += shifts[:, None]
        results = ex.Results.from_numpy(scores, agents=["a", "b"])
        found = ex.scores.improvement(results, "a", "b", rng=rng, reps=500)
        held += found.low <= truth <= found.high
    assert 0.91 <= held / 500 <= 0.98
