"""Bits about ability: by quadrature, by simulation, by closed forms, and how sure they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import examiner as ex
from examiner.irt import ItemParameters, ability_information, fisher_information, known
from examiner.irt.indicators.ability_bits import gathered, task_bits


def by_simulation(slope: float, intercept: float, draws: int = 400_000) -> float:
    """I(X; θ) from draws: the mean of log₂ p(x | θ) / p(x)."""
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-(slope * rng.normal(size=draws) + intercept)))
    right = rng.random(draws) < p
    share = p.mean()
    own = np.where(right, p, 1 - p)
    return float(np.log2(own / np.where(right, share, 1 - share)).mean())


@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (2.5, 1.0), (-1.5, 0.5), (0.3, -2.0)])
def test_bits_of_a_task_are_those_of_simulated_agents(slope: float, intercept: float) -> None:
    fit = known(ItemParameters.of(["t"], [slope], [intercept]))
    found = ability_information(fit, rng=0, size=1)
    assert found.tasks.bits[0] == pytest.approx(by_simulation(slope, intercept), abs=0.003)


def test_a_step_at_the_median_tells_one_bit_and_a_flat_task_none() -> None:
    fit = known(ItemParameters.of(["step", "flat"], [4000.0, 0.0], [20.0, 1.0]))
    assert_allclose(ability_information(fit, rng=0, size=1).tasks.bits, [1.0, 0.0], atol=0.05)


def test_two_tasks_tell_what_their_joint_distribution_says() -> None:
    items = ItemParameters.of(["t", "u"], [1.5, 2.0], [0.5, -0.5])
    found = ability_information(known(items), rng=0, size=2)
    theta = np.linspace(-6, 6, 2001)
    weight = np.exp(-(theta**2) / 2)
    weight /= weight.sum()
    p = 1 / (1 + np.exp(-(theta[:, None] * items.slope + items.intercept)))
    joint = np.stack(
        [
            (p[:, 0] if a else 1 - p[:, 0]) * (p[:, 1] if b else 1 - p[:, 1])
            for a in (0, 1)
            for b in (0, 1)
        ]
    )
    total = joint @ weight
    exact = -(total * np.log2(total)).sum() + (weight * (joint * np.log2(joint)).sum(axis=0)).sum()
    assert found.chosen.bits[-1] == pytest.approx(exact, abs=0.02)
    assert found.whole_bits == pytest.approx(exact, abs=0.05)


def test_many_tasks_tell_as_much_as_a_normal_error_leaves() -> None:
    rng = np.random.default_rng(1)
    items = ItemParameters.of(
        [f"t{n}" for n in range(400)], np.full(400, 1.2), rng.normal(size=400)
    )
    theta = rng.normal(size=4000)
    inside = ex.irt.fisher_information(items, theta).sum(axis=1)
    expected = float(
        np.mean(0.5 * np.log2(inside + 1))
    )  # entropy of N(0, 1) less that of the posterior
    assert ability_information(known(items), rng=0).whole_bits == pytest.approx(expected, abs=0.1)


def test_fisher_information_is_the_mean_over_the_agents() -> None:
    rng = np.random.default_rng(2)
    values = (rng.random((80, 10)) < 1 / (1 + np.exp(-rng.normal(size=(80, 1))))).astype(float)
    fit = ex.irt.fit(ex.responses(ex.Results.from_numpy(values)), "2pl", rng=0)
    found = ability_information(fit, rng=0, size=3)
    slope, intercept = fit.items.slope, fit.items.intercept
    p = 1 / (1 + np.exp(-(fit.abilities.ability[:, None] * slope + intercept)))
    fisher = [found.tasks[task].fisher_information for task in fit.items.tasks]
    assert_allclose(fisher, (slope**2 * p * (1 - p)).mean(axis=0), rtol=1e-9)


def test_intervals_hold_the_bits_of_the_tasks_that_made_the_table() -> None:
    rng = np.random.default_rng(3)
    slope, intercept = np.exp(rng.normal(0, 0.3, size=60)), rng.normal(size=60)
    logit = rng.normal(size=(300, 1)) * slope + intercept
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(float)
    fit = ex.irt.fit(ex.responses(ex.Results.from_numpy(values)), "2pl", rng=0)
    found = ability_information(fit, rng=0)
    nodes = np.linspace(-6, 6, 601)
    weight = np.exp(-(nodes**2) / 2)
    truth = task_bits(
        1 / (1 + np.exp(-(nodes[:, None] * slope + intercept))), weight / weight.sum()
    )
    order = [fit.items.tasks.index(task) for task in found.tasks.task]
    inside = (found.tasks.bits_low <= truth[order]) & (truth[order] <= found.tasks.bits_high)
    assert inside.mean() > 0.85  # 95 % of 60, less three errors
    assert np.corrcoef(found.tasks.bits, truth[order])[0, 1] > 0.8


def test_scores_have_no_bits_about_ability() -> None:
    items = ItemParameters.of(["t"], [1.0], [0.0], precision=[5.0], response="beta")
    with pytest.raises(
        ex.InputError, match="computed from successes, and this fit is of beta scores"
    ):
        ability_information(known(items), rng=0, size=1)


def test_some_tasks_never_tell_more_than_all() -> None:
    fit = known(ItemParameters.of(["a", "b", "c"], [2.0, 1.5, 1.0], [0.0, 0.5, -0.5]))
    for seed in range(6):
        found = ability_information(fit, rng=seed, size=3)
        assert found.chosen.bits[-1] <= found.whole_bits


def test_mean_information_over_a_grid_is_that_over_all_agents() -> None:
    ability = np.random.default_rng(0).normal(size=4000)
    items = ItemParameters.of(["flat", "steep", "hard"], [0.5, 2.5, 1.5], [0.0, 0.5, -3.0])
    nodes, weights = gathered(ability)
    assert len(nodes) == 201
    assert np.isclose(weights.sum(), 1.0)
    every = fisher_information(items, ability).mean(axis=0)
    np.testing.assert_allclose(weights @ fisher_information(items, nodes), every, rtol=1e-3)


def test_few_abilities_stay_as_they_are_and_unknown_ones_are_left_out() -> None:
    nodes, weights = gathered(np.array([1.0, np.nan, -1.0]))
    assert nodes.tolist() == [1.0, -1.0]
    assert weights.tolist() == [0.5, 0.5]
