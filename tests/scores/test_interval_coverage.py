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
        ex.Results.from_numpy(scores),
        ["mean", "iqm"],
        rng=rng,
        reps=reps,
        interval=interval,
        normalise=None,
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
    made = ex.scores.intervals(
        ex.Results.from_numpy(scores), "mean", rng=rng, reps=300, normalise=None
    )
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
        found = ex.scores.improvement(results, "a", "b", rng=rng, reps=500, normalise=None)
        held += found.low <= truth <= found.high
    assert 0.91 <= held / 500 <= 0.98


@pytest.mark.parametrize("items", [5, 20, 60])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_intervals_over_few_solved_items_cover(items: int, share: float) -> None:
    # 400 simulations have an error of 1 %; Wilson's own holds 91 to 98 of 100 over such shares
    rng = np.random.default_rng([items, int(100 * share)])
    won = (rng.random((400, items, 1)) < share).astype(float)
    made = ex.scores.intervals(
        ex.Results.from_numpy(won), "mean", rng=rng, reps=200, unit="tasks", normalise=None
    )
    assert np.mean((made.low <= share) & (share <= made.high)) >= 0.92
    assert ((made.low <= made.value) & (made.value <= made.high + 1e-12)).all()
    assert (made.low >= 0).all() and (made.high <= 1).all()


@pytest.mark.parametrize(("solved", "most"), [(18, 1.15), (10, 1.15), (20, 1.0001), (0, 1.0001)])
def test_an_interval_over_twenty_items_is_hardly_wider_than_wilsons(
    solved: int, most: float
) -> None:
    # Student's t for z and 19 for 20 make 1.1, and 2000 resamples err by 2 %; all or none are Wilson's
    won = (np.arange(20) < solved).astype(float).reshape(1, 20, 1)
    made = ex.scores.intervals(
        ex.Results.from_numpy(won), "mean", rng=0, unit="tasks", normalise=None
    )
    low, high = stats.binomtest(solved, 20).proportion_ci(method="wilson")
    assert 0.97 < (made.high[0, 0] - made.low[0, 0]) / (high - low) < most


def test_intervals_over_items_of_unlike_groups_cover_and_are_no_wider_than_without() -> None:
    rng = np.random.default_rng(7)
    chance = np.repeat([0.15, 0.5, 0.97], 10)
    results = ex.Results.from_numpy((rng.random((400, 30, 1)) < chance[:, None]).astype(float))
    groups = tuple(f"g{n // 10}" for n in range(30))
    within = ex.scores.Total(results.tasks, ("group",), (groups,), "macro")
    made = ex.scores.intervals(
        results, "mean", rng=rng, reps=200, unit="tasks", total=within, normalise=None
    )
    plain = ex.scores.intervals(results, "mean", rng=rng, reps=200, unit="tasks", normalise=None)
    truth = chance.mean()
    assert 0.92 <= np.mean((made.low <= truth) & (truth <= made.high)) <= 0.985
    assert (made.high - made.low).mean() < (plain.high - plain.low).mean()


def test_groups_that_are_all_solved_or_all_failed_are_not_certain() -> None:
    won = np.repeat([1.0, 0.0, 1.0], 6).reshape(1, 18, 1)
    results = ex.Results.from_numpy(won)
    within = ex.scores.Total(
        results.tasks, ("group",), (tuple(f"g{n // 6}" for n in range(18)),), "macro"
    )
    made = ex.scores.intervals(results, "mean", rng=0, unit="tasks", total=within, normalise=None)
    low, high = stats.binomtest(12, 18).proportion_ci(method="wilson")
    # known to be less certain than nothing at all, and more than a sample without groups
    assert low < made.low[0, 0] < 2 / 3 - 0.05
    assert 2 / 3 + 0.05 < made.high[0, 0] < high
