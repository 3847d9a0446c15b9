"""Fits of responses that are elsewhere: all a fit asks of a source, and what it does without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import examiner as ex
from examiner.irt import (
    ExponentialStatistics,
    ItemParameters,
    KernelSource,
    Quadrature,
    Response,
    ResponseSource,
    Unknowns,
)
from examiner.irt.estimation.exponential import CompleteSource, PatternedSource
from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.task_curves import OwnCurves
from examiner.results import ResponseMatrix

TASKS = [f"task {n}" for n in range(12)]
BANK = ItemParameters.of(TASKS, np.linspace(0.5, 2.0, 12), np.linspace(-1.5, 1.5, 12))


class Shards:
    """Responses in two places: each part answers for its own agents, and the sums add up."""

    def __init__(self, matrix: ResponseMatrix) -> None:
        half = len(matrix.agents) // 2
        parts = (range(half), range(half, len(matrix.agents)))
        self._parts = [PatternedSource(matrix.take(rows)) for rows in parts]
        self.agents, self.tasks = matrix.agents, matrix.tasks
        self.response: Response = "binomial"
        self.trials: NDArray[np.float64] = np.mean([part.trials for part in self._parts], axis=0)
        self.pace: Pace = self._parts[0].pace

    def serves(self, unknowns: Unknowns) -> bool:
        return self._parts[0].serves(unknowns)

    def first_start(self, *, shared_slope: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._parts[0].first_start(shared_slope=shared_slope)

    def expected(self, items: ItemParameters, rule: Quadrature) -> ExponentialStatistics:
        one, two = (part.expected(items, rule) for part in self._parts)
        return replace(
            one,
            log_likelihood=one.log_likelihood + two.log_likelihood,
            ability=np.concatenate([one.ability, two.ability]),
            variance=np.concatenate([one.variance, two.variance]),
            mass=one.mass + two.mass,
            won=one.won + two.won,
            won_ability=one.won_ability + two.won_ability,
        )


@pytest.mark.parametrize("model", ["2pl", "1pl", "rasch"])
@pytest.mark.parametrize("estimator", ["map", "ml"])
def test_a_fit_of_shards_is_the_fit_of_the_whole(model: str, estimator: str) -> None:
    matrix = ex.irt.simulate(BANK, 300, rng=1)
    options = {"estimator": estimator, "starts": 1, "errors": False}
    whole = ex.irt.fit(matrix, model, **options)  # type: ignore[arg-type]
    source: ResponseSource = Shards(matrix)
    parts = ex.irt.fit(source, model, **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(parts.items.slope, whole.items.slope, atol=1e-5)
    np.testing.assert_allclose(parts.items.intercept, whole.items.intercept, atol=1e-5)
    np.testing.assert_allclose(parts.abilities.ability, whole.abilities.ability, atol=1e-5)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-6)
    assert parts.abilities.agents == whole.abilities.agents


def test_a_fit_of_a_source_has_no_responses_and_no_errors() -> None:
    fit = ex.irt.fit(Shards(ex.irt.simulate(BANK, 100, rng=2)), starts=1)
    assert fit.errors is None and fit.matrix is None
    assert fit.dropped == () and fit.converged


def test_a_source_that_cannot_serve_a_model_is_refused() -> None:
    source = Shards(ex.irt.simulate(BANK, 100, rng=2))
    with pytest.raises(ex.InputError, match="has not what the model 3pl needs"):
        ex.irt.fit(source, "3pl")
    with pytest.raises(ex.InputError, match="does not take the response 'binomial'"):
        ex.irt.fit(source, "beta")


def test_all_sources_find_the_same_in_an_e_step() -> None:
    matrix = ex.irt.simulate(BANK, 200, rng=3)
    sources: list[ResponseSource] = [
        CompleteSource(matrix),
        PatternedSource(matrix),
        KernelSource(matrix, "binomial"),
    ]
    for rule in (Quadrature.grid(-6, 6, 121), Quadrature.for_items(BANK, spacing=0.4)):
        first, *others = (source.expected(BANK, rule) for source in sources)
        for other in others:
            assert other.log_likelihood == pytest.approx(first.log_likelihood, abs=1e-8)
            np.testing.assert_allclose(other.ability, first.ability, atol=1e-8)
            np.testing.assert_allclose(other.variance, first.variance, atol=1e-8)
        true = ex.irt.log_likelihood(matrix, BANK, rule)
        assert first.log_likelihood == pytest.approx(true, abs=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_single_precision_tells_the_log_likelihood_to_eleven_digits(
    missing: float,
) -> None:
    rng = np.random.default_rng(5)
    tasks = [f"task {n}" for n in range(2000)]
    bank = ItemParameters.of(tasks, rng.uniform(0.5, 2.0, 2000), rng.normal(0.0, 1.0, 2000))
    values = ex.irt.simulate(bank, 150, rng=6).to_numpy().copy()
    values[rng.random(values.shape) < missing] = np.nan
    matrix = ResponseMatrix.from_array(values, tasks=tasks)
    rule = Quadrature.for_items(bank, 1.0 - missing, spacing=0.8)
    source: ResponseSource = PatternedSource(matrix, OwnCurves(np.float32))
    if not missing:
        source = CompleteSource(matrix, kind=np.float32)
    found = source.expected(bank, rule).log_likelihood
    assert found == pytest.approx(ex.irt.log_likelihood(matrix, bank, rule), rel=1e-11)
