"""Editions of agents, each with a population of its own, are fitted together."""

import json
from functools import cache

import numpy as np
import pytest

import examiner as ex
from examiner.irt import IRTFit, ItemParameters, simulate
from examiner.irt.fitted import fit_from_record
from examiner.irt.posterior import Quadrature
from examiner.results import ResponseMatrix
from examiner.validation import ShapeError, to_record

MEANS = (0.0, 0.6, 1.2)


@cache
def table(agents: int = 60, seed: int = 0) -> tuple[ResponseMatrix, dict[str, int], np.ndarray]:
    """Three editions of agents, of tasks 0–29, 10–39 and 20–49, each as hard as its agents are able."""
    rng = np.random.default_rng([8, seed])
    items = ItemParameters.of(
        [f"t{n:02d}" for n in range(50)],
        np.exp(rng.normal(0.2, 0.3, 50)),
        difficulty=np.repeat([0.0, 0.6, 1.2], [30, 10, 10]) + rng.normal(size=50),
    )
    year = np.repeat(np.arange(3), agents)
    ability = rng.normal(np.array(MEANS)[year], 1.0)
    names = tuple(f"a{n}" for n in range(len(year)))
    values = simulate(items, ability, rng=rng, agents=names).to_numpy().copy()
    for edition in range(3):
        other = np.ones(50, dtype=bool)
        other[10 * edition : 10 * edition + 30] = False
        values[np.ix_(year == edition, other)] = np.nan
    matrix = ResponseMatrix.from_array(values, names, items.tasks)
    return matrix, dict(zip(names, (2023 + year).tolist(), strict=True)), ability


@cache
def fitted(seed: int = 0, errors: bool = True) -> IRTFit:
    matrix, years, _ = table(seed=seed)
    return ex.irt.fit(matrix, editions=years, starts=1, errors=errors)


def marginal(fit: IRTFit, matrix: ResponseMatrix, numbers: np.ndarray) -> float:
    """The marginal log-likelihood by brute force, under populations [agents, 2]."""
    nodes = np.linspace(-9, 9, 721)
    eta = fit.items.slope[:, None] * nodes + fit.items.intercept[:, None]
    values = matrix.to_numpy()
    curve = np.nan_to_num(values) @ eta - (~np.isnan(values)) @ np.logaddexp(0, eta)
    away = (nodes - numbers[:, :1]) / numbers[:, 1:]
    density = np.exp(-0.5 * away**2) / (numbers[:, 1:] * np.sqrt(2 * np.pi))
    return float(np.log((np.exp(curve) * density).sum(axis=1) * (nodes[1] - nodes[0])).sum())


def test_the_likelihood_is_that_of_agents_from_their_own_populations() -> None:
    matrix, _, _ = table()
    fit = fitted()
    populations = fit.abilities.populations
    assert populations is not None and fit.editions == ("2023", "2024", "2025")
    assert fit.log_likelihood == pytest.approx(marginal(fit, matrix, populations[:, :2]), abs=1e-4)


def test_maximum_likelihood_is_highest_at_its_populations() -> None:
    matrix, years, _ = table()
    fit = ex.irt.fit(matrix, "1pl", editions=years, estimator="ml", errors=False, starts=1)
    assert fit.abilities.populations is not None
    numbers = fit.abilities.populations[:, :2]
    highest = marginal(fit, matrix, numbers)
    later = np.array(list(years.values())) == 2025
    for column in (0, 1):
        step = np.zeros_like(numbers)
        step[later, column] = 0.02
        up, down = (marginal(fit, matrix, numbers + side * step) for side in (1, -1))
        assert highest > up and highest > down
        assert abs(up - down) < 0.2 * abs(up + down - 2 * highest)


def test_the_reference_only_sets_zero_and_unit() -> None:
    matrix, years, _ = table()
    fits = [
        ex.irt.fit(matrix, editions=which, estimator="ml", errors=False, starts=1)
        for which in (years, {agent: -year for agent, year in years.items()})
    ]
    first, last = (fit.abilities.ability for fit in fits)
    slope, shift = np.polyfit(first, last, 1)
    np.testing.assert_allclose(last, slope * first + shift, atol=0.01)
    assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood, abs=1e-3)


def test_one_edition_is_a_fit_without_editions() -> None:
    matrix, years, _ = table()
    alone = ex.irt.fit(matrix, editions=dict.fromkeys(years, "all"), starts=1)
    plain = ex.irt.fit(matrix, starts=1)
    np.testing.assert_allclose(alone.abilities.ability, plain.abilities.ability, atol=1e-3)
    np.testing.assert_allclose(alone.abilities.error, plain.abilities.error, rtol=1e-3)


