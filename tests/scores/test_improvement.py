"""Probability of improvement, and the difference of two agents."""

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.scores import detectable_effect, difference_of, run_scores, usual_unit
from examiner.scores.improvement import honest_bounds


def difference(results: ex.Results, a: str, b: str, unit=None, **options):
    """Compare two agents, in the unit that suits the table."""
    scores = run_scores(results, **options)
    return difference_of(scores.of(a), scores.of(b), unit=unit or usual_unit(scores))


def pair(x: object, y: object) -> ex.Results:
    return ex.Results.from_numpy(np.array([x, y], dtype=float), agents=["a", "b"])


def improvement(results: ex.Results, **options: object):
    return ex.scores.improvement(results, "a", "b", rng=np.random.default_rng(0), **options)


def test_improvement_is_the_mann_whitney_statistic_as_a_share() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, size=(2, 6, 5)).astype(float)
    shares = [stats.mannwhitneyu(a, b).statistic / 25 for a, b in zip(x, y, strict=True)]
    found = improvement(pair(x, y))
    np.testing.assert_allclose(found.tasks.probability, shares)
    assert found.probability == pytest.approx(np.mean(shares))


def test_improvement_equals_a_plain_bootstrap_on_average() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 3, 4))
    found = improvement(pair(x, y), interval="percentile", reps=20_000)
    plain = []
    for _ in range(4000):
        sums = 0.0
        for a, b in zip(x, y, strict=True):
            drawn_a, drawn_b = rng.choice(a, 4), rng.choice(b, 4)
            sums += (drawn_a[:, None] > drawn_b[None, :]).mean()
        plain.append(sums / 3)
    low, high = np.percentile(plain, (2.5, 97.5))
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def test_at_one_the_bound_is_one_sided_and_counts_independent_meetings() -> None:
    found = improvement(pair(np.full((4, 3), 2.0), np.ones((4, 3))))
    assert found.probability == found.high == 1.0
    assert found.low == pytest.approx(0.05 ** (1 / 12))  # 4 tasks × 3 meetings without a run twice
    np.testing.assert_allclose(found.tasks.probability_low, 0.05 ** (1 / 3))
    assert improvement(pair(np.full((4, 3), 2.0), np.ones((4, 3))), unit="tasks").low == (
        pytest.approx(0.05 ** (1 / 4))
    )


def test_at_zero_the_bound_mirrors_that_at_one() -> None:
    found = improvement(pair(np.ones((4, 3)), np.full((4, 3), 2.0)))
    assert (found.probability, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 12))


