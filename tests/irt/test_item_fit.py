"""S-X², infit and outfit: against mirt, against enumeration, and where they cannot be had."""

from itertools import product

import numpy as np
import pytest

from examiner.irt import ItemParameters, Quadrature, abilities, simulate, sum_score_fit
from examiner.irt.diagnostics.item_fit import merged_groups, sum_score_chances, without_each_task
from examiner.irt.diagnostics.residuals import mean_squares, residuals
from examiner.results import ResponseMatrix
from irt.r_reference import numbers, responses
from irt.test_ability import mirts_items

CASES = [("two_pl", "two_pl", 2), ("rasch", "two_pl", 2), ("three_pl", "three_pl", 3)]
RASCH_SD = np.sqrt(1.33255654858247)


@pytest.mark.parametrize(("tag", "data", "parameters"), CASES)
def test_sum_score_fit_is_that_of_mirt(tag: str, data: str, parameters: int) -> None:
    found = sum_score_fit(
        responses(f"{data}_responses"),
        mirts_items(tag),
        parameters=parameters,
        population_sd=RASCH_SD if tag == "rasch" else 1.0,
        nodes=Quadrature.grid(-6, 6, 241),
    ).tasks
    file = f"{tag}_mirt_itemfit"
    np.testing.assert_allclose(found.statistic, numbers(file, "S_X2"), rtol=5e-4)
    np.testing.assert_array_equal(found.degrees, numbers(file, "df.S_X2"))
    np.testing.assert_allclose(found.p_value, numbers(file, "p.S_X2"), rtol=0.02, atol=1e-6)
    np.testing.assert_allclose(found.rmsea, numbers(file, "RMSEA.S_X2"), atol=2e-4)
    assert found.reason == ("",) * len(found)


@pytest.mark.parametrize(("tag", "data", "parameters"), CASES)
def test_infit_and_outfit_are_those_of_mirt(tag: str, data: str, parameters: int) -> None:
    matrix, items = responses(f"{data}_responses"), mirts_items(tag)
    sd = RASCH_SD if tag == "rasch" else 1.0
    found = residuals(matrix, items, abilities(matrix, items, population_sd=sd).ability)
    infit, outfit = mean_squares(found)
    np.testing.assert_allclose(infit, numbers(f"{tag}_mirt_itemfit", "infit"), rtol=0.001)
    np.testing.assert_allclose(outfit, numbers(f"{tag}_mirt_itemfit", "outfit"), rtol=0.001)


def test_chances_of_sums_are_those_of_every_pattern() -> None:
    success = np.random.default_rng(0).uniform(0.02, 0.98, (5, 3))
    expected = np.zeros((6, 3))
    for pattern in product([0, 1], repeat=5):
        solved = np.array(pattern)[:, None]
        expected[sum(pattern)] += np.prod(np.where(solved, success, 1 - success), axis=0)
    np.testing.assert_allclose(sum_score_chances(success, 1 - success), expected, atol=1e-14)


def test_a_task_is_taken_out_without_losing_digits() -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 4, (60, 7))
    success, failure = 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(logits))
    whole = sum_score_chances(success, failure)
    found = without_each_task(whole, success, failure)
    for task in range(60):
        others = np.delete(np.arange(60), task)
        expected = sum_score_chances(success[others], failure[others])
        np.testing.assert_allclose(found[task], expected, atol=1e-12)


def test_groups_are_merged_from_both_ends_until_both_counts_are_expected_once() -> None:
    agents = np.array([2.0, 5.0, 20.0, 30.0, 0.0, 20.0, 5.0, 2.0])
    shares = np.array([0.1, 0.15, 0.3, 0.5, 0.6, 0.7, 0.85, 0.9])
    won = np.array([0.0, 1.0, 6.0, 15.0, 0.0, 14.0, 4.0, 2.0])
    expected, observed = merged_groups(agents, won, shares)
    # 0.2 and 0.75 successes are expected in the first two groups, less than 1 together: a third joins.
    np.testing.assert_allclose(expected[:, 0], [6.95, 15.0, 20.05])
    np.testing.assert_allclose(observed[:, 0], [7.0, 15.0, 20.0])
    assert expected.sum() == pytest.approx(agents.sum())
    assert (expected >= 1).all()


def test_sum_score_fit_finds_a_task_that_does_not_follow_its_curve() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(15)], 1.5, np.linspace(-1.5, 1.5, 15))
    rng = np.random.default_rng(2)
    theta = rng.standard_normal(1500)
    won = simulate(items, theta, rng=rng).successes.copy()
    won[:, 7] = rng.random(1500) < np.where(np.abs(theta) < 0.7, 0.8, 0.3)  # solved in the middle
    found = sum_score_fit(ResponseMatrix.from_array(won, tasks=items.tasks), items).tasks
    assert found.p_value[7] < 1e-12
    assert found.rmsea.argmax() == 7


def test_under_the_model_p_values_are_even() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(10)], 1.2, np.linspace(-1.5, 1.5, 10))
    values = np.concatenate(
        [
            sum_score_fit(simulate(items, 300, rng=seed), items, parameters=0).tasks.p_value
            for seed in range(40)
        ]
    )
    assert 0.42 < values.mean() < 0.58
    assert 0.02 < (values < 0.05).mean() < 0.09


@pytest.mark.parametrize(
    ("matrix", "items", "reason"),
    [
        ([[1, np.nan, 0]] * 3, {}, "some cells were not observed"),
        ([[0.5, 0.2, 0.1]] * 3, {"precision": 3.0, "response": "beta"}, "scores are continuous"),
        ([[1, 0, 1], [0, 0, 1], [1, 1, 0]], {}, "too few score groups"),
    ],
)
def test_what_cannot_be_had_is_nan_with_a_reason(
    matrix: list[list[float]], items: dict[str, object], reason: str
) -> None:
    tasks = ItemParameters.of(["t", "u", "v"], 1.0, 0.0, **items)  # type: ignore[arg-type]
    found = sum_score_fit(ResponseMatrix.from_array(matrix, tasks=["t", "u", "v"]), tasks).tasks
    assert np.isnan(found.statistic).all()
    assert np.isnan(found.p_value).all()
    assert all(reason in words for words in found.reason)


def test_several_trials_have_no_sum_score_fit() -> None:
    items = ItemParameters.of(["t", "u", "v"], 1.0, 0.0)
    found = sum_score_fit(simulate(items, 20, trials=2, rng=0), items).tasks
    assert found.reason[0] == "cells have more than one trial"


@pytest.mark.parametrize("response", ["binomial", "beta-binomial", "beta"])
def test_mean_squares_at_the_truth_are_one(response: str) -> None:
    items = ItemParameters.of(
        [f"t{n}" for n in range(6)],
        [1.0, -1.0, 2.0, 0.5, 1.5, 1.0],
        0.0,
        precision=None if response == "binomial" else 4.0,
        response=response,  # type: ignore[arg-type]
    )
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(6000)
    trials = rng.integers(0, 5, (6000, 6))
    matrix = simulate(items, theta, trials=trials, rng=rng)
    infit, outfit = mean_squares(residuals(matrix, items, theta))
    np.testing.assert_allclose(infit, 1.0, atol=0.09)
    np.testing.assert_allclose(outfit, 1.0, atol=0.15)