def test_abilities_of_later_editions_have_no_bias_and_intervals_that_cover() -> None:
    bias, one_population, inside = [], [], []
    for seed in range(2):
        matrix, years, ability = table(seed=seed)
        latest = np.array(list(years.values())) == 2025
        found = fitted(seed).abilities
        plain = ex.irt.fit(matrix, errors=False, starts=1).abilities
        bias.append((found.ability - ability)[latest].mean())
        one_population.append((plain.ability - ability)[latest].mean())
        inside.append(np.abs(found.ability - ability) < 1.96 * found.error)
    assert abs(np.mean(bias)) < 0.25 < 0.5 < -np.mean(one_population)
    assert 0.9 < np.mean(inside) < 0.995


def test_errors_of_populations_agree_with_draws() -> None:
    fit = fitted()
    draws = fit.draws(200, rng=1).ability
    assert fit.abilities.populations is not None
    for edition in (1, 2):
        members = fit.abilities.populations[:, 3] == edition
        spread = draws[:, members].mean(axis=1).std()
        assert spread == pytest.approx(fit.abilities.populations[members][0, 2], rel=0.35)


def test_an_agent_of_any_edition_is_placed_where_the_fit_has_it_and_so_it_is_once_stored() -> None:
    matrix, _, _ = table()
    fit = fitted()
    rows = [0, 70, 130]
    stored = fit_from_record(to_record(fit))
    for known in (fit, stored):
        placed = ex.irt.place(matrix.take(agents=rows), known).agents
        for row in rows:
            agent = matrix.agents[row]
            assert placed[agent].ability == pytest.approx(fit.abilities.ability[row], abs=2e-3)
            assert placed[agent].ability_error == pytest.approx(fit.abilities.error[row], rel=0.02)


def test_new_agents_are_from_the_newest_edition() -> None:
    matrix, _, _ = table()
    fit = fitted()
    row = matrix.take(agents=[130])
    new = ResponseMatrix.from_array(row.to_numpy(), ["new"], matrix.tasks)
    placed = ex.irt.place(new, fit).agents["new"]
    assert placed.ability == pytest.approx(fit.abilities.ability[130], abs=2e-3)
    assert placed.ability_error == pytest.approx(fit.abilities.error[130], rel=0.02)


def test_an_examination_of_every_task_gives_the_ability_that_placing_gives() -> None:
    matrix, _, _ = table()
    fit = fitted()
    row = matrix.take(agents=[130], tasks=range(20, 50))
    new = ResponseMatrix.from_array(row.to_numpy(), ["new"], row.tasks)
    answers = dict(zip(row.tasks, row.to_numpy()[0].tolist(), strict=True))
    examined = ex.adaptive.examine(fit, answers.get, choosing="random")
    placed = ex.irt.place(new, fit).agents["new"]
    assert examined.ability == pytest.approx(placed.ability, abs=0.01)
    assert examined.error == pytest.approx(placed.ability_error, rel=0.02)


@pytest.mark.parametrize("model", ["rasch", "3pl"])
def test_every_model_has_editions(model: str) -> None:
    matrix, years, ability = table()
    fit = ex.irt.fit(matrix, model, editions=years, starts=1)
    assert fit.converged
    assert np.corrcoef(fit.abilities.ability, ability)[0, 1] > 0.85
    assert fit.abilities.populations is not None
    assert fit.abilities.populations[-1, 0] == pytest.approx(1.2, abs=0.6)
    row = ex.irt.place(matrix.take(agents=[130]), fit).agents
    assert row.ability[0] == pytest.approx(fit.abilities.ability[130], abs=5e-3)
    assert row.ability_error[0] == pytest.approx(fit.abilities.error[130], rel=0.03)


def test_editions_that_cannot_be_fitted_are_refused() -> None:
    matrix, years, _ = table()
    with pytest.raises(ex.InputError, match=r"needs 5 agents to have a mean.*2026 has 1"):
        ex.irt.fit(matrix, editions=years | {"a0": 2026})
    with pytest.raises(ex.InputError, match="No edition is given for 'a0'"):
        ex.irt.fit(matrix, editions={agent: year for agent, year in years.items() if agent != "a0"})
    with pytest.raises(ex.InputError, match="have no column 'year' of agents"):
        ex.irt.fit(matrix, editions="year")
    with pytest.raises(ex.InputError, match="Agents have no column 'year' with editions"):
        ex.irt.fit(ex.Results.from_numpy(matrix.to_numpy()), editions="year")


@pytest.mark.parametrize("change", [[0.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.5], [0.0, 1.0, 0.0]])
def test_stored_populations_that_are_none_are_refused(change: list[float]) -> None:
    record = json.loads(json.dumps(to_record(fitted())))
    record["abilities"]["populations"] = [change] * len(record["abilities"]["agents"])
    with pytest.raises(ShapeError, match="populations"):
        fit_from_record(record)


def test_a_rule_reaches_as_far_as_populations_do() -> None:
    items = ItemParameters.of(["t"], [1.0], [0.0])
    rule = Quadrature.for_items(items, ends=(-6.0, 12.0))
    assert rule.nodes[0] == pytest.approx(-6.0) and rule.nodes[-1] == pytest.approx(12.0)
