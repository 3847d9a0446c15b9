"""Agents that answer unlike agents of their ability, and agents that do not."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import ItemParameters, simulate
from examiner.irt.diagnostics.diagnosis import agent_fit
from examiner.irt.diagnostics.residuals import minimum_p_values, rarely_exceeded
from examiner.irt.errors.draws import replicates, view
from examiner.results import ResponseMatrix

TASKS = [f"t{n:02d}" for n in range(30)]
ITEMS = ItemParameters.of(TASKS, 1.5, np.linspace(3, -3, 30))


def drawn_fit(matrix: ResponseMatrix, items: ItemParameters, draws: int = 200) -> ex.irt.AgentFit:
    fit = ex.irt.known(items)
    seen = view(matrix, fit)
    rng = np.random.default_rng(0)
    drawn = replicates(matrix, fit, seen, count=draws, rng=rng, refit=False)
    made = [one.log_likelihood for one in drawn]
    nothing = np.ones(len(matrix.agents))
    return agent_fit(matrix.agents, seen.log_likelihood, np.array(made), (nothing, nothing))


def test_an_agent_that_solves_the_hard_and_fails_the_easy_is_odd() -> None:
    matrix = simulate(ITEMS, 60, rng=0)
    won = matrix.successes.copy()
    won[0] = np.arange(30) >= 15  # the fifteen hardest
    won[1] = np.arange(30) < 15  # the fifteen easiest: as orderly as can be
    found = drawn_fit(ResponseMatrix.from_array(won, tasks=TASKS), ITEMS)
    first, second = (found[f"agent {number}"] for number in (1, 2))
    assert first.unexpected and first.lz < -4
    assert not second.unexpected and second.lz > 1
    assert found.unexpected.sum() <= 4


@pytest.mark.parametrize("response", ["binomial", "beta-binomial", "beta"])
def test_agents_of_the_model_are_rarely_odd_whatever_the_response(response: str) -> None:
    items = ItemParameters.of(
        TASKS,
        1.5,
        np.linspace(3, -3, 30),
        precision=None if response == "binomial" else 5.0,
        response=response,  # type: ignore[arg-type]
    )
    rng = np.random.default_rng(1)
    matrix = simulate(items, 100, trials=rng.integers(0, 3, (100, 30)), rng=rng)
    found = drawn_fit(matrix, items, draws=60)
    assert abs(found.lz.mean()) < 0.35
    assert found.lz.std() == pytest.approx(1.0, abs=0.25)
    assert (found.p_value < 0.05).mean() < 0.1
    assert 0.4 < found.p_value.mean() < 0.6


def test_a_diagnosis_names_odd_agents_and_tells_it_in_a_sentence() -> None:
    won = simulate(ITEMS, 60, rng=2).successes.copy()
    won[7] = np.arange(30) >= 15
    fit = ex.irt.fit(ResponseMatrix.from_array(won, tasks=TASKS), errors=False, starts=1)
    found = ex.irt.diagnose(fit, replicates=101, refit=False, rng=0)
    agent = found.agents["agent 8"]
    assert agent.unexpected and agent.infit == found.agents.infit.max()
    assert found.tables["agents"]["agent 8"].unexpected
    assert any("of 60 agents with unexpected responses" in words for words in found.findings())


@pytest.mark.parametrize("agents", [5, 40])
@pytest.mark.parametrize("draws", [20, 99])
def test_one_sound_table_in_twenty_has_any_odd_agent(agents: int, draws: int) -> None:
    # Skewed to the left, as log-likelihoods are: 2.33 deviations were passed twice as often as stated
    rng, tables = np.random.default_rng(agents + draws), 250
    named = 0
    for _ in range(tables):
        drawn = -rng.gamma(3.0, size=(draws + 1, agents)) * np.linspace(1, 9, agents)
        named += bool((minimum_p_values(drawn[0], drawn[1:]) <= 0.05 + 1e-12).any())
    assert named / tables <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tables)


@pytest.mark.parametrize("draws", [20, 39, 100])
def test_a_cutoff_is_exceeded_no_more_often_than_stated(draws: int) -> None:
    rng, tables = np.random.default_rng(draws), 4000
    values = rng.normal(size=(tables, draws + 1))
    beyond = [row[0] > rarely_exceeded(row[1:]) for row in values]
    # Ranks are exactly uniform: a quantile of 20 draws was exceeded 9 times of 100
    expected = int(0.05 * (draws + 1) + 1e-9) / (draws + 1)
    assert np.mean(beyond) == pytest.approx(expected, abs=4 * np.sqrt(0.05 * 0.95 / tables))


def test_all_agents_shifted_alike_are_not_odd() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(99, 12))
    assert (minimum_p_values(rng.normal(size=12) - 1.5, drawn) > 0.05).all()
