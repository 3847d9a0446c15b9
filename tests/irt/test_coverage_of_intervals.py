"""How often 95 % intervals hold the truth, in simulations: abilities, slopes and intercepts."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import MODELS, ItemParameters, Z, simulate

pytestmark = pytest.mark.slow


def drawn_items(rng: np.random.Generator, tasks: int) -> ItemParameters:
    slope = rng.lognormal(0.2, 0.35, tasks)
    return ItemParameters.of(
        [f"task {n}" for n in range(tasks)], slope, -slope * rng.standard_normal(tasks)
    )


def held(estimate: np.ndarray, error: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(estimate - truth) <= Z * error)


def test_intervals_of_abilities_hold_the_truth_as_often_as_they_say() -> None:
    """Averaged over N(0, 1), tasks estimated from the same 500 agents."""
    inside = []
    for rng in np.random.default_rng(1).spawn(10):
        items, theta = drawn_items(rng, 30), rng.standard_normal(500)
        fit = ex.irt.fit(simulate(items, theta, rng=rng), estimator="ml", starts=1, errors=False)
        inside.append(held(fit.abilities.ability, fit.abilities.error, theta))
    assert 0.93 <= np.mean(inside) <= 0.97


def test_intervals_of_slopes_and_intercepts_hold_the_truth_under_maximum_likelihood() -> None:
    slopes, intercepts = [], []
    for rng in np.random.default_rng(2).spawn(40):
        items = drawn_items(rng, 20)
        fit = ex.irt.fit(simulate(items, 500, rng=rng), estimator="ml", starts=1)
        assert fit.errors is not None
        slopes.append(held(fit.items.slope, fit.errors.slope, items.slope))
        intercepts.append(held(fit.items.intercept, fit.errors.intercept, items.intercept))
    assert 0.93 <= np.mean(slopes) <= 0.97
    assert 0.93 <= np.mean(intercepts) <= 0.97


def test_fiellers_intervals_of_difficulty_hold_the_truth_under_maximum_likelihood() -> None:
    inside = []
    for rng in np.random.default_rng(3).spawn(40):
        items = drawn_items(rng, 20)
        fit = ex.irt.fit(simulate(items, 500, rng=rng), estimator="ml", starts=1)
        assert fit.errors is not None
        inside.append(
            (fit.errors.difficulty_low <= items.difficulty)
            & (items.difficulty <= fit.errors.difficulty_high)
        )
    assert 0.93 <= np.mean(inside) <= 0.97


def test_with_fixed_priors_and_forty_agents_coverage_is_as_found() -> None:
    """As found, not as wished: priors pull slopes down, and what is missed lies above the interval.

    200 other data sets gave 92.6 ± 0.4 % for slopes, 95.8 % for intercepts and 92.9 % for abilities.
    """
    slopes, intercepts, places, above, below = [], [], [], 0, 0
    for rng in np.random.default_rng(4).spawn(60):
        items, theta = drawn_items(rng, 30), rng.standard_normal(40)
        fit = ex.irt.fit(simulate(items, theta, rng=rng), starts=1, priors="fixed")
        assert fit.errors is not None
        column = {task: n for n, task in enumerate(items.tasks)}
        truth = items.take([column[task] for task in fit.items.tasks])
        slopes.append(held(fit.items.slope, fit.errors.slope, truth.slope).mean())
        intercepts.append(held(fit.items.intercept, fit.errors.intercept, truth.intercept).mean())
        places.append(held(fit.abilities.ability, fit.abilities.error, theta).mean())
        above += int((truth.slope > fit.errors.slope_high).sum())
        below += int((truth.slope < fit.errors.slope_low).sum())
    assert 0.90 <= np.mean(slopes) <= 0.95
    assert 0.93 <= np.mean(intercepts) <= 0.98
    assert 0.91 <= np.mean(places) <= 0.96
    assert above > 10 * below


def test_with_interaction_the_beta_binomials_ability_intervals_still_hold_the_truth() -> None:
    inside, plain = [], []
    for rng in np.random.default_rng(5).spawn(8):
        items, theta = drawn_items(rng, 20), rng.standard_normal(200)
        matrix = simulate(items, theta, trials=5, interaction=0.8, rng=rng)
        fit = ex.irt.fit(matrix, estimator="ml", starts=1, errors=False)
        assert fit.items.response == "beta-binomial"
        inside.append(held(fit.abilities.ability, fit.abilities.error, theta))
        bare = ex.irt.fit(matrix, response="binomial", estimator="ml", starts=1, errors=False)
        plain.append(held(bare.abilities.ability, bare.abilities.error, theta))
    assert 0.92 <= np.mean(inside) <= 0.97
    assert np.mean(plain) < 0.92  # taking trials as independent claims too much


def test_errors_of_overdispersed_counts_hold_the_truth() -> None:
    """Slopes, intercepts and the shared precision of a beta-binomial that is true."""
    slopes, intercepts, precisions = [], [], []
    for rng in np.random.default_rng(6).spawn(12):
        plain = drawn_items(rng, 10)
        items = ItemParameters.of(
            plain.tasks, plain.slope, plain.intercept, precision=8.0, response="beta-binomial"
        )
        fit = ex.irt.fit(simulate(items, 300, trials=4, rng=rng), estimator="ml", starts=1)
        assert fit.errors is not None
        assert fit.items.precision is not None
        slopes.append(held(fit.items.slope, fit.errors.slope, items.slope))
        intercepts.append(held(fit.items.intercept, fit.errors.intercept, items.intercept))
        precisions.append(held(fit.items.precision[:1], fit.errors.precision[:1], np.array([8.0])))
    assert 0.9 <= np.mean(slopes) <= 0.99
    assert 0.9 <= np.mean(intercepts) <= 0.99
    assert np.mean(precisions) >= 0.75


@pytest.mark.parametrize("method", ["eap", "map"])
@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_known_tasks_give_ability_intervals_that_hold_the_truth(model: str, method: str) -> None:
    rng = np.random.default_rng(7)
    items = drawn_items(rng, 40)
    if "guessing" in MODELS[model].free:
        items = ItemParameters.of(items.tasks, items.slope, items.intercept, guessing=0.2)
    theta = rng.standard_normal(5000)
    found = ex.irt.abilities(simulate(items, theta, rng=rng), items, method=method)  # type: ignore[arg-type]
    assert 0.93 <= held(found.ability, found.error, theta).mean() <= 0.97
