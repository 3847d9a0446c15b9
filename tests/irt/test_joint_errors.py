"""Errors of tasks and agents together: the scale of slopes, the doubt of zero and unit, and draws."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import examiner as ex
from examiner.irt import (
    MODELS,
    ItemParameters,
    NormalPrior,
    Priors,
    Quadrature,
    SlopeScale,
    abilities,
    fit,
    log_likelihood,
    place,
    simulate,
)
from examiner.irt.priors import RelativeSlopes
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from irt.joint_errors import observed_information


def _simulation() -> Any:  # Any: a script, not a module of the package
    path = Path(__file__).parents[2] / "benchmarks" / "interval_coverage.py"
    spec = importlib.util.spec_from_file_location("simulated_coverage", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


coverage = _simulation()
GRID = Quadrature.grid(-7, 7, 281)


def bank(tasks: int, seed: int = 0, scale: float = 1.0) -> ItemParameters:
    rng = np.random.default_rng(seed)
    slope = scale * rng.lognormal(0.2, 0.35, tasks)
    difficulty = rng.standard_normal(tasks)
    return ItemParameters.of([f"t{n}" for n in range(tasks)], slope, difficulty=difficulty)


def test_the_scale_of_slopes_is_where_its_log_prior_is_highest() -> None:
    slope, prior = np.array([0.3, 0.8, -0.2, 1.4]), RelativeSlopes()
    found = prior.common(slope, 0.4)
    near = [prior.log_prior(slope, SlopeScale(found * by, 0.4)) for by in (0.99, 1.0, 1.01)]
    assert near[1] > near[0] and near[1] > near[2]


def test_the_information_counts_that_the_scale_moves_along() -> None:
    """Against second differences of the likelihood and of the prior, its scale chosen anew each time."""
    items = bank(4, 1)
    matrix = simulate(items, 40, rng=2)
    prior, spread, step = RelativeSlopes(), 0.4, 1e-3
    scale = SlopeScale(prior.common(items.slope, spread), spread)

    def height(at: np.ndarray) -> float:
        slope, intercept = at[0::2], at[1::2]
        there = replace(items, slope=slope, intercept=intercept)
        known = SlopeScale(prior.common(slope, spread), spread)
        shrunk = -0.5 * float(intercept @ intercept) / 9
        return log_likelihood(matrix, there, GRID) + prior.log_prior(slope, known) + shrunk

    here = np.stack([items.slope, items.intercept], axis=1).ravel()
    moves = step * np.eye(8)
    expected = np.array(
        [
            [
                -sum(
                    one * two * height(here + one * a + two * b)
                    for one in (1, -1)
                    for two in (1, -1)
                )
                for b in moves
            ]
            for a in moves
        ]
    ) / (4 * step**2)
    found = observed_information(matrix, items, MODELS["2pl"], Priors(), GRID, scale)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


def test_errors_of_abilities_are_the_posteriors_and_what_tasks_do_to_their_means() -> None:
    """The derivatives of posterior means by differences, the covariance of tasks from the information."""
    matrix = simulate(bank(7, 3), 25, rng=4)
    made = fit(matrix, starts=1)
    items, step = made.items, 1e-4
    scale = made.slope_scale
    how = MODELS["2pl"], made.priors, made.quadrature, scale
    covariance = np.linalg.inv(observed_information(made.matrix, items, *how))

    def means(slope: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        there = replace(items, slope=slope, intercept=intercept)
        return abilities(made.matrix, there, nodes=made.quadrature).ability

    moves = []
    for task in range(len(items)):
        for name in ("slope", "intercept"):
            ends = []
            for sign in (1, -1):
                at = {"slope": items.slope.copy(), "intercept": items.intercept.copy()}
                at[name][task] += sign * step
                ends.append(means(**at))
            moves.append((ends[0] - ends[1]) / (2 * step))
    by = np.array(moves).T
    expected = by @ covariance @ by.T + np.diag(made.abilities.posterior**2)
    np.testing.assert_allclose(made.abilities.covariance, expected, atol=1e-5)
    np.testing.assert_allclose(made.abilities.error**2, np.diagonal(expected), atol=1e-5)


def test_complete_tables_have_the_errors_of_the_general_way() -> None:
    trials = np.tile(np.arange(1, 21) % 3 + 1, (50, 1))
    matrix = simulate(bank(20, 5), 50, trials=trials, rng=6)
    quick = fit(matrix, response="binomial", starts=1)
    plain = fit(matrix.as_sparse(), response="binomial", starts=1)
    for name in ("slope", "intercept", "difficulty"):
        np.testing.assert_allclose(
            getattr(quick.errors, name), getattr(plain.errors, name), rtol=1e-6
        )
    np.testing.assert_allclose(quick.abilities.covariance, plain.abilities.covariance, atol=1e-7)


def test_leading_directions_give_errors_of_abilities_too(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = simulate(bank(120, 7), 300, rng=8)
    whole = fit(matrix, starts=1)
    monkeypatch.setattr("examiner.irt.errors.information.MOST_TOGETHER", 10)
    quick = fit(matrix, starts=1)
    assert "directions shared by all tasks" in quick.errors.method
    np.testing.assert_allclose(quick.abilities.error, whole.abilities.error, rtol=0.01)
    spread = quick.abilities.differences()[1]
    np.testing.assert_allclose(spread, whole.abilities.differences()[1], rtol=0.02)


def test_what_is_not_known_of_zero_cancels_from_differences() -> None:
    """Many trials leave nothing open but zero and unit; agents of like ability share both."""
    made = fit(simulate(bank(20, 9), 12, trials=200, rng=1), response="binomial", starts=1)
    known = made.abilities
    assert (known.error > 2 * known.posterior).all()
    spread = known.differences()[1]
    first, second = np.argsort(known.ability)[5:7]
    assert spread[first, second] < 0.5 * np.hypot(known.error[first], known.error[second])
    assert np.allclose(np.diagonal(spread), 0.0)


def test_a_stored_fit_of_one_slope_for_all_keeps_its_joint_errors(tmp_path: Path) -> None:
    items = bank(25, 12)
    matrix = simulate(replace(items, slope=np.full(25, 1.2)), 20, trials=20, rng=4)
    made = fit(matrix, "1pl", response="binomial", starts=1)
    ex.save(made, tmp_path / "fit.json")
    read = ex.load_saved(tmp_path / "fit.json")
    fitted = made.abilities.error
    for before, after, error in zip(place(matrix, made), place(matrix, read), fitted, strict=True):
        assert after.ability_error == before.ability_error == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("stretch", [0.5, 3.0])
def test_the_scale_of_slopes_follows_the_data(stretch: float) -> None:
    """With N(1, 1) on slopes many tasks vote on the unit; agents are then not spread by 1."""
    made = fit(
        simulate(bank(60, 10, scale=stretch), 60, trials=4, rng=2), response="binomial", starts=1
    )
    assert made.slope_scale is not None
    assert made.slope_scale.common == pytest.approx(1.3 * stretch, rel=0.3)
    spread = np.sqrt((made.abilities.ability**2 + made.abilities.posterior**2).mean())
    assert spread == pytest.approx(1.0, abs=0.05)


def test_the_spread_of_slopes_does_not_grow_with_every_task() -> None:
    """At the highest point of everything together it would: each slope gains by being alone."""
    found = [
        fit(simulate(bank(tasks, 3), 60, rng=3), starts=1, errors=False).slope_scale.spread
        for tasks in (20, 300)
    ]
    assert all(0.25 < spread < 0.5 for spread in found), found


def test_draws_have_the_errors_of_the_fit() -> None:
    made = fit(simulate(bank(15, 11), 40, trials=5, rng=3), response="binomial", starts=1)
    drawn = made.draws(1500, rng=1)
    assert drawn.ability.shape == (1500, 40) and drawn.agents == made.abilities.agents
    np.testing.assert_allclose(drawn.ability.std(axis=0), made.abilities.error, rtol=0.15)
    slopes = np.array([items.slope for items in drawn.items])
    np.testing.assert_allclose(slopes.std(axis=0), made.errors.slope, rtol=0.2)
    correlated = np.corrcoef(slopes.mean(axis=1), np.log(drawn.scale))[0, 1]
    assert correlated > 0.8
    apart = drawn.ability[:, 0] - drawn.ability[:, 1]
    assert apart.std() == pytest.approx(made.abilities.differences()[1][0, 1], rel=0.1)


@pytest.mark.parametrize("model", ["1pl", "rasch", "3pl", "beta", "normal"])
def test_every_model_draws_and_has_joint_errors(model: str) -> None:
    items = bank(12, 13)
    if model in ("beta", "normal"):
        items = ItemParameters.of(
            items.tasks,
            items.slope,
            items.intercept,
            precision=8.0,
            response=model,  # type: ignore[arg-type]
        )
    made = fit(simulate(items, 30, rng=5), model, starts=1)
    drawn = made.draws(400, rng=2)
    assert (made.abilities.error >= made.abilities.posterior).all()
    np.testing.assert_allclose(drawn.ability.std(axis=0), made.abilities.error, rtol=0.3)
    assert np.linalg.eigvalsh(made.abilities.covariance).min() > 0


def test_a_stored_fit_keeps_what_errors_have_in_common(tmp_path: Path) -> None:
    made = fit(simulate(bank(25, 12), 20, trials=20, rng=4), response="binomial", starts=1)
    new = simulate(bank(25, 12), 3, trials=20, rng=9)
    ex.save(made, tmp_path / "fit.json")
    read = ex.load_saved(tmp_path / "fit.json")
    np.testing.assert_array_equal(read.abilities.error, made.abilities.error)
    np.testing.assert_allclose(
        read.abilities.differences()[1], made.abilities.differences()[1], rtol=0.05, atol=1e-9
    )
    for before, after in zip(place(new, made), place(new, read), strict=True):
        assert before.ability_error > 1.2 * before.posterior_sd
        assert after.ability_error == before.ability_error
    with pytest.raises(InputError, match="nothing can be drawn from it"):
        read.draws()


def test_maximum_likelihood_and_fixed_priors_count_the_errors_of_tasks_too() -> None:
    matrix = simulate(bank(20, 14), 60, rng=6)
    for how in ({"estimator": "ml"}, {"priors": "fixed"}):
        made = fit(matrix, starts=1, **how)
        assert made.slope_scale is None
        plain = abilities(matrix, made.items, nodes=made.quadrature)
        np.testing.assert_allclose(made.abilities.posterior, plain.error, atol=1e-4)
        assert (made.abilities.error > made.abilities.posterior).all()


def test_few_agents_leave_guessing_where_the_prior_expects_it_and_say_so() -> None:
    items = replace(bank(20, 15), guessing=np.full(20, 0.2))
    few, many = simulate(items, 60, rng=7), simulate(items, 220, rng=7)
    held = fit(few, "3pl", starts=1)
    assert held.errors is not None
    assert np.ptp(held.items.guessing) == 0 and np.isnan(held.errors.guessing).all()
    assert any("held at 0.12" in words for words in held.notes)
    for free in (
        fit(many, "3pl", starts=1),
        fit(few, "3pl", starts=1, priors={"guessing": (-1.5, 1.0)}),
    ):
        assert np.ptp(free.items.guessing) > 0
        assert not any("held at" in words for words in free.notes)


def test_priors_by_name_are_the_fixed_ones_and_others_are_refused() -> None:
    assert Priors.of("fixed").slope == NormalPrior(1.0, 1.0)
    with pytest.raises(InputError, match="loose"):
        Priors.of("loose")
    matrix = ResponseMatrix.from_array([[1, 0], [0, 1], [1, 1]])
    with pytest.raises(InputError, match="0 draws"):
        fit(matrix, starts=1).draws(0)


SMALL = (coverage.Cell("2pl", 12, 25, 5), coverage.Cell("2pl", 23, 40))


@pytest.mark.parametrize("cell", SMALL, ids=lambda cell: cell.name)
def test_intervals_of_small_tables_hold_the_truth(cell: Any) -> None:
    """A quick look of 15 tables; `benchmarks/interval_coverage.py` has 200 of each of many kinds."""
    check(cell, 15)


SCORES = (
    coverage.Cell("normal", 20, 15, response="normal"),
    coverage.Cell("beta", 20, 15, response="beta", ends=True),
)


@pytest.mark.slow
@pytest.mark.parametrize("cell", SCORES, ids=lambda cell: cell.name)
def test_intervals_of_small_tables_of_scores_hold_the_truth(cell: Any) -> None:
    check(cell, 12)


@pytest.mark.slow
@pytest.mark.parametrize("cell", list(coverage.cells())[:9], ids=lambda cell: cell.name)
def test_intervals_hold_the_truth(cell: Any) -> None:
    check(cell, 100)


def test_identical_agents_are_not_told_apart() -> None:
    cell = coverage.Cell("2pl", 23, 40, kind="identical")
    pairs = np.array(
        [coverage.one_table(cell, number, 1)["held"]["beyond"] for number in range(20)]
    )
    assert pairs[:, 0].sum() / pairs[:, 1].sum() <= 0.05


def check(cell: Any, tables: int) -> None:
    """Shares within the limits, or outside by no more than three of their standard errors."""
    found = [coverage.one_table(cell, number, 1)["held"] for number in range(tables)]
    for name, (low, high) in cell.limits.items():
        share, error = coverage.covered([one[name] for one in found])
        assert low - 3 * error <= share <= high + 3 * error, (name, share, error)


def test_a_reversed_key_stays_where_its_data_have_it() -> None:
    """A normal prior on e would draw one slope that is unlike the others half the way to them."""
    inside = []
    for seed in range(8):
        items = bank(40, 100 + seed)
        slope = items.slope.copy()
        slope[7] = -1.3
        made = fit(simulate(replace(items, slope=slope), 100, rng=seed), starts=1)
        column = made.items.tasks.index("t7")
        inside.append(made.errors.slope_low[column] <= -1.3 <= made.errors.slope_high[column])
    assert np.mean(inside) >= 0.75
