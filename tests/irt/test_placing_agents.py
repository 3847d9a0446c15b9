"""Placing new agents on a fit: against the fit itself, brute force, simulated truth, and edges."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import examiner as ex
from examiner.irt import (
    Abilities,
    ItemParameters,
    Quadrature,
    TaskErrors,
    fit_from_record,
    place,
    probability,
)
from examiner.irt import known as known_fit
from examiner.irt.prediction import Cells, rank_among, unexpected_results
from examiner.reporting import ShownTable, render_placements
from examiner.results import ResponseMatrix, Results, Scales, TaskScale
from examiner.scores import Recipe
from examiner.validation import to_record

TASKS = [f"t{n}" for n in range(24)]


def bank(response: str = "binomial", **more: object) -> ItemParameters:
    rng = np.random.default_rng(11)
    return ItemParameters.of(
        TASKS,
        np.exp(rng.normal(0.3, 0.3, 24)),
        difficulty=rng.normal(size=24),
        response=response,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


def played(items: ItemParameters, ability: np.ndarray, seed: int = 0) -> ResponseMatrix:
    chance = probability(items, ability)
    won = np.random.default_rng(seed).random(chance.shape) < chance
    return ResponseMatrix.from_array(won.astype(float), tasks=items.tasks)


def test_an_agent_of_the_fit_is_placed_where_the_fit_has_it() -> None:
    matrix = played(bank(), np.random.default_rng(1).normal(size=30))
    fit = known_fit(bank(), matrix)
    found = place(matrix, fit)
    np.testing.assert_allclose(
        [one.ability for one in found], fit.abilities.ability, rtol=0, atol=1e-5
    )
    np.testing.assert_allclose([one.ability_error for one in found], fit.abilities.error, atol=1e-5)
    assert not len(found.predictions) and (found.agents.tasks == 24).all()


def test_an_agent_of_scores_is_placed_where_the_fit_has_it_exact_zeros_and_ones_too() -> None:
    items = bank("beta", precision=5.0)
    drawn = ex.irt.simulate(items, 30, rng=3).to_numpy()
    matrix = ResponseMatrix.from_array(np.where(drawn > 0.9, 1, np.where(drawn < 0.1, 0, drawn)))
    fit = ex.irt.fit(matrix, "beta", rng=0)
    found = place(matrix, fit)
    np.testing.assert_allclose([one.ability for one in found], fit.abilities.ability, atol=1e-4)
    deviations = [one.posterior_sd for one in found]
    np.testing.assert_allclose(deviations, fit.abilities.posterior, atol=1e-4)
    np.testing.assert_allclose([one.ability_error for one in found], fit.abilities.error, rtol=1e-5)


def test_an_exact_zero_is_as_surprising_as_the_others_make_it() -> None:
    from scipy.stats import logistic, norm

    items = bank("beta", precision=5.0, cuts=(-2.0, 1.0))
    found = place(ResponseMatrix.from_array([[1.0] * 23 + [0.0]], tasks=TASKS), known_fit(items))
    grid = np.linspace(-7, 7, 2801)
    eta = items.slope[:, None] * grid + items.intercept[:, None]
    others = logistic.logsf(1.0, loc=eta[:23]).sum(axis=0)
    weights = np.exp(others - others.max()) * norm.pdf(grid)
    tail = weights @ logistic.cdf(-2.0, loc=eta[23]) / weights.sum()
    assert found.unexpected[0].task == "t23"
    assert found.unexpected[0].probability == pytest.approx(tail, rel=1e-3)


def test_exact_scores_are_no_surprise_where_scores_pile_up_at_both_ends() -> None:
    items = bank("beta", precision=0.5, cuts=(-0.1, 0.1))
    ends = np.round(ex.irt.simulate(items, 40, rng=5).to_numpy())
    found = place(ResponseMatrix.from_array(ends, tasks=TASKS), known_fit(items))
    assert len(found.unexpected) < 0.15 * ends.size


@pytest.mark.parametrize(
    ("response", "precision"),
    [("binomial", None), ("beta-binomial", 4.0), ("beta", 8.0), ("normal", 0.25)],
)
def test_the_posterior_is_that_of_plain_numerical_integration(response, precision) -> None:
    from scipy.stats import beta, betabinom, binom, norm

    items = bank(response, precision=precision).take(range(6))
    grid = np.linspace(-7, 7, 2801)
    chance = probability(items, grid).T
    n, k = np.array([5, 5, 1, 3, 4, 2]), np.array([3, 5, 0, 3, 1, 1])
    agents = Abilities(tuple("abcdefghij"), np.linspace(-1, 1, 10), np.full(10, 0.1), "")
    fit = known_fit(items, abilities=agents, population_sd=1.3)
    if response == "beta":
        scores = (k / n) * 0.9 + 0.05
        new = ResponseMatrix.from_array(scores[None, :], tasks=items.tasks)
        density = beta.pdf(scores[:, None], chance * precision, (1 - chance) * precision)
    elif response == "normal":
        scores = 3.0 * (k - 2.0)
        new = ResponseMatrix.from_array(scores[None, :], tasks=items.tasks)
        expected = ex.irt.expected_result(items, grid)
        density = norm.pdf(scores[:, None], expected, precision**-0.5)
    else:
        new = ResponseMatrix.from_counts(k[None, :], n[None, :], tasks=items.tasks)
        density = binom.pmf(k[:, None], n[:, None], chance)
        if response == "beta-binomial":
            up, down = chance * precision, (1 - chance) * precision
            density = betabinom.pmf(k[:, None], n[:, None], up, down)
    posterior = density.prod(axis=0) * norm.pdf(grid, scale=1.3)
    posterior /= posterior.sum()
    mean = posterior @ grid
    (found,) = place(new, fit)
    assert found.ability == pytest.approx(mean, abs=2e-4)
    assert found.ability_error == pytest.approx(np.sqrt(posterior @ (grid - mean) ** 2), abs=2e-4)


def test_any_subset_of_tasks_serves_and_the_others_are_predicted() -> None:
    items = bank()
    truth = np.random.default_rng(3).normal(size=300)
    matrix = played(items, truth, seed=4)
    fit = known_fit(items, matrix.take(agents=range(40)))
    half = place(matrix.take(tasks=range(0, 24, 2)), fit)
    ability = np.array([one.ability for one in half])
    covered = np.mean(
        [one.ability_low <= t <= one.ability_high for one, t in zip(half, truth, strict=True)]
    )
    assert 0.90 <= covered <= 0.99  # 300 agents: ± 2.5 % around 95
    assert np.corrcoef(ability, truth)[0, 1] > 0.85
    predictions = half.predictions
    assert predictions.task[:12] == tuple(TASKS[1::2])
    told = predictions.expected.reshape(len(half), 12)
    actual = matrix.to_numpy()[:, 1::2]
    # calibrated: among cells expected near p about a share p succeeded
    for low in (0.1, 0.3, 0.5, 0.7):
        inside = (told >= low) & (told < low + 0.2)
        assert actual[inside].mean() == pytest.approx(told[inside].mean(), abs=0.04)
    whole = matrix.to_numpy().mean(axis=1)
    inside = [
        one.predicted_mean_low <= mean <= one.predicted_mean_high
        for one, mean in zip(half, whole, strict=True)
    ]
    assert 0.90 <= np.mean(inside) <= 0.99
    assert (predictions.expected_low <= predictions.expected).all()
    assert (predictions.expected <= predictions.expected_high).all()


def test_more_tasks_leave_less_error() -> None:
    matrix = played(bank(), np.array([0.2]))
    fit = known_fit(bank())
    errors = [place(matrix.take(tasks=range(n)), fit)[0].ability_error for n in (3, 8, 24)]
    assert errors[0] > errors[1] > errors[2]


def test_errors_of_the_tasks_widen_the_interval_as_a_bootstrap_of_them_does() -> None:
    items, size = bank(), 0.25
    matrix = played(items, np.array([0.4]), seed=9)
    one = np.full(24, size)
    errors = TaskErrors(one, one, 0.5 * one**2, *([one] * 8), method="made up")
    (found,) = place(matrix, replace(known_fit(items), errors=errors))
    rng = np.random.default_rng(5)
    cov = size**2 * np.array([[1.0, 0.5], [0.5, 1.0]])
    moved = []
    for _ in range(400):
        step = rng.multivariate_normal([0, 0], cov, 24)
        other = ItemParameters.of(TASKS, items.slope + step[:, 0], items.intercept + step[:, 1])
        moved.append(place(matrix, known_fit(other))[0].ability)
    added = np.sqrt(found.ability_error**2 - found.posterior_sd**2)
    assert added == pytest.approx(np.std(moved), rel=0.15)


def test_a_rank_and_its_interval_are_those_of_simulation() -> None:
    rng = np.random.default_rng(6)
    known = Abilities(tuple(f"a{n}" for n in range(40)), rng.normal(size=40), np.full(40, 0.3), "")
    nodes = np.linspace(-1.5, 2.5, 161)
    weights = np.exp(-0.5 * ((nodes - 0.5) / 0.35) ** 2)
    found = rank_among(known, nodes, weights / weights.sum())
    theta = rng.normal(0.5, 0.35, 40_000)
    others = known.ability + 0.3 * rng.normal(size=(40_000, 40))
    ranks = 1 + (others > theta[:, None]).sum(axis=1)
    low, high = np.percentile(ranks, (2.5, 97.5))
    assert abs(found.low - low) <= 1 and abs(found.high - high) <= 1
    assert found.rank == 1 + int((known.ability > 0.5).sum()) and found.among == 41
    nobody = Abilities((), np.empty(0), np.empty(0), "")
    assert rank_among(nobody, nodes, weights).among == 1


def test_results_against_the_rest_of_the_agent_are_named() -> None:
    items = ItemParameters.of(TASKS, np.full(24, 2.0), difficulty=np.linspace(-3, 3, 24))
    won = (items.difficulty < 0).astype(float)
    won[0], won[-1] = 0.0, 1.0  # it fails the easiest and solves the hardest
    found = place(ResponseMatrix.from_array(won[None, :], tasks=TASKS), known_fit(items))
    assert {one.task for one in found.unexpected} == {"t0", "t23"}
    assert all(one.probability < 0.05 for one in found.unexpected)
    assert found.unexpected[0].expected == pytest.approx(1 - found.unexpected[1].expected, abs=0.05)


def test_chances_of_results_hold_over_simulated_agents() -> None:
    """Under the model at most about a twentieth of results is called unexpected."""
    steep = bank().rescaled(0.0, 2.5)
    truth = np.random.default_rng(2).normal(size=200)
    matrix = played(steep, truth, seed=7)
    found = place(matrix, known_fit(steep))
    count = len(found.unexpected)
    rare = np.minimum(probability(steep, truth), 1 - probability(steep, truth))
    expected = rare[rare < 0.05].sum()  # were ability known
    assert 0.3 * expected < count < 2 * expected


def test_tails_of_repeated_trials_are_those_of_scipy() -> None:
    from scipy.stats import betabinom, binom

    node = np.array([0.3])
    for response, precision in (("binomial", None), ("beta-binomial", 3.0)):
        items = ItemParameters.of(["t"], [1.0], [0.0], response=response, precision=precision)
        p = float(probability(items, node)[0, 0])
        for k in (0, 1, 9, 10):
            law = binom(10, p) if precision is None else betabinom(10, p * 3, (1 - p) * 3)
            chance = law.cdf(k) if k / 10 < p else law.sf(k - 1)
            cells = Cells(np.array([float(k)]), np.array([10.0]))
            found = unexpected_results(items, cells, np.zeros(1), node)
            assert bool(found) == (chance < 0.05)
            if found:
                assert found[0].probability == pytest.approx(chance, rel=1e-9)


def test_raw_results_go_through_the_recipe_of_a_stored_fit() -> None:
    rng = np.random.default_rng(12)
    games = ["pong", "breakout", "qbert", "seaquest", "enduro", "alien", "venture", "boxing"]
    scales = Scales(TaskScale(game, random=10.0, reference=20.0) for game in games)
    table = Results.from_numpy(rng.normal(20, 6, size=(25, 8)), tasks=games, scales=scales)
    recipe = Recipe(normaliser="human", success=1.0).learn(table)
    items = ItemParameters.of(games, np.ones(8), difficulty=np.linspace(-1, 1, 8))
    fit = known_fit(items, recipe.responses(table), recipe=recipe)
    stored = fit_from_record(json.loads(json.dumps(to_record(fit))))
    raw = Results.from_numpy(
        [[25.0, 15.0, 26.0]], ["mine"], ["PongNoFrameskip-v4", "ALE/Breakout-v5", "qbert"]
    )
    placements = place(raw, stored)
    (found,) = placements
    direct = ResponseMatrix.from_array([[1, 0, 1]], ["mine"], games[:3])
    (expected,) = place(direct, fit)
    assert (found.ability, found.ability_error) == (expected.ability, expected.ability_error)
    assert found.tasks == 3 and placements.predictions.task == tuple(games[3:])
    assert found.ranked_among == 26


def test_what_cannot_be_placed_is_said() -> None:
    fit = known_fit(bank())
    with pytest.raises(ex.InputError, match="None of the tasks is in the fit"):
        place(ResponseMatrix.from_array([[1, 0]], tasks=["x", "y"]), fit)
    with pytest.raises(ex.InputError, match="has no recipe"):
        place(Results.from_numpy([[1.0]], tasks=["t0"]), fit)
    with pytest.raises(ex.InputError, match="new responses are scores"):
        place(ResponseMatrix.from_array([[0.5, 0.2]], tasks=["t0", "t1"]), fit)
    with pytest.raises(ex.InputError, match="'b' has no result on a task of the fit"):
        place(ResponseMatrix.from_array([[1.0], [np.nan]], ["a", "b"], ["t0"]), fit)
    scores = known_fit(bank("beta", precision=5.0))
    with pytest.raises(ex.InputError, match=r"has 1\.5 on 't0'"):
        place(ResponseMatrix.from_array([[1.5, 0.2]], tasks=["t0", "t1"]), scores)


def test_flags_and_notes_say_what_to_beware_of() -> None:
    fit = known_fit(bank())
    placements = place(ResponseMatrix.from_array([[1, 1, 1]], tasks=["t0", "t1", "new"]), fit)
    (best,) = placements
    assert any("known from below only" in flag for flag in best.flags)
    assert any("placed by 2 tasks only" in flag for flag in best.flags)
    assert placements.notes == ("1 task outside the fit was ignored: 'new'.",)
    (worst,) = place(ResponseMatrix.from_array([[0, 0]], tasks=["t0", "t1"]), fit)
    assert any("known from above only" in flag for flag in worst.flags)
    assert best.ability > 0 > worst.ability


def test_the_quadrature_may_be_chosen() -> None:
    matrix = played(bank(), np.array([0.0]))
    rule = Quadrature.grid(-6, 6, 1201)
    one, two = place(matrix, known_fit(bank()), nodes=rule)[0], place(matrix, known_fit(bank()))[0]
    assert one.ability == pytest.approx(two.ability, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_tasks_and_agents_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = played(bank(), rng.normal(size=5), seed)
    fit = known_fit(bank(), matrix)
    tasks, agents = rng.permutation(24), rng.permutation(5)
    turned = place(matrix.take(agents.tolist(), tasks.tolist()), fit)
    straight = place(matrix, fit)
    for one, other in zip(turned, (straight[int(row)] for row in agents), strict=True):
        assert one.agent == other.agent
        assert one.ability == pytest.approx(other.ability, abs=1e-12)
        assert one.generality == pytest.approx(other.generality)
    odd = [{(row.agent, row.task) for row in found.unexpected} for found in (turned, straight)]
    assert odd[0] == odd[1]


@pytest.mark.parametrize("column", [0, 7, 23])
def test_one_more_success_on_a_task_that_rewards_the_able_raises_ability(column: int) -> None:
    matrix = played(bank(), np.array([0.0]), seed=1).to_numpy().copy()
    found = []
    for result in (0.0, 1.0):
        matrix[0, column] = result
        found.append(place(ResponseMatrix.from_array(matrix, tasks=TASKS), known_fit(bank()))[0])
    assert found[0].ability < found[1].ability
    assert found[0].rank >= found[1].rank


def test_the_fit_given_first_is_refused_with_the_order_that_is_meant() -> None:
    matrix = ResponseMatrix.from_array([[1, 0]], tasks=["t0", "t1"])
    with pytest.raises(ex.InputError, match=r"Give the new results first: `place\(results, fit\)`"):
        place(known_fit(bank()), matrix)  # type: ignore[arg-type]


def test_an_agent_of_the_fit_is_ranked_among_the_others_and_that_is_said() -> None:
    items = ItemParameters.of(list("abcd"), np.full(4, 2.0), difficulty=[-2.0, -1.0, 1.0, 2.0])
    matrix = ResponseMatrix.from_array(
        [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], agents=["x", "y", "z"], tasks="abcd"
    )
    again, other = place(
        ResponseMatrix.from_array([[1, 1, 0, 0]] * 2, agents=["y", "new"], tasks="abcd"),
        known_fit(items, matrix),
    )
    assert again.ranked_among == 3 and other.ranked_among == 4
    assert any("one of the fitted agents" in flag for flag in again.flags)
    assert not any("one of the fitted agents" in flag for flag in other.flags)


def test_the_mean_of_an_agent_that_met_every_task_is_told_as_observed() -> None:
    fit = known_fit(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0]))
    met = ResponseMatrix.from_array([[1, 0], [1, np.nan]], ["all", "some"], ["t", "u"])
    placements = place(met, fit)
    every, some = placements
    assert any("observed, not predicted" in flag for flag in every.flags)
    assert not any("observed, not predicted" in flag for flag in some.flags)
    assert some.predicted_mean_low < some.predicted_mean_high
    shown = render_placements(fit, placements).blocks[1]
    assert isinstance(shown, ShownTable)
    low, high = (row[3:] for row in shown.rows)
    assert np.isnan(low).all() and not np.isnan(high).any()
