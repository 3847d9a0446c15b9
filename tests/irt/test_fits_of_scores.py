"""Scores without discretising: exact zeros and ones, and scores without ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.irt import (
    ItemParameters,
    expected_result,
    fit,
    landmark_reached,
    link,
    place,
    simulate,
)
from examiner.messages import InputError
from examiner.results import ResponseMatrix, Results


def unbounded(tasks: int, seed: int = 0, landmark: float = 1.0) -> ItemParameters:
    """Tasks whose scores have units of their own."""
    rng = np.random.default_rng(seed)
    return ItemParameters.of(
        [f"t{n}" for n in range(tasks)],
        rng.lognormal(0.2, 0.35, tasks),
        difficulty=rng.standard_normal(tasks),
        precision=rng.lognormal(0.0, 2.0, tasks),
        response="normal",
        landmark=landmark,
    )


def bounded(tasks: int, seed: int = 0, **more: object) -> ItemParameters:
    rng = np.random.default_rng(seed)
    return ItemParameters.of(
        [f"t{n}" for n in range(tasks)],
        rng.lognormal(0.2, 0.35, tasks),
        difficulty=rng.standard_normal(tasks),
        response="beta",
        **more,  # type: ignore[arg-type]
    )


def test_scores_without_ends_are_jointly_normal_and_the_fit_is_their_maximum() -> None:
    """One factor: the means are c + σd and the covariances σσᵀ (aaᵀ + 1), whose density scipy has."""
    matrix = simulate(unbounded(6, 1), 60, rng=1)
    made = fit(matrix, "normal", estimator="ml", starts=2, landmark=1.0, errors=False)
    items, scores = made.items, matrix.to_numpy()
    assert items.precision is not None and items.centre is not None

    def height(slope: np.ndarray, intercept: np.ndarray, deviation: np.ndarray) -> float:
        covariance = np.outer(deviation * slope, deviation * slope) + np.diag(deviation**2)
        law = stats.multivariate_normal(items.centre + deviation * intercept, covariance)
        return float(law.logpdf(scores).sum())

    best = [items.slope, items.intercept, items.precision**-0.5]
    top = height(*best)
    assert made.log_likelihood == pytest.approx(top, abs=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(30):
        aside = [part + 1e-3 * rng.standard_normal(6) * np.abs(part) for part in best]
        assert height(*aside) < top


def test_units_of_scores_change_nothing_but_the_residual_deviation() -> None:
    matrix = simulate(unbounded(8, 2, landmark=0.0), 40, rng=2)
    units = np.random.default_rng(3).lognormal(0.0, 5.0, 8)
    other = ResponseMatrix.from_array(matrix.to_numpy() * units, matrix.agents, matrix.tasks)
    one, two = (fit(table, "normal", starts=1) for table in (matrix, other))
    np.testing.assert_allclose(two.abilities.ability, one.abilities.ability, atol=1e-4)
    np.testing.assert_allclose(two.items.difficulty, one.items.difficulty, atol=1e-3)
    np.testing.assert_allclose(two.items.precision * units**2, one.items.precision, rtol=1e-3)
    assert one.errors is not None and two.errors is not None
    np.testing.assert_allclose(two.errors.difficulty, one.errors.difficulty, rtol=1e-2)


def test_difficulty_is_the_ability_at_which_the_landmark_is_expected() -> None:
    matrix = simulate(unbounded(8, 4), 40, rng=4)
    for landmark in (-2.0, 1.0, 50.0):
        items = fit(matrix, "normal", starts=1, landmark=landmark, errors=False).items
        found = [expected_result(items, at)[n, 0] for n, at in enumerate(items.difficulty)]
        np.testing.assert_allclose(found, landmark, rtol=1e-9)
        at_it = [ex.irt.probability(items, at)[0, n] for n, at in enumerate(items.difficulty)]
        np.testing.assert_allclose(at_it, 0.5, atol=1e-9)


def test_a_task_far_from_the_landmark_is_fitted_as_quickly_as_others() -> None:
    """Of random-only scores many lie within a thousandth of 1, and some are 1 up to rounding."""
    items = unbounded(10, 5, landmark=0.0)
    scores = simulate(items, 30, rng=5).to_numpy().copy()
    scores[:, 0] = 1.0 - 1e-4 * np.abs(scores[:, 0])
    scores[:, 1] = 1.0 - 1e-14 * np.abs(scores[:, 1])
    made = fit(ResponseMatrix.from_array(scores, tasks=items.tasks), "normal", starts=1)
    assert made.converged and made.iterations < 100
    assert [task.name for task in made.dropped] == ["t1"]
    assert made.items.difficulty[0] > 100 or made.items.difficulty[0] < -100


def test_scores_inside_keep_their_slopes() -> None:
    """Moving them inwards to 0.005 + 0.99 y flattened these by 18 %."""
    items = bounded(10, 6, precision=8.0)
    ability = np.random.default_rng(6).standard_normal(600)
    ability = (ability - ability.mean()) / ability.std()
    made = fit(simulate(items, ability, rng=6), "beta", starts=1, errors=False)
    assert made.items.slope.mean() / items.slope.mean() == pytest.approx(1.0, abs=0.03)


def test_cuts_of_zeros_and_ones_are_found_again() -> None:
    items = bounded(12, 7, precision=8.0, cuts=(-1.5, 2.5))
    matrix = simulate(items, 200, rng=7)
    scores = matrix.to_numpy()
    assert 0.05 < (scores == 0).mean() < 0.4 and 0.02 < (scores == 1).mean() < 0.4
    made = fit(matrix, "beta", starts=1, errors=False)
    assert made.items.cuts is not None
    np.testing.assert_allclose(made.items.cuts[0], (-1.5, 2.5), atol=0.25)
    np.testing.assert_allclose(
        expected_result(made.items, made.abilities.ability).mean(axis=1),
        scores.mean(axis=0),
        atol=0.03,
    )


def test_an_exact_zero_places_below_any_other_score_even_where_nobody_had_one() -> None:
    made = fit(simulate(bounded(12, 8, precision=8.0), 60, rng=8), "beta", starts=1)
    low = [
        place(ResponseMatrix.from_array([[at] * 12], tasks=made.items.tasks), made)[0]
        for at in (0.0, 0.2)
    ]
    assert -6.0 < low[0].ability < low[1].ability
    assert np.isfinite(low[0].ability_error)


def test_a_stored_fit_of_raw_scores_places_as_the_fit_does(tmp_path: Path) -> None:
    results = ex.load("atari-dqn-family")
    made = fit(results, "normal", recipe=ex.Recipe(normaliser="human"), starts=1)
    assert made.items.landmark is not None and set(made.items.landmark) == {1.0}  # the human's
    ex.save(made, tmp_path / "fit.json")
    read = ex.load_saved(tmp_path / "fit.json")
    assert read.items == made.items
    new = results.where(results.agent_codes == 0)
    (before,), (after,) = place(new, made), place(new, read)
    assert after.ability == before.ability
    assert (
        after.ability_error
        == before.ability_error
        == pytest.approx(made.abilities.error[0], rel=1e-6)
    )


@pytest.mark.parametrize(
    ("recipe", "landmark"),
    [
        (ex.Recipe(normaliser="human"), 1.0),
        (ex.Recipe(normaliser="human", transform="log"), 0.0),
        (ex.Recipe(normaliser="random-only"), 0.0),
        (ex.Recipe(normaliser="log"), 0.0),
    ],
)
def test_the_landmark_is_the_normalisers_unless_given(recipe: ex.Recipe, landmark: float) -> None:
    results = ex.load("atari-dqn-family")
    made = fit(results, "normal", recipe=recipe, starts=1, errors=False)
    assert made.items.landmark is not None and made.items.landmark[0] == landmark
    given = fit(results, "normal", recipe=recipe, starts=1, errors=False, landmark=0.5)
    assert given.items.landmark is not None and given.items.landmark[0] == 0.5


def test_landmarks_are_refused_where_there_are_none() -> None:
    matrix = simulate(bounded(6, precision=8.0), 20, rng=0)
    with pytest.raises(InputError, match="the response beta has none"):
        fit(matrix, "beta", landmark=1.0)
    with pytest.raises(InputError, match="The landmark is nan"):
        fit(matrix, "normal", landmark=float("nan"))
    for wrong, said in (
        ({"response": "binomial", "landmark": 1.0}, "has no landmark"),
        ({"response": "binomial", "cuts": (-1, 1)}, "has no cuts"),
        ({"response": "beta", "precision": 1.0, "cuts": (1, -1)}, "not below that of ones"),
        ({"response": "beta", "precision": 1.0, "cuts": (1, 2, 3)}, "not two numbers up to"),
        ({"response": "normal", "precision": 1.0, "guessing": 0.2}, "not guessed"),
    ):
        with pytest.raises(InputError, match=said):
            ItemParameters.of(["t"], [1.0], [0.0], **wrong)  # type: ignore[arg-type]


def test_examinations_refuse_scores_without_ends_in_a_sentence() -> None:
    with pytest.raises(InputError, match="This fit is of scores without ends"):
        ex.adaptive.TaskBank.of(unbounded(4))


def test_two_editions_of_scores_are_linked() -> None:
    items = unbounded(12, 9)
    ability = np.random.default_rng(9).standard_normal(150)
    old, new = (
        fit(simulate(items, at, rng=number), "normal", starts=1, landmark=1.0)
        for number, at in enumerate((ability, 0.5 + 0.6 * ability))
    )
    found = link(old, new)
    assert found.scale == pytest.approx(0.6, abs=0.06)
    assert found.shift == pytest.approx(0.5, abs=0.06)


def test_predictions_hold_scores_as_often_as_they_say() -> None:
    items = unbounded(30, 10)
    known = simulate(items, 80, rng=10)
    made = fit(known.take(range(60), range(30)), "normal", starts=1, landmark=1.0)
    inside = []
    for row in range(60, 80):
        predictions = place(known.take([row], range(15)), made).predictions
        scores = known.to_numpy()[row, 15:]
        inside.append((predictions.expected_low <= scores) & (scores <= predictions.expected_high))
    assert 0.9 <= np.mean(inside) <= 0.99


def test_diagnosis_finds_nothing_in_scores_of_the_model() -> None:
    made = fit(simulate(unbounded(10, 11), 60, rng=11), "normal", starts=1, landmark=1.0)
    found = ex.irt.diagnose(made, replicates=20, rng=0)
    assert found.dimensions.one_dimension
    assert found.no_sum_scores == "scores are continuous"
    assert abs(np.mean(found.tasks.infit) - 1) < 0.2


def test_indicators_of_scores_are_of_reaching_the_landmark_and_say_so() -> None:
    made = fit(simulate(unbounded(16, 12), 30, rng=12), "normal", starts=1, landmark=1.0)
    assert made.matrix is not None
    told = ex.irt.indicators(made, bins=2)
    assert any("reaching the landmark, a score of 1" in note for note in told.notes)
    assert told.curves is not None and ((told.curves.mean >= 0) & (told.curves.mean <= 1)).all()
    reached = landmark_reached(made.items, made.matrix.to_numpy())
    assert set(np.unique(reached)) == {0.0, 1.0}
    success = ex.irt.curves(made).success
    assert (success >= 0).all() and (success <= 1).all()


def test_results_may_be_scores_of_any_size() -> None:
    scores = simulate(unbounded(6, 13), 20, rng=13).to_numpy()
    made = fit(Results.from_numpy(1e6 * scores), "normal", starts=1, errors=False)
    assert made.converged and made.items.response == "normal"


def test_successes_are_no_scores_without_ends() -> None:
    """They were fitted for a quarter of an hour."""
    wins = np.random.default_rng(0).integers(0, 2, size=(7, 20)).astype(float)
    with pytest.raises(ex.InputError, match="these are successes"):
        ex.irt.fit(ex.ResponseMatrix.from_array(wins), "normal")


def test_a_task_of_one_agent_is_set_aside_with_that_reason() -> None:
    scores = np.random.default_rng(0).normal(size=(7, 20))
    scores[1:, 3] = np.nan
    (aside,) = ex.irt.fit(ex.ResponseMatrix.from_array(scores), "normal", starts=1).dropped
    assert aside.reason == "only one agent has a result"


def test_nobody_is_placed_among_groups_that_share_no_task() -> None:
    wins = np.full((12, 16), np.nan)
    drawn = np.random.default_rng(0).random((12, 16)) < np.linspace(0.2, 0.8, 12)[:, None]
    wins[:6, :8], wins[6:, 8:] = drawn[:6, :8], drawn[6:, 8:]
    matrix = ex.ResponseMatrix.from_array(wins)
    fit = ex.irt.fit(matrix, starts=1)
    assert len(fit.groups) == 2
    with pytest.raises(ex.InputError, match="share no task"):
        ex.irt.place(matrix.take([0]), fit)


def test_a_landmark_that_no_score_is_near_is_refused() -> None:
    matrix = simulate(unbounded(8, 2), 40, rng=2)
    with pytest.raises(InputError, match=r"The landmark is 1e\+300, and the scores lie between"):
        fit(matrix, "normal", starts=1, landmark=1e300, errors=False)
