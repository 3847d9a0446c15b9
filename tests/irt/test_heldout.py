"""Models compared by held-out cells, errors by resampling, overdispersion, and whole diagnoses."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import IRTFit, ItemParameters, simulate
from examiner.irt import known as known_fit
from examiner.messages import InputError
from examiner.results import ResponseMatrix

TASKS = [f"t{n}" for n in range(12)]
VARIED = ItemParameters.of(TASKS, np.linspace(0.2, 3.0, 12), np.linspace(-1, 1, 12))


def test_different_slopes_are_worth_having_where_slopes_differ() -> None:
    matrix = simulate(VARIED, 300, rng=0)
    found = ex.irt.compare_models(matrix, ["1pl", "2pl"], folds=4, rng=0)
    assert found.best == "2pl"
    assert found.as_good == ("2pl",)
    assert found.models[1].behind > 2 * found.models[1].behind_error > 0
    assert found.cells + found.excluded_cells == matrix.observed.sum()
    assert found.models[1].log_score > found.baseline


def test_different_slopes_are_not_worth_having_where_they_are_one() -> None:
    same = ItemParameters.of(TASKS, 1.0, np.linspace(-1, 1, 12))
    found = ex.irt.compare_models(simulate(same, 150, rng=1), ["1pl", "2pl"], folds=4, rng=0)
    assert "1pl" in found.as_good


def test_a_cell_is_foretold_from_the_other_cells_of_its_agent() -> None:
    """With known tasks the score is an integral that can be done on an even grid."""
    matrix = simulate(VARIED, 25, rng=2)
    kept_of: list[ResponseMatrix] = []

    def known(kept: ResponseMatrix) -> IRTFit:
        kept_of.append(kept)
        return known_fit(VARIED, kept)

    found = ex.irt.compare_models(matrix, {"truth": known}, folds=3, rng=0)
    grid = np.linspace(-8, 8, 3001)
    chances = ex.irt.probability(VARIED, grid).T
    values, total = matrix.to_numpy(), 0.0
    for kept in kept_of:
        for agent, task in zip(*np.nonzero(matrix.observed & ~kept.observed), strict=True):
            heights = np.exp(-(grid**2) / 2)
            for other in np.flatnonzero(kept.observed[agent]):
                heights = heights * np.where(
                    values[agent, other], chances[other], 1 - chances[other]
                )
            chance = float(heights @ chances[task] / heights.sum())
            total += np.log(chance if values[agent, task] else 1 - chance)
    assert found.models[0].log_score == pytest.approx(total / values.size, abs=1e-6)
    assert found.models[0].behind == 0


def test_folds_hold_out_every_cell_once_and_evenly() -> None:
    held = np.zeros((40, 12), dtype=int)
    matrix = simulate(VARIED, 40, rng=3)

    def spy(kept: ResponseMatrix) -> IRTFit:
        nonlocal held
        missing = matrix.observed & ~kept.observed
        assert set(missing.sum(axis=0)) <= {13, 14}
        held += missing
        return known_fit(VARIED, kept)

    ex.irt.compare_models(matrix, {"spy": spy}, folds=3, rng=0)
    assert (held == 1).all()


@pytest.mark.parametrize("response", ["beta-binomial", "beta"])
def test_counts_and_continuous_scores_are_compared_too(response: str) -> None:
    items = ItemParameters.of(
        TASKS,
        1.5,
        np.linspace(-1, 1, 12),
        precision=6.0,
        response=response,  # type: ignore[arg-type]
    )
    trials = 3 if response == "beta-binomial" else 1
    matrix = simulate(items, 60, trials=trials, rng=0)
    models = ["beta"] if response == "beta" else ["1pl"]
    found = ex.irt.compare_models(matrix, models, folds=2, rng=0)
    assert np.isfinite(found.models[0].log_score)
    assert np.isnan(found.baseline) == (response == "beta")
    assert found.models[0].log_score_error > 0


def test_comparisons_refuse_what_they_cannot_do() -> None:
    matrix = simulate(VARIED, 20, rng=0)
    with pytest.raises(InputError, match="into 1 folds"):
        ex.irt.compare_models(matrix, ["1pl"], folds=1, rng=0)
    with pytest.raises(InputError, match="No model is given"):
        ex.irt.compare_models(matrix, [], rng=0)
    with pytest.raises(InputError, match="Unknown model '5pl'"):
        ex.irt.compare_models(matrix, ["5pl"], rng=0)


@pytest.mark.slow
@pytest.mark.parametrize("resample", ["agents", "responses"])
def test_resampled_errors_are_near_those_of_the_information(resample: str) -> None:
    matrix = simulate(VARIED.take(range(3, 9)), 500, rng=4)
    fit = ex.irt.fit(matrix, estimator="ml", starts=1)
    assert fit.errors is not None
    found = ex.irt.bootstrap(fit, resample=resample, replicates=60, rng=0).errors  # type: ignore[arg-type]
    ratio = np.concatenate([found.slope / fit.errors.slope, found.intercept / fit.errors.intercept])
    assert 0.75 < np.median(ratio) < 1.35
    assert (found.slope_low < fit.items.slope).all()
    assert (found.slope_high > fit.items.slope).all()
    assert found.method == f"bootstrap over {resample}, 60 fits"


def test_resampling_takes_any_way_of_fitting_and_turns_mirror_images() -> None:
    matrix = simulate(VARIED, 50, rng=5)
    fit = known_fit(VARIED, matrix)
    signs = iter([1.0, -1.0] * 10)
    found = ex.irt.bootstrap(
        fit, replicates=20, rng=0, refit=lambda drawn: VARIED.rescaled(0.0, next(signs))
    ).errors
    np.testing.assert_allclose(found.slope, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.slope_low, VARIED.slope)


def test_a_slope_that_changes_sign_leaves_difficulty_open() -> None:
    matrix = simulate(VARIED, 50, rng=5)
    rng = np.random.default_rng(0)

    def noisy(drawn: ResponseMatrix) -> ItemParameters:
        noise = 0.3 * rng.standard_normal(12)
        return ItemParameters.of(TASKS, VARIED.slope + noise, VARIED.intercept)

    found = ex.irt.bootstrap(known_fit(VARIED, matrix), replicates=60, rng=0, refit=noisy).errors
    assert np.isinf(found.difficulty_low[0])
    assert np.isinf(found.difficulty_high[0])
    assert np.isfinite(found.difficulty_high[-1])
    assert found.slope[5] == pytest.approx(0.3, rel=0.3)


def test_resampling_refuses_what_it_cannot_do() -> None:
    fit = known_fit(VARIED, simulate(VARIED, 30, rng=0))
    with pytest.raises(InputError, match="Unknown resampling 'tasks'"):
        ex.irt.bootstrap(fit, resample="tasks", rng=0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="5 replicates are asked for"):
        ex.irt.bootstrap(fit, replicates=5, rng=0)
    with pytest.raises(InputError, match="no responses to resample"):
        ex.irt.bootstrap(known_fit(VARIED), rng=0)

    def never(drawn: ResponseMatrix) -> ItemParameters:
        raise InputError("no")

    with pytest.raises(InputError, match="Only 0 of the resampled"):
        ex.irt.bootstrap(fit, replicates=20, rng=0, refit=never)


@pytest.mark.slow
def test_overdispersion_is_found_where_cells_have_a_life_of_their_own() -> None:
    items = ItemParameters.of(TASKS[:6], 1.0, np.linspace(-1, 1, 6))
    alike = simulate(items, 100, trials=4, interaction=1.0, rng=0)
    found = ex.irt.overdispersion(alike, "1pl")
    assert found.p_value < 1e-4
    assert 0.05 < found.correlation < 0.3
    plain = ex.irt.overdispersion(simulate(items, 100, trials=4, rng=1), "1pl")
    assert plain.p_value > 0.01
    assert plain.correlation < found.correlation


def test_single_trials_say_nothing_of_overdispersion() -> None:
    with pytest.raises(InputError, match="No cell has two trials"):
        ex.irt.overdispersion(simulate(VARIED, 10, rng=0))


def test_a_diagnosis_needs_responses_and_enough_draws() -> None:
    fit = known_fit(VARIED, simulate(VARIED, 60, rng=0))
    with pytest.raises(InputError, match="3 replicates are asked for"):
        ex.irt.diagnose(fit, replicates=3)
    stored = known_fit(VARIED)
    with pytest.raises(InputError, match=r"has no responses. Give them: `diagnose\(fit, matrix\)`"):
        ex.irt.diagnose(stored)
    with pytest.raises(InputError, match="lack 11 tasks of the fit, 't1' first"):
        ex.irt.diagnose(stored, ResponseMatrix.from_array([[1]], tasks=["t0"]))


def test_a_stored_fit_is_diagnosed_with_responses_in_any_order() -> None:
    matrix = simulate(VARIED, 80, rng=0)
    turned = matrix.take(tasks=list(range(12))[::-1])
    found = ex.irt.diagnose(known_fit(VARIED), turned, replicates=20, refit=False, rng=0)
    direct = ex.irt.diagnose(known_fit(VARIED, matrix), replicates=20, refit=False, rng=0)
    np.testing.assert_allclose(
        [found[task].infit for task in direct.tasks.task], direct.tasks.infit, atol=1e-4
    )


def test_progress_is_told_from_nothing_to_all() -> None:
    told: list[tuple[str, int, int]] = []
    fit = known_fit(VARIED, simulate(VARIED, 60, rng=0))
    ex.irt.diagnose(
        fit, replicates=20, refit=False, rng=0, progress=lambda *step: told.append(step)
    )
    assert told[0] == ("simulating", 0, 20)
    assert told[-1] == ("simulating", 20, 20)


def several_trials() -> IRTFit:
    items = ItemParameters.of(TASKS[:5], 1.0, np.linspace(-1, 1, 5))
    matrix = simulate(items, 40, trials=2, interaction=2.0, rng=0)
    return ex.irt.fit(matrix, "1pl", errors=False, starts=1)


def test_a_diagnosis_of_several_trials_says_what_it_leaves_out() -> None:
    found = ex.irt.diagnose(
        several_trials(), replicates=20, refit=False, overdispersion=False, rng=0
    )
    assert found.overdispersion is None
    assert "S-X² is not available: cells have more than one trial." in found.findings()


@pytest.mark.slow
def test_a_diagnosis_of_several_trials_includes_overdispersion() -> None:
    found = ex.irt.diagnose(several_trials(), replicates=20, refit=False, rng=0)
    assert found.overdispersion is not None
    assert "beyond the curve (p =" in found.findings()[-1]
