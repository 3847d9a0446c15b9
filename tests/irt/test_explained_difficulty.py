"""Difficulty explained by attributes of tasks, and ability on a difficulty that is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import spearmanr

import examiner as ex
from arena.runs import command
from examiner.irt import ExplainedDifficulty, explain, on_difficulty
from examiner.messages import InputError
from examiner.results import Attributes, ResponseMatrix, Value

EFFECTS = {"minutes": 0.4, "rust": 0.6}


class World(NamedTuple):
    """Simulated responses, what is known of tasks, and the truth; families are of five tasks each."""

    matrix: ResponseMatrix
    about: Attributes
    families: dict[str, object]
    ability: np.ndarray
    difficulty: np.ndarray


def world(seed: int, agents: int = 45, tasks: int = 60, family: float = 0.0) -> World:
    rng = np.random.default_rng(seed)
    names = [f"task {number}" for number in range(tasks)]
    of_family = np.arange(tasks) // 5
    minutes, rust = 2.4 * rng.normal(size=tasks), rng.random(tasks) < 0.4
    if family:  # families are alike in length too
        minutes = 0.6 * minutes + 1.9 * rng.normal(size=tasks)[of_family]
    ability = 1.2 * rng.normal(size=agents)
    difficulty = EFFECTS["minutes"] * minutes + EFFECTS["rust"] * rust - 0.3
    difficulty += (0.5 if family else 0.8) * rng.normal(size=tasks)
    difficulty += family * rng.normal(size=tasks)[of_family]
    solved = rng.random((agents, tasks)) < expit(ability[:, None] - difficulty)
    rows = [
        {"task": name, "minutes": length, "language": "rust" if is_rust else "c"}
        for name, length, is_rust in zip(names, minutes.tolist(), rust, strict=True)
    ]
    return World(
        ResponseMatrix.from_array(solved.astype(float), tasks=names),
        Attributes.from_dicts("task", rows),
        dict(zip(names, of_family.tolist(), strict=True)),
        ability,
        difficulty,
    )


def explained(of: World, *, families: bool = False) -> ExplainedDifficulty:
    return explain(
        of.matrix,
        ["minutes", "language"],
        attributes=of.about,
        group=of.families if families else None,
        folds=5,
    )


def test_effects_and_held_out_tasks_are_recovered_within_their_intervals() -> None:
    truth = world(3)
    answer = explained(truth)
    for key, effect in (
        (("minutes", "per unit"), EFFECTS["minutes"]),
        (("language", "rust"), EFFECTS["rust"]),
    ):
        row = answer.effects[key]
        assert row.effect_low < effect < row.effect_high
    assert answer.effects["minutes", "per unit"].p < 0.001
    inside = [
        answer.tasks[name].predicted_low < value < answer.tasks[name].predicted_high
        for name, value in zip(truth.matrix.tasks, truth.difficulty, strict=True)
    ]
    assert np.mean(inside) > 0.85
    of_truth = 1 - 0.8**2 / truth.difficulty.var()
    assert answer.share_low < of_truth < answer.share_high
    abilities = [answer.agents[name].ability for name in truth.matrix.agents]
    assert spearmanr(abilities, truth.ability)[0] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("families", [False, True])
def test_intervals_of_effects_cover_with_and_without_families(families: bool) -> None:
    inside = []
    for seed in range(100):
        answer = explained(
            world(seed, agents=12, tasks=60, family=0.8 if families else 0.0), families=families
        )
        row = answer.effects["minutes", "per unit"]
        inside.append(row.effect_low < EFFECTS["minutes"] < row.effect_high)
    assert np.mean(inside) >= 0.89


def test_families_that_are_ignored_make_errors_too_small() -> None:
    truth = world(1, family=1.5)
    alone, whole = (explained(truth, families=families) for families in (False, True))
    key = "minutes", "per unit"
    widths = [row.effect_high - row.effect_low for row in (alone.effects[key], whole.effects[key])]
    assert widths[1] > 1.2 * widths[0]
    assert whole.fitted.family > whole.fitted.residual


def test_the_order_of_agents_changes_nothing() -> None:
    truth = world(2, agents=12)
    order = np.random.default_rng(0).permutation(12).tolist()
    answer = explained(truth)
    other = explained(truth._replace(matrix=truth.matrix.take(agents=order)))
    np.testing.assert_allclose(answer.effects.effect, other.effects.effect, atol=1e-4)


def test_attributes_that_say_nothing_explain_nothing() -> None:
    truth = world(4)
    rng = np.random.default_rng(9)
    rows = [{"task": name, "noise": float(rng.normal())} for name in truth.matrix.tasks]
    answer = explain(truth.matrix, ["noise"], attributes=Attributes.from_dicts("task", rows))
    assert answer.effects["noise", "per unit"].p > 0.05
    assert answer.share_high < 0.3 and "No attribute has a significant effect" in answer.headline


def test_tasks_that_nobody_has_played_are_predicted_from_their_attributes() -> None:
    truth = world(5)
    more = Attributes.from_dicts(
        "task",
        [
            {"task": "long", "minutes": 5.0, "language": "rust"},
            {"task": "ada", "minutes": 0.0, "language": "ada"},
        ],
    )
    answer = explain(truth.matrix, ["minutes", "language"], attributes=truth.about + more)
    row = answer.tasks["long"]
    assert np.isnan(row.difficulty) and row.predicted_low < 2.3 < row.predicted_high
    assert "ada" not in answer.tasks.task  # no task of the fit is in that language
    again = answer.predict({"long": {"minutes": 5.0, "language": "rust"}})["long"]
    assert again.predicted == pytest.approx(row.predicted)
    with pytest.raises(InputError, match="has a category that no task of the fit has"):
        answer.predict({"ada": {"minutes": 0.0, "language": "ada"}})


def test_several_trials_that_vary_beyond_chance_widen_intervals() -> None:
    truth = world(6, agents=20)
    rng = np.random.default_rng(0)
    logits = truth.ability[:20, None] - truth.difficulty + 1.5 * rng.normal(size=(20, 60))
    won = rng.random((20, 60, 10)) < expit(logits)[:, :, None]
    results = ex.Results.from_numpy(won.astype(float), tasks=truth.matrix.tasks)
    answer = explain(results, ["minutes"], attributes=truth.about, folds=3)
    assert answer.overdispersion > 1.5, "the variance of a cell is about twice a coin's"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["hours"], "Tasks have no attribute 'hours'; they have 'minutes', 'language'"),
        (["log2(language)"], "'log2(language)' is 'c' on a task"),
        (["log2(minutes)"], "has no logarithm"),
        (["minutes", "minutes "], "Tasks have no attribute 'minutes '"),
    ],
)
def test_attributes_that_cannot_be_used_are_refused(columns: list[str], message: str) -> None:
    truth = world(0)
    with pytest.raises(InputError) as refused:
        explain(truth.matrix, columns, attributes=truth.about)
    assert message in str(refused.value)


def test_attributes_that_repeat_each_other_and_too_few_tasks_are_refused() -> None:
    truth = world(0, tasks=60)
    both: list[dict[str, Value]] = [
        {"task": name, "language": "rust", "typed": "yes"}
        if n % 2
        else {"task": name, "language": "c", "typed": "no"}
        for n, name in enumerate(truth.matrix.tasks)
    ]
    with pytest.raises(
        InputError, match=r"'typed' .* is a combination of the attributes before it"
    ):
        explain(truth.matrix, ["language", "typed"], attributes=Attributes.from_dicts("task", both))
    few = truth.matrix.take(tasks=range(4))
    with pytest.raises(InputError, match="a residual cannot be estimated"):
        explain(few, ["minutes"], attributes=truth.about)
    alike = Attributes.from_dicts("task", [{"task": t, "k": 1} for t in truth.matrix.tasks])
    with pytest.raises(InputError, match="All tasks have the same 'k'"):
        explain(truth.matrix, ["k"], attributes=alike)
    one = truth.matrix.take(agents=[0])
    with pytest.raises(InputError, match="1 agent cannot show differences in difficulty"):
        explain(one, ["minutes"], attributes=truth.about)


def steps(seed: int, agents: int = 24) -> tuple[ResponseMatrix, Attributes, np.ndarray]:
    """Agents of equal slope on tasks that take 1 to 256 minutes."""
    rng = np.random.default_rng(seed)
    doublings, ability = np.linspace(0, 8, 60), rng.normal(4, 1.5, agents)
    solved = rng.random((agents, 60)) < expit(ability[:, None] - doublings)
    names = [f"task {number}" for number in range(60)]
    rows = [{"task": name, "minutes": 2.0**d} for name, d in zip(names, doublings, strict=True)]
    matrix = ResponseMatrix.from_array(solved.astype(float), tasks=names)
    return matrix, Attributes.from_dicts("task", rows), ability


def test_ability_has_the_unit_of_the_given_difficulty() -> None:
    matrix, about, ability = steps(0)
    answer = on_difficulty(matrix, "log2(minutes)", attributes=about)
    rows = [answer.agents[name] for name in matrix.agents]
    inside = [row.ability_low < x < row.ability_high for row, x in zip(rows, ability, strict=True)]
    assert np.mean(inside) > 0.8
    assert answer.slope_low < 1 < answer.slope_high
    assert [row.reach for row in rows] == pytest.approx([2**row.ability for row in rows])
    assert not answer.agents.uneven.any()


def test_ability_on_a_given_difficulty_does_not_move_with_the_other_agents() -> None:
    matrix, about, ability = steps(1)
    weak = np.argsort(ability)[:12]
    whole, part = (
        on_difficulty(table, "log2(minutes)", attributes=about)
        for table in (matrix, matrix.take(agents=weak.tolist()))
    )
    moved = [
        part.agents[matrix.agents[row]].ability - whole.agents[matrix.agents[row]].ability
        for row in weak
    ]
    assert np.abs(moved).max() < 0.35 < ability.std()


def test_a_column_that_is_no_difficulty_is_reported_as_such() -> None:
    matrix, _, _ = steps(2)
    order = np.random.default_rng(0).permutation(60).tolist()
    rows = [{"task": name, "size": k} for name, k in zip(matrix.tasks, order, strict=True)]
    answer = on_difficulty(matrix, "size", attributes=Attributes.from_dicts("task", rows))
    assert "it does not measure difficulty for these agents" in answer.headline
    with pytest.raises(InputError, match="too few, or all tasks have the same"):
        on_difficulty(
            matrix.take(tasks=range(3)), "size", attributes=Attributes.from_dicts("task", rows)
        )


def test_the_command_explains_difficulty_and_takes_it_as_given(tmp_path: Path) -> None:
    matrix, about, _ = steps(3, agents=12)
    lines = ["agent,task,score"]
    lines += [
        f"{agent},{task},{int(value)}"
        for agent, row in zip(matrix.agents, matrix.to_numpy(), strict=True)
        for task, value in zip(matrix.tasks, row, strict=True)
    ]
    (tmp_path / "results.csv").write_text("\n".join(lines), encoding="utf-8")
    tasks = [f"{name},{values[0]}" for name, values in zip(about.names, about.values, strict=True)]
    (tmp_path / "tasks.csv").write_text("\n".join(["task,minutes", *tasks]), encoding="utf-8")
    files = (tmp_path / "results.csv", "--tasks", tmp_path / "tasks.csv", "--json")
    effect = json.loads(command("fit", *files, "--explain", "log2(minutes)").out)
    assert effect["effects"][0]["effect_low"] < 1 < effect["effects"][0]["effect_high"]
    given = json.loads(command("fit", *files, "--difficulty", "log2(minutes)").out)
    assert given["agents"][0]["reach"] > given["agents"][-1]["reach"]
    refused = command("fit", *files, "--explain", "hours")
    assert refused.code == 2 and "Tasks have no attribute 'hours'" in refused.err


def test_numbers_of_a_table_of_text_are_numbers() -> None:
    from examiner.irt.explained.attributes import learn_terms

    (term,) = learn_terms({"minutes": ["5", "15.5", None, "1e2"]})
    assert term.step == "per unit"
    assert [term.step for term in learn_terms({"language": ["1", "c", "1"]})] == ["c"]
    with pytest.raises(InputError, match="'minutes' is infinite on a task"):
        learn_terms({"log2(minutes)": [1.0, np.inf]})
