"""Likelihoods against scipy's distributions and adaptive integration."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, special, stats

import examiner as ex
from examiner.irt import SCORES, ItemParameters, Kernel, Response, kernel_for, moved
from examiner.irt import item_curves as curves
from examiner.irt.estimation.arrays import trigamma
from examiner.irt.estimation.heights import Heights, curve_derivatives, heights
from examiner.irt.model import Parameter
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from irt.heights import log_likelihoods

ABILITIES = np.array([-2.0, -0.3, 0.0, 1.7])


def parameters(response: Response) -> ItemParameters:
    return ItemParameters.of(
        ["t", "u", "v"],
        slope=[1.3, -0.7, 2.5],
        intercept=[0.4, 1.0, -2.0],
        guessing=0.0 if response in SCORES else [0.0, 0.2, 0.1],
        ceiling=1.0 if response in SCORES else [1.0, 1.0, 0.9],
        precision=None if response == "binomial" else [3.0, 20.0, 0.7],
        response=response,
        cuts=[[-2.0, 1.5], [-1.0, 4.0], [-2.5, 0.3]] if response == "beta" else None,
        landmark=[0.0, 1.5, -2.0] if response == "normal" else None,
    )


def chances(items: ItemParameters, task: int) -> NDArray[np.float64]:
    """The curve, written out."""
    logistic = 1 / (1 + np.exp(-(items.slope[task] * ABILITIES + items.intercept[task])))
    c, u = items.guessing[task], items.ceiling[task]
    return np.asarray(c + (u - c) * logistic)


def test_counts_have_the_likelihoods_of_scipy() -> None:
    won, tried = np.array([[2, 0, 5], [1, 3, 0]]), np.array([[4, 1, 5], [1, 3, 0]])
    matrix = ResponseMatrix.from_counts(won, tried, tasks=["t", "u", "v"])
    for response in ("binomial", "beta-binomial"):
        items = parameters(response)  # type: ignore[arg-type]
        expected = np.zeros((2, ABILITIES.size))
        for agent in range(2):
            for task in range(3):
                p, n, k = chances(items, task), tried[agent, task], won[agent, task]
                if response == "binomial":
                    expected[agent] += stats.binom.logpmf(k, n, p)
                else:
                    assert items.precision is not None
                    nu = items.precision[task]
                    expected[agent] += stats.betabinom.logpmf(k, n, p * nu, (1 - p) * nu)
        np.testing.assert_allclose(log_likelihoods(matrix, items, ABILITIES), expected, atol=1e-10)


def test_scores_have_the_likelihood_of_scipy_and_ends_that_of_an_ordered_logit() -> None:
    """P(y = 0), P(0 < y < 1) and P(y = 1) are those of a logistic variable around η between two cuts."""
    scores = np.array([[0.0, 0.25, 1.0], [0.5, np.nan, 0.75]])
    matrix = ResponseMatrix.from_array(scores, tasks=["t", "u", "v"])
    items = parameters("beta")
    assert items.precision is not None
    expected = np.zeros((2, ABILITIES.size))
    for agent, task in zip(*np.nonzero(~np.isnan(scores)), strict=True):
        y, p, phi = scores[agent, task], chances(items, int(task)), items.precision[task]
        assert items.cuts is not None
        around = stats.logistic(items.slope[task] * ABILITIES + items.intercept[task])
        low, high = items.cuts[task]
        if y == 0:
            expected[agent] += np.log(around.cdf(low))
        elif y == 1:
            expected[agent] += np.log(around.sf(high))
        else:
            expected[agent] += np.log(around.cdf(high) - around.cdf(low))
            expected[agent] += stats.beta.logpdf(y, p * phi, (1 - p) * phi)
    np.testing.assert_allclose(log_likelihoods(matrix, items, ABILITIES), expected, atol=1e-9)


def test_scores_without_ends_have_the_likelihood_of_scipy() -> None:
    scores = np.array([[-3.0, 0.25, 12.0], [0.5, np.nan, 0.75]])
    matrix = ResponseMatrix.from_array(scores, tasks=["t", "u", "v"])
    items = parameters("normal")
    assert items.precision is not None and items.landmark is not None
    expected = np.zeros((2, ABILITIES.size))
    for agent, task in zip(*np.nonzero(~np.isnan(scores)), strict=True):
        deviation = items.precision[task] ** -0.5
        line = items.slope[task] * ABILITIES + items.intercept[task]
        law = stats.norm(items.landmark[task] + deviation * line, deviation)
        expected[agent] += law.logpdf(scores[agent, task])
    np.testing.assert_allclose(log_likelihoods(matrix, items, ABILITIES), expected, atol=1e-9)


def expected_sums(
    response: Response, rng: np.random.Generator
) -> tuple[Kernel, ItemParameters, list[NDArray[np.float64]]]:
    """A kernel, tasks, and sums of responses under some weights of agents at abilities."""
    if response == "beta":
        scores = np.clip(1.4 * rng.random((6, 3)) - 0.2, 0.0, 1.0)
        assert (scores == 0).any() and (scores == 1).any()
        matrix = ResponseMatrix.from_array(scores, tasks=["t", "u", "v"])
    elif response == "normal":
        matrix = ResponseMatrix.from_array(5 * rng.normal(size=(6, 3)), tasks=["t", "u", "v"])
    else:
        tried = rng.integers(1, 5, (6, 3))
        matrix = ResponseMatrix.from_counts(rng.binomial(tried, 0.5), tried, tasks=["t", "u", "v"])
    kernel = kernel_for(response, matrix)
    weights = rng.random((6, ABILITIES.size))
    return kernel, parameters(response), [data.T @ weights for data in kernel.statistics(matrix)]


@pytest.mark.parametrize("response", ["binomial", "beta-binomial", "beta", "normal"])
def test_slopes_are_the_derivatives_of_the_expected_log_likelihood(response: Response) -> None:
    kernel, items, sums = expected_sums(response, np.random.default_rng(3))
    shape = curves(items, ABILITIES)

    def numeric(parameter: Parameter) -> NDArray[np.float64]:
        ahead, behind = (moved(items, parameter, step) for step in (1e-5, -1e-5))
        high, low = (
            kernel.slopes(sums, curves(at, ABILITIES), at.precision).value for at in (ahead, behind)
        )
        return np.asarray((high - low) / 2e-5)

    slopes = kernel.slopes(sums, shape, items.precision)
    by_curve = curve_derivatives(["intercept"], items, shape, ABILITIES)["intercept"]
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(slopes.by_success * by_curve, numeric("intercept"), **close)
    if slopes.by_log_precision is not None:
        np.testing.assert_allclose(slopes.by_log_precision, numeric("precision"), **close)
    assert set(slopes.by_cuts) == ({"zero_cut", "cut_gap"} if response == "beta" else set())
    for name, by_cut in slopes.by_cuts.items():
        np.testing.assert_allclose(by_cut.gradient, numeric(name), **close)  # type: ignore[arg-type]


@pytest.mark.parametrize("response", ["beta", "normal"])
def test_scores_bend_as_their_slopes_change(response: Response) -> None:
    """With a precision of its own a task has second derivatives by η, by log φ, and by both."""
    kernel, items, sums = expected_sums(response, np.random.default_rng(4))

    def by_line(at: ItemParameters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        shape = curves(at, ABILITIES)
        slopes = kernel.slopes(sums, shape, at.precision)
        steep = curve_derivatives(["intercept"], at, shape, ABILITIES)["intercept"]
        assert slopes.by_log_precision is not None
        return slopes.by_success * steep, slopes.by_log_precision

    def bent(parameter: Parameter, which: int) -> NDArray[np.float64]:
        ahead, behind = (by_line(moved(items, parameter, step))[which] for step in (1e-5, -1e-5))
        return np.asarray((behind - ahead) / 2e-5)

    shape = curves(items, ABILITIES)
    slopes = kernel.slopes(sums, shape, items.precision)
    steep = curve_derivatives(["intercept"], items, shape, ABILITIES)["intercept"]
    assert slopes.bend is not None and slopes.cross is not None
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(slopes.information * steep**2, bent("intercept", 0), **close)
    np.testing.assert_allclose(slopes.bend, bent("precision", 1), **close)
    np.testing.assert_allclose(slopes.cross * steep, bent("precision", 0), **close)
    np.testing.assert_allclose(slopes.cross * steep, bent("intercept", 1), **close)


@pytest.mark.parametrize("response", ["binomial", "beta", "normal"])
def test_heights_of_tasks_rise_and_bend_as_their_values_do(response: Response) -> None:
    """Gradients and second derivatives by all parameters of a task, against differences."""
    kernel, items, sums = expected_sums(response, np.random.default_rng(6))
    own: tuple[Parameter, ...] = ("slope", "intercept", "precision")
    if response == "binomial":
        own = ("slope", "intercept", "guessing", "slip")
        items = replace(
            items, guessing=np.array([0.05, 0.2, 0.1]), ceiling=np.array([0.9, 0.95, 0.8])
        )

    def found(at: ItemParameters) -> Heights:
        shape = curves(at, ABILITIES)
        slopes = kernel.slopes(sums, shape, at.precision)
        return heights(own, slopes, at, shape, ABILITIES)

    here = found(items)
    for column, name in enumerate(own):
        ahead, behind = (found(moved(items, name, step)) for step in (1e-5, -1e-5))
        rise = (ahead.value - behind.value) / 2e-5
        bend = (behind.gradient - ahead.gradient) / 2e-5
        np.testing.assert_allclose(here.gradient[:, column], rise, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(here.curvature[:, :, column], bend, rtol=1e-5, atol=1e-5)


def test_trigamma_is_that_of_scipy() -> None:
    at = np.geomspace(1e-9, 1e7, 400)
    np.testing.assert_allclose(trigamma(at), special.polygamma(1, at), rtol=1e-13)


@given(
    slope=st.lists(st.floats(-6, 6), min_size=2, max_size=6),
    nodes=st.sampled_from([None, ex.irt.Quadrature.grid(-8, 8, 2001)]),
    seed=st.integers(0, 1000),
)
def test_the_marginal_likelihood_is_the_integral(
    slope: list[float], nodes: ex.irt.Quadrature | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    items = ItemParameters.of(
        [f"t{n}" for n in range(len(slope))], slope, rng.normal(0, 2, len(slope))
    )
    answers = rng.integers(0, 2, len(slope))

    def density(theta: float) -> float:
        p = 1 / (1 + np.exp(-(items.slope * theta + items.intercept)))
        return float(np.prod(np.where(answers, p, 1 - p)) * stats.norm.pdf(theta))

    breaks = sorted({float(b) for b in items.difficulty if abs(b) < 8})
    area, _ = integrate.quad(
        density, -8, 8, points=breaks or None, limit=400, epsabs=0, epsrel=1e-10
    )
    matrix = ResponseMatrix.from_array(answers[None, :], tasks=items.tasks)
    assert ex.irt.log_likelihood(matrix, items, nodes) == pytest.approx(np.log(area), abs=2e-4)


@pytest.mark.parametrize("count", [1, 5, 21, 61, 150])
def test_gauss_hermite_integrates_polynomials(count: int) -> None:
    rule = ex.irt.Quadrature.gauss_hermite(count)
    weights = np.exp(rule.log_weights)
    assert weights.sum() == pytest.approx(1, abs=1e-10)
    if count >= 5:
        assert weights @ rule.nodes**4 == pytest.approx(3, abs=1e-8)


def test_a_fixed_grid_is_too_coarse_for_long_tests_and_ours_is_not() -> None:
    rng = np.random.default_rng(0)
    items = ItemParameters.of([f"t{n}" for n in range(800)], np.ones(800), rng.normal(size=800))
    matrix = ex.irt.simulate(items, 40, rng=1)
    truth = ex.irt.log_likelihood(matrix, items, ex.irt.Quadrature.grid(-8, 8, 8001))
    assert ex.irt.log_likelihood(matrix, items) == pytest.approx(truth, abs=1e-3)
    assert abs(ex.irt.log_likelihood(matrix, items, 21) - truth) > 5


def test_unknown_tasks_and_wrong_rules_are_refused() -> None:
    items = ItemParameters.of(["t"], [1.0], [0.0])
    with pytest.raises(InputError, match="No parameters are known of 'u'"):
        ex.irt.log_likelihood(ResponseMatrix.from_array([[1]], tasks=["u"]), items)
    with pytest.raises(InputError, match="0 nodes are asked for"):
        ex.irt.log_likelihood(ResponseMatrix.from_array([[1]], tasks=["t"]), items, 0)
    with pytest.raises(InputError, match="two ends in order"):
        ex.irt.Quadrature.grid(2, -2)
