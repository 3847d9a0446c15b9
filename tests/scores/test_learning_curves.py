"""Learning curves summarised in the ways of papers/001, section 3."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner import InputError, Results
from examiner.results import Scales, TaskScale
from examiner.scores import curves as learning_curves
from examiner.scores import kendall_tau
from examiner.scores.training.checkpoints import (
    best_mean,
    best_reevaluated,
    blocks_of,
    largest_drop,
)
from examiner.scores.training.curves import standing
from examiner.scores.training.episodes import Curve, report_points


def results_of(curves, *, frames=100, **columns):
    """Runs given as {(agent, task, run): scores}; every episode lasts the same number of frames."""
    rows = [
        (agent, task, run, trial, (trial + 1) * frames, score)
        for (agent, task, run), scores in curves.items()
        for trial, score in enumerate(scores)
    ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Results.from_dict(table | columns)


def one_curve(values):
    values = np.asarray(values, dtype=float)
    return Curve(
        np.zeros(len(values), int), np.arange(len(values)), values, np.array([len(values)])
    )


def values_of(curves, run=0):
    names = [summary.name for summary in curves.summaries]
    return dict(zip(names, curves.values[run].tolist(), strict=True))


# ------------------------------------------------------------------ small exact examples


def test_every_summary_of_a_small_run_is_what_one_computes_by_hand():
    # Blocks of two: 1, 5, 9, 3; frames 100 … 800.
    results = results_of({("a", "t", 0): [0, 2, 4, 6, 8, 10, 4, 2]})
    found = values_of(learning_curves(results, points=[400, 800], last=2))
    assert found["training at 400"] == 5.0
    assert found["training at 800"] == 3.0
    assert found["best"] == 9.0
    # Halves (0,4,8,4) and (2,6,10,2): both choose the third block, 8 and 10.
    assert found["best re-evaluated"] == 9.0
    assert found["area under the curve"] == pytest.approx((36 - (0 + 2) / 2) / 7)
    # Falls from 9 to 3, of a range from 1 to 9, which is beyond the noise: 2 × 3.02 × 1.
    assert found["relative drop"] == 0.75
    assert np.isnan(found["evaluation after learning"])


def test_the_largest_drop_is_from_the_best_so_far_not_between_neighbours():
    drop = largest_drop(blocks_of(one_curve([0, 10, 8, 9, 4]), 1))
    assert drop.largest.tolist() == [6.0]
    assert drop.relative.tolist() == [0.6]


@pytest.mark.parametrize(
    "marks",
    [
        [False, False, True, True, False, False, True, True],
        [0, 0, 1, 1, 0, 0, 1, 1],
        [None, None, 0, 0, None, None, 1, 1],
    ],
)
def test_evaluations_are_told_from_training_by_their_column(marks):
    results = results_of(
        {("a", "t", 0): [1, 2, 10, 20, 3, 4, 8, 6]},
        evaluation=marks,
    )
    table = results.to_polars().with_columns(frames=np.array([1, 2, 2, 2, 3, 4, 4, 4]) * 100)
    found = values_of(learning_curves(Results.from_frame(table), last=2, points=[400]))
    assert found["training at 400"] == 3.5
    assert found["evaluation after learning"] == 7.0
    assert found["best"] == 15.0
    assert found["best re-evaluated"] == 15.0  # chosen by 10 (or 20), judged by 20 (or 10)


def test_a_log_of_evaluations_alone_is_a_learning_curve_too():
    results = results_of({("a", "t", 0): [1, 3, 5, 7]}, evaluation=[1, 1, 1, 1])
    found = values_of(learning_curves(results, last=2, points=[400]))
    assert found["evaluation at 400"] == 6.0
    assert found["evaluation after learning"] == 7.0


@pytest.mark.parametrize("numbers", [[0, 0, 1, 1], [4, 4, 5, 5], [True] * 4])
def test_evaluations_may_be_numbered(numbers):
    table = results_of({("a", "t", 0): [1, 3, 5, 9]}, evaluation=numbers).to_polars()
    table = table.with_columns(frames=np.array([100, 100, 200, 200]))
    found = values_of(learning_curves(Results.from_frame(table), points=[200]))
    assert found["evaluation after learning"] == found["best"] == 7.0


def test_an_empty_column_of_evaluation_says_nothing():
    results = results_of({("a", "t", 0): [1, 3]}, evaluation=[None, None])
    assert np.isnan(values_of(learning_curves(results))["evaluation after learning"])


def test_episodes_that_share_their_frames_are_taken_as_evaluations_and_it_is_said():
    table = results_of({("a", "t", 0): [1, 3, 9, 5, 2, 4]}).to_polars()
    table = table.with_columns(frames=np.array([100, 100, 200, 200, 300, 300]))
    curves = learning_curves(Results.from_frame(table), points=[300])
    found = values_of(curves)
    assert found["evaluation after learning"] == 3.0
    assert found["best"] == 7.0
    assert any("No episode of a run is alone on its frame" in note for note in curves.notes)


def test_lower_scores_are_better_where_the_scale_says_so():
    results = results_of({("a", "t", 0): [9, 1, 5, 5], ("b", "t", 0): [8, 8, 8, 8]})
    results = results.with_scales(Scales([TaskScale("t", direction="lower")]))
    curves = learning_curves(results, last=1)
    assert values_of(curves)["best"] == 1.0
    verdicts = curves.verdicts()
    assert verdicts.rank[verdicts.summaries.index("best")].tolist() == [1.0, 2.0]
    assert curves.largest_drop.tolist()[0] == 4.0


# ------------------------------------------------------------------ report points


def test_report_points_are_those_of_the_paper_for_two_hundred_million_frames():
    assert report_points(None, np.array([199_990_000.0])).tolist() == [10e6, 50e6, 100e6, 200e6]
    assert report_points(None, np.array([1e9])).tolist() == [10e6, 50e6, 100e6, 200e6]


def test_report_points_shrink_to_what_half_of_the_runs_reach():
    ends = np.array([1_234_567.0, 1_234_567.0, 10.0])
    assert report_points(None, ends).tolist() == [60e3, 300e3, 600e3, 1.2e6]


def test_runs_that_end_early_have_no_value_at_later_points_and_it_is_said():
    results = results_of({("a", "t", 0): [1.0] * 10, ("a", "t", 1): [2.0] * 3})
    curves = learning_curves(results, points=[300, 1000], last=5)
    np.testing.assert_array_equal(curves.values[:, :2], [[1, 1], [2, np.nan]])
    assert curves.episodes_at_points.tolist() == [[3, 5], [3, 3]]
    assert any("1 of 2 runs do not reach 1,000" in note for note in curves.notes)
    assert any("2 of 2 runs have fewer than 5 episodes by 300" in note for note in curves.notes)


@pytest.mark.parametrize("points", [[], [0], [-5.0], [float("inf")]])
def test_report_points_that_are_no_frames_are_refused(points):
    with pytest.raises(InputError, match=r"report points are .* Give frames above 0"):
        learning_curves(results_of({("a", "t", 0): [1]}), points=points)


def test_a_negative_number_of_episodes_is_refused():
    with pytest.raises(InputError, match="Cannot average the last 0 episodes"):
        learning_curves(results_of({("a", "t", 0): [1]}), last=0)


def test_without_frames_time_is_in_episodes_and_it_is_said():
    table = results_of({("a", "t", 0): [1, 2, 3, 4]}).to_polars().drop("frames")
    curves = learning_curves(Results.from_frame(table), last=2)
    assert curves.unit == "episodes"
    assert curves.points.tolist() == [1.0, 2.0, 4.0]
    assert "There is no column 'frames' or 'steps': time is counted in episodes." in curves.notes


# ------------------------------------------------------------------ properties

scores = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=40)


@given(scores, st.integers(1, 7))
@settings(deadline=None)
def test_the_best_is_never_below_the_last_block_nor_below_its_re_evaluation_of_one_block(played, k):
    blocks = blocks_of(one_curve(played), k)
    assert best_mean(blocks)[0] == max(blocks.mean)
    assert best_mean(blocks)[0] >= blocks.mean[-1]


@given(scores, st.integers(1, 7), st.floats(0.1, 10), st.floats(-100, 100))
@settings(deadline=None)
def test_the_relative_drop_is_a_share_that_units_do_not_change(played, k, factor, shift):
    drop = largest_drop(blocks_of(one_curve(played), k)).relative[0]
    rescaled = largest_drop(blocks_of(one_curve(np.array(played) * factor + shift), k)).relative[0]
    assert np.isnan(drop) or 0 <= drop <= 1
    if not np.isnan(drop) and not np.isnan(rescaled):
        assert rescaled == pytest.approx(drop, rel=1e-3, abs=1e-3)


@given(st.lists(st.floats(0.015625, 100, width=32), min_size=2, max_size=30))
@settings(deadline=None)
def test_a_curve_that_only_rises_never_drops_and_one_that_only_falls_loses_everything(steps):
    rising = np.cumsum(steps)
    assert largest_drop(blocks_of(one_curve(rising), 1)).relative.tolist() == [0.0]
    falling = largest_drop(blocks_of(one_curve(rising[::-1]), 1))
    assert falling.relative.tolist() == [1.0]


def test_permuting_agents_and_rows_permutes_the_answer():
    rng = np.random.default_rng(5)
    runs = {
        (agent, task, run): rng.normal(size=30).cumsum()
        for agent in "abc"
        for task in "tu"
        for run in range(2)
    }
    first = learning_curves(results_of(runs), last=5)
    again = learning_curves(results_of(dict(reversed(runs.items()))), last=5)
    verdicts, turned = first.verdicts(), again.verdicts()
    order = [turned.agents.index(agent) for agent in verdicts.agents]
    np.testing.assert_allclose(turned.standing[:, order], verdicts.standing)
    np.testing.assert_allclose(turned.agreement, verdicts.agreement)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
@settings(deadline=None)
def test_kendalls_tau_is_that_of_scipy(pairs):
    x, y = np.array(pairs, dtype=float).T
    reference = stats.kendalltau(x, y).statistic
    ours = kendall_tau(x, y)
    assert (np.isnan(ours) and np.isnan(reference)) or ours == pytest.approx(reference)


def test_standing_is_the_share_of_agents_beaten():
    cells = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, np.nan]])
    assert standing(cells).tolist() == [0.5, 0.75, 0.0]
    assert np.isnan(standing(np.array([[1.0], [np.nan]]))).all()


# ------------------------------------------------------------------ simulated truth


def test_the_best_is_biased_upward_and_its_re_evaluation_is_not():
    # 30 checkpoints of 20 episodes, all of the same true performance 10, deviation 5.
    rng = np.random.default_rng(1)
    runs, length = 2000, 600
    values = rng.normal(10, 5, size=runs * length)
    curve = Curve(
        np.repeat(np.arange(runs), length), np.tile(np.arange(length), runs), values,
        np.full(runs, length),
    )  # fmt: skip
    blocks = blocks_of(curve, 20)
    biased, fair = best_mean(blocks), best_reevaluated(blocks)
    # The expected maximum of 30 standard normals is 2.0428 (Harter, 1961), in units of 5 / √20.
    assert biased.mean() == pytest.approx(10 + 2.0428 * 5 / np.sqrt(20), abs=0.05)
    assert abs(fair.mean() - 10) < 4 * fair.std() / np.sqrt(runs)


def test_the_re_evaluation_finds_a_truly_better_checkpoint():
    rng = np.random.default_rng(2)
    level = np.repeat([0, 0, 30, 0], 40)
    best = [
        best_reevaluated(blocks_of(one_curve(level + rng.normal(0, 5, 160)), 40))[0]
        for _ in range(200)
    ]
    assert np.mean(best) == pytest.approx(30, abs=4 * 5 / np.sqrt(40 * 200))


def test_a_flat_noisy_curve_is_rarely_taken_for_one_that_plummets():
    rng = np.random.default_rng(3)
    runs, length = 1000, 1000
    values = rng.normal(0, 1, size=runs * length)
    curve = Curve(
        np.repeat(np.arange(runs), length), np.tile(np.arange(length), runs), values,
        np.full(runs, length),
    )  # fmt: skip
    told = ~np.isnan(largest_drop(blocks_of(curve, 50)).relative)
    assert told.mean() <= 0.01


def test_the_summary_changes_the_verdict_where_one_agent_peaks_and_plummets():
    rng = np.random.default_rng(4)
    rise = np.linspace(0, 50, 1000)
    spike = np.concatenate([np.linspace(0, 200, 400), np.linspace(200, 20, 600)])
    runs = {
        (agent, "centipede", run): curve + rng.normal(0, 5, 1000)
        for agent, curve in (("steady", rise), ("spiky", spike))
        for run in range(3)
    }
    verdicts = learning_curves(results_of(runs)).verdicts()
    winner = {
        name: verdicts.agents[int(np.nanargmax(row))]
        for name, row in zip(verdicts.summaries, verdicts.standing, strict=True)
        if not np.isnan(row).all()
    }
    assert winner["training at 100,000"] == "steady"
    assert winner["best"] == winner["area under the curve"] == "spiky"
    assert winner["relative drop"] == "steady"
    end, best = (verdicts.summaries.index(name) for name in ("training at 100,000", "best"))
    assert verdicts.agreement[end, best] == -1.0


def test_agents_on_different_tasks_are_compared_where_they_meet_and_it_is_said():
    results = results_of({("a", "t", 0): [1], ("b", "t", 0): [2], ("b", "u", 0): [3]})
    curves = learning_curves(results)
    assert any("1 cell (agent and task) have no run" in note for note in curves.notes)
    verdicts = curves.verdicts()
    assert verdicts.standing[verdicts.summaries.index("best")].tolist() == [0.0, 1.0]


def test_an_unknown_summary_lists_the_known_ones():
    curves = learning_curves(results_of({("a", "t", 0): [1]}))
    with pytest.raises(InputError, match=r"Unknown summary 'bst'.*Did you mean 'best'"):
        curves.summary("bst")


def test_agents_that_do_not_learn_have_no_learning_curves():
    arena = ex.load("atari-arena")
    curves = learning_curves(arena)
    assert set(curves.agent_names) == {"brute", "sarsa-blob-prost"}
    assert any("10 agents did not learn" in note for note in curves.notes)
    planners = arena.keeping("agent:uct", "agent:iw1")
    with pytest.raises(ex.InputError, match="No agent learnt"):
        learning_curves(planners)


def test_a_cell_says_nothing_before_each_of_its_runs_has_an_episode():
    quick = [(10 * step, 1.0) for step in range(1, 41)]
    slow = [(300, 5.0), (400, 5.0)]
    rows = [
        ("a", "t", run, trial, frames, score)
        for run, episodes in enumerate((quick, slow))
        for trial, (frames, score) in enumerate(episodes)
    ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    log = Results.from_dict(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    curves = learning_curves(log, points=[100, 400], last=100)
    cells = curves.verdicts().cells[:2, 0, 0]
    assert np.isnan(cells[0]) and cells[1] == pytest.approx(3.0)


def test_checkpoints_count_one_by_one_in_learning_curves():
    points = {
        "agent": ["a"] * 199,
        "task": ["t"] * 199,
        "run": [0] * 199,
        "trial": range(199),
        "checkpoint": range(199),
        "frames": [1000 * (number + 1) for number in range(199)],
        "score": [float(number) for number in range(199)],
    }
    curves = learning_curves(Results.from_dict(points), points=[100_000, 199_000])
    assert curves.values[0, :2].tolist() == [99.0, 198.0]
    assert curves.summary("best").tolist() == [198.0]
    assert "the last checkpoint by 199,000 frames" in curves.summaries[1].meaning
