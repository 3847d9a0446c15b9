"""Normalisers: contracts over the whole table, equations by hand, other software, papers."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner.scores import NORMALISERS, cell_means, suggested_normaliser

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "ale_published_scores_2018.csv"


def scaled(values: np.ndarray, **anchors: float) -> ex.Results:
    results = ex.Results.from_numpy(values)
    return results.with_scales(
        ex.results.Scales(ex.results.TaskScale(task, **anchors) for task in results.tasks)
    )


tables = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).normal(50, 20, size=(5, 4)).round(1)
)


@pytest.mark.parametrize("name", NORMALISERS)
@given(values=tables)
def test_permuting_agents_permutes_the_answer(name: str, values: np.ndarray) -> None:
    order = [3, 0, 4, 1, 2]
    straight = cell_means(ex.normalise(scaled(values, random=1.0, reference=9.0), name))
    permuted = cell_means(ex.normalise(scaled(values[order], random=1.0, reference=9.0), name))
    np.testing.assert_allclose(permuted, straight[order], rtol=1e-12)


@pytest.mark.parametrize("name", NORMALISERS)
@given(values=tables)
def test_better_stays_better(name: str, values: np.ndarray) -> None:
    values = np.abs(values)  # equation 1 of papers/000 is monotone only for scores above zero
    normalised = cell_means(ex.normalise(scaled(values, random=1.0, reference=9.0), name))
    for task in range(values.shape[1]):
        order = np.argsort(values[:, task], kind="stable")
        assert (np.diff(normalised[order, task]) >= -1e-12).all()


@pytest.mark.parametrize("name", NORMALISERS)
def test_where_lower_is_better_lower_comes_out_higher(name: str) -> None:
    scales = {"random": 90.0, "reference": 10.0, "direction": "lower"}
    normalised = ex.normalise(scaled(np.array([[20.0], [40.0], [80.0]]), **scales), name).measure()
    assert normalised[0] > normalised[1] > normalised[2]


@pytest.mark.parametrize("name", NORMALISERS)
def test_what_is_not_observed_stays_unobserved(name: str) -> None:
    values = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 7.0]])
    normalised = cell_means(ex.normalise(scaled(values, random=1.0, reference=9.0), name))
    np.testing.assert_array_equal(np.isnan(normalised), np.isnan(values))


@pytest.mark.parametrize("name", ["z-score", "min-max", "rank"])
@given(values=tables, scale=st.floats(0.01, 100), shift=st.floats(-100, 100))
def test_the_unit_of_a_score_changes_nothing(
    name: str, values: np.ndarray, scale: float, shift: float
) -> None:
    one = cell_means(ex.normalise(ex.Results.from_numpy(values), name))
    other = cell_means(ex.normalise(ex.Results.from_numpy(values * scale + shift), name))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_human_is_one_and_random_is_zero() -> None:
    results = scaled(np.array([[14.6], [-20.7], [-3.05]]), random=-20.7, reference=14.6)
    np.testing.assert_allclose(ex.normalise(results).measure(), [1.0, 0.0, 0.5], atol=1e-15)


def test_human_names_tasks_whose_reference_is_not_above_random() -> None:
    scales = ex.results.Scales(
        [
            ex.results.TaskScale("pinball", random=20.0, reference=10.0),
            ex.results.TaskScale("pong", random=1.0, reference=2.0),
        ]
    )
    results = ex.Results.from_numpy([[3.0, 3.0]], tasks=["pinball", "pong"])
    with pytest.warns(ex.ExaminerWarning, match=r"no better than random on 'pinball'"):
        normalised = ex.normalise(results.with_scales(scales), "human")
    assert any("'pinball'" in note and "flip" in note for note in normalised.notes)
    assert normalised.measure().tolist() == [1.7, 2.0]


def test_human_leaves_out_and_names_tasks_without_a_scale() -> None:
    results = ex.Results.from_numpy([[3.0, 3.0]], tasks=["mine", "pong"]).with_scales(
        ex.results.Scales([ex.results.TaskScale("pong", random=1.0, reference=2.0)])
    )
    normalised = ex.normalise(results, "human")
    np.testing.assert_array_equal(normalised.measure(), [np.nan, 2.0])
    assert normalised.notes[-1].startswith("1 of 2 tasks have no random and reference score")
    assert "'mine'" in normalised.notes[-1]


def test_human_without_any_scale_says_what_to_do() -> None:
    with pytest.raises(
        ex.InputError, match=r"none of 1 task has one.*with_scales.*atari-human-random"
    ):
        ex.normalise(ex.Results.from_numpy([[1.0]]), "human")


def test_random_only_is_equation_1_of_gomes_and_souza() -> None:
    # Table VI: Alien, DQN 1620 against the random agent's 326.4
    results = ex.load("atari-dqn-family")
    normalised = ex.normalise(results, "random-only").to_polars()
    value = normalised.filter((normalised["agent"] == "dqn") & (normalised["task"] == "alien"))[
        "score"
    ][0]
    assert value == pytest.approx((1620.0 - 326.4) / (1620.0 + 326.4 + 1e-8), rel=1e-12)


def test_random_only_does_not_divide_by_zero_and_warns_of_negative_scores() -> None:
    zero = ex.normalise(scaled(np.array([[0.0]]), random=0.0), "random-only")
    assert zero.measure().tolist() == [0.0]
    with pytest.warns(ex.ExaminerWarning, match=r"absolute values.*'task 1'"):
        ex.normalise(scaled(np.array([[-21.0]]), random=-20.7), "random-only")


def test_z_score_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).lognormal(3, 2, size=(9, 6))
    expected = stats.norm.cdf(stats.zscore(values, ddof=1))
    ours = cell_means(ex.normalise(ex.Results.from_numpy(values), "z-score"))
    np.testing.assert_allclose(ours, expected, atol=1e-14)


def test_z_score_leaves_out_and_names_tasks_on_which_all_are_equal() -> None:
    values = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]])
    normalised = ex.normalise(ex.Results.from_numpy(values), "z-score")
    assert np.isnan(cell_means(normalised)[:, 0]).all()
    assert any("no two observed agents differ" in note for note in normalised.notes)


@pytest.mark.skipif(
    not PUBLISHED.exists(), reason="the published scores are not beside the checkout"
)
def test_z_score_reproduces_the_regularity_of_papers_002() -> None:
    # ltm/R reference: regularity is 1 / population variance of Φ(z) over the 49 games
    reference = Path(__file__).parents[3] / "shared/facts/reference_r/ale_indicators.csv"
    with reference.open() as lines:
        rows = list(csv.DictReader(lines))
    results = ex.read(PUBLISHED)
    normalised = ex.normalise(results, "z-score")
    ours = 1 / cell_means(normalised).var(axis=1)
    for row in rows:
        agent = next(value for name, value in row.items() if name in ("technique", "agent"))
        assert ours[results.agents.index(agent)] == pytest.approx(
            float(row["regularity"]), rel=1e-6
        )


def test_rank_agrees_with_mean_ranks_of_scipy() -> None:
    values = np.random.default_rng(2).integers(0, 4, size=(7, 5)).astype(float)
    expected = (stats.rankdata(values, axis=0) - 1) / 6
    np.testing.assert_allclose(
        cell_means(ex.normalise(ex.Results.from_numpy(values), "rank")), expected, atol=1e-15
    )


def test_each_trial_is_ranked_among_the_other_agents_means() -> None:
    results = ex.Results.from_numpy([[[1.0, 5.0]], [[2.0, 2.0]], [[4.0, 4.0]]])
    normalised = ex.normalise(results, "rank")
    # The first agent's trials, 1 and 5, against the others' means 2 and 4.
    assert normalised.measure()[:2].tolist() == [0.0, 1.0]


def test_trials_are_placed_on_the_scale_of_agents_means() -> None:
    results = ex.Results.from_numpy([[[0.0, 20.0]], [[20.0, 40.0]]])  # means 10 and 30
    placed = ex.normalise(results, "min-max").measure()
    np.testing.assert_allclose(placed, [-0.5, 0.5, 0.5, 1.5], rtol=1e-12)


@pytest.mark.parametrize("name", ["z-score", "min-max", "rank"])
def test_comparing_one_agent_with_itself_is_refused(name: str) -> None:
    with pytest.raises(ex.InputError, match=r"there is only 1\. Add agents"):
        ex.normalise(ex.Results.from_numpy([[1.0, 2.0]]), name)


def test_unknown_normalisers_are_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ex.InputError, match=r"Unknown normaliser 'humna'. Did you mean 'human'\?.*'z-score'"
    ):
        ex.normalise(ex.Results.from_numpy([[1.0]]), "humna")


def test_a_function_is_taken_where_a_name_is() -> None:
    results = ex.normalise(ex.Results.from_numpy([[2.0]]), lambda scores: scores.values * 3)
    assert results.measure().tolist() == [6.0]
    with pytest.raises(ex.InputError, match=r"returned shape \(2,\) for 1 rows"):
        ex.normalise(ex.Results.from_numpy([[2.0]]), lambda scores: np.zeros(2))


def test_scales_are_used_up_and_the_step_is_told() -> None:
    results = scaled(np.array([[3.0]]), random=1.0, reference=3.0)
    normalised = ex.normalise(results, "human")
    assert not normalised.scales
    assert normalised.provenance.steps == (
        "score normalised by 'human' (1.0 = human reference, 0.0 = random)",
    )
    with pytest.raises(ex.InputError, match="needs the random and reference score"):
        ex.normalise(normalised, "human")


def test_levels_of_a_game_share_its_scale() -> None:
    results = ex.Results.from_dict(
        {
            "agent": ["a", "a"],
            "task": ["t", "t"],
            "level": [0, 1],
            "run": [0, 0],
            "score": [2.0, 4.0],
        }
    ).with_scales(ex.results.Scales([ex.results.TaskScale("t", random=0.0, reference=4.0)]))
    assert ex.normalise(results).measure().tolist() == [0.5, 1.0]


def test_the_suggestion_follows_what_is_known() -> None:
    assert suggested_normaliser(ex.load("atari-dqn-family")) == "human"
    assert suggested_normaliser(ex.Results.from_numpy([[0.0], [1.0]])) is None
    assert suggested_normaliser(ex.Results.from_numpy([[30.0, 2.0], [100.0, 0.0]] * 2)) is None
    far = [[3.0, 900.0], [1.0, 700.0], [2.0, 100.0]]
    assert suggested_normaliser(ex.Results.from_numpy(far)) == "z-score"
    assert suggested_normaliser(ex.Results.from_numpy([row[1:] for row in far])) is None
    assert suggested_normaliser(ex.Results.from_numpy(far[:2])) is None
    lower = ex.results.Scales([ex.results.TaskScale("task 1", direction="lower")])
    assert suggested_normaliser(ex.Results.from_numpy(far[:2]).with_scales(lower)) == "z-score"
    assert suggested_normaliser(ex.normalise(ex.Results.from_numpy(far), "log")) is None


@pytest.mark.parametrize("name", ["human", "z-score", "min-max"])
@given(seed=st.integers(0, 2**32 - 1))
def test_agents_of_several_runs_keep_the_order_of_their_means(name: str, seed: int) -> None:
    values = np.random.default_rng(seed).lognormal(0, 1.5, size=(3, 2, 5))
    normalised = cell_means(ex.normalise(scaled(values, random=1.0, reference=9.0), name))
    order = np.argsort(values.mean(axis=2), axis=0)
    assert (np.diff(np.take_along_axis(normalised, order, axis=0), axis=0) >= -1e-12).all()


def test_z_score_of_a_cell_is_that_of_its_mean() -> None:
    values = np.random.default_rng(3).lognormal(0, 1, size=(6, 4, 5))
    expected = stats.norm.cdf(stats.zscore(values.mean(axis=2), ddof=1))
    ours = cell_means(ex.normalise(ex.Results.from_numpy(values), "z-score"))
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_z_score_says_what_two_agents_cannot_show() -> None:
    normalised = ex.normalise(ex.Results.from_numpy([[1.0, 9.0], [2.0, 3.0]]), "z-score")
    assert "With 2 agents a z-score shows who is ahead" in normalised.notes[-1]


@pytest.mark.parametrize("name", ["z-score", "min-max", "rank"])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 4e307])
def test_scores_of_any_size_are_scaled_alike(name: str, size: float) -> None:
    values = np.array([[1.0], [2.0], [3.0], [-4.0]])
    expected = ex.normalise(ex.Results.from_numpy(values), name).measure()
    ours = ex.normalise(ex.Results.from_numpy(values * size), name).measure()
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


# ------------------------------------------------------------------ numbers at the edge


def on_edge(scores: list[float], random: float, reference: float, name: str) -> ex.Results:
    agents = [f"a{number}" for number in range(len(scores))]
    table = {"agent": agents, "task": ["t"] * len(scores), "score": scores}
    scale = ex.results.TaskScale("t", random=random, reference=reference)
    return ex.normalise(ex.Results.from_dict(table, scales=ex.results.Scales([scale])), name)


@pytest.mark.parametrize("ends", [(-1e308, 1e308), (1e308, -1e308)])
def test_a_scale_wider_than_a_number_makes_scores_not_known(ends: tuple[float, float]):
    found = on_edge([0.0, 5.0, 1e308], *ends, "human")
    assert np.isnan(found.measure()).all()
    assert any(
        "further apart than a number can say" in note and "'t'" in note for note in found.notes
    )


def test_a_score_too_large_on_its_scale_is_not_known_and_others_are():
    found = on_edge([1e308, 3.0], 0.0, 1e-3, "human")
    np.testing.assert_array_equal(found.measure(), [np.nan, 3000.0])
    assert "1 value too large for a number on this scale: not known." in found.notes


def test_scores_near_the_largest_number_are_compared_with_random_play():
    np.testing.assert_allclose(on_edge([1.5e308], 0.5e308, 1.0, "random-only").measure(), [0.5])
