"""Bits, clusters and winners are compared with chance, and the order of rows changes none of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.information import analyse, best_set, clusters, favourable_tasks, similarity
from examiner.irt import fit
from examiner.reporting.findings import information as information_finding
from examiner.reporting.prose import plain_text
from examiner.results import Results
from examiner.scores import responses


def many_measures(seed: int = 0, tasks: int = 60) -> Results:
    """Few trials of nine agents by three measures, alike but on the first five tasks."""
    rng = np.random.default_rng(seed)
    level = np.zeros((9, tasks))
    level[:, :5] = 4 * np.arange(9)[:, None]
    drawn = level[None, :, :, None] + rng.normal(size=(3, 9, tasks, 2))
    agent, task, trial = np.indices((9, tasks, 2)).reshape(3, -1)
    columns = {"agent": [f"a{n}" for n in agent], "task": [f"t{n:02}" for n in task]}
    columns |= {"trial": trial.tolist(), "run": [0] * len(trial)}
    measures = {name: each.ravel() for name, each in zip("xyz", drawn, strict=True)}
    return Results.from_frame(pl.DataFrame(columns | measures), measures=list("xyz"))


def shuffled(results: Results, seed: int) -> Results:
    frame = results.to_polars().sample(fraction=1.0, shuffle=True, seed=seed)
    return Results.from_frame(frame, measures=list(results.measures))


def test_tasks_that_discriminate_are_named_where_sets_of_them_saturate() -> None:
    found = analyse(many_measures(), ["x", "y", "z"], rng=0, reps=40)
    assert found.chosen.chance_bits[-1] == pytest.approx(found.max_bits, abs=1e-3)
    assert found.test.significant
    assert set(found.significant_tasks) == {f"t{n:02}" for n in range(5)}
    assert found.headline.startswith("1 of 60 tasks gives 92 % of the information that identifies")
    assert plain_text(information_finding.render_information(found).lead).startswith(found.headline)


def test_the_headline_on_planners_agrees_with_the_table_by_three_measures() -> None:
    measures = [word for name in ("win", "score", "ticks") for word in ("--measure", name)]
    words = ["information", "gvgai-planners", "--item", "task", *measures, "--reps", "40"]
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    first = told["tasks"][0]
    assert first["bits"] > 2 * first["chance_bits"] and first["significant"]
    assert told["p_value"] <= 0.05
    text = CliRunner().invoke(app, words).stdout
    assert first["task"] in text.splitlines()[0] and "No task" not in text


def test_bits_of_noise_are_beyond_chance_in_few_tables() -> None:
    shown = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        draws = rng.normal(size=(5, 8, 4))
        draws = draws if seed % 2 else (draws > 0).astype(float)
        shown += analyse(Results.from_numpy(draws), rng=seed, size=2, reps=20).test.significant
    assert shown <= 5  # exceeded once in a thousand at 5 %


def test_shuffled_rows_give_the_same_bits_and_the_same_greedy_set() -> None:
    results = ex.load("gvgai-planners").with_items()
    answers = [analyse(results, ["win"], rng=0, reps=10)]
    others = [shuffled(results, seed).with_items() for seed in (1, 2)]
    answers += [analyse(other, ["win"], rng=0, reps=10) for other in others]
    first = answers[0]
    for other in answers[1:]:
        assert other.chosen.task == first.chosen.task and other.tasks.task == first.tasks.task
        assert other.chosen.tied_with == first.chosen.tied_with
        for one, same in ((other.tasks, first.tasks), (other.chosen, first.chosen)):
            for name, column in one.columns.items():
                if column.kind == "number":
                    np.testing.assert_allclose(
                        one.values(name), same.values(name), rtol=1e-9, atol=1e-12
                    )
        assert other.test.p_value == first.test.p_value


@pytest.mark.parametrize("search", ["greedy", "swap", "optimum"])
def test_tied_tasks_are_chosen_by_name_and_reported(search) -> None:
    runs = np.array([0.0, 4.0, 9.0])[:, None, None] + np.array([-1.0, 0.0, 1.0])
    same = np.repeat(runs, 4, axis=1)
    chosen = [
        best_set(Results.from_numpy(same, tasks=names), 2, search) for names in ("cadb", "bdac")
    ]
    assert all(set(each.tasks.task) == {"a", "b"} for each in chosen)
    greedy = best_set(Results.from_numpy(same, tasks="cadb"), 2)
    assert greedy.tasks.tied_with == (("b", "c", "d"), ("c", "d"))


def test_ties_are_told_in_words_and_in_json(tmp_path: Path) -> None:
    path = tmp_path / "ties.csv"
    values = {"a": (0, 1, 0, 1), "b": (8, 9, 8, 9), "c": (20, 22, 21, 20)}
    rows = [
        f"{agent},{task},{trial},{value}"
        for agent, scores in values.items()
        for task in ("u", "t")
        for trial, value in enumerate(scores)
    ]
    path.write_text("\n".join(["agent,task,run,score", *rows]) + "\n")
    told = json.loads(CliRunner().invoke(app, ["information", str(path), "--json"]).stdout)
    assert told["chosen"][0]["task"] == "t" and told["chosen"][0]["tied_with"] == ["u"]
    assert "Ties: t with 'u'" in CliRunner().invoke(app, ["information", str(path)]).stdout


def test_shuffled_rows_give_a_fit_the_same_evidence() -> None:
    rng = np.random.default_rng(0)
    wins = (rng.random((9, 30, 2)) < np.linspace(0.2, 0.8, 9)[:, None, None]).astype(float)
    results = Results.from_numpy(wins)
    made = [fit(responses(each), rng=0).evidence for each in (results, shuffled(results, 1))]
    for one, other in zip(made[0].abilities[:3], made[1].abilities[:3], strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    for one, other in zip(made[0].discrimination[:3], made[1].discrimination[:3], strict=True):
        assert one == pytest.approx(other, rel=1e-6)


def test_no_clusters_and_no_winners_are_reported_in_noise() -> None:
    for seed in range(2):
        noise = Results.from_numpy(np.random.default_rng(seed).normal(size=(10, 40)))
        found = similarity(noise, rng=seed)
        assert len([names for names in found.main.members if len(names) > 1]) > 4
        assert found.main.significant == () and found.favourable.winners == ()


def test_noise_is_said_to_have_no_clusters_with_the_p_value(tmp_path: Path) -> None:
    path = tmp_path / "noise.csv"
    values = np.random.default_rng(1).normal(size=(10, 20))
    lines = ["agent," + ",".join(f"t{n}" for n in range(20))]
    lines += [f"a{row}," + ",".join(map(str, each)) for row, each in enumerate(values)]
    path.write_text("\n".join(lines) + "\n")
    text = CliRunner().invoke(app, ["cluster", str(path)]).stdout
    assert text.startswith("Tasks form no significant clusters (p = 0.")
    told = json.loads(CliRunner().invoke(app, ["cluster", str(path), "--json"]).stdout)
    assert told["clusters"] == [] and told["p_value"] > 0.05
    assert told["possible_winners"] == 0


@pytest.mark.parametrize("name", ["gvgai-planners", "atari-dqn-family"])
def test_clusters_of_real_results_remain(name) -> None:
    results = ex.load(name)
    results = results.with_items() if "level" in results.item else results
    found = similarity(results)
    assert found.test.significant
    assert max(map(len, found.main.significant)) > 30


def test_tasks_of_two_skills_are_two_clusters_beyond_chance_and_noise_is_in_none() -> None:
    rng = np.random.default_rng(0)
    skills = rng.normal(size=(25, 2))[:, [0] * 5 + [1] * 5]
    table = np.column_stack([skills + 0.5 * rng.normal(size=(25, 10)), rng.normal(size=(25, 5))])
    names = [f"p{n}" for n in range(5)] + [f"q{n}" for n in range(5)] + [f"n{n}" for n in range(5)]
    found = similarity(Results.from_numpy(table, tasks=names), threshold=0.5)
    assert {frozenset(cluster) for cluster in found.clusters.tasks} == {
        frozenset(names[:5]),
        frozenset(names[5:10]),
    }


def test_specialists_can_be_made_to_win_on_held_out_runs() -> None:
    rng = np.random.default_rng(0)
    best_at = np.repeat(np.eye(4), 5, axis=1)  # each of four agents is best on five tasks
    runs = best_at[:, :, None] + 0.3 * rng.normal(size=(4, 20, 6))
    found = favourable_tasks(Results.from_numpy(runs), size=4)
    assert len(found.winners) == 4
    assert found.headline == "4 of 4 agents would win significantly on some choice of 4 tasks."


def test_shuffled_rows_give_the_same_clusters_and_winners() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(8, 1, 1)) + rng.integers(0, 3, size=(8, 12, 4))
    results = Results.from_numpy(table)
    first, other = (similarity(each) for each in (results, shuffled(results, 2)))
    assert {frozenset(one) for one in first.main.members} == {
        frozenset(one) for one in other.main.members
    }
    assert first.main.test.p_value == other.main.test.p_value
    assert set(first.main.significant) == set(other.main.significant)
    p_values = [{row.agent: row.p_value for row in each.agents} for each in (first, other)]
    assert p_values[0] == pytest.approx(p_values[1])
    share = [each.factor.first_factor_by_chance for each in (first, other)]
    assert share[0] == pytest.approx(share[1])


def test_tasks_are_called_deceptive_in_noise_in_few_tables() -> None:
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        agent, task, trial = np.indices((10, 12, 4)).reshape(3, -1)
        columns = {"agent": agent, "task": task, "trial": trial, "run": np.zeros_like(task)}
        frame = pl.DataFrame({name: column.astype(str) for name, column in columns.items()})
        win, score = rng.integers(0, 2, len(task)).astype(float), rng.normal(size=len(task))
        frame = frame.with_columns(win=pl.Series(win), score=pl.Series(score))
        results = Results.from_frame(frame, measures=["win", "score"])
        named += bool(ex.information.deceptive(results).deceptive)
    assert named <= 4


def test_clusters_do_not_depend_on_the_order_of_tied_tasks() -> None:
    table = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0], [0, 1, 1, 0.0]])
    names = np.array(list("abcd"))
    shown = set()
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        found = clusters(Results.from_numpy(table[:, order], tasks=names[order].tolist()))
        shown.add(frozenset(map(frozenset, found.members)))
    assert len(shown) == 1
