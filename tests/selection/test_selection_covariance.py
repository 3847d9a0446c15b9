"""Choosing by covariances: Gaussian conditioning done right, gaps by the model, better than random sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.selection import Constraints, Holdout, benchmark, fold_of
from examiner.selection.covariance import Conditional, Conditionals, blended
from examiner.selection.factors import factors_of
from examiner.selection.proof.folds import best_of
from examiner.selection.proof.sets import predict_sets
from examiner.selection.shrinkage import BLENDS, Shrinkage, settled

RNG = np.random.default_rng


def table_of(agents: int, tasks: int, seed: int = 0, noise: float = 0.5) -> np.ndarray:
    """Two abilities, the first of which all tasks need."""
    rng = RNG(seed)
    loadings = 0.5 * rng.normal(size=(2, tasks)) + [[0.5], [0.0]]
    return rng.normal(size=(agents, 2)) @ loadings + noise * rng.normal(size=(agents, tasks))


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), linear=st.booleans())
def test_steps_of_cholesky_are_gaussian_conditioning(seed: int, linear: bool) -> None:
    """Gains and expectations beside those from the whole covariance matrix, inverted outright."""
    values = table_of(20, 7, seed)
    weights, target = np.full(7, 1 / 7), values.mean(axis=1)
    found = blended(factors_of(values, 1), 0.6, weights=weights if linear else None, target=target)
    seen = found.weight * found.values.T @ found.values
    whole = found.loadings @ found.loadings.T + seen + np.diag(found.noise)
    chosen = RNG(seed).permutation(7)[:3].tolist()
    gains = Conditional(found).gains(chosen)
    known = whole[np.ix_(chosen, chosen)]
    left = whole - whole[:, chosen] @ np.linalg.solve(known, whole[chosen])
    with_target = found.with_target - whole[:, chosen] @ np.linalg.solve(
        known, found.with_target[chosen]
    )
    for task in set(range(7)) - set(chosen):
        expected = with_target[task] ** 2 / left[task, task] / found.target_variance
        assert gains[task] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    new = RNG(seed + 1).normal(size=(4, 3))
    direct = new @ np.linalg.solve(known, found.with_target[chosen])
    several = Conditionals([found, found])
    for task in chosen:
        several.add(np.array([task, task]))
    said = several.predicted(np.stack([new, 2 * new]))[:, -1]
    np.testing.assert_allclose(said, [direct, 2 * direct], rtol=1e-6, atol=1e-9)


def test_factors_are_recovered_with_two_fifths_of_the_cells_missing() -> None:
    """The covariance of complete simulated agents, from agents with gaps: as near as from as many cells."""
    rng = RNG(0)
    loadings = rng.uniform(0.5, 1.5, size=30)
    values = rng.normal(size=(400, 1)) * loadings + 0.7 * rng.normal(size=(400, 30))
    gaps = np.where(rng.random(values.shape) < 0.4, np.nan, values)
    found = factors_of(gaps, 1)
    assert np.corrcoef(np.abs(found.loadings[:, 0]), loadings)[0, 1] > 0.95
    np.testing.assert_allclose(np.abs(found.loadings[:, 0]), loadings, atol=0.2)
    np.testing.assert_allclose(found.noise, 0.49, atol=0.15)
    hidden = np.isnan(gaps)
    off = (found.filled + found.mean - values)[hidden]
    assert np.sqrt((off**2).mean()) < 0.85, "0.7 is noise, and the deviation of a task is above 1"


def test_tasks_that_follow_the_ability_come_before_noisy_ones() -> None:
    rng = RNG(3)
    noise = np.array([0.2, 2.0, 0.2, 2.0, 2.0, 0.2, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    values = rng.normal(size=(60, 1)) + noise * rng.normal(size=(60, 12))
    target = {
        f"agent {row + 1}": float(value)
        for row, value in enumerate(values[:, [0, 2, 5]].mean(axis=1))
    }
    whole = benchmark(ex.Results.from_numpy(values), ex.Recipe(), target=target)
    chosen = ex.selection.choose(whole, 3, "covariance", rng=0)
    assert set(chosen.tasks) == {"task 1", "task 3", "task 6"}
    assert chosen.gain.sum() == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(
    "target", ["mean", "median", "iqm", "macro-mean", "mean-rank", "rank-points"]
)
def test_half_the_tasks_predict_every_target_better_than_random_sets(target: str) -> None:
    groups = {f"task {place + 1}": "ab"[place % 3 == 0] for place in range(18)}
    whole = benchmark(
        ex.Results.from_numpy(table_of(40, 18)),
        ex.Recipe(),
        target=target,
        constraints=Constraints(groups=groups),
    )
    found = ex.selection.judge(
        whole, [4], ["covariance"], rng=0, holdout=Holdout(4, draws=20, reps=20)
    )
    # Points for ranks differ by whole places: of 40 agents, both are off by 1.33 on average.
    slack = 1.02 if target == "rank-points" else 1.0
    assert found.row("covariance", 4).mae < slack * found.row("random", 4).mae
    assert target == "rank-points" or found.doubt("covariance", 4) is None


def test_the_macro_mean_weighs_groups_alike_and_says_what_it_needs() -> None:
    values = table_of(9, 4)
    results = ex.Results.from_numpy(values)
    groups = {f"task {place + 1}": "aaab"[place] for place in range(4)}
    whole = benchmark(
        results, ex.Recipe(), target="macro-mean", constraints=Constraints(groups=groups)
    )
    truth = fold_of(whole, whole.everyone, ()).evidence.target
    np.testing.assert_allclose(truth, (values[:, :3].mean(axis=1) + values[:, 3]) / 2)
    assert whole.weights is not None
    np.testing.assert_allclose(values @ whole.weights, truth)
    with pytest.raises(ex.InputError, match="The macro-mean averages groups of tasks"):
        fold_of(benchmark(results, ex.Recipe(), target="macro-mean"), np.arange(9), ())


def test_agents_with_gaps_help_to_choose() -> None:
    """Half of the agents lack a third of the cells: with them, held-out agents are predicted better."""
    better = []
    for seed in range(20):
        values = table_of(60, 20, seed, noise=1.0)
        new, seen = values[:20], values[20:].copy()
        gone = RNG(seed).random(seen.shape) < 0.33
        gone[:15] = False
        errors = []
        for part in (seen[:15], np.where(gone, np.nan, seen)):
            whole = benchmark(ex.Results.from_numpy(part), ex.Recipe(), coverage=0.95)
            chosen = ex.selection.choose(whole, 4, rng=0)
            (said,) = predict_sets(fold_of(whole, whole.everyone, ()), new, [chosen.columns])
            errors.append(np.abs(said.value - new.mean(axis=1)).mean())
        better.append(np.log(errors[1] / errors[0]))
    assert np.mean(better) < 0.0


def test_noise_is_warned_of_and_structure_is_not() -> None:
    uneven = RNG(2).normal(size=(60, 1)) * np.linspace(0.1, 1.5, 20)
    uneven += 0.5 * RNG(3).normal(size=(60, 20))
    noise, structure = (
        ex.selection.select(benchmark(ex.Results.from_numpy(values), ex.Recipe()), 4, rng=0)
        for values in (RNG(0).normal(size=(30, 20)), uneven)
    )
    assert any(note.startswith("Warning: 4 tasks chosen by covariance") for note in noise.notes)
    assert not any(note.startswith("Warning") for note in structure.notes)


def test_methods_that_lose_to_random_sets_say_so() -> None:
    values = RNG(1).normal(size=(24, 12))

    def worst(evidence, size, rng):
        from examiner.selection.greedy import grow

        spread = evidence.values.std(axis=0)
        return grow(evidence, size, lambda chosen: -spread, method="worst", unit="spread")

    found = ex.selection.judge(
        benchmark(ex.Results.from_numpy(values * np.linspace(0.1, 3, 12)), ex.Recipe()),
        [3],
        [worst, "covariance"],
        rng=0,
        holdout=Holdout(4, draws=20, reps=20),
    )
    assert any(
        note.startswith("worst with 3 tasks does not beat random sets") for note in found.notes
    )
    assert not any(note.startswith("covariance") for note in found.notes)


def test_shrinkage_is_strongest_where_nothing_tells_blends_apart() -> None:
    same = Shrinkage((3, 6), np.ones((len(BLENDS), 2, 30)))
    assert same.at(4) == BLENDS[0]
    errors = np.ones((len(BLENDS), 2, 30)) + 0.01 * RNG(0).normal(size=(len(BLENDS), 2, 30))
    errors[5, 1] -= 0.5
    assert Shrinkage((3, 6), errors).at(9) == BLENDS[5], "the rung nearest the size weighs most"


def test_shrinkage_learns_nothing_from_other_agents() -> None:
    values = table_of(24, 15)
    whole = benchmark(ex.Results.from_numpy(values), ex.Recipe())
    other = values.copy()
    other[20:] = 100 * RNG(5).normal(size=(4, 15))
    changed = benchmark(ex.Results.from_numpy(other), ex.Recipe())
    rows = np.arange(20)
    one, two = (fold_of(each, rows, ("shrinkage",)).evidence for each in (whole, changed))
    assert one.shrinkage is not None and two.shrinkage is not None
    np.testing.assert_array_equal(one.shrinkage.errors, two.shrinkage.errors)
    again = settled(one.table)
    np.testing.assert_array_equal(again.errors, one.shrinkage.errors)


def test_best_of_keeps_the_default_unless_another_is_clearly_better() -> None:
    rng = RNG(0)
    names = ["spread", "covariance"]
    default = np.abs(rng.normal(1.0, 0.3, size=30))
    little = default - 0.003 + 0.05 * np.tile([1.0, -1.0], 15)
    clearly = default - 0.2
    assert best_of(np.array([[little], [default]]), names) == (1,)
    assert best_of(np.array([[clearly], [default]]), names) == (0,)
    odd = np.ones(30)
    odd[0] = 40.0  # one agent decides, and its standard error is large
    assert best_of(np.array([[np.ones(30)], [odd]]), names) == (0,)
    assert best_of(np.array([[np.r_[little, np.nan]], [np.r_[default, 1.0]]]), names) == (1,)
