"""Agents compared in pairs: exact tests, intervals that hold, and several tests corrected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.scores import (
    Discordance,
    compare,
    difference_of,
    newcombe,
    run_scores,
    usual_unit,
)


def difference(results: ex.Results, a: str, b: str, unit=None, **options):
    """Compare two agents, in the unit that suits the table."""
    scores = run_scores(results, **options)
    return difference_of(scores.of(a), scores.of(b), unit=unit or usual_unit(scores))


def test_mcnemars_test_is_scipys_exact_sign_test():
    for only_a, only_b in [(12, 2), (5, 5), (0, 7), (30, 41)]:
        won = np.zeros((2, 80))
        won[0, :only_a] = won[1, only_a : only_a + only_b] = 1
        results = ex.Results.from_numpy(won, agents=["a", "b"])
        expected = stats.binomtest(only_a, only_a + only_b).pvalue
        assert difference(results, "a", "b").p == pytest.approx(expected)


def test_the_paired_interval_is_that_of_the_paper():
    """Newcombe (1998), Table II, method 10."""
    assert newcombe(Discordance(36, 12, 2, 0)) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_the_paired_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.2, 0.1, 0.2])
    truth, covered = shares[1] - shares[2], 0
    for counts in rng.multinomial(60, shares, size=2000):
        low, high = newcombe(Discordance(*counts.tolist()))
        covered += low <= truth <= high
    assert 0.935 <= covered / 2000 <= 0.97


def test_an_interval_that_excludes_zero_beside_an_insignificant_test_is_explained():
    """The exact sign test of 5 and 0 has p = 2 / 2⁵; of 8 and 0 both agree."""
    for only_a, explained in ((5, True), (8, False)):
        won = np.zeros((2, 10))
        won[0, :only_a] = 1
        made = compare(
            ex.Results.from_numpy(won, agents=["a", "b"]),
            "a",
            ["b"],
            rng=0,
            reps=50,
            normalise=None,
        )
        assert made.pairs[0].difference_low > 0
        assert any("excludes 0" in note for note in made.all_notes) == explained


def test_swapping_the_agents_turns_everything_round():
    rng = np.random.default_rng(1)
    table = ex.Results.from_numpy(rng.random((2, 9, 3)), agents=["a", "b"])
    (one,), (other,) = (
        compare(table, first, second, rng=0, reps=200, normalise=None).pairs
        for first, second in ("ab", "ba")
    )
    assert one.difference == pytest.approx(-other.difference)
    assert (one.difference_low, one.difference_high) == pytest.approx(
        (-other.difference_high, -other.difference_low)
    )
    assert one.p == pytest.approx(other.p)
    assert one.probability == pytest.approx(1 - other.probability)


def test_the_test_over_tasks_is_scipys_and_several_are_corrected():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(3, 12)) + np.array([[0.0], [0.8], [0.2]])
    table = ex.Results.from_numpy(scores, agents=["a", "b", "c"])
    made = compare(table, "a", ["b", "c"], rng=0, reps=100, normalise=None).pairs
    raw = [stats.ttest_rel(scores[0], scores[other]).pvalue for other in (1, 2)]
    assert [pair.p for pair in made] == pytest.approx(raw)
    smallest = int(np.argmin(raw))
    assert made[smallest].p_adjusted == pytest.approx(min(1.0, 2 * raw[smallest]))


@pytest.mark.parametrize(
    ("agent", "others", "message"),
    [("a", [], "Nobody is named"), ("a", ["a"], "named twice"), ("a", ["x"], "Unknown agent 'x'")],
)
def test_odd_choices_are_refused(agent, others, message):
    table = ex.Results.from_numpy(np.ones((2, 3)), agents=["a", "b"])
    with pytest.raises(ex.InputError, match=message):
        compare(table, agent, others, rng=0, normalise=None)


def trials(won: np.ndarray, agents: tuple[str, str] = ("new", "old")) -> ex.Results:
    """Results of one run per cell with several trials of 0 or 1, [agents, tasks, trials]."""
    agent, task, trial = (axis.ravel() for axis in np.indices(won.shape))
    table = {
        "agent": [agents[row] for row in agent],
        "task": [f"t{row}" for row in task],
        "run": 0 * trial,
        "trial": trial,
        "success": won.ravel().astype(float),
    }
    return ex.Results.from_dict(table, measures=["success"])


def test_several_trials_per_task_are_compared_by_the_mean_they_are_told_by():
    won = np.zeros((2, 20, 5))
    won[0, :, :4], won[1, :, :1] = 1, 1
    (found,) = compare(trials(won), "new", ["old"], rng=0, reps=100, normalise=None).pairs
    assert found.difference == pytest.approx(0.6)
    assert "only_a" not in found
    assert 0.4 < found.difference_low < 0.6 < found.difference_high < 0.8
    assert found.p < 1e-6


def test_trials_are_compared_as_scipy_compares_the_means_of_tasks():
    rng = np.random.default_rng(0)
    won = rng.random((2, 15, 3)) < np.array([0.7, 0.5])[:, None, None]
    (found,) = compare(trials(won), "new", ["old"], rng=0, reps=100, normalise=None).pairs
    x, y = won.mean(axis=2)
    theirs = stats.ttest_rel(x, y)
    assert found.p == pytest.approx(theirs.pvalue)
    assert (found.difference_low, found.difference_high) == pytest.approx(
        tuple(theirs.confidence_interval())
    )


def test_one_trial_per_item_keeps_the_exact_test_whatever_other_agents_have():
    rng = np.random.default_rng(3)
    won = (rng.random((3, 12)) < 0.6).astype(float)
    rows = [(f"a{agent}", f"t{task}", won[agent, task]) for agent in range(3) for task in range(12)]
    rows.append(("a2", "t0", 1.0))  # a second trial, of another agent
    agent, task, success = zip(*rows, strict=True)
    table = {"agent": agent, "task": task, "success": success}
    results = ex.Results.from_dict(table, measures=["success"])
    one, other = compare(results, "a0", ["a1", "a2"], rng=0, reps=100, normalise=None).pairs
    assert one.test == "McNemar's exact test" and np.isfinite(one.only_a)
    assert np.isnan(other.only_a)


def test_several_runs_are_compared_over_runs_unless_tasks_are_asked_for():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(2, 1, 5)) + np.array([0.0, 1.0])[:, None, None]
    table = ex.Results.from_numpy(values, agents=["a", "b"])
    (found,) = compare(table, "a", ["b"], rng=0, reps=100, normalise=None).pairs
    theirs = stats.ttest_ind(values[0, 0], values[1, 0], equal_var=False)
    assert found.unit == "runs"
    assert found.p == pytest.approx(theirs.pvalue)
    assert (found.difference_low, found.difference_high) == pytest.approx(
        tuple(theirs.confidence_interval())
    )
    several = ex.Results.from_numpy(rng.normal(size=(2, 8, 5)), agents=["a", "b"])
    over = compare(several, "a", ["b"], rng=0, reps=100, unit="tasks", normalise=None)
    expected = stats.ttest_rel(over.tasks.mean_a, over.tasks.mean_b).pvalue
    assert over.pairs[0].p == pytest.approx(expected)


def test_single_runs_are_not_compared_over_runs():
    table = ex.Results.from_numpy(np.eye(2, 5) + 0.5, agents=["a", "b"])
    with pytest.raises(ex.InputError, match="hold a single run"):
        compare(table, "a", ["b"], rng=0, unit="runs", normalise=None)


@pytest.mark.parametrize(
    ("tasks", "count"),
    [
        (20, 5),
        *(
            pytest.param(tasks, count, marks=pytest.mark.slow)
            for tasks in (10, 20, 50, 200)
            for count in (1, 3, 5)
        ),
    ],
)
@pytest.mark.parametrize("level", [0.5, 0.85])
def test_intervals_of_trials_hold_the_true_difference_as_often_as_they_say(tasks, count, level):
    """Tasks are drawn from a population in which one agent solves 0.1 more, or equally much."""
    rng, tables = np.random.default_rng(tasks + count), 150
    for truth in (0.0, 0.1):
        covered = 0
        for _ in range(tables):
            of_task = np.clip(level + rng.uniform(-0.15, 0.15, size=tasks), 0, 1)
            shares = np.stack([of_task, of_task - truth])[..., None]
            won = rng.random((2, tasks, count)) < shares
            results = ex.Results.from_numpy(won.mean(axis=2), agents=["a", "b"])
            found = difference(results, "a", "b")
            covered += found.difference_low <= truth <= found.difference_high
            excluded = not found.difference_low <= 0 <= found.difference_high
            if found.items is None:
                assert (found.p < 0.05) == excluded
            else:  # the exact test is conservative: Newcombe's interval may exclude 0 before it
                assert found.p >= 0.05 or excluded
        assert covered / tables >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / tables)


@pytest.mark.parametrize("size", [1e300, 1e-300])
@pytest.mark.parametrize("unit", ["runs", "tasks"])
def test_scores_of_any_size_are_compared_as_those_near_one_are(unit, size):
    values = np.random.default_rng(0).normal(size=(2, 7, 3))
    near, far = (
        compare(
            ex.Results.from_numpy(values * scale, agents=["a", "b"]),
            *("a", ["b"]),
            rng=0,
            reps=50,
            unit=unit,
            normalise=None,
        ).pairs[0]
        for scale in (1.0, size)
    )
    assert far.p == pytest.approx(near.p)
    assert np.array([far.difference_low, far.difference_high]) / size == pytest.approx(
        [near.difference_low, near.difference_high]
    )


@pytest.mark.parametrize("unit", ["runs", "tasks"])
def test_what_could_be_detected_is_no_less_than_the_interval_is_wide(unit):
    """Differences that do not spread are known to the error of rounding, in the interval and the power."""
    won = np.zeros((2, 20, 5))
    won[0, :, :4] = won[1, :, :1] = 1
    if unit == "runs":
        won[:] = won.mean(axis=2, keepdims=True)
    gap = difference(ex.Results.from_numpy(won, agents=["a", "b"]), "a", "b", unit=unit)
    detectable = gap.detectable if unit == "tasks" else gap.detectable_fixed
    assert detectable > (gap.difference_high - gap.difference_low) / 2 > 0


def test_a_comparison_has_one_row_per_pair_and_per_task():
    won = np.array([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0], [1.0] * 9])
    made = compare(
        ex.Results.from_numpy(won, agents=["new", "old", "best"]),
        "new",
        ["old", "best"],
        normalise=None,
    )
    row = made.pairs["new", "old"]
    assert (row.only_a, row.only_b, row.both, row.neither) == (8, 1, 0, 0)
    assert row.difference == pytest.approx(7 / 9) and row.p_adjusted == 2 * row.p
    assert made.tasks["old", "task 1"].difference == 1.0 and len(made.tasks) == 18
    assert made.headline == "new is not significantly different from old and best."
    alone = compare(
        ex.Results.from_numpy(won, agents=["new", "old", "best"]), "new", "old", normalise=None
    )
    assert alone.headline.startswith(
        "new is significantly better than old (difference 0.778, 95 % "
    )
