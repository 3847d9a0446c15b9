"""Abilities under known tasks: against mirt, against brute force, at perfect scores, with gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from examiner.irt import ItemParameters, Response, abilities, simulate
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from irt.heights import log_likelihoods
from irt.r_reference import numbers, responses


def mirts_items(tag: str) -> ItemParameters:
    chance = numbers(f"{tag}_mirt_items", "logit(g)") if tag == "three_pl" else -np.inf
    return ItemParameters.of(
        responses("three_pl_responses" if tag == "three_pl" else "two_pl_responses").tasks,
        numbers(f"{tag}_mirt_items", "a1"),
        numbers(f"{tag}_mirt_items", "d"),
        guessing=1 / (1 + np.exp(-chance)),
    )


@pytest.mark.parametrize(
    ("tag", "data", "sd"),
    [
        ("two_pl", "two_pl", 1.0),
        ("rasch", "two_pl", np.sqrt(1.33255654858247)),
        ("signed_missing", "signed_missing", 1.0),
    ],
)
def test_posterior_means_and_modes_are_those_of_mirt(tag: str, data: str, sd: float) -> None:
    matrix, items = responses(f"{data}_responses"), mirts_items(tag)
    for method in ("eap", "map"):
        found = abilities(matrix, items, method=method, population_sd=sd)
        expected = numbers(f"{tag}_mirt_abilities", method)
        errors = numbers(f"{tag}_mirt_abilities", f"{method}_se")
        np.testing.assert_allclose(found.ability, expected, atol=1e-4)  # mirt cuts at ±6
        np.testing.assert_allclose(found.error, errors, rtol=2e-4)  # mirt's curvature is numeric


def some_items(response: Response, rng: np.random.Generator, tasks: int = 8) -> ItemParameters:
    return ItemParameters.of(
        [f"task {n}" for n in range(tasks)],
        rng.normal(0.7, 1.2, tasks),
        rng.normal(0, 1.5, tasks),
        guessing=0.0 if response == "beta" else rng.uniform(0, 0.3, tasks),
        ceiling=1.0 if response == "beta" else rng.uniform(0.85, 1.0, tasks),
        precision=None if response == "binomial" else rng.uniform(2, 20, tasks),
        response=response,
    )


def highest(matrix: ResponseMatrix, items: ItemParameters, pull: float) -> NDArray[np.float64]:
    """The height of log f − pull θ²/2 at its highest point, from a fine grid and a local search."""
    grid = np.linspace(-30, 30, 6001)
    heights = log_likelihoods(matrix, items, grid) - 0.5 * pull * grid**2
    best = []
    for row, curve in enumerate(heights):
        agent = matrix.take([row])
        top = grid[curve.argmax()]
        found = minimize_scalar(
            lambda at, agent=agent: float(
                0.5 * pull * at**2 - log_likelihoods(agent, items, np.array([at]))[0, 0]
            ),
            bounds=(top - 0.02, top + 0.02),
            method="bounded",
            options={"xatol": 1e-9},
        )
        best.append(-found.fun)
    return np.array(best)


@pytest.mark.parametrize("response", ["binomial", "beta-binomial"])
@given(seed=st.integers(0, 10_000))
def test_modes_are_the_highest_points_with_slopes_of_both_signs(
    response: Response, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    items = some_items(response, rng)
    trials = rng.integers(0, 4, (5, len(items)))
    matrix = simulate(items, 2 * rng.standard_normal(5), trials=trials, rng=rng)
    found = abilities(matrix, items, method="map", population_sd=2.0)
    heights = np.array(
        [
            log_likelihoods(matrix.take([row]), items, found.ability[[row]])[0, 0]
            - found.ability[row] ** 2 / 8
            for row in range(5)
        ]
    )
    np.testing.assert_allclose(heights, highest(matrix, items, 0.25), atol=1e-7)


def test_modes_of_continuous_scores_are_the_highest_points() -> None:
    rng = np.random.default_rng(4)
    items = some_items("beta", rng)
    matrix = simulate(items, 30, rng=rng)
    found = abilities(matrix, items, method="ml")
    for row in range(30):
        nearby = found.ability[row] + np.linspace(-3, 3, 601)
        heights = log_likelihoods(matrix, items, nearby)[row]
        assert heights.argmax() == 300


def test_the_higher_of_two_peaks_is_found() -> None:
    """Success on a task of positive and one of negative slope: likely far out on either side."""
    items = ItemParameters.of(
        ["up", "down", "hint"],
        slope=[4.0, -4.0, 0.3],
        intercept=[-8.0, -8.0, 0.0],
        guessing=[0.2, 0.2, 0.0],
    )
    matrix = ResponseMatrix.from_array([[1, 1, 1], [1, 1, 0]], tasks=items.tasks)
    for method in ("map", "ml"):
        above, below = abilities(matrix, items, method=method, population_sd=3.0).ability
        assert above > 1.5
        assert below == pytest.approx(-above, abs=1e-6)


def test_likelihood_has_no_highest_point_at_perfect_scores_and_it_is_said() -> None:
    items = ItemParameters.of(["t", "u", "v"], slope=[1.0, -2.0, 0.5], intercept=[0.0, 1.0, 2.0])
    matrix = ResponseMatrix.from_array([[1, 0, 1], [0, 1, 0], [1, 1, 0]], tasks=items.tasks)
    found = abilities(matrix, items, method="ml")
    assert found.ability[0] == np.inf
    assert found.ability[1] == -np.inf
    assert np.isfinite(found.ability[2])
    assert np.isinf(found.error[:2]).all()
    assert "2 agents rises without end" in found.notes[0]
    for method in ("eap", "map"):
        finite = abilities(matrix, items, method=method)
        assert np.isfinite(finite.ability).all()
        assert not finite.notes


def test_guessing_that_explains_everything_is_worth_minus_infinity() -> None:
    items = ItemParameters.of(["t", "u"], slope=[2.0, 2.0], difficulty=[0.0, 3.0], guessing=0.25)
    matrix = ResponseMatrix.from_array([[0, 1]], tasks=items.tasks)
    assert abilities(matrix, items, method="ml").ability[0] == -np.inf


def test_an_agent_that_met_no_task_is_where_the_population_is() -> None:
    items = ItemParameters.of(["t"], slope=[1.0], intercept=[0.0])
    matrix = ResponseMatrix.from_array([[np.nan], [1.0]], tasks=["t"])
    for method in ("eap", "map"):
        found = abilities(matrix, items, method=method, population_sd=1.5)
        assert found.ability[0] == pytest.approx(0.0, abs=1e-12)
        assert found.error[0] == pytest.approx(1.5, rel=1e-4)
    unknown = abilities(matrix, items, method="ml")
    assert np.isnan(unknown.ability[0])
    assert "1 agent met no task" in unknown.notes[1]


def test_a_scale_of_other_width_gives_the_same_agents() -> None:
    rng = np.random.default_rng(1)
    items = some_items("binomial", rng)
    matrix = simulate(items, 50, rng=rng)
    for method in ("eap", "map", "ml"):
        wide = abilities(matrix, items, method=method, population_sd=2.0)
        narrow = abilities(matrix, items.rescaled(0.0, 2.0), method=method)
        known = np.isfinite(wide.ability)
        np.testing.assert_allclose(wide.ability[known], 2 * narrow.ability[known], atol=1e-6)
        np.testing.assert_allclose(wide.error[known], 2 * narrow.error[known], rtol=1e-5)


@pytest.mark.parametrize("response", ["binomial", "beta-binomial", "beta"])
def test_the_ability_of_an_agent_does_not_depend_on_the_agents_beside_it(
    response: Response,
) -> None:
    rng = np.random.default_rng(2)
    items = some_items(response, rng)
    matrix = simulate(items, 40, trials=rng.integers(0, 3, (40, len(items))), rng=rng)
    for method in ("eap", "map"):
        together = abilities(matrix, items, method=method)
        parts = [
            abilities(matrix.take(rows), items, method=method)
            for rows in np.split(np.arange(40), [1, 8, 23])
        ]
        ability, error = (
            np.concatenate([getattr(part, column) for part in parts])
            for column in ("ability", "error")
        )
        np.testing.assert_allclose(ability, together.ability, atol=1e-6)
        np.testing.assert_allclose(error, together.error, rtol=1e-6)


def test_new_agents_are_placed_by_any_subset_of_tasks_in_any_order() -> None:
    items = ItemParameters.of(["t", "u", "v"], slope=[1.0, 2.0, 3.0], intercept=[0.0, 1.0, -1.0])
    some = ResponseMatrix.from_array([[1, 0]], tasks=["v", "t"])
    whole = ResponseMatrix.from_array([[0, np.nan, 1]], tasks=["t", "u", "v"])
    assert abilities(some, items).ability[0] == pytest.approx(abilities(whole, items).ability[0])


def test_a_new_agent_with_continuous_scores_is_placed_as_it_was_among_others() -> None:
    rng = np.random.default_rng(3)
    items = some_items("beta", rng)
    matrix = simulate(items, 50, rng=rng)
    among = abilities(matrix, items).ability[:5]
    alone = [abilities(matrix.take([row]), items).ability[0] for row in range(5)]
    np.testing.assert_allclose(alone, among, atol=1e-6)


def test_errors_shrink_with_trials_as_they_should() -> None:
    items = ItemParameters.of(["t", "u"], slope=[1.0, 1.0], intercept=[0.5, -0.5])
    few = ResponseMatrix.from_counts([[6, 4]], 10, tasks=items.tasks)
    many = ResponseMatrix.from_counts([[600, 400]], 1000, tasks=items.tasks)
    ratio = (
        abilities(few, items, method="ml").error[0] / abilities(many, items, method="ml").error[0]
    )
    assert ratio == pytest.approx(10.0, rel=1e-6)


def test_wrong_arguments_are_met_with_sentences() -> None:
    items = ItemParameters.of(["t"], slope=[1.0], intercept=[0.0])
    matrix = ResponseMatrix.from_array([[1]], tasks=["t"])
    with pytest.raises(InputError, match=r"Unknown method 'eep'. Did you mean 'eap'\?"):
        abilities(matrix, items, method="eep")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"standard deviation is 0\.0\. It must be above 0"):
        abilities(matrix, items, population_sd=0.0)
    with pytest.raises(InputError, match="No parameters are known of 'u'"):
        abilities(ResponseMatrix.from_array([[1]], tasks=["u"]), items)
