"""Bins of difficulty, empirical and expected curves, generality, dominance: properties and edges."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

import examiner as ex
from examiner.irt import (
    Abilities,
    IRTFit,
    ItemParameters,
    Response,
    TaskErrors,
    agent_curves,
    dominance,
    empirical_agent_curves,
    empirical_curves,
    indicator_correlations,
    indicators,
)
from examiner.irt import bins as difficulty_bins
from examiner.irt import curves as task_curves
from examiner.irt import known as known_fit
from examiner.results import ResponseMatrix


def tasks(count: int, seed: int = 0) -> ItemParameters:
    rng = np.random.default_rng(seed)
    return ItemParameters.of(
        [f"t{n}" for n in range(count)],
        rng.normal(1.0, 0.7, count),
        difficulty=rng.normal(size=count),
    )


# ------------------------------------------------------------------ bins


@given(count=st.integers(1, 120), fewest=st.integers(1, 30), seed=st.integers(0, 50))
def test_every_task_that_rewards_the_able_is_in_one_bin_of_enough_tasks(
    count: int, fewest: int, seed: int
) -> None:
    items = tasks(count, seed)
    if not (items.slope >= 0).any():
        return
    bins = difficulty_bins(items, fewest=fewest)
    assert (bins.members.sum(axis=0) == (items.slope >= 0)).all()
    assert bins.counts.min() >= min(fewest, int((items.slope >= 0).sum()))
    assert (np.diff(bins.centre) > 0).all() and (np.diff(bins.edges) > 0).all()


def test_bins_with_too_few_tasks_are_joined_with_the_smaller_neighbour() -> None:
    items = ItemParameters.of(
        list("abcdefg"), np.ones(7), difficulty=[-3, -2.5, -2, 0.1, 1.0, 1.5, 2.0]
    )
    bins = difficulty_bins(items, [-4, -1, 0.5, 1.2, 3], fewest=2)
    assert bins.edges.tolist() == [-4, -1, 1.2, 3]
    assert bins.counts.tolist() == [3, 2, 2]


def test_bins_that_cannot_be_are_refused_in_words() -> None:
    items = tasks(5)
    with pytest.raises(ex.InputError, match="in rising order"):
        difficulty_bins(items, [1.0, 0.0])
    with pytest.raises(ex.InputError, match="Give between 1 and"):
        difficulty_bins(items, 9)
    with pytest.raises(ex.InputError, match="lies between 50 and 60"):
        difficulty_bins(items, [50, 60])
    with pytest.raises(ex.InputError, match="No task has a difficulty"):
        difficulty_bins(ItemParameters.of(["t"], [-1.0], [0.0]))
    with pytest.raises(ex.InputError, match="at least 0 tasks"):
        difficulty_bins(items, fewest=0)


# ------------------------------------------------------------------ indicators


def test_with_one_bin_generality_is_regularity() -> None:
    """papers/002, section II-B: one single bin for all items makes them equal."""
    rng = np.random.default_rng(3)
    items = ItemParameters.of([f"t{n}" for n in range(20)], np.ones(20), rng.normal(size=20))
    matrix = ResponseMatrix.from_array(rng.random((6, 20)) < 0.5, tasks=items.tasks)
    made = indicators(known_fit(items, matrix), bins=1)
    np.testing.assert_allclose(made.generality, made.regularity, rtol=1e-12)


def test_regularity_of_successes_is_a_function_of_their_mean() -> None:
    results = (np.random.default_rng(0).random((5, 30)) < 0.4).astype(float)
    share = results.mean(axis=1)
    made = indicators(fit_of(results.tolist(), list(range(30))))
    np.testing.assert_allclose(made.regularity, 1 / (share * (1 - share)), rtol=1e-12)


def fit_of(rows: list[list[float]], difficulty: Sequence[float]) -> IRTFit:
    names = [f"t{n}" for n in range(len(difficulty))]
    items = ItemParameters.of(names, np.ones(len(names)), difficulty=difficulty)
    return known_fit(items, ResponseMatrix.from_array(rows, tasks=names))


def test_infinite_generality_is_flagged_with_what_it_means() -> None:
    rows = [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]]
    made = indicators(fit_of(rows, [-2.0, -1.0, 1.0, 2.0]), bins=2)
    assert np.isinf(made.generality[:3]).all() and np.isfinite(made.generality[3])
    assert made.flags[0][0].endswith("alike within every bin of difficulty")
    assert made.flags[1][0].endswith("it failed at everything")
    assert made.flags[2][0].endswith("it succeeded at everything")
    assert any("regularity is infinite" in flag for flag in made.flags[1])
    assert made.slope[0] == pytest.approx(1 / 3)  # from 1 at −1.5 to 0 at 1.5
    assert np.isnan(made.slope[1:3]).all()


def test_bins_an_agent_hardly_met_are_stood_for_by_the_others_and_flagged() -> None:
    nan = np.nan
    rows = [[1, 0, 1, 0, 1, 0], [1, 0, nan, nan, 1, 0], [nan, nan, nan, nan, 1, nan]]
    made = indicators(fit_of(rows, [-3.0, -2.0, -0.5, 0.5, 2.0, 3.0]), bins=3)
    assert made.generality[1] == pytest.approx(made.generality[0])
    assert "from 2 of 3 bins" in made.flags[1][0]
    assert np.isnan(made.generality[2]) and np.isnan(made.regularity[2])
    assert "fewer than 2 results in every bin" in made.flags[2][0]


def test_scores_of_other_agents_are_refused() -> None:
    fit = fit_of([[1, 0], [0, 1]], [-1.0, 1.0])
    other = ResponseMatrix.from_array([[0.5, 0.5]], ["somebody"])
    with pytest.raises(ex.InputError, match="not in scores: 'agent 1', 'agent 2'"):
        indicators(fit, other)
    with pytest.raises(ex.InputError, match="needs scores"):
        indicators(fit, generality_of="scores")
    bare = known_fit(fit.items)
    with pytest.raises(ex.InputError, match="has no responses"):
        indicators(bare)


def test_indicators_follow_a_permutation_of_agents() -> None:
    rng = np.random.default_rng(8)
    rows = (rng.random((9, 24)) < 0.5).astype(float)
    names = [f"t{n}" for n in range(24)]
    items = ItemParameters.of(names, np.ones(24), difficulty=rng.normal(size=24))
    order = rng.permutation(9)
    matrix = ResponseMatrix.from_array(rows, tasks=names)
    one = indicators(known_fit(items, matrix))
    two = indicators(known_fit(items, matrix.take(agents=order.tolist())))
    np.testing.assert_array_equal(one.generality[order], two.generality)
    np.testing.assert_array_equal(one.slope[order], two.slope)


def test_a_curve_that_rises_and_falls_has_the_slope_of_its_first_fall() -> None:
    items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-1.0, 0.0, 1.0, 2.0])
    means = [[0.4, 0.6, 0.2, 0.0], [0.9, 0.4, 0.8, 0.3], [1.0, 0.5, 0.5, 0.5]]
    gaps = [0.9, np.nan, 0.3, 0.1]
    results = np.array([*means, gaps])  # one task per bin
    made = empirical_agent_curves(tuple("abcd"), results, difficulty_bins(items, 4))
    np.testing.assert_allclose(made.slope, [0.4, 0.5, np.nan, 0.3])


def test_correlations_and_their_intervals_are_those_of_scipy() -> None:
    from scipy.stats import pearsonr, spearmanr

    rng = np.random.default_rng(0)
    x = rng.normal(size=28)
    y = x + rng.normal(size=28)
    found = indicator_correlations({"a": x, "b": y})[0]
    expected = pearsonr(x, y)
    assert found.pearson == pytest.approx(expected.statistic, abs=1e-12)
    assert (found.pearson_low, found.pearson_high) == pytest.approx(
        expected.confidence_interval(), abs=1e-9
    )
    assert found.spearman == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    few = indicator_correlations({"a": x[:3], "b": y[:3]})[0]
    assert np.isnan(few.pearson_low) and np.isfinite(few.pearson)


# ------------------------------------------------------------------ curves of tasks and agents


def test_expected_curves_of_agents_fall_through_one_half_at_their_ability() -> None:
    known = Abilities(("a", "b"), np.array([-1.0, 2.0]), np.array([0.3, 0.3]), "")
    made = agent_curves(known, tasks(30), np.array([-1.0, 2.0]))
    assert made.success[0, 0] == made.success[1, 1] == 0.5
    assert (made.low < made.success).all() and (made.success < made.high).all()


def test_bands_of_tasks_hold_the_curve_and_widen_with_the_errors() -> None:
    items = ItemParameters.of(["t", "u"], [1.0, -2.0], [0.5, 0.0])
    fit = known_fit(items)
    assert np.isnan(task_curves(fit).low).all()

    def with_errors(size: float) -> np.ndarray:
        one = np.full(2, size)
        errors = TaskErrors(one, one, 0 * one, *([one] * 8), method="made up")
        made = task_curves(replace(fit, errors=errors), np.linspace(-3, 3, 7))
        assert (made.low <= made.success).all() and (made.success <= made.high).all()
        return made.high - made.low

    assert (with_errors(0.5) > with_errors(0.1)).all()
    with pytest.raises(ex.InputError, match="level is 2"):
        task_curves(fit, level=2)


def test_empirical_curves_of_tasks_count_trials_and_hold_the_total() -> None:
    rng = np.random.default_rng(2)
    won = rng.integers(0, 6, size=(20, 3))
    matrix = ResponseMatrix.from_counts(won, np.full((20, 3), 5))
    made = empirical_curves(matrix, rng.normal(size=20), groups=4)
    assert (made.observed == 25).all()
    np.testing.assert_allclose((made.mean * made.observed).sum(axis=1), won.sum(axis=0))
    assert (made.low <= made.mean).all() and (made.mean <= made.high).all()
    with pytest.raises(ex.InputError, match="No agent has an ability"):
        empirical_curves(matrix, np.full(20, np.nan))


# ------------------------------------------------------------------ dominance


def test_dominance_is_the_plain_double_loop() -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 3, size=(8, 4)).astype(float) / 2
    values[rng.random(values.shape) < 0.2] = np.nan
    made = dominance(ResponseMatrix.from_array(values))
    for a in range(8):
        for b in range(8):
            both = ~np.isnan(values[a]) & ~np.isnan(values[b])
            x, y = values[a][both], values[b][both]
            assert made.better[a, b] == (x > y).sum() and made.shared[a, b] == both.sum()
            assert made.dominates[a, b] == bool((x >= y).all() and (x > y).any())


def test_perfectly_general_agents_are_all_in_dominance() -> None:
    """papers/002, section II-B: of two perfectly general agents one dominates the other."""
    staircase = np.tril(np.ones((6, 6)))
    made = dominance(ResponseMatrix.from_array(staircase))
    assert made.transitive_share == 1.0
    assert made.undominated == ("agent 6",)
    mixed = ResponseMatrix.from_array([[1, 0], [0, 1]])
    assert dominance(mixed).transitive_share == 0.0


def test_the_chance_to_be_abler_counts_both_errors() -> None:
    matrix = ResponseMatrix.from_array([[1, 0], [0, 1]], ["a", "b"])
    known = Abilities(("b", "a"), np.array([0.0, 1.0]), np.array([0.6, 0.8]), "")
    chance = dominance(matrix, known).more_able
    assert chance[0, 1] == pytest.approx(0.841345, abs=1e-6)  # Φ(1 / √(0.36 + 0.64))
    assert chance[0, 1] + chance[1, 0] == pytest.approx(1.0)


# ------------------------------------------------------------------ axes


def of_response(response: str, count: int) -> ItemParameters:
    rng = np.random.default_rng(count)
    more: dict[str, object] = {
        "binomial": {},
        "beta-binomial": {"precision": 3.0},
        "beta": {"precision": 4.0},
        "normal": {
            "precision": rng.uniform(0.5, 2.0, count),
            "landmark": 1.0,
            "centre": rng.normal(0.2, 1.0, count),
        },
    }[response]
    names = [f"t{n}" for n in range(count)]
    slope = rng.uniform(0.5, 2.0, count)
    return ItemParameters.of(names, slope, rng.normal(size=count), response=response, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("response", get_args(Response))
@pytest.mark.parametrize("agents", [1, 3, 5, 7])
def test_expected_curves_of_agents_are_the_documented_formula_with_any_number_of_tasks(
    response: str, agents: int
) -> None:
    items = of_response(response, 5)
    ability = np.linspace(-1.0, 2.0, agents)
    known = Abilities(tuple(f"a{n}" for n in range(agents)), ability, np.full(agents, 0.5), "")
    # as many difficulties as tasks: the third number by which axes could be confused
    difficulty = np.linspace(-2.0, 2.0, 5)
    made = agent_curves(known, items, difficulty)
    steepness = statistics.median(items.slope.tolist())
    expected = [
        [
            (norm.cdf if response == "normal" else expit)(steepness * (theta - hardness))
            for hardness in difficulty
        ]
        for theta in ability
    ]
    np.testing.assert_allclose(made.success, expected, rtol=1e-9)
    assert made.low.shape == made.high.shape == (agents, 5)
    assert (made.low <= made.success).all() and (made.success <= made.high).all()


def with_errors(fit: IRTFit, error: np.ndarray) -> IRTFit:
    made = TaskErrors(error, error, 0 * error, *([error] * 8), method="by hand")
    return replace(fit, errors=made)


@pytest.mark.parametrize("response", get_args(Response))
def test_the_band_of_a_task_does_not_depend_on_other_tasks_nor_on_the_number_of_abilities(
    response: str,
) -> None:
    items = of_response(response, 4)
    errors = np.linspace(0.1, 0.4, 4)
    fit = with_errors(known_fit(items), errors)
    square = task_curves(fit, np.linspace(-1.0, 1.0, 4))
    for task in range(4):
        one = task_curves(with_errors(known_fit(items.take([task])), errors[[task]]), square.at[:3])
        for name in ("success", "low", "high"):
            np.testing.assert_allclose(getattr(square, name)[task, :3], getattr(one, name)[0])
