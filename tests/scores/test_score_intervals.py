"""Aggregates with intervals: what they are, what is refused, and what is said beside them."""

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.scores import aggregate_named, run_scores, wilson
from examiner.scores.aggregate import iqm, mean
from examiner.scores.intervals import acceleration


def made(scores: object, aggregates: object = "iqm", **options: object):
    options.setdefault("rng", np.random.default_rng(0))
    return ex.scores.intervals(ex.Results.from_numpy(scores), aggregates, **options, normalise=None)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 1), (26, 5), (10, 3), (57, 10), (4, 40)])
def test_point_values_equal_scipy_and_the_published_formulae(shape: tuple[int, int]) -> None:
    scores = normal(1, *shape, seed=sum(shape))
    found = made(scores, ["mean", "median", "iqm", "optimality_gap"], reps=1, unit="tasks").value[0]
    runs = scores[0].T  # [runs, tasks], as rliable has them
    expected = [
        np.mean(np.mean(runs, axis=0)),
        np.median(np.mean(runs, axis=0)),
        stats.trim_mean(runs, proportiontocut=0.25, axis=None),
        1 - np.mean(np.minimum(runs, 1)),
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_trials_are_averaged_within_runs_first() -> None:
    table = {
        "agent": ["a"] * 4,
        "task": ["t"] * 4,
        "run": [0, 0, 0, 1],
        "trial": [0, 1, 2, 0],
        "score": [1.0, 2.0, 3.0, 10.0],
    }
    results = ex.Results.from_dict(table)
    found = ex.scores.intervals(results, "mean", rng=0, interval="rescaled", normalise=None)
    assert found.value[0, 0] == 6.0
    assert (found.low[0, 0], found.high[0, 0]) == (2.0, 10.0)


def test_one_run_a_cell_has_no_run_interval_but_a_sentence_that_offers_tasks() -> None:
    found = made(normal(2, 9), unit="runs")
    assert np.isfinite(found.value).all()
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert any("one run in every cell" in note and "'tasks'" in note for note in found.notes)
    offered = made(normal(2, 9))
    assert offered.unit == "tasks"
    assert (offered.low < offered.value).all()
    assert (offered.value < offered.high).all()


def test_an_interval_never_has_zero_width() -> None:
    found = made(np.ones((1, 5, 4)))
    assert np.isnan(found.low).all()
    assert any("does not make them certain" in note for note in found.notes)


def test_a_single_task_of_wins_and_losses_has_wilsons_interval() -> None:
    found = made([[[1.0, 1.0, 1.0, 1.0, 1.0]]], "mean")
    expected = stats.binomtest(5, 5).proportion_ci(method="wilson")
    assert found.low[0, 0] == pytest.approx(expected.low, abs=1e-12)
    assert found.high[0, 0] == pytest.approx(expected.high, abs=1e-12)


@pytest.mark.parametrize(("wins", "trials"), [(0, 4), (3, 10), (10, 10), (77, 200)])
def test_wilson_equals_scipys(wins: int, trials: int) -> None:
    expected = stats.binomtest(wins, trials).proportion_ci(0.9, method="wilson")
    np.testing.assert_allclose(wilson(wins, trials, 0.9), (expected.low, expected.high), atol=1e-12)


def test_the_default_interval_of_one_symmetric_sample_is_students() -> None:
    scores = np.array([[[-3.0, -1.0, 0.0, 1.0, 3.0]]]) + 7
    found = made(scores, "mean", reps=100_000)
    expected = stats.t.interval(0.95, 4, loc=7, scale=stats.sem(scores[0, 0]))
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx(expected, rel=0.01)


def test_degrees_of_freedom_are_those_of_welch() -> None:
    from examiner.scores import AGGREGATES
    from examiner.scores.intervals import shape_of

    scores = np.full((1, 2, 6), np.nan)
    scores[0, 0], scores[0, 1, :4] = [1.0, 4, 2, 8, 5, 7], [10.0, 30, 20, 50]
    strata = run_scores(ex.Results.from_numpy(scores)).strata[0]
    expected = stats.ttest_ind(scores[0, 0], scores[0, 1, :4], equal_var=False).df
    assert shape_of(AGGREGATES["mean"], strata, "runs", 1.0).degrees == pytest.approx(expected)


def test_skewness_of_a_mean_is_that_of_its_scores_over_root_n() -> None:
    from examiner.scores import AGGREGATES
    from examiner.scores.intervals import shape_of

    scores = np.random.default_rng(3).lognormal(size=(1, 1, 12))
    strata = run_scores(ex.Results.from_numpy(scores)).strata[0]
    unbiased = stats.kstat(scores[0, 0], 3) / stats.kstat(scores[0, 0], 2) ** 1.5
    found = shape_of(AGGREGATES["mean"], strata, "runs", 1.0).skewness
    assert found == pytest.approx(unbiased / np.sqrt(12))


@pytest.mark.parametrize("name", ["mean", "iqm", "optimality_gap"])
@pytest.mark.parametrize("unit", ["runs", "tasks"])
def test_what_runs_add_agrees_with_leaving_them_out(name: str, unit: str) -> None:
    from examiner.scores import AGGREGATES
    from examiner.scores.intervals import shape_of

    strata = run_scores(ex.Results.from_numpy(normal(1, 40, 8))).strata[0]
    known = AGGREGATES[name]
    analytic = shape_of(known, strata, unit, 1.0)
    jackknifed = shape_of(known._replace(contributions=None), strata, unit, 1.0)
    assert analytic.degrees == pytest.approx(jackknifed.degrees, rel=0.1)
    assert analytic.skewness == pytest.approx(jackknifed.skewness, abs=0.05)


@pytest.mark.parametrize("shift", [0.0, -3.0, 100.0])
def test_degrees_of_a_median_over_tasks_do_not_move_with_the_scores(shift: float) -> None:
    from examiner.scores import AGGREGATES
    from examiner.scores.intervals import shape_of

    scores = np.array([[[-2.0, 4.0, 0.0, -2.0], [2.0, 0.0, -2.0, 0.0], [2.0, 0.0, -2.0, 0.0]]])
    strata = run_scores(ex.Results.from_numpy(scores + shift)).strata[0]
    assert shape_of(AGGREGATES["median"], strata, "both", 1.0) == (2.0, 0.0)


def test_the_interval_of_a_small_table_holds_its_iqm() -> None:
    # Five tasks of two runs: a resample of one run each cuts another share of them
    scores = np.array([[[0.1, 0.2], [0.5, 0.7], [0.6, 0.8], [0.9, 0.9], [0.95, 1.0]]])
    found = made(scores, "iqm")
    assert found.low[0, 0] < found.value[0, 0] < found.high[0, 0]


def test_intervals_of_wins_stay_between_0_and_1() -> None:
    wins = np.ones((1, 6, 4))
    wins[0, 0, 0] = 0.0
    found = made(wins, ["mean", "optimality_gap"])
    assert found.low[0, 0] < found.value[0, 0] < found.high[0, 0] <= 1.0
    assert 0.0 <= found.low[0, 1] < found.value[0, 1] < found.high[0, 1]
    # what the mean lacks to 1 has the mean's ends, mirrored
    assert found.low[0, 1] == pytest.approx(1 - found.high[0, 0])


def test_skewed_runs_are_said_beside_means_and_medians() -> None:
    scores = np.random.default_rng(0).lognormal(size=(2, 20, 5))
    said = [note for note in made(scores, ["mean", "median"]).notes if "skewed" in note]
    assert "mean 92 to 94 and median 72 to 92 times in 100" in said[0]
    assert not any("skewed" in note for note in made(scores, "iqm").notes)
    assert not any("skewed" in note for note in made(normal(2, 20, 5), ["mean"]).notes)


def test_variance_of_the_rescaled_bootstrap_is_the_unbiased_one() -> None:
    scores = normal(1, 26, 3)
    found = made(scores, "mean", reps=40_000, interval="rescaled")
    error = np.sqrt((scores.var(axis=2, ddof=1) / 3).sum()) / 26
    half = (found.high - found.low)[0, 0] / 2
    assert half == pytest.approx(1.96 * error, rel=0.03)


def test_uneven_runs_weigh_tasks_alike_and_are_said() -> None:
    scores = np.full((1, 2, 8), np.nan)
    scores[0, 0, :2] = [0.0, 2.0]
    scores[0, 1] = np.arange(8.0) + 10
    found = made(scores, ["mean", "iqm"])
    assert found.value[0, 0] == pytest.approx((1.0 + 13.5) / 2)
    # A quarter of the weight is half of the first task, one of whose runs therefore goes
    assert 2.0 < found.value[0, 1] < 13.5
    assert any("uneven: from 2 to 8" in note for note in found.notes)
    assert np.isfinite(found.low).all()


def test_missing_tasks_and_single_runs_are_said() -> None:
    scores = normal(2, 4, 3)
    scores[0, 1] = np.nan
    scores[1, 2, 1:] = np.nan
    notes = " ".join(made(scores, unit="runs").notes)
    assert "1 agent of 2 lacks some of the 4 tasks" in notes
    assert "single run" in notes
    assert "too narrow" in notes


def test_an_agent_without_any_score_has_none() -> None:
    table = {
        "agent": ["a", "a", "b"],
        "task": ["t"] * 3,
        "run": [0, 1, 0],
        "score": [1.0, 2.0, None],
    }
    found = ex.scores.intervals(
        ex.Results.from_dict(table), "mean", rng=np.random.default_rng(0), normalise=None
    )
    assert np.isnan(found.value[1, 0])
    assert np.isnan(found.low[1, 0])


def test_results_without_any_score_say_so() -> None:
    results = ex.Results.from_numpy([[1.0, 2.0]]).with_measure("score", np.full(2, np.nan))
    found = ex.scores.intervals(results, rng=np.random.default_rng(0), normalise=None)
    assert np.isnan(found.value).all()
    assert "No agent has any score." in found.notes
    for refused in (ex.scores.variance, ex.scores.decision):
        with pytest.raises(ex.InputError, match="No agent has any score"):
            refused(results)
    with pytest.raises(ex.InputError, match="No agent has any score"):
        ex.scores.profiles(results, rng=np.random.default_rng(0), normalise=None)


def test_many_runs_are_counted_by_another_way_and_give_the_same_width() -> None:
    scores = normal(1, 3, 60)
    found = made(scores, "mean", reps=20_000)
    error = np.sqrt((scores.var(axis=2, ddof=1) / 60).sum()) / 3
    assert (found.high - found.low)[0, 0] / 2 == pytest.approx(1.96 * error, rel=0.04)


@pytest.mark.parametrize("unit", ["tasks", "both"])
def test_resampling_tasks_gives_the_error_over_tasks(unit: str) -> None:
    scores = 3 * normal(1, 30, 1, seed=1) + normal(1, 30, 5)
    found = made(scores, "mean", unit=unit, reps=20_000, interval="rescaled")
    means = scores[0].mean(axis=1)
    variance = means.var(ddof=1) / 30
    if unit == "both":  # the runs' noise, which is in the tasks' means already, comes once more
        variance += (scores[0].var(axis=1, ddof=1) / 5).mean() / 30 * 29 / 29
    half = (found.high - found.low)[0, 0] / 2
    assert half == pytest.approx(1.96 * np.sqrt(variance), rel=0.05)
    assert found.unit == unit


def test_weighted_median_of_resampled_tasks_is_the_median_of_the_tasks_drawn() -> None:
    from examiner.scores.aggregate import median
    from examiner.scores.nest import Nest
    from examiner.scores.runs import Sample

    rng = np.random.default_rng(0)
    scores, times = rng.normal(size=(7, 1)), rng.integers(0, 4, size=(7, 50))
    once = np.ones(7, dtype=int)
    drawn = median(Sample(scores, times[:, None, :], once, Nest.flat(7), times))
    expected = [np.median(np.repeat(scores[:, 0], column)) for column in times.T]
    np.testing.assert_allclose(drawn, expected)


def test_bca_counts_resamples_that_equal_the_estimate_as_ties_whatever_rounding_makes_of_them() -> (
    None
):
    won = (np.random.default_rng(0).random((6, 40, 1)) < 0.7).astype(float)
    found = made(won, ["mean", "optimality_gap"], interval="bca", unit="tasks", reps=500)
    np.testing.assert_allclose(found.low[:, 0], 1 - found.high[:, 1])
    np.testing.assert_allclose(found.high[:, 0], 1 - found.low[:, 1])


def test_bca_agrees_with_scipy() -> None:
    scores = np.random.default_rng(3).lognormal(size=(1, 3, 8))
    found = made(scores, "mean", interval="bca", reps=160_000)
    theirs = stats.bootstrap(
        tuple(scores[0]),
        lambda *tasks, axis=-1: np.mean([task.mean(axis=axis) for task in tasks], axis=0),
        method="BCa",
        n_resamples=40_000,
        random_state=np.random.default_rng(4),
    )
    low, high = theirs.confidence_interval
    width = high - low
    assert found.low[0, 0] == pytest.approx(low, abs=0.03 * width)
    assert found.high[0, 0] == pytest.approx(high, abs=0.03 * width)


def test_acceleration_of_a_mean_is_its_skewness_over_six_root_n() -> None:
    scores = np.random.default_rng(3).lognormal(size=(1, 1, 12))
    strata = run_scores(ex.Results.from_numpy(scores)).strata[0]
    expected = stats.skew(scores[0, 0]) / (6 * np.sqrt(12))
    assert acceleration(strata, mean) == pytest.approx(expected)
    assert abs(acceleration(strata, iqm)) < 1


@pytest.mark.parametrize(
    ("shape", "aggregate", "unit", "said"),
    [
        ((1, 4, 5), "median", "runs", "fails for the aggregate 'median'"),
        ((1, 4, 4), "iqm", "runs", "needs 5 runs in every cell, and some have 4"),
        ((1, 4, 5), "iqm", "tasks", "needs 5 tasks"),
        ((1, 9, 5), "iqm", "both", "runs and tasks at once"),
    ],
)
def test_bca_is_refused_in_words(
    shape: tuple[int, ...], aggregate: str, unit: str, said: str
) -> None:
    with pytest.raises(ex.InputError, match=said):
        made(normal(*shape), aggregate, unit=unit, interval="bca")


def test_bca_over_tasks_works() -> None:
    found = made(normal(1, 9, 2), "iqm", unit="tasks", interval="bca")
    assert found.low[0, 0] < found.value[0, 0] < found.high[0, 0]


def test_a_users_function_is_an_aggregate() -> None:
    def solved(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return ((scores > 0)[..., None] * weights).sum((0, 1)) / weights.sum((0, 1))

    scores = normal(2, 6, 4)
    found = made(scores, [solved, "mean"])
    assert found.aggregates == ("solved", "mean")
    solved_shares = np.sort((scores > 0).mean(axis=(1, 2)))[::-1]
    np.testing.assert_allclose(found.value[:, 0], solved_shares, err_msg="best first")
    assert (found.low[:, 0] < found.high[:, 0]).all()


def test_a_users_function_that_returns_another_shape_is_refused() -> None:
    with pytest.raises(ex.InputError, match="returned shape"):
        made(normal(1, 2, 3), lambda scores, weights: np.zeros(2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unit": "games"}, "Unknown unit 'games'"),
        ({"interval": "basic"}, "Unknown interval 'basic'"),
        ({"reps": 0}, "0 replicates"),
        ({"level": 1.0}, "The level is 1.0"),
        ({"aggregates": "iqr"}, "Unknown aggregate 'iqr'. Did you mean 'iqm'"),
        ({"aggregates": []}, "No aggregates"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ex.InputError, match=said):
        made(normal(1, 2, 3), **options)


def test_tasks_where_lower_is_better_are_not_averaged_with_others() -> None:
    scales = ex.results.Scales([ex.results.TaskScale("t", direction="lower")])
    results = ex.Results.from_numpy(normal(1, 1, 3), tasks=["t"]).with_scales(scales)
    with pytest.raises(ex.InputError, match="Lower is better on 't'"):
        ex.scores.intervals(results, rng=np.random.default_rng(0), normalise=None)


def test_names_may_be_written_with_hyphens() -> None:
    assert aggregate_named("Optimality-Gap").name == "optimality_gap"


def test_few_spare_runs_are_warned_of() -> None:
    notes = made(normal(1, 2, 2), interval="rescaled").notes
    assert any("2 spare runs" in note and "'studentised'" in note for note in notes)
    assert not any("spare" in note for note in made(normal(1, 2, 2)).notes)


def test_what_cannot_be_resampled_is_said() -> None:
    assert any("There is one task" in note for note in made(normal(1, 1, 5), unit="tasks").notes)
    assert any("cannot both" in note for note in made(normal(1, 5, 1), unit="both").notes)


@pytest.mark.parametrize("size", [1e299, 1e100, 1e-100, 1e-300])
@pytest.mark.parametrize("unit", ["runs", "tasks"])
def test_intervals_of_scores_of_any_size_are_those_of_scores_near_one(
    unit: str, size: float
) -> None:
    scores, names = normal(4, 7, 3), ["mean", "median", "iqm"]
    near, far = (made(scores * scale, names, unit=unit, reps=100) for scale in (1.0, size))
    for end in ("value", "low", "high"):
        assert getattr(far, end) / size == pytest.approx(getattr(near, end), rel=1e-9)
