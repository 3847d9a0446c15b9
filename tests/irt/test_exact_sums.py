"""Sums of zeros and ones times numbers, in single precision: exact where they are split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import examiner as ex
from examiner.irt import ResponseSource
from examiner.irt.estimation.arrays import halves, split, times_curves, times_weights


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=40))
def test_halves_add_up_to_what_was_split(numbers):
    vector = np.array(numbers)
    assume(np.abs(vector).max() > 1e-20)  # far smaller ones are nothing in single precision
    leading, rest = (half.astype(np.float64) for half in halves(vector))
    assert np.abs(leading + rest - vector).max() <= 1e-10 * np.abs(vector).max()


@pytest.mark.parametrize("tasks", [600, 9000])
def test_products_of_many_terms_are_those_of_double_precision(tasks):
    rng = np.random.default_rng(tasks)
    data = (rng.random((50, tasks)) < 0.6).astype(np.float32)
    slope, ability = rng.normal(1, 0.3, tasks), rng.normal(size=50)
    exact = data.astype(np.float64)
    score = times_curves(data, split(slope[None, :], np.float32))[:, 0]
    np.testing.assert_allclose(score, exact @ slope, rtol=1e-11)
    along = times_weights(ability[:, None], data, exact=True)[0]
    np.testing.assert_allclose(along, ability @ exact, rtol=0, atol=1e-9)
    curves = rng.exponential(3.0, (4, tasks))
    found = times_curves(data, split(curves, np.float32))
    np.testing.assert_allclose(found, exact @ curves.T, rtol=1e-10)
    plainly = (data @ slope.astype(np.float32)).astype(np.float64)
    assert np.abs(plainly / (exact @ slope) - 1).max() > 1e-9  # what is avoided


def test_a_complete_table_in_single_precision_is_fitted_as_in_double(monkeypatch):
    items = ex.irt.ItemParameters.of(
        [f"t{n}" for n in range(60)], np.linspace(0.6, 1.6, 60), np.linspace(-2, 2, 60)
    )
    matrix = ex.irt.simulate(items, 800, rng=5)
    double = ex.irt.fit(matrix, starts=1, errors=False)
    monkeypatch.setattr(ResponseSource, "kind", np.float32)
    single = ex.irt.fit(matrix, starts=1, errors=False)
    np.testing.assert_allclose(single.items.slope, double.items.slope, atol=1e-8)
    np.testing.assert_allclose(single.log_likelihood, double.log_likelihood, rtol=1e-12)


@pytest.mark.parametrize("model", ["2pl", "1pl"])
def test_a_table_with_gaps_in_single_precision_is_fitted_as_in_double(model, monkeypatch):
    rng = np.random.default_rng(8)
    items = ex.irt.ItemParameters.of(
        [f"t{n}" for n in range(300)], rng.uniform(0.4, 2.5, 300), rng.normal(size=300)
    )
    values = ex.irt.simulate(items, 600, rng=5).to_numpy().copy()
    values[rng.random(values.shape) < 0.6] = np.nan
    matrix = ex.ResponseMatrix.from_array(values, tasks=items.tasks)
    fits = []
    for kind in (np.float64, np.float32):
        monkeypatch.setattr(ResponseSource, "kind", kind)
        fits.append(ex.irt.fit(matrix, model, starts=1, errors=False))
    double, single = fits
    np.testing.assert_allclose(single.items.slope, double.items.slope, atol=2e-6)
    np.testing.assert_allclose(single.items.intercept, double.items.intercept, atol=2e-6)
    np.testing.assert_allclose(single.abilities.ability, double.abilities.ability, atol=2e-6)
    np.testing.assert_allclose(single.log_likelihood, double.log_likelihood, rtol=1e-10)


def test_many_trials_of_many_cells_are_fitted_in_double():
    rng = np.random.default_rng(0)
    tried = np.where(rng.random((420, 500)) < 0.7, rng.integers(1, 1001, (420, 500)), 0)
    slope, difficulty = rng.lognormal(0, 0.4, 500), rng.normal(size=500)
    chance = 1 / (1 + np.exp(-slope * (rng.normal(size=420)[:, None] - difficulty)))
    matrix = ex.ResponseMatrix.from_counts(rng.binomial(tried, chance), tried)
    fit = ex.irt.fit(matrix, starts=1, errors=False, response="binomial")
    true = ex.irt.log_likelihood(matrix, fit.items, fit.quadrature)
    assert fit.log_likelihood == pytest.approx(true, rel=1e-11)
    assert fit.iterations < 30
