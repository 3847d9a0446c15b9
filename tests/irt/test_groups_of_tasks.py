"""Tasks in groups: errors of abilities count their dependence, and dependence nobody named is a note."""

import numpy as np
import pytest

import examiner as ex
from examiner.results import ResponseMatrix

SIZES = (10,) * 6


def table(seed: int, spread: float, agents: int = 30) -> tuple[ResponseMatrix, dict[str, int]]:
    """Agents 1 and 2 are equally able; every agent has its own strength on each group of tasks."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(SIZES)), SIZES)
    ability = rng.normal(size=agents)
    ability[1] = ability[0]
    strength = ability[:, None] + rng.normal(0, spread, (agents, len(SIZES)))[:, group]
    slope, difficulty = np.exp(rng.normal(0.2, 0.3, len(group))), rng.normal(size=len(group))
    chance = 1 / (1 + np.exp(-slope * (strength - difficulty)))
    matrix = ResponseMatrix.from_array((rng.random(chance.shape) < chance).astype(float))
    return matrix, dict(zip(matrix.tasks, group.tolist(), strict=True))


@pytest.mark.slow
def test_equal_agents_are_rarely_called_different_where_tasks_come_in_groups() -> None:
    plain, grouped = [], []
    for seed in range(25):
        matrix, groups = table(seed, 0.9)
        for found, group in ((plain, None), (grouped, groups)):
            difference, error = ex.irt.fit(matrix, starts=1, group=group).abilities.differences()
            found.append(abs(difference[0, 1]) > 1.96 * error[0, 1])
    assert np.mean(grouped) <= 0.16 < np.mean(plain) + 0.1  # 25 tables: 5 % ± 4.4
    assert np.mean(grouped) <= np.mean(plain)


def test_independent_tasks_have_a_design_effect_near_one_and_no_note() -> None:
    effects, notes = [], 0
    for seed in range(8):
        matrix, groups = table(seed, 0.0)
        fit = ex.irt.fit(matrix, starts=1, group=groups)
        assert fit.errors is not None and fit.errors.parameters is not None
        effects.append(fit.errors.parameters.design_effect)
        notes += any("Residuals of tasks" in note for note in ex.irt.fit(matrix, starts=1).notes)
    assert np.mean(effects) < 1.2 and notes <= 2


def test_dependence_too_small_to_change_errors_is_no_note() -> None:
    rng = np.random.default_rng(1)
    ability, slope = rng.normal(size=1000), np.exp(0.3 * rng.normal(size=500))
    chance = 1 / (1 + np.exp(-slope * (ability[:, None] - rng.normal(size=500))))
    matrix = ResponseMatrix.from_array(rng.random(chance.shape) < chance)
    fit = ex.irt.fit(matrix, starts=1, estimator="ml")
    assert not any("Residuals" in note for note in fit.notes)


def test_dependence_that_nobody_named_is_a_note_with_its_size() -> None:
    matrix, groups = table(0, 1.5, agents=60)
    note = next(note for note in ex.irt.fit(matrix, starts=1).notes if "Residuals" in note)
    assert "errors of abilities may be too small by up to a factor of" in note
    fit = ex.irt.fit(matrix, starts=1, group=groups)
    assert any("60 tasks in 6 groups by" in note for note in fit.notes)


def test_a_placed_agent_of_a_grouped_fit_has_the_error_of_the_fit() -> None:
    matrix, groups = table(3, 1.0)
    fit = ex.irt.fit(matrix, starts=1, group=groups)
    placed = ex.irt.place(matrix.take([4]), fit)
    agent = matrix.agents[4]
    assert placed[agent].ability_error == pytest.approx(fit.agents[agent].ability_error, rel=0.02)
    wide = ex.irt.fit(matrix, starts=1).agents[agent].ability_error
    assert fit.agents[agent].ability_error > 1.1 * wide


def test_groups_come_from_a_column_of_tasks_and_others_are_refused() -> None:
    matrix, groups = table(1, 0.9, agents=12)
    rows = [
        {"agent": agent, "task": task, "score": float(value), "repo": f"r{groups[task]}"}
        for agent, row in zip(matrix.agents, matrix.to_numpy(), strict=True)
        for task, value in zip(matrix.tasks, row, strict=True)
    ]
    results = ex.Results.from_dict({key: [row[key] for row in rows] for key in rows[0]})
    by_column = ex.irt.fit(results, starts=1, group="repo")
    by_hand = ex.irt.fit(matrix, starts=1, group=groups)
    np.testing.assert_allclose(
        [by_column.agents[agent].ability_error for agent in matrix.agents],
        [by_hand.agents[agent].ability_error for agent in matrix.agents],
        rtol=1e-6,
    )
    with pytest.raises(ex.InputError, match="No column 'kind' says which group a task is of"):
        ex.irt.fit(results, group="kind")
    with pytest.raises(ex.InputError, match="Responses have no column 'repo' of tasks"):
        ex.irt.fit(matrix, group="repo")
    with pytest.raises(ex.InputError, match="All tasks are in one group"):
        ex.irt.fit(matrix, group=dict.fromkeys(matrix.tasks, "one"))


@pytest.mark.parametrize(("spread", "differ"), [(0.0, False), (1.0, True)])
def test_agents_with_strengths_on_groups_differ_in_ability_only_if_abilities_do(
    spread: float, differ: bool
) -> None:
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(10), 8)
    strength = rng.normal(0, spread, (16, 1)) + rng.normal(0, 1.0, (16, 10))[:, group]
    won = rng.random(strength.shape) < 1 / (1 + np.exp(-strength - rng.normal(size=80)))
    matrix = ResponseMatrix.from_array(won.astype(float))
    groups = dict(zip(matrix.tasks, group.tolist(), strict=True))
    evidence = ex.irt.fit(matrix, "1pl", starts=1, group=groups).evidence
    assert evidence is not None and evidence.abilities_differ is differ
    assert evidence.abilities.profile_p_value is not None
    assert evidence.abilities.profile_p_value < 0.05
    if not differ:
        assert "differ in profile (over groups of tasks)" in evidence.sentences()[0]
