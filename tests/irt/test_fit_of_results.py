"""Fitting raw results: the recipe learns from them, stays with the fit, and treats newcomers alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.irt import Model

RECIPE = ex.Recipe(normaliser="human", success=1.0)
TASKS = [f"t{n}" for n in range(6)]


def scores(measure: str = "score") -> ex.Results:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 1)) + rng.normal(size=(20, 6)).round(2)
    return ex.Results.from_numpy(values, tasks=TASKS, measure=measure)


def wins() -> ex.Results:
    return scores("win").with_measure("win", (scores().measure() > 0).astype(float), "")


def test_results_are_fitted_as_their_responses_are() -> None:
    results = ex.load("atari-dqn-family")
    made = ex.irt.fit(results, recipe=RECIPE)
    direct = ex.irt.fit(ex.responses(ex.normalise(results, "human"), success=1.0))
    assert made.abilities.agents == direct.abilities.agents
    np.testing.assert_array_equal(made.abilities.ability, direct.abilities.ability)
    np.testing.assert_array_equal(made.items.slope, direct.items.slope)
    assert direct.recipe is None and made.recipe == RECIPE.learn(results)


def test_parts_of_a_recipe_do_what_the_recipe_does() -> None:
    results = ex.load("atari-dqn-family")
    parts = ex.irt.fit(results, normalise="human", success=1.0)
    whole = ex.irt.fit(results, recipe=RECIPE)
    assert parts.recipe == whole.recipe and parts.tasks.to_dict() == whole.tasks.to_dict()
    assert parts.settings["recipe"]["normaliser"] == "human" and parts.settings["seed"] == 0


def test_whatever_can_be_read_is_fitted(tmp_path: Path) -> None:
    path = tmp_path / "wins.csv"
    ex.write(wins(), path)
    read, given = (ex.irt.fit(table, "1pl", errors=False) for table in (str(path), wins()))
    assert read.agents.to_dict() == given.agents.to_dict()


def test_a_measure_of_wins_needs_no_recipe() -> None:
    made = ex.irt.fit(wins(), "1pl", errors=False)
    assert made.recipe is not None and made.recipe.measure == "win"
    assert made.matrix is not None and made.matrix.is_counts


def test_a_measure_beside_the_first_is_named_by_the_recipe() -> None:
    both = scores().with_measure("win", (scores().measure() > 0).astype(float), "")
    made = ex.irt.fit(both, "1pl", recipe=ex.Recipe(measure="win"), errors=False)
    alone = ex.irt.fit(wins(), "1pl", errors=False)
    np.testing.assert_array_equal(made.abilities.ability, alone.abilities.ability)


def test_a_recipe_that_has_learnt_treats_another_table_as_the_first() -> None:
    first = ex.irt.fit(
        scores(), "1pl", recipe=ex.Recipe("score", normaliser="min-max", success=0.5)
    )
    shifted = scores().with_measure("score", scores().measure() + 100.0, "")
    again = ex.irt.fit(scores(), "1pl", recipe=first.recipe)
    assert again.recipe == first.recipe
    np.testing.assert_array_equal(again.abilities.ability, first.abilities.ability)
    with pytest.raises(ex.InputError, match="every agent always succeeded"):
        ex.irt.fit(shifted, "1pl", recipe=first.recipe)


def test_scores_between_zero_and_one_are_fitted_by_the_beta_model() -> None:
    made = ex.irt.fit(scores(), "beta", recipe=ex.Recipe(normaliser="min-max"), errors=False)
    assert made.items.response == "beta" and made.recipe is not None
    assert made.recipe.normaliser == "min-max"


def test_newcomers_are_treated_alike_before_and_after_storing(tmp_path: Path) -> None:
    table = scores()
    made = ex.irt.fit(table, recipe=ex.Recipe(normaliser="min-max", success=0.5))
    stored = ex.load_saved(ex.save(made, tmp_path / "fit.json"))
    assert isinstance(stored, ex.irt.IRTFit) and stored.recipe == made.recipe
    new = ex.Results.from_numpy([[9.0, -9.0, 9.0, 9.0]], ["mine"], TASKS[:4])
    responses = ex.ResponseMatrix.from_array([[1, 0, 1, 1]], ["mine"], TASKS[:4])
    abilities = {
        one.ability
        for fit in (made, stored)
        for given in (new, responses)
        for one in ex.irt.place(given, fit)
    }
    assert len(abilities) == 1
    ends = [
        ex.adaptive.examine(fit, given, rng=0).ability
        for fit in (made, stored)
        for given in (new, responses)
    ]
    assert len(set(ends)) == 1


def matrix() -> ex.ResponseMatrix:
    return ex.responses(wins())


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (scores, {}, "'score' is not made of zeros and ones. Say what a success is"),
        (scores, {"model": "3pl"}, "`success=1.0`; .* where tasks have scales"),
        (scores, {"recipe": ex.Recipe()}, '`normalise="human", success=1.0`'),
        (scores, {"recipe": ex.Recipe(share=0.5)}, "is not made of zeros and ones"),
        (scores, {"recipe": ex.Recipe(measure="wins")}, "the results have 'score'"),
        (scores, {"recipe": ex.Recipe(normaliser="humane")}, "humane"),
        (scores, {"recipe": "human"}, "The recipe is 'human'. Give a Recipe"),
        (scores, {"model": "beta"}, "takes scores from 0 to 1"),
        (matrix, {"recipe": RECIPE}, "a ResponseMatrix holds responses already. Give the results"),
        (matrix, {"success": 1.0}, "a ResponseMatrix holds responses already. Give the results"),
        (scores, {"recipe": RECIPE, "success": 2.0}, "A recipe is given, and 'success' with it"),
        (lambda: "atari-dqn-family", {}, "'atari-dqn-family' is neither a file nor a folder"),
        (lambda: None, {"recipe": RECIPE}, "NoneType"),
    ],
)
def test_what_cannot_be_fitted_is_said(given, options, words) -> None:
    with pytest.raises(ex.InputError, match=words) as caught:
        ex.irt.fit(given(), **options)
    assert "\n" not in str(caught.value)


def test_an_option_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="start"):
        ex.irt.fit(matrix(), start=3)  # type: ignore[call-arg]


def test_a_model_of_ones_own_takes_successes() -> None:
    own = Model("mine", "one slope", free=("intercept",), shared=("slope",))
    with pytest.raises(ex.InputError, match="is not made of zeros and ones"):
        ex.irt.fit(scores(), own)
    assert ex.irt.fit(wins(), own, errors=False).model == "mine"