def test_the_one_sided_bound_holds_for_unlike_tasks() -> None:
    """Whatever the tasks' probabilities, winning every meeting is as rare as the bound says."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        shares = rng.uniform(0.5, 1, size=8)
        if shares.mean() < 0.05 ** (1 / 24):  # below the bound of 8 tasks × 3 meetings
            assert np.prod(shares**3) <= 0.05


def test_wins_and_losses_that_never_change_have_wilsons_interval() -> None:
    x, y = [[2.0, 2.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]
    found = improvement(pair(x, y))
    assert found.probability == 0.5
    expected = stats.binomtest(2, 4).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert honest_bounds(0.5, 0.4, 0.6, 4) == (0.4, 0.6)


def test_nearly_certain_tasks_are_warned_of() -> None:
    x = np.full((5, 2), 2.0)
    y = np.ones((5, 2))
    y[0] = [1.0, 3.0]
    assert any("takes those as certain" in note for note in improvement(pair(x, y)).notes)


def test_one_run_a_cell_offers_tasks() -> None:
    results = pair([[1.0], [3.0], [1.0]], [[0.0], [1.0], [2.0]])
    found = improvement(results, unit="runs")
    assert np.isnan(found.low)
    assert any("'tasks'" in note for note in found.notes)
    usual = improvement(results)
    assert usual.unit == "tasks" and 0 <= usual.low < 2 / 3


def test_only_common_tasks_are_compared() -> None:
    x = [[1.0, 2.0], [5.0, 6.0], [np.nan, np.nan]]
    y = [[0.0, 0.0], [np.nan, np.nan], [1.0, 1.0]]
    found = improvement(pair(x, y))
    assert found.tasks.task == ("task 1",)
    assert found.probability == 1.0


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [("a", "a", "with itself"), ("a", "c", "Unknown agent 'c'")],
)
def test_bad_pairs_are_refused(a: str, b: str, said: str) -> None:
    with pytest.raises(ex.InputError, match=said):
        ex.scores.improvement(pair([[1.0]], [[2.0]]), a, b, rng=np.random.default_rng(0))


def test_agents_without_a_common_task_are_refused() -> None:
    results = pair([[1.0], [np.nan]], [[np.nan], [2.0]])
    with pytest.raises(ex.InputError, match="share no task"):
        improvement(results)
    with pytest.raises(ex.InputError, match="share no task"):
        difference(results, "a", "b")
    matrix = ex.scores.improvement_matrix(results, rng=np.random.default_rng(0))
    assert np.isnan(matrix.probability).all()


def test_improvement_has_no_bca_interval() -> None:
    with pytest.raises(ex.InputError, match="not made for the probability"):
        improvement(pair([[1.0, 2.0]], [[2.0, 1.0]]), interval="bca")


def test_a_matrix_may_hold_some_pairs_only() -> None:
    results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 3)))
    names = results.agents
    matrix = ex.scores.improvement_matrix(
        results, pairs=[(names[0], names[2])], rng=np.random.default_rng(0)
    )
    first, second, third = (matrix.agent_names.index(name) for name in names)
    assert np.isfinite(matrix.probability[first, third])
    assert np.isnan(matrix.probability[first, second])
    with pytest.raises(ex.InputError, match="Unknown agent 'x'"):
        ex.scores.improvement_matrix(results, pairs=[("x", names[0])], rng=np.random.default_rng(0))


def test_paired_error_is_that_of_a_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    found = difference(pair(x[:, None], y[:, None]), "a", "b")
    theirs = stats.ttest_rel(x, y)
    assert found.difference / found.error_paired == pytest.approx(theirs.statistic)
    interval = theirs.confidence_interval()
    assert (found.difference_low, found.difference_high) == pytest.approx(
        (interval.low, interval.high)
    )
    assert found.error_grouped == pytest.approx(found.error_paired)
    assert np.isnan(found.error_of_runs)


def test_detectable_effect_is_the_sum_of_two_quantiles() -> None:
    expected = (stats.t.ppf(0.975, 19) + stats.t.ppf(0.8, 19)) * 0.5
    assert detectable_effect(0.5, 19) == pytest.approx(expected)


def test_a_detectable_effect_is_detected_four_times_in_five() -> None:
    rng = np.random.default_rng(0)
    effect = detectable_effect(1 / np.sqrt(26), 25)
    noise = rng.normal(size=(4000, 26))
    p = stats.ttest_1samp(noise + effect, 0, axis=1).pvalue
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.03)


def test_items_of_one_game_make_a_group() -> None:
    rng = np.random.default_rng(0)
    games, levels = np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)
    shift = rng.normal(size=12)[games]  # all levels of a game move together
    table = {
        "agent": ["a"] * 60 + ["b"] * 60,
        "task": [f"g{game}" for game in games] * 2,
        "level": [*levels, *levels],
        "score": [*(shift + 0.1 * rng.normal(size=60)), *np.zeros(60)],
    }
    found = difference(ex.Results.from_dict(table), "a", "b")
    assert (found.tasks, found.degrees) == (60, 11)
    assert found.error_grouped == pytest.approx(np.std(shift[::5], ddof=1) / np.sqrt(12), rel=0.1)
    assert found.error_grouped > 2 * found.error_paired
    assert found.detectable == pytest.approx(detectable_effect(found.error_grouped, 11))


def test_error_with_tasks_fixed_comes_from_runs_alone() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 10, 4))
    found = difference(pair(x, y), "a", "b")
    expected = np.sqrt(x.var(axis=1, ddof=1).sum() / 4 + y.var(axis=1, ddof=1).sum() / 4) / 10
    assert found.error_of_runs == pytest.approx(expected)
    cells = np.concatenate([x, y]).var(axis=1, ddof=1)
    degrees = cells.sum() ** 2 / (cells**2 / 3).sum()  # Welch–Satterthwaite
    assert found.detectable_fixed == pytest.approx(detectable_effect(expected, degrees))
