"""Fits of responses that are elsewhere: all a fit asks of a source, and what it does without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import examiner as ex
from examiner.irt import (
    Block,
    ItemParameters,
    MemorySource,
    Quadrature,
    ResponseSource,
    Unknowns,
    whole_of,
)
from examiner.results import ResponseMatrix

TASKS = [f"task {n}" for n in range(12)]
BANK = ItemParameters.of(TASKS, np.linspace(0.5, 2.0, 12), np.linspace(-1.5, 1.5, 12))


class Shards(ResponseSource):
    """Responses in two places: each block answers for its own agents, and the sums add up."""

    def __init__(self, matrix: ResponseMatrix) -> None:
        won = matrix.successes.sum(axis=1)
        scores = float(won.mean()), float(won.std())
        super().__init__(replace(whole_of(matrix), scores=scores, alike=False), "binomial")
        half = len(matrix.agents) // 2
        self._parts = [matrix.take(range(half)), matrix.take(range(half, len(matrix.agents)))]

    def blocks(self) -> Iterator[Block]:
        return map(self.block, self._parts)


def e_steps(matrix: ResponseMatrix) -> list[ResponseSource]:
    """All ways to an E-step: trials that are the same for all, trials that differ, and by the kernel."""
    unknowns = Unknowns.of(ex.irt.MODELS["2pl"], "binomial", matrix.tasks, None)
    alike = MemorySource(matrix, "binomial").suited(unknowns)
    apart = MemorySource(matrix, "binomial").suited(unknowns)
    apart.whole = replace(apart.whole, alike=False)
    return [alike, apart, MemorySource(matrix, "binomial")]


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


def test_a_fit_of_a_source_has_no_responses_and_the_errors_of_the_whole() -> None:
    matrix = ex.irt.simulate(BANK, 100, rng=2)
    fit, whole = ex.irt.fit(Shards(matrix), starts=1), ex.irt.fit(matrix, starts=1)
    assert fit.matrix is None and fit.dropped == () and fit.converged
    assert fit.errors is not None and whole.errors is not None
    np.testing.assert_allclose(fit.errors.slope, whole.errors.slope, rtol=1e-5)
    np.testing.assert_allclose(fit.abilities.error, whole.abilities.error, rtol=1e-5)


def test_a_source_that_cannot_serve_a_model_is_refused() -> None:
    source = Shards(ex.irt.simulate(BANK, 100, rng=2))
    with pytest.raises(ex.InputError, match="does not take the response 'binomial'"):
        ex.irt.fit(source, "beta")


def test_all_sources_find_the_same_in_an_e_step() -> None:
    matrix = ex.irt.simulate(BANK, 200, rng=3)
    for rule in (Quadrature.grid(-6, 6, 121), Quadrature.for_items(BANK, spacing=0.4)):
        first, *others = (source.expected(BANK, rule) for source in e_steps(matrix))
        for other in others:
            assert other.log_likelihood == pytest.approx(first.log_likelihood, abs=1e-8)
            np.testing.assert_allclose(other.ability, first.ability, atol=1e-8)
            np.testing.assert_allclose(other.variance, first.variance, atol=1e-8)
        true = ex.irt.log_likelihood(matrix, BANK, rule)
        assert first.log_likelihood == pytest.approx(true, abs=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_single_precision_tells_the_log_likelihood_to_eleven_digits(
    missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    tasks = [f"task {n}" for n in range(2000)]
    bank = ItemParameters.of(tasks, rng.uniform(0.5, 2.0, 2000), rng.normal(0.0, 1.0, 2000))
    values = ex.irt.simulate(bank, 150, rng=6).to_numpy().copy()
    values[rng.random(values.shape) < missing] = np.nan
    matrix = ResponseMatrix.from_array(values, tasks=tasks)
    rule = Quadrature.for_items(bank, 1.0 - missing, spacing=0.8)
    monkeypatch.setattr(ResponseSource, "kind", np.float32)
    source = e_steps(matrix)[0]
    found = source.expected(bank, rule).log_likelihood
    assert found == pytest.approx(ex.irt.log_likelihood(matrix, bank, rule), rel=1e-11)
