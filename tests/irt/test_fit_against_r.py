"""The fit against R's mirt and ltm: likelihoods, parameters, errors, abilities."""

import numpy as np
import pytest

import examiner as ex
from irt.ale_of_papers_002 import needs_published_scores, published
from irt.r_reference import log_likelihood, numbers, responses

MODELS = [
    ("two_pl", "two_pl", "2pl"),
    ("rasch", "two_pl", "rasch"),
    ("signed_missing", "signed_missing", "2pl"),
]


@pytest.mark.parametrize(("tag", "data", "model"), MODELS)
def test_the_maximum_is_that_of_mirt(tag: str, data: str, model: str) -> None:
    matrix = responses(f"{data}_responses")
    fit = ex.irt.fit(matrix, model, estimator="ml")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(log_likelihood(tag), abs=0.01)
    np.testing.assert_allclose(fit.items.slope, numbers(f"{tag}_mirt_items", "a1"), atol=0.005)
    np.testing.assert_allclose(fit.items.intercept, numbers(f"{tag}_mirt_items", "d"), atol=0.005)
    abilities = f"{tag}_mirt_abilities"
    np.testing.assert_allclose(fit.abilities.ability, numbers(abilities, "eap"), atol=0.002)
    np.testing.assert_allclose(fit.abilities.posterior, numbers(abilities, "eap_se"), atol=0.002)
    assert fit.errors is not None
    errors = numbers(f"{tag}_mirt_items", "d_se")
    np.testing.assert_allclose(fit.errors.intercept, errors, rtol=0.03)
    if model == "2pl":
        errors = numbers(f"{tag}_mirt_items", "a1_se")
        np.testing.assert_allclose(fit.errors.slope, errors, rtol=0.03)


def test_rasch_has_the_latent_variance_of_mirt() -> None:
    fit = ex.irt.fit(responses("two_pl_responses"), "rasch", estimator="ml")
    assert fit.population_sd**2 == pytest.approx(1.33255654858247, abs=1e-3)
    assert (fit.items.slope == 1).all()


def test_rasch_and_1pl_are_one_model_told_twice() -> None:
    matrix = responses("two_pl_responses")
    rasch = ex.irt.fit(matrix, "rasch", estimator="ml", errors=False)
    one = ex.irt.fit(matrix, "1pl", estimator="ml", errors=False)
    assert one.log_likelihood == pytest.approx(rasch.log_likelihood, abs=1e-6)
    np.testing.assert_allclose(one.items.slope, rasch.population_sd, atol=1e-5)
    np.testing.assert_allclose(
        one.abilities.ability * rasch.population_sd, rasch.abilities.ability, atol=1e-5
    )


def test_the_3pl_is_at_least_as_likely_as_mirts() -> None:
    """R's mirt gave up after 20,000 cycles: its likelihood is a bar, its parameters are not."""
    fit = ex.irt.fit(responses("three_pl_responses"), "3pl", estimator="ml", starts=1, errors=False)
    assert fit.converged
    assert fit.log_likelihood >= log_likelihood("three_pl")


def test_criteria_are_those_of_mirt() -> None:
    fit = ex.irt.fit(responses("two_pl_responses"), estimator="ml", errors=False)
    assert fit.aic == pytest.approx(11237.8306854206, abs=0.02)
    assert fit.bic == pytest.approx(11406.4150093574, abs=0.02)


@needs_published_scores
def test_the_penalised_optimum_of_papers_002_is_found_from_random_starts() -> None:
    """A maximum found by another program: −550.7732 with a ~ N(1, 1), d ~ N(0, 3²), 241 nodes."""
    fit = ex.irt.fit(
        published().matrix,
        priors={"slope": (1, 1), "intercept": (0, 3)},
        nodes=ex.irt.Quadrature.grid(-6, 6, 241),
        starts=11,
        rng=7,
    )
    assert fit.objective == pytest.approx(-550.7732, abs=0.001)
    assert fit.starts.agreeing >= 10  # the first start is not random
    negative = {t for t, a in zip(fit.items.tasks, fit.items.slope, strict=True) if a < 0}
    assert negative == {"Centipede", "Tennis", "Venture", "Video Pinball"}
    for task, words in zip(fit.items.tasks, fit.flags, strict=True):
        if task in negative:
            assert "slope not significant" in words


@needs_published_scores
def test_the_unregularised_fit_of_papers_002_is_not_worse_than_ltms() -> None:
    fit = ex.irt.fit(published().matrix, estimator="ml", nodes=21)
    assert fit.log_likelihood >= -490.40
    assert fit.outcome is ex.irt.FitOutcome.BOUNDARY  # slopes run away, and it says so
    assert ex.irt.log_likelihood(published().matrix, fit.items, 21) == pytest.approx(
        fit.log_likelihood, abs=1e-6
    )
