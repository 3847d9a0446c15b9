"""Curves beside lines: what they say of agents within and beyond those seen, against simulated truth."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.selection import NODES, fold_of
from examiner.selection.curves import curves_of
from examiner.selection.proof.sets import predict_sets


def logistic_table(agents: int, tasks: int, seed: int, shift: float = 0.0, trials: int = 1):
    rng = np.random.default_rng(seed)
    slope, hard = rng.uniform(0.7, 1.6, tasks), 1.5 * rng.normal(size=tasks)
    ability = rng.normal(size=agents) + shift * np.linspace(-1, 1, agents)
    chance = 1 / (1 + np.exp(-(np.outer(ability, slope) - hard)))
    return np.asarray(rng.binomial(trials, chance) / trials)


def whole_of(values: np.ndarray) -> ex.selection.Benchmark:
    return ex.selection.benchmark(ex.Results.from_numpy(values), ex.Recipe())


def test_curves_are_those_of_penalised_logistic_regression():
    optimize = pytest.importorskip("scipy.optimize")
    values = logistic_table(60, 8, 1)
    target = values.mean(axis=1)
    found = curves_of(values, target, np.full(8, 1 / 8))
    odds = np.log((target * 8 + 0.5) / (8 - target * 8 + 0.5))
    ability = (odds - odds.mean()) / odds.std()
    for task in range(8):

        def loss(both: np.ndarray, won: np.ndarray = values[:, task]) -> float:
            eta = both[0] * ability + both[1]
            likelihood = won * eta - np.logaddexp(0, eta)
            return -likelihood.sum() + (both[0] - 1) ** 2 + both[1] ** 2 / 18

        best = optimize.minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-8}).x
        assert found.slope[task] == pytest.approx(best[0], abs=1e-4)
        assert found.intercept[task] == pytest.approx(best[1], abs=1e-4)


def test_what_is_expected_is_a_weighted_sum_over_nodes():
    values = logistic_table(40, 6, 2)
    curves = curves_of(values, values.mean(axis=1), np.full(6, 1 / 6))
    shares, tasks = curves.shares(), np.array([0, 3])
    given = np.array([[1.0, np.nan], [0.0, 1.0]])
    said = curves.predicted(given, tasks, shares)
    for row, seen in enumerate(given):
        likely = np.exp(-(NODES**2) / 2)
        for column, value in zip(tasks, seen, strict=True):
            if np.isfinite(value):
                chance = shares[:, column] if value else 1 - shares[:, column]
                likely = likely * chance ** (1 / curves.dispersion)
        likely /= likely.sum()
        each = likely @ shares
        for column, value in zip(tasks, seen, strict=True):
            each[column] = value if np.isfinite(value) else each[column]
        assert said.score[row] == pytest.approx(each.mean())
        assert said.remainder[row] == pytest.approx((likely @ shares)[[1, 2, 4, 5]].mean())


def test_shares_of_ten_are_known_to_be_surer_than_single_successes():
    one = curves_of(logistic_table(80, 30, 3), np.zeros(80) + 0.5, np.full(30, 1 / 30))
    ten = logistic_table(80, 30, 3, trials=10)
    assert curves_of(ten, ten.mean(axis=1), np.full(30, 1 / 30)).dispersion < 0.25 * one.dispersion


@pytest.mark.parametrize("target", ["median", "mean-rank"])
def test_only_weighted_means_of_shares_have_curves(target: str):
    values = logistic_table(20, 12, 4)
    assert whole_of(values).of_shares
    assert not whole_of(values + 0.5).of_shares
    assert not ex.selection.benchmark(ex.Results.from_numpy(values), target=target).of_shares


def test_agents_better_than_all_seen_are_predicted_better_than_by_lines_alone():
    """Over ten tables whose agents get better: trained on the first half, judged on the second."""
    errors = {"lines": 0.0, "both": 0.0}
    for seed in range(10):
        values = logistic_table(60, 60, seed, shift=1.5)
        whole = whole_of(values)
        fold = fold_of(whole, np.arange(36), ())
        rng = np.random.default_rng(seed)
        sets = [tuple(rng.permutation(60)[:20].tolist()) for _ in range(5)]
        new = values[36:]
        for name, used in (("lines", fold._replace(curves=None)), ("both", fold)):
            guesses = predict_sets(used, new, sets, remainders=False)
            errors[name] += sum(np.abs(one.value - new.mean(axis=1)).mean() for one in guesses)
    assert errors["both"] < 0.9 * errors["lines"]


def test_a_stored_choice_predicts_as_before(tmp_path):
    values = logistic_table(30, 20, 5)
    results = ex.Results.from_numpy(values)
    chosen = ex.selection.select(whole_of(values), 6, rng=0)
    assert chosen.predictor.curves is not None
    ex.save(chosen, tmp_path / "chosen.json")
    again = ex.load_saved(tmp_path / "chosen.json")
    first, second = (ex.selection.place(results, one) for one in (chosen, again))
    assert first.to_dict() == second.to_dict()
    few = results.where(np.isin(results.task_codes, [results.tasks.index(chosen.chosen.tasks[0])]))
    placed = ex.selection.place(few, again)
    row = placed[0]
    assert 0 <= row.predicted_low <= row.predicted <= row.predicted_high <= 1
    assert ((placed.predictions.predicted > -0.2) & (placed.predictions.predicted < 1.2)).all()


def test_slopes_for_newer_agents_are_free_where_results_are_shares_of_many() -> None:
    rng = np.random.default_rng(0)
    slope = np.array([0.5, 1.0, 2.0, 0.7, 1.4, 1.8])
    chance = 1 / (1 + np.exp(-slope * rng.normal(size=(60, 1))))
    spread = []
    for trials in (1, 200):
        shares = rng.binomial(trials, chance) / trials
        weight = np.full(6, 1 / 6)
        found = curves_of(shares, shares.mean(axis=1), weight, newer=True).slope
        spread.append(found.std() / found.mean())
    assert spread[0] < 0.2 < 0.35 < spread[1]  # the truth is 0.46
