"""A fit that grows: new agents and tasks find their truth on the old scale, and moved tasks are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.irt import ItemParameters
from examiner.irt.growth.drift import Newcomers, tail

COUNT = 40
TASKS = [f"task {n}" for n in range(COUNT)]
RNG = np.random.default_rng(0)
BANK = ItemParameters.of(TASKS, RNG.uniform(0.6, 2.0, COUNT), RNG.normal(0.0, 1.0, COUNT))
ABILITY = RNG.normal(size=900)
TABLE = ex.irt.simulate(BANK, ABILITY, rng=1)


def renamed(matrix: ex.ResponseMatrix, rows: range, columns: range) -> ex.ResponseMatrix:
    """Some agents and tasks; agents keep the name of their row."""
    values = matrix.to_numpy()[np.ix_(rows, columns)]
    return ex.ResponseMatrix.from_array(
        values, [f"agent {row}" for row in rows], [TASKS[column] for column in columns]
    )


BEFORE = ex.irt.fit(renamed(TABLE, range(500), range(30)), starts=1)


def test_new_agents_and_tasks_find_their_truth_and_the_rest_is_untouched() -> None:
    grown = ex.irt.grow(BEFORE, renamed(TABLE, range(500, 900), range(COUNT)))
    fit = grown.fit
    assert grown.tasks == tuple(TASKS[30:]) and len(grown.agents) == 400
    np.testing.assert_array_equal(fit.items.slope[:30], BEFORE.items.slope)
    np.testing.assert_array_equal(fit.items.intercept[:30], BEFORE.items.intercept)
    np.testing.assert_array_equal(fit.abilities.ability[:500], BEFORE.abilities.ability)
    assert fit.errors is not None and BEFORE.errors is not None
    np.testing.assert_array_equal(fit.errors.slope[:30], BEFORE.errors.slope)
    # the zero of the scale is that of the first agents, so that truth is told up to its own error
    away = (fit.items.intercept[30:] - BANK.intercept[30:]) / fit.errors.intercept[30:]
    assert np.sqrt((away**2).mean()) < 1.8
    away = (fit.abilities.ability[500:] - ABILITY[500:]) / fit.abilities.error[500:]
    assert 0.8 < np.sqrt((away**2).mean()) < 1.25


def test_growing_is_close_to_fitting_all_again() -> None:
    grown = ex.irt.grow(BEFORE, renamed(TABLE, range(500, 900), range(COUNT))).fit
    values = TABLE.to_numpy().copy()
    values[:500, 30:] = np.nan
    every = renamed(ex.ResponseMatrix.from_array(values), range(900), range(COUNT))
    again = ex.irt.fit(every, starts=1, errors=False)
    assert np.corrcoef(grown.items.slope[30:], again.items.slope[30:])[0, 1] > 0.98
    assert np.abs(grown.items.difficulty[30:] - again.items.difficulty[30:]).max() < 0.15
    # the mean and deviation of newcomers are their own: the joint fit has one population for all
    np.testing.assert_allclose(grown.abilities.ability, again.abilities.ability, atol=0.25)


def test_new_tasks_are_calibrated_on_agents_of_the_fit_too() -> None:
    fit = ex.irt.grow(BEFORE, renamed(TABLE, range(500), range(30, COUNT))).fit
    assert fit.abilities.agents == BEFORE.abilities.agents
    assert np.corrcoef(fit.items.difficulty[30:], BANK.difficulty[30:])[0, 1] > 0.97


def test_agents_that_were_added_have_the_errors_that_place_gives_them() -> None:
    before = ex.irt.fit(renamed(TABLE, range(60), range(20)), starts=1)
    later = renamed(TABLE, range(60, 90), range(25))
    fit = ex.irt.grow(before, later).fit
    assert len(fit.items) == 25
    placed = ex.irt.place(later, fit)
    errors = [agent.ability_error for agent in placed]
    np.testing.assert_allclose(fit.abilities.error[60:], errors, rtol=1e-5)
    assert all(agent.ability_error > agent.posterior_sd for agent in placed)


def test_an_agent_added_without_a_result_on_any_task_is_one_of_the_population() -> None:
    before = ex.irt.fit(renamed(TABLE, range(60), range(20)), starts=1)
    fit = ex.irt.grow(before, renamed(TABLE, range(60, 65), range(20, 22))).fit
    assert fit.items.tasks == before.items.tasks  # five agents cannot calibrate a task
    assert fit.abilities.ability[60:].tolist() == [0.0] * 5
    assert fit.abilities.error[60:].tolist() == [fit.population_sd] * 5


@pytest.mark.parametrize("model", ["1pl", "rasch", "3pl"])
def test_other_models_grow_with_what_tasks_share_held(model: str) -> None:
    before = ex.irt.fit(renamed(TABLE, range(300), range(20)), model, starts=1)
    fit = ex.irt.grow(before, renamed(TABLE, range(300, 600), range(25))).fit
    assert len(fit.items) == 25 and np.isfinite(fit.items.difficulty).all()
    if model != "3pl":
        assert len(set(fit.items.slope.round(9))) == 1
    placed = ex.irt.place(renamed(TABLE, range(600, 602), range(25)), fit)
    assert all(np.isfinite(agent.ability_error) for agent in placed)


def test_a_task_that_moved_is_found_and_others_are_not() -> None:
    values = TABLE.to_numpy().copy()
    easier = ex.irt.simulate(
        ItemParameters.of(TASKS[:1], BANK.slope[:1], BANK.intercept[:1] + 1.2), ABILITY, rng=9
    )
    values[:, 0] = easier.to_numpy()[:, 0]
    later = renamed(ex.ResponseMatrix.from_array(values), range(500, 900), range(30))
    found = ex.irt.grow(BEFORE, later).drift
    assert found.moved[0] == TASKS[0] and found.shift[0] < -0.3
    assert len(found.moved) <= 2
    assert "Fit all results again" in found.sentence()
    still = ex.irt.grow(BEFORE, renamed(TABLE, range(500, 900), range(30))).drift
    assert len(still.moved) <= 1


def test_agents_of_the_fit_are_counted_and_keep_their_ability() -> None:
    grown = ex.irt.grow(BEFORE, TABLE.take(range(20)))
    old = sum(agent in BEFORE.abilities.agents for agent in TABLE.agents[:20])
    assert grown.known_agents == old > 0
    assert len(grown.agents) == 20 - old


def test_the_test_of_drift_holds_its_level() -> None:
    fresh = [ex.irt.simulate(BANK, 200, rng=100 + turn) for turn in range(20)]
    counts = [len(ex.irt.grow(BEFORE, named_anew(table)).drift.moved) for table in fresh]
    assert sum(count > 0 for count in counts) <= 6  # 5 % expected; 2 or 3 with a fit's own luck


def named_anew(table: ex.ResponseMatrix) -> ex.ResponseMatrix:
    names = [f"later {row}" for row in range(len(table.agents))]
    return ex.ResponseMatrix.from_array(table.to_numpy()[:, :30], names, TASKS[:30])


def test_tasks_that_cannot_be_calibrated_are_named() -> None:
    values = TABLE.to_numpy()[500:700, :32].copy()
    values[:, 30], values[:5, 31], values[5:, 31] = 1.0, [0, 1, 0, 1, 1], np.nan
    later = ex.ResponseMatrix.from_array(values, [f"new {n}" for n in range(200)], TASKS[:32])
    grown = ex.irt.grow(BEFORE, later)
    assert grown.tasks == ()
    assert [task.reason for task in grown.dropped] == [
        "every agent always succeeded",
        "only 5 agents took it",
    ]


def test_scores_do_not_grow() -> None:
    scores = np.random.default_rng(1).normal(size=(30, 5))
    fit = ex.irt.fit(ex.ResponseMatrix.from_array(scores), "normal", errors=False, starts=1)
    with pytest.raises(ex.InputError, match="only fits of successes grow"):
        ex.irt.grow(fit, ex.ResponseMatrix.from_array(scores))


def test_the_test_of_drift_holds_its_level_where_many_tasks_have_few_answers() -> None:
    rng = np.random.default_rng(4)
    count = 400
    names = [f"task {n}" for n in range(count)]
    bank = ItemParameters.of(names, rng.uniform(0.4, 2.2, count), rng.normal(0.0, 1.6, count))

    def day(agents: int, seed: int) -> ex.ResponseMatrix:
        values = ex.irt.simulate(bank, agents, rng=seed).to_numpy().copy()
        values[np.random.default_rng(seed).random(values.shape) < 0.6] = np.nan
        return ex.ResponseMatrix.from_array(values, [f"{seed}-{n}" for n in range(agents)], names)

    before = ex.irt.fit(day(400, 0), starts=1)
    alarms = [bool(ex.irt.grow(before, day(60, 10 + turn)).drift.moved) for turn in range(20)]
    assert sum(alarms) <= 3  # 5 % expected; by χ² alone more than a third
    later = day(200, 50).to_numpy().copy()
    later[:, 7] = 1.0 - later[:, 7]
    turned = ex.ResponseMatrix.from_array(later, [f"new {n}" for n in range(200)], names)
    assert "task 7" in ex.irt.grow(before, turned).drift.moved


def test_a_tail_of_few_answers_is_that_of_binomials() -> None:
    item = ItemParameters.of(["t"], [1.0], [2.5])
    chance = 1 / (1 + np.exp(-2.5))
    new = Newcomers(np.zeros(1), np.ones((25, 1)), np.full((25, 1), 2.0))
    errors = np.zeros((2, 2)), np.diag([0.0, 1.0])
    won = np.arange(51)
    for found in (38, 42):
        far = (found - 50 * chance) ** 2
        beyond = stats.binom.pmf(won, 50, chance)[(won - 50 * chance) ** 2 >= far - 1e-9].sum()
        told = tail(far, item, 0, new, *errors, 200_000, np.random.default_rng(1))
        assert told == pytest.approx(beyond, rel=0.5, abs=2e-5)


def test_one_agent_that_is_added_is_where_place_puts_it() -> None:
    new = renamed(TABLE, range(500, 501), range(30))
    grown = ex.irt.grow(BEFORE, new)
    row = grown.fit.abilities.agents.index("agent 500")
    placed = ex.irt.place(new, BEFORE)["agent 500"].ability
    assert grown.fit.abilities.ability[row] == pytest.approx(placed, abs=0.05)
